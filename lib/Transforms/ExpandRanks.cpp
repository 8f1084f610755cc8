//===- ExpandRanks.cpp - Ranks and coordinates as arithmetic --------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Support/RowMajor.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mkernel/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mk {
#define GEN_PASS_DEF_EXPANDRANKSPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
/// Rewrites the ops of one kernel.
struct RankExpander : IndexMath {
  MeshOp mesh;
  bool checked;

  int64_t size(unsigned axis) { return mesh.getAxis(axis).getSize(); }

  Value ownCoord(unsigned axis) {
    if (size(axis) == 1)
      return index(0);
    return CoordOp::create(b, loc, b.getIndexType(), b.getStringAttr(mesh.getAxis(axis).getName()),
                           Value());
  }

  Value expand(RankOp op) {
    bool isOne = mesh.getNumRanks() == 1;
    if (!op.getAxes() || (isOne && !checked))
      return isOne ? index(0) : op;
    SmallVector<Value> coords(mesh.getNumAxes());
    Value exists;
    for (auto [name, coord] : llvm::zip(op.getAxes()->getAsRange<StringAttr>(), op.getCoords())) {
      unsigned axis = mesh.findAxis(name.getValue());
      coords[axis] = coord;
      if (!checked)
        continue;
      Value inside = cmp(arith::CmpIPredicate::ult, coord, index(size(axis)));
      exists = exists ? make<arith::AndIOp>(exists, inside) : inside;
    }
    Value rank = mkernel::numberRowMajor<Value>(
        static_cast<IndexMath &>(*this), mesh.getNumAxes(),
        [&](unsigned i) { return index(size(i)); },
        [&](unsigned i) { return coords[i] ? coords[i] : ownCoord(i); });
    return exists ? select(exists, rank, index(-1)) : rank;
  }

  Value expand(CoordOp op) {
    unsigned axis = mesh.findAxis(op.getAxis());
    if (size(axis) == 1)
      return index(0);
    if (!op.getRank())
      return op;
    return mkernel::findCoordinate<Value>(static_cast<IndexMath &>(*this), op.getRank(),
                                          mesh.getStride(axis), size(axis));
  }

  Value expand(SizeOp op) {
    return index(op.getAxis() ? size(mesh.findAxis(*op.getAxis())) : mesh.getNumRanks());
  }

  void run(Operation *op) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
    Value value = llvm::TypeSwitch<Operation *, Value>(op).Case<RankOp, CoordOp, SizeOp>(
        [&](auto concrete) { return expand(concrete); });
    if (value == op->getResult(0))
      return;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
};
} // namespace

static LogicalResult expandRanks(KernelOp kernel, bool checked) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<RankOp, CoordOp, SizeOp>(op))
      ops.push_back(op);
  });
  MeshOp mesh = kernel.getMeshOp();
  if (!ops.empty() && ShapedType::isDynamic(mesh.getNumRanks()))
    return kernel.emitOpError() << "@" << kernel.getSymName() << " runs on mesh @"
                                << mesh.getSymName() << " (" << mesh.describeAxes()
                                << "), a size of which is unknown: bind it (--bind AXIS=N)";
  RankExpander expander{{OpBuilder(kernel), kernel.getLoc()}, mesh, checked};
  for (Operation *op : ops)
    expander.run(op);
  return success();
}

namespace {
struct ExpandRanksPass : mk::impl::ExpandRanksPassBase<ExpandRanksPass> {
  using ExpandRanksPassBase::ExpandRanksPassBase;

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(expandRanks(kernel, checked)))
        return signalPassFailure();
  }
};
} // namespace
