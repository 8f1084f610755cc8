//===- TileVerifySizes.cpp - Sizes that no kernel can have ----------------===//
#include "TileVerifySizes.h"
#include "mkernel/Support/Checked.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::mk;

/// A division whose divisor is known and not above 0; null if there is none.
static AffineExpr findBadDivision(AffineExpr expr) {
  AffineExpr found;
  expr.walk([&](AffineExpr part) {
    AffineExprKind kind = part.getKind();
    if (kind != AffineExprKind::Mod && kind != AffineExprKind::FloorDiv &&
        kind != AffineExprKind::CeilDiv)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS());
    if (divisor && divisor.getValue() < 1)
      found = part;
  });
  return found;
}

LogicalResult mk::verifyRanks(MeshOp mesh) {
  int64_t ranks = 1;
  for (unsigned i = 0, e = mesh.getNumAxes(); i != e; ++i) {
    int64_t size = mesh.getAxis(i).getSize();
    if (ShapedType::isDynamic(size))
      continue;
    if (size > kMaxRanks / ranks)
      return mesh.emitOpError() << "@" << mesh.getSymName() << " has more than " << kMaxRanks
                                << " ranks at axis '" << mesh.getAxis(i).getName() << "' of size "
                                << size << ": give axes smaller sizes";
    ranks *= size;
  }
  return success();
}

LogicalResult mk::verifyArgumentExtents(KernelOp kernel) {
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    for (auto [d, extent] : llvm::enumerate(kernel.getArgShape(i).getResults()))
      if (AffineExpr bad = findBadDivision(extent))
        return kernel.emitOpError()
               << "argument " << kernel.getArgNames()[i] << " has extent '"
               << describeExtent(kernel, extent) << "' in dimension " << d << ", where '"
               << describeExtent(kernel, bad) << "' is not defined: divide by a number above 0";
  return success();
}

LogicalResult mk::verifyTileSizes(KernelOp kernel) {
  auto verify = [](Operation *op, TypeRange types) -> LogicalResult {
    for (Type type : types) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile || !tile.hasStaticShape())
        continue;
      mkernel::checked::Number elements = mkernel::checked::product(tile.getShape());
      if (!elements || *elements > kMaxTileElements)
        return op->emitOpError() << "has a tile of " << llvm::interleaved(tile.getShape(), " x ")
                                 << " elements, more than 2^24: use smaller extents, and a loop";
    }
    return success();
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    return WalkResult(failure(failed(verify(op, op->getOperandTypes())) ||
                              failed(verify(op, op->getResultTypes()))));
  });
  return failure(result.wasInterrupted());
}
