//===- Expand.h - Code in place of an op --------------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_THREAD_EXPAND_H
#define MKERNEL_LIB_TRANSFORMS_THREAD_EXPAND_H

#include "mkernel/Dialect/Thread/Emitter.h"
#include "mkernel/Transforms/Thread/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::mk_thread {

// What a pass does, and the function that does it (Passes.cpp).
#define MK_THREAD_STEPS(DO)                                                                       \
  DO(DispatchWarps, dispatchWarps) DO(ExpandAccesses, expandAccesses)                             \
  DO(ExpandChannels, expandChannels) DO(ExpandCommands, expandCommands)                           \
  DO(ExpandCopiers, expandCopiers) DO(ExpandCopies, expandCopies)                                 \
  DO(ExpandElements, expandElements) DO(ExpandExchanges, expandExchanges)                         \
  DO(ExpandLaunch, expandLaunch) DO(ExpandMath, expandMath) DO(ExpandProducts, expandProducts)    \
  DO(ExpandQueues, expandQueues) DO(ExpandReductions, expandReductions)                           \
  DO(ExpandRuns, expandRuns) DO(ExpandSender, expandSender) DO(ExpandSignals, expandSignals)      \
  DO(ExpandStores, expandStores) DO(ExpandTrims, expandTrims) DO(ExpandTurns, expandTurns)        \
  DO(PromoteVariables, promoteVariables) DO(StageFragments, stageFragments)
#define MK_DECLARE(NAME, FUNCTION) void FUNCTION(ModuleOp module);
MK_THREAD_STEPS(MK_DECLARE)

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
      emitter.loc = op.getLoc();
      emitter.b.setInsertionPoint(op);
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
  e.b.getInsertionBlock()->getOperations().splice(e.b.getInsertionPoint(), block.getOperations());
}

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_EXPAND_H
