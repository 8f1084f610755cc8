//===- TileStructureOps.cpp - Meshes, roles and declarations --------------===//
#include "TileDirectives.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Support/RowMajor.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileStructureOps.cpp.inc"

void MkDialect::registerStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileStructureOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

AxisAttr MeshOp::getAxis(unsigned i) { return cast<AxisAttr>(getAxes()[i]); }

int64_t MeshOp::findAxis(StringRef name) {
  for (unsigned i = 0, e = getNumAxes(); i != e; ++i)
    if (getAxis(i).getName() == name)
      return i;
  return -1;
}

bool MeshOp::hasNet() {
  return llvm::any_of(llvm::seq(getNumAxes()), [&](unsigned i) {
    return getAxis(i).getLink() == LinkKind::Net && getAxis(i).getSize() != 1;
  });
}

StringRef MeshOp::findNetAxis(int64_t from, int64_t to) {
  for (unsigned i = getNumAxes(); i-- > 0;) {
    int64_t size = getAxis(i).getSize();
    if (getAxis(i).getLink() == LinkKind::Net && from % size != to % size)
      return getAxis(i).getName();
    from /= size;
    to /= size;
  }
  return {};
}

int64_t MeshOp::getNumRanks() {
  int64_t ranks = 1;
  for (unsigned i = 0, e = getNumAxes(); i != e; ++i) {
    if (ShapedType::isDynamic(getAxis(i).getSize()))
      return ShapedType::kDynamic;
    ranks *= getAxis(i).getSize();
  }
  return ranks;
}

int64_t MeshOp::getStride(unsigned axis) {
  int64_t stride = 1;
  for (unsigned i = axis + 1; i < getNumAxes(); ++i)
    stride *= getAxis(i).getSize();
  return stride;
}

int64_t MeshOp::getCoordinate(int64_t rank, unsigned axis) {
  return mkernel::findCoordinate<int64_t>(mkernel::PlainNumbers(), rank, getStride(axis),
                                          getAxis(axis).getSize());
}

std::string MeshOp::describeAxes() {
  auto names = llvm::map_range(getAxes().getAsRange<AxisAttr>(), std::mem_fn(&AxisAttr::getName));
  return (getNumAxes() == 1 ? "axis " : "axes ") + quoted(names).str();
}
