//===- ControlFlow.cpp - Loops and branches -------------------------------===//
#include "Bounds.h"
#include "Faults.h"
#include "Lowerings.h"
#include "Peers.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// Whether the loop takes tiles that the producer loads: it goes around as often in both,
/// and the producer, which has registers to spare, says what is wrong with its bounds.
static bool takesTiles(Operation *op) { return holds<mk_sm::WaitOp>(op); }

namespace {
/// An iteration of a loop over items, as a span.
struct ItemSpan {
  ItemSpan(PartitionBuilder &p, Operation *loop, Value number)
      : p(p), loop(loop->getParentOp() == p.partition ? loop : nullptr) {
    if (this->loop && p.info.timed)
      beginSpan(p, SpanClock::Item,
                number && number.getType().isIntOrIndex() ? p.scalar(number) : p.c64(0));
  }
  void end() {
    if (!loop)
      return;
    p.currentOp = loop;
    endSpan(p, SpanClock::Item, MK_TIMELINE_ITEM);
  }
  PartitionBuilder &p;
  Operation *loop;
};
} // namespace

/// The end of a loop that is counted in 32 bits; an error if it is known not to fit.
static FailureOr<Value> clampEnd(PartitionBuilder &p, Operation *op, Value from, Value to,
                                 Value step) {
  constexpr int64_t most = mk_thread::kMostCounted;
  for (Value bound : {from, to, step})
    if (std::optional<int64_t> known = getConstantIntValue(bound);
        known && (*known > most || (bound == from && *known < -most)))
      return op->emitOpError() << "counts from, to or by " << *known << "; loops of "
                               << getSmTarget(op).getName() << " count from -2^30 to 2^30: "
                               << "begin at 0, and make two loops of one that is longer, one "
                                  "inside the other";
  if (llvm::all_of(ArrayRef{from, to, step}, [](Value v) { return getConstantIntValue(v); }))
    return maxS(p, to, from);
  // Beside roles all warps count.
  bool reports = !p.partition || p.isOneWarp() || !takesTiles(op);
  return mk_thread::ClampEndOp::create(
             p, from, to, step, reports ? p.makeReport(MK_FAIL_LOOP, 0) : mk_thread::ReportAttr())
      .getResult();
}

static LogicalResult lowerWaitAll(WaitAllOp all, PartitionBuilder &p) {
  auto op = cast<scf::ForOp>(all.getBody().front().front());
  Value from = p.scalar(op.getLowerBound()), to = p.scalar(op.getUpperBound()),
        step = p.scalar(op.getStep());
  FailureOr<Value> end = clampEnd(p, op, from, to, step);
  if (failed(end))
    return failure();
  to = *end;
  Value own = resize(p, p.partitionThread, p.i64);
  auto loop = scf::ForOp::create(p, add(p, from, mul(p, own, step)), to,
                                 mul(p, step, p.partition.getNumThreads()));
  {
    OpBuilder::InsertionGuard guard(p);
    p.setInsertionPointToStart(loop.getBody());
    p.set(op.getInductionVar(), loop.getInductionVar());
    for (Operation &inner : op.getBody()->without_terminator())
      if (auto wait = dyn_cast<mk::WaitOp>(inner))
        emitWait(p, wait, /*apart=*/true);
      else if (failed(p.emit(&inner)))
        return failure();
  }
  p.barrierPartition();
  updateWaitFailed(p);
  return success();
}

/// A loop that counts, its counter the first argument of its region and what it carries the
/// last ones.
static LogicalResult emitCounted(PartitionBuilder &p, Operation *op, Value from, Value to,
                                 Value step, ValueRange inits, function_ref<void(Value)> enter) {
  Region &region = op->getRegion(0);
  Value induction = region.getArgument(0);
  SmallVector<Type> types = packedTypes(inits.getTypes());
  bool narrow = from.getType().isInteger(64);
  bool positive = getConstantIntValue(from).value_or(-1) >= 0;
  if (narrow) {
    FailureOr<Value> end = clampEnd(p, op, from, to, step);
    if (failed(end))
      return failure();
    to = *end;
    from = resize(p, from, p.i32), to = resize(p, to, p.i32), step = resize(p, step, p.i32);
  }
  // All lanes have the same end. If it comes from a division, which branches, ptxas does
  // not know that, and keeps what the loop computes out of uniform registers.
  if (!to.getDefiningOp<arith::ConstantOp>())
    to = fromLane0(p, to);
  auto loop = scf::ForOp::create(p, from, to, step, p.packAll(inits));
  {
    OpBuilder::InsertionGuard guard(p);
    p.setInsertionPointToStart(loop.getBody());
    Value counter = loop.getInductionVar();
    p.set(induction, narrow ? resize(p, counter, p.i64, /*isSigned=*/!positive) : counter);
    enter(p.scalar(induction));
    p.unpackAll(region.getArguments().take_back(inits.size()), loop.getRegionIterArgs());
    ItemSpan span(p, op, induction);
    if (failed(p.emitOps(region.front())))
      return failure();
    span.end();
    if (!types.empty())
      scf::YieldOp::create(p, p.packAll(region.front().getTerminator()->getOperands()));
  }
  if (op->getNumResults())
    p.unpackAll(op->getResults(), loop.getResults());
  return success();
}

