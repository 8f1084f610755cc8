//===- HoistLoads.cpp - Loads for an epilogue begin in front of the products --===//
//
// At the end of its tile a consumer has nothing else to do, and waits for memory. Registers that
// the loop of products leaves over hold what is under way meanwhile.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kHoistLoads = "mk-sm-hoist-loads";

/// The first op of a block that multiplies, or in which something does.
static Operation *findProducts(Block *block) {
  for (Operation &op : *block)
    if (op.walk([](MmaOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return &op;
  return nullptr;
}

/// The ops from `first` to an op of the block that it is computed from, in their order; false if
/// one may not be done earlier.
static bool findNeeded(Operation *op, Operation *first, llvm::SetVector<Operation *> &needed) {
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || def->getBlock() != first->getBlock() || def->isBeforeInBlock(first) ||
        needed.contains(def))
      continue;
    if (!isPure(def) || def->getNumRegions() || !findNeeded(def, first, needed))
      return false;
  }
  needed.insert(op);
  return true;
}

void mk_sm::hoistLoads(DeferOp deferral) {
  auto load = deferral.getSource().getDefiningOp<mk::LoadOp>();
  auto partition = deferral->getParentOfType<PartitionOp>();
  if (!load || !partition || load.getTile().getType().getRank() != 2)
    return;
  Operation *products = findProducts(load->getBlock());
  if (!products || !products->isBeforeInBlock(load))
    return;
  if (!load.getOwn() && !mk::readsNeverWritten(load)) {
    missed(load, kHoistLoads) << "begins behind the products, since it may read what this launch "
                                 "writes";
    return;
  }
  mk::SmAttr sm = mk::getSm(load);
  mk::RegisterReserveAttr reserve = sm.getRegisters().getReserve();
  int64_t left = int64_t(partition.getRegisters()) - reserve.getScalars() - reserve.getProduct();
  for (Type type : products->getResultTypes())
    left -= countRegisters(type);
  RankedTensorType tile = deferral.getType();
  int64_t group = sm.getThresholds().getGroupedElements();
  int64_t elements = std::max<int64_t>(left, 0) * 32 / tile.getElementTypeBitWidth();
  elements = std::min(elements / group * group, getNumElements(tile));
  llvm::SetVector<Operation *> needed;
  if (!elements) {
    missed(load, kHoistLoads) << "begins behind the products, which leave no registers for it";
    return;
  }
  if (!findNeeded(load, products, needed)) {
    missed(load, kHoistLoads) << "begins behind the products, since its place is only known there";
    return;
  }
  needed.insert(deferral);
  for (Operation *op : needed)
    op->moveBefore(products);
  deferral.setAhead(elements);
  passed(load, kHoistLoads) << remark::add("begins in front of the products, with {0} elements of "
                                           "each thread",
                                           elements);
}
