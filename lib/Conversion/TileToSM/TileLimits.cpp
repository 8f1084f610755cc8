//===- TileLimits.cpp - Tiles that no SM can hold -------------------------===//
#include "TileLimits.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::mk;

/// 65536 registers of 32 bits.
static constexpr int64_t kRegisterBytes = 256 << 10;

LogicalResult mk::verifyTilesFit(KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile || !tile.hasStaticShape() || !tile.getElementType().isIntOrFloat())
        continue;
      // At most 2^24 elements (mk.kernel's verifier), so that nothing wraps.
      int64_t bytes = tile.getNumElements() *
                      llvm::divideCeil(tile.getElementTypeBitWidth(), 8);
      if (bytes <= kRegisterBytes)
        continue;
      // What was folded stands nowhere in the file; who uses it does.
      Operation *where = op;
      if (isa<UnknownLoc>(op->getLoc()) && !op->use_empty())
        where = *op->user_begin();
      return where->emitOpError()
             << "has a tile of " << llvm::interleaved(tile.getShape(), " x ")
             << " elements of " << tile.getElementType() << ", " << (bytes >> 10)
             << " KiB; an SM has registers of " << (kRegisterBytes >> 10)
             << " KiB and less shared memory: use smaller extents";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
