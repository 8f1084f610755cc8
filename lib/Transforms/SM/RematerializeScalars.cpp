//===- RematerializeScalars.cpp - Scalars computed anew for each item -----===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kRematerializeScalars = "mk-sm-rematerialize-scalars";

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
        if (operand.getType().isIntOrIndex() && !isa<ReadDimOp>(op) && !visit(operand) &&
            !region.isAncestor(operand.getParentRegion()))
          kept.insert(operand);
    });
  }

  unsigned getNumComputed() const { return ops.size(); }
  /// What follows from more than dimensions, as what is loaded.
  const SetVector<Value> &getKept() const { return kept; }

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
  SetVector<Value> dims, kept;
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
  for (Operation *loop : loops) {
    unsigned computed = 0;
    llvm::SmallPtrSet<Value, 4> kept;
    for (Region &region : loop->getRegions()) {
      RegionInputs inputs(region, partition->getParentOfType<mk::KernelOp>());
      inputs.rematerialize();
      computed += inputs.getNumComputed();
      kept.insert_range(inputs.getKept());
    }
    if (computed)
      passed(loop, kRematerializeScalars)
          << remark::add("computes {0} scalars anew in each iteration", computed);
    if (!kept.empty())
      missed(loop, kRematerializeScalars) << remark::add(
          "keeps {0} scalars in registers from one iteration to the next: they follow from more "
          "than dimensions; read them inside of the loop",
          kept.size());
  }
}
