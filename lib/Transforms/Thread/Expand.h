//===- Expand.h - Code in place of an op --------------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_THREAD_EXPAND_H
#define MKERNEL_LIB_TRANSFORMS_THREAD_EXPAND_H

#include "mkernel/Dialect/Thread/Control.h"
#include "mkernel/Dialect/Thread/Elementwise.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "mkernel/Dialect/Thread/Launch.h"
#include "mkernel/Dialect/Thread/Memory.h"
#include "mkernel/Dialect/Thread/Warps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::mk_thread {

/// What stands for an entry that a list of rows does not have: no row that exists.
constexpr int64_t kNoRow = std::numeric_limits<int32_t>::min();

/// Each op of a kind makes way for what `emit` emits in its place, whose results it gives.
template <typename OpT>
void replaceEach(ModuleOp module, function_ref<SmallVector<Value>(OpT, Emitter &)> emit) {
  for (auto kernel : module.getOps<KernelOp>()) {
    SmallVector<OpT> ops;
    kernel.walk([&](OpT op) { ops.push_back(op); });
    if (ops.empty())
      continue;
    Emitter emitter(module.getContext(), kernel.getLoc());
    emitter.enter(kernel);
    for (OpT op : ops) {
      emitter.setLoc(op.getLoc());
      emitter.setInsertionPoint(op);
      emitter.beginSharing();
      op->replaceAllUsesWith(emit(op, emitter));
      op.erase();
    }
  }
}
template <typename OpT> void expandEach(ModuleOp module, function_ref<void(OpT, Emitter &)> emit) {
  replaceEach<OpT>(module, [&](OpT op, Emitter &emitter) {
    emit(op, emitter);
    return SmallVector<Value>();
  });
}

/// The ops of a region go to where the emitter is; `arguments` stand for those of its block.
inline void moveRegion(Region &region, Emitter &e, ValueRange arguments = {}) {
  Block &block = region.front();
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  e.getInsertionBlock()->getOperations().splice(e.getInsertionPoint(), block.getOperations());
}

// What passes do with a module or with each kernel in it; the file has the name.
void dispatchWarps(ModuleOp module);
void expandAccesses(ModuleOp module);
void expandBounds(ModuleOp module);
void expandChannels(ModuleOp module);
void expandCommands(ModuleOp module);
void expandCopiers(ModuleOp module);
void expandCopies(ModuleOp module);
void expandElements(ModuleOp module);
void expandExchanges(ModuleOp module);
void expandLaunch(ModuleOp module);
void expandMath(KernelOp kernel);
void expandProducts(ModuleOp module);
void expandQueues(ModuleOp module);
void expandReductions(ModuleOp module);
void expandRuns(ModuleOp module);
void expandSender(ModuleOp module);
void expandSignals(ModuleOp module);
void expandStores(ModuleOp module);
void expandPadding(ModuleOp module);
void expandTurns(ModuleOp module);
void mergeChecks(KernelOp kernel);
void mergeElected(KernelOp kernel);
void pairConversions(KernelOp kernel);
void promoteVariables(KernelOp kernel);
void stageFragments(ModuleOp module);
void stageRows(ModuleOp module);

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_EXPAND_H