static LogicalResult lowerFor(scf::ForOp op, PartitionBuilder &p) {
  return emitCounted(p, op, p.scalar(op.getLowerBound()), p.scalar(op.getUpperBound()),
                     p.scalar(op.getStep()), op.getInitArgs(), [](Value) {});
}

static LogicalResult lowerItems(ItemsOp op, PartitionBuilder &p) {
  auto role = op->getParentOfType<RoleOp>();
  int64_t sharing = role ? p.info.ctas[*p.info.resources.indexOf(role)] : p.info.countCtas();
  return emitCounted(p, op, p.ctaInRole, p.scalar(op.getTotal()), p.c64(sharing * op.getEvery()),
                     op.getInits(), [&](Value item) {
                       if (!op.getRound().use_empty())
                         p.set(op.getRound(), divU(p, item, sharing));
                     });
}

static LogicalResult lowerIf(scf::IfOp op, PartitionBuilder &p) {
  SmallVector<Type> types = packedTypes(op.getResultTypes());
  bool otherwise = !op.getElseRegion().empty();
  auto choice =
      scf::IfOp::create(p, types, p.scalar(op.getCondition()), otherwise || !types.empty());
  auto emitArm = [&](Block &from, Block *to) {
    OpBuilder::InsertionGuard guard(p);
    p.setInsertionPointToStart(to);
    if (failed(p.emitOps(from)))
      return failure();
    if (!types.empty())
      scf::YieldOp::create(p, p.packAll(from.getTerminator()->getOperands()));
    return success();
  };
  if (failed(emitArm(op.getThenRegion().front(), choice.thenBlock())))
    return failure();
  if (otherwise && failed(emitArm(op.getElseRegion().front(), choice.elseBlock())))
    return failure();
  p.unpackAll(op.getResults(), choice.getResults());
  return success();
}

static LogicalResult lowerWhile(scf::WhileOp op, PartitionBuilder &p) {
  SmallVector<Type> before = packedTypes(op.getInits().getTypes());
  SmallVector<Type> after = packedTypes(op.getResultTypes());
  auto loop = scf::WhileOp::create(p, after, p.packAll(op.getInits()));
  SmallVector<Location> locs(std::max(before.size(), after.size()), p.getLoc());
  {
    OpBuilder::InsertionGuard guard(p);
    Block *block =
        p.createBlock(&loop.getBefore(), {}, before, ArrayRef(locs).take_front(before.size()));
    p.unpackAll(op.getBeforeArguments(), block->getArguments());
    if (failed(p.emitOps(*op.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    scf::ConditionOp::create(p, p.scalar(condition.getCondition()), p.packAll(condition.getArgs()));
    block = p.createBlock(&loop.getAfter(), {}, after, ArrayRef(locs).take_front(after.size()));
    p.unpackAll(op.getAfterArguments(), block->getArguments());
    ItemSpan span(p, op, op.getAfterArguments().empty() ? Value() : op.getAfterArguments()[0]);
    if (failed(p.emitOps(*op.getAfterBody())))
      return failure();
    span.end();
    // One thread may have more to do than the others: without this they would go around
    // by themselves as far as ptxas knows, and nothing in the loop were uniform.
    mk_thread::SyncWarpOp::create(p);
    scf::YieldOp::create(p, p.packAll(op.getYieldOp().getOperands()));
  }
  p.unpackAll(op.getResults(), loop.getResults());
  return success();
}

void sm::populateControlFlowLowerings(LoweringTable &table) {
  table.add(
      lowerFor, lowerItems, lowerIf, lowerWhile, lowerWaitAll,
      [](UntilFailedOp op, PartitionBuilder &p) {
        p.set(op, and_(p, p.scalar(op.getCondition()), eq(p, agreeOnFailure(p), 0)));
      },
      // Read with the buffers of its loop.
      [](KeepWordsOp op, PartitionBuilder &p) {});
}
