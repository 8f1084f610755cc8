//===- TileRanges.cpp - Between what numbers of a kernel lie --------------===//
#include "mkernel/Dialect/Tile/Tile.h"

using namespace mlir;
using namespace mlir::mk;

/// From 0 to below `end`; kDynamic: which is not known.
static ConstantIntRanges below(int64_t end) {
  int64_t last = ShapedType::isDynamic(end) ? INT64_MAX : std::max<int64_t>(end - 1, 0);
  return ConstantIntRanges::fromSigned(APInt(64, 0), APInt(64, last));
}

/// Of the mesh of the kernel around `op`; null where there is none.
static MeshOp getMesh(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  return kernel ? kernel.getMeshOp() : MeshOp();
}

void KernelOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  for (int64_t i = 0; i < getNumDims(); ++i)
    set(getDim(i), below(ShapedType::kDynamic));
}

// Of others nothing is said: whether they exist is checked on the GPU, which a range would hide.
void RankOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  MeshOp mesh = getMesh(*this);
  if (mesh && getCoords().empty())
    set(getResult(), below(mesh.getNumRanks()));
}

void CoordOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  MeshOp mesh = getMesh(*this);
  int64_t axis = mesh ? mesh.findAxis(getAxis()) : -1;
  if (axis >= 0 && !getRank())
    set(getResult(), below(mesh.getAxis(axis).getSize()));
}

void CtasOfOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), below(ShapedType::kDynamic));
}
