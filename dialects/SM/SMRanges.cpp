//===- SMRanges.cpp - Between what numbers of items lie -------------------===//
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_sm;

static ConstantIntRanges between(int64_t first, int64_t last) {
  return ConstantIntRanges::fromSigned(APInt(64, first, /*isSigned=*/true), APInt(64, last));
}

// Where there are no items the body does not run.
void ItemsOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  int64_t last = std::max<int64_t>(operands.front().smax().getSExtValue() - 1, 0);
  set(getItem(), between(0, last));
  set(getRound(), between(0, last));
  for (BlockArgument carried : getRegionIterArgs())
    if (carried.getType().isIntOrIndex())
      set(carried,
          ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(carried.getType())));
}

void InitialItemOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(-1, INT64_MAX));
}

void ReadDimOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  set(getResult(), operands.front().intersection(between(0, INT64_MAX)));
}

void ForwardOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  for (auto [result, range] : llvm::zip_equal(getResults(), operands))
    set(result, range);
}

void TeamIndexOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(0, INT64_MAX));
}

void WarpgroupIndexOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(0, (*this)->getParentOfType<PartitionOp>().getNumWarpgroups() - 1));
}

void TicketOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(0, INT64_MAX));
}
