//===- DispatchWarps.cpp - Branches to what threads run -------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Registers change hands once, at the top; roles are told apart inside, so that ptxas sees one
/// reallocation.
static void specialize(SpecializeOp op, Emitter &e) {
  auto run = [&](bool consumes, Region &region) {
    if (auto registers = op.getRegisters())
      SetRegistersOp::create(e, (*registers)[consumes], /*more=*/consumes);
    bool defers =
        region.walk([](FailUnlessOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!defers)
      region.walk([](ReportFailureOp report) { report.erase(); });
    moveRegion(region, e);
  };
  ifThenElse(
      e, eq(e, shr(e, op.getWarp(), 2), 0), [&] { run(false, op.getProducers()); },
      [&] { run(true, op.getConsumers()); });
}

/// Warps with lower numbers do not come to the op.
static int64_t findLowest(ByWarpsOp op) {
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion()) {
    auto sides = dyn_cast<SpecializeOp>(region->getParentOp());
    if (sides && region == &sides.getConsumers())
      return 4;
    auto before = dyn_cast<ByWarpsOp>(region->getParentOp());
    if (before && region == &before.getOtherwise() && before.getFirst() == 0)
      return before.getLast() + 1;
  }
  return 0;
}

static void branchOnWarp(ByWarpsOp op, Emitter &e) {
  int64_t first = op.getFirst(), last = op.getLast();
  Value isMember;
  if (first == last)
    isMember = eq(e, op.getWarp(), first);
  else if (first <= findLowest(op))
    isMember = ult(e, op.getWarp(), last + 1);
  else
    isMember = ult(e, sub(e, op.getWarp(), first), last - first + 1);
  if (op.getOtherwise().empty())
    return ifThen(e, isMember, [&] { moveRegion(op.getBody(), e); });
  ifThenElse(
      e, isMember, [&] { moveRegion(op.getBody(), e); }, [&] { moveRegion(op.getOtherwise(), e); });
}

static void branchOnCta(ByCtasOp op, Emitter &e) {
  ArrayRef<int64_t> ranges = op.getRanges();
  Value any;
  for (size_t i = 0; i != ranges.size(); i += 2) {
    Value inside = ult(e, sub(e, op.getCta(), ranges[i]), ranges[i + 1]);
    any = any ? or_(e, any, inside) : inside;
  }
  ifThen(e, any, [&] { moveRegion(op.getBody(), e); });
}

static void runOnce(ElectOp op, Emitter &e) {
  if (op.getBarrier())
    SyncOp::create(e, op.getBarrier(), *op.getThreads());
  else
    SyncWarpOp::create(e);
  ifThen(e, eq(e, op.getThread(), 0), [&] { moveRegion(op.getBody(), e); });
  if (!op.getBarrier())
    SyncWarpOp::create(e);
}

void mk_thread::dispatchWarps(ModuleOp module) {
  expandEach<ByWarpsOp>(module, branchOnWarp); // looks for what is around
  expandEach<SpecializeOp>(module, specialize);
  expandEach<ByCtasOp>(module, branchOnCta);
  expandEach<ElectOp>(module, runOnce);
}
