//===- Stack.cpp - How much stack compiled code needs ---------------------===//
#include "mkernel/Target/Host/Metadata.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace mlir::mk;

/// Spilled registers, the frames of the runtime's entry points and of the C
/// library's functions below them.
static constexpr int64_t kSlack = 256 << 10;
/// What a package may ask for (runtime/package/Metadata.cpp).
static constexpr int64_t kMostBytes = (int64_t(1) << 32) - kSlack - 4096;

FailureOr<int64_t> mk::measureStack(ModuleOp module) {
  DataLayout layout(module);
  int64_t bytes = 0;
  // Functions may be inlined into each other, where nothing shares a slot.
  WalkResult result =
      module.walk([&](LLVM::AllocaOp op) -> WalkResult {
        APInt count;
        if (!matchPattern(op.getArraySize(), m_ConstantInt(&count)))
          return op->emitOpError("takes an amount of stack that is known only at run time; stacks "
                                 "of CTAs are of fixed size");
        // Every slot may be aligned up to a cache line.
        bytes += llvm::alignTo(
            static_cast<uint64_t>(layout.getTypeSize(op.getElemType()).getFixedValue() *
                                  count.getZExtValue()),
            64);
        if (bytes > kMostBytes)
          return op->emitOpError()
                 << "and what comes before it need " << bytes
                 << " bytes of stack for tiles; a CTA has at most 4 GiB: use smaller tiles";
        return WalkResult::advance();
      });
  if (result.wasInterrupted())
    return failure();
  return llvm::alignTo(static_cast<uint64_t>(bytes + kSlack), 4096);
}
