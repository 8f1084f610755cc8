//===- VerifyTiles.cpp - Tiles that no SM can hold ------------------------===//
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "llvm/Support/InterleavedRange.h"

namespace mlir::mk {
#define GEN_PASS_DEF_VERIFYTILESPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;

static LogicalResult verifyTilesFit(mk::KernelOp kernel) {
  int64_t most = 4 * mk::getSm(kernel).getRegisters().getOfSm();
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile || !tile.hasStaticShape() || !tile.getElementType().isIntOrFloat())
        continue;
      // At most 2^24 elements (mk.kernel's verifier), so that nothing wraps.
      int64_t bytes = tile.getNumElements() *
                      llvm::divideCeil(tile.getElementTypeBitWidth(), 8);
      if (bytes <= most)
        continue;
      // What was folded stands nowhere in the file; who uses it does.
      Operation *where = op;
      if (isa<UnknownLoc>(op->getLoc()) && !op->use_empty())
        where = *op->user_begin();
      return where->emitOpError()
             << "has a tile of " << llvm::interleaved(tile.getShape(), " x ")
             << " elements of " << tile.getElementType() << ", " << (bytes >> 10)
             << " KiB; an SM has registers of " << (most >> 10)
             << " KiB and less shared memory: use smaller extents";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyTilesPass : mk::impl::VerifyTilesPassBase<VerifyTilesPass> {
  using VerifyTilesPassBase::VerifyTilesPassBase;

  void runOnOperation() override {
    for (mk::KernelOp kernel : getOperation().getOps<mk::KernelOp>())
      if (failed(verifyTilesFit(kernel)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
