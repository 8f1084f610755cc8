//===- RematerializeScalars.cpp - Scalars computed anew for each item -----===//
#include "Functions.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Whether an op computes a scalar from other scalars, the same whenever and wherever in a CTA.
static bool isRepeatable(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         op->getResult(0).getType().isIntOrIndex() && !isa<arith::ConstantOp>(op) &&
         (isa<arith::ArithDialect>(op->getDialect()) ||
          isa<memref::DimOp, mk::RankOp, mk::CoordOp, mk::SizeOp, mk::CtasOfOp, mk::ParamOp>(op));
}

namespace {
/// What a region takes from outside and can compute for itself.
class RegionInputs {
public:
  RegionInputs(Region &region, mk::KernelOp kernel) : region(region), kernel(kernel) {
    region.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (operand.getType().isIntOrIndex() && !isa<ReadDimOp>(op))
          (void)visit(operand);
    });
  }

  void rematerialize() {
    auto b = OpBuilder::atBlockBegin(&region.front());
    IRMapping mapping;
    for (Value dim : dims)
      mapping.map(dim, ReadDimOp::create(b, dim.getLoc(), dim).getResult());
    for (Operation *op : ops)
      b.clone(*op, mapping);
    for (auto [from, to] : mapping.getValueMap())
      from.replaceUsesWithIf(to, [&](OpOperand &use) {
        return !isa<ReadDimOp>(use.getOwner()) &&
               region.isAncestor(use.getOwner()->getParentRegion());
      });
  }

private:
  bool visit(Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() != &kernel.getBody().front())
        return false;
      if (arg.getArgNumber() < kernel.getNumDims())
        dims.insert(value);
      return true;
    }
    Operation *op = value.getDefiningOp();
    if (region.isAncestor(op->getParentRegion()))
      return false;
    if (isa<arith::ConstantOp>(op) || ops.contains(op))
      return true;
    auto isKnown = [&](Value operand) { return visit(operand); };
    return isRepeatable(op) && llvm::all_of(op->getOperands(), isKnown) && ops.insert(op);
  }

  Region &region;
  mk::KernelOp kernel;
  SetVector<Value> dims;
  SetVector<Operation *> ops; // in an order in which they can stand
};

} // namespace

void mk_sm::rematerializeScalars(PartitionOp partition) {
  SmallVector<Operation *> loops;
  for (Operation &op : partition.getBody().front())
    if (isa<ItemsOp, scf::ForOp, scf::WhileOp>(op))
      loops.push_back(&op);
  if (partition.getKind() == PartitionKind::Consumer && loops.size() < 2)
    return;
  for (Operation *loop : loops)
    for (Region &region : loop->getRegions())
      RegionInputs(region, partition->getParentOfType<mk::KernelOp>()).rematerialize();
}
