//===- ControlFlow.cpp - Loops and branches -------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

LogicalResult Lowering::emitOps(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

/// Whether the loop takes tiles that the producer loads: it goes around as often in both,
/// and the producer, which has registers to spare, says what is wrong with its bounds.
static bool takesTiles(Operation *op) {
  return holds<mk_sm::WaitOp>(op);
}

/// An iteration of a loop over items, as a span.
struct Lowering::ItemSpan {
  ItemSpan(Lowering &lowering, Operation *loop, Value number)
      : lowering(lowering), loop(loop->getParentOp() == lowering.partition ? loop : nullptr) {
    if (this->loop && lowering.places)
      lowering.beginSpan(SpanClock::Item, number && number.getType().isIntOrIndex()
                                              ? lowering.scalar(number)
                                              : lowering.c64(0));
  }
  void end() {
    if (!loop)
      return;
    lowering.currentOp = loop;
    lowering.endSpan(SpanClock::Item, MK_TIMELINE_ITEM);
  }
  Lowering &lowering;
  Operation *loop;
};

/// Makes bounds in 64 bits fit 32, the loop empty where they do not: a CTA that went through more
/// would never end. Whether it is known to begin at 0 or above.
bool Lowering::clampUpperBound(Operation *op, Value from, Value &to, Value step) {
  constexpr int64_t kMost = 1 << 30;
  APInt constant;
  bool positive = matchPattern(from, m_ConstantInt(&constant)) && !constant.isNegative();
  Value fits = cbool(true);
  for (Value value : {from, to, step})
    if (!value.getDefiningOp<arith::ConstantOp>())
      fits = and_(fits, cmp(Predicate::sle, value, kMost));
  if (!positive)
    fits = and_(fits, cmp(Predicate::sge, from, -kMost));
  if (!fits.getDefiningOp<arith::ConstantOp>()) {
    if (isOneWarp() || !takesTiles(op))
      failUnless(fits, MK_FAIL_LOOP);
    to = select(fits, to, from);
  }
  // An empty loop may end far below.
  to = maxS(to, c64(-kMost));
  return positive;
}

/// Whether all that a loop does is to wait, for what its iterations do not change.
static bool isLoopOfWaits(scf::ForOp op) {
  bool waits = false;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<mk::WaitOp>(inner))
      waits = true;
    else if (inner.getNumRegions() || !isMemoryEffectFree(&inner))
      return false;
  }
  return waits && op.getInits().empty();
}

/// Threads of the partition wait side by side: it takes as long as the longest wait, not as all.
LogicalResult Lowering::emitWaits(scf::ForOp op) {
  Value from = scalar(op.getLowerBound()), to = scalar(op.getUpperBound()),
        step = scalar(op.getStep());
  clampUpperBound(op, from, to, step);
  Value own = resize(partitionThread, i64);
  auto loop = scf::ForOp::create(b, loc, add(from, mul(own, step)), to,
                                 mul(step, partition.getNumThreads()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    set(op.getInductionVar(), loop.getInductionVar());
    llvm::SaveAndRestore apart(waitsDiverge, true);
    if (failed(emitOps(*op.getBody())))
      return failure();
  }
  barrierPartition();
  updateWaitFailed();
  return success();
}

/// Whether each step of a loop of products loads from memory, or one that fills slots copies by
/// threads. What addresses are computed from is read once then, in front of the loop; elsewhere a
/// register costs more than reading it again.
static bool loadsBesideProducts(scf::ForOp op) {
  bool copies = llvm::any_of(op.getOps<CopyOp>(),
                             [](CopyOp copy) { return copy.getTileType().getRank() == 1; });
  return copies || (!op.getOps<MmaOp>().empty() && (!op.getOps<mk::LoadOp>().empty() ||
                                                    !op.getOps<memref::LoadOp>().empty()));
}

LogicalResult Lowering::lower(scf::ForOp op) {
  llvm::SaveAndRestore keeps(keepsWords, keepsWords || loadsBesideProducts(op));
  // One track has room for one wait at a time.
  if (!places && !isOneWarp() && isLoopOfWaits(op))
    return emitWaits(op);
  return emitCounted(op, scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                     scalar(op.getStep()), op.getInitArgs(), [](Value) {});
}

LogicalResult Lowering::lower(ItemsOp op) {
  auto role = op->getParentOfType<RoleOp>();
  int64_t sharing = role ? ctas[*resources.indexOf(role)] : countGrid(kernel, ctas);
  return emitCounted(op, ctaInRole, scalar(op.getTotal()), c64(sharing * op.getEvery()), {},
                     [&](Value item) {
                       if (!op.getRound().use_empty())
                         set(op.getRound(), divU(item, sharing));
                     });
}

/// A loop that counts, its counter the first argument of its region and what it carries the
/// last ones.
LogicalResult Lowering::emitCounted(Operation *op, Value from, Value to, Value step,
                                    ValueRange inits, function_ref<void(Value)> enter) {
  Region &region = op->getRegion(0);
  Value induction = region.getArgument(0);
  SmallVector<Type> types = packedTypes(op->getResultTypes());
  bool narrow = from.getType().isInteger(64);
  bool positive = false;
  if (narrow) {
    positive = clampUpperBound(op, from, to, step);
    from = resize(from, i32), to = resize(to, i32), step = resize(step, i32);
  }
  // All lanes have the same end. If it comes from a division, which branches, ptxas does
  // not know that, and keeps what the loop computes out of uniform registers.
  if (!to.getDefiningOp<arith::ConstantOp>())
    to = fromLane0(to);
  auto loop = scf::ForOp::create(b, loc, from, to, step, packAll(inits));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value counter = loop.getInductionVar();
    set(induction, narrow ? resize(counter, i64, /*isSigned=*/!positive) : counter);
    enter(scalar(induction));
    unpackAll(region.getArguments().take_back(inits.size()), loop.getRegionIterArgs());
    ItemSpan span(*this, op, induction);
    if (failed(emitOps(region.front())))
      return failure();
    span.end();
    if (!types.empty())
      scf::YieldOp::create(b, loc, packAll(region.front().getTerminator()->getOperands()));
  }
  unpackAll(op->getResults(), loop.getResults());
  return success();
}

LogicalResult Lowering::lower(scf::IfOp op) {
  SmallVector<Type> types = packedTypes(op.getResultTypes());
  bool otherwise = !op.getElseRegion().empty();
  auto choice = scf::IfOp::create(b, loc, types, scalar(op.getCondition()),
                                  otherwise || !types.empty());
  auto emitArm = [&](Block &from, Block *to) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    if (failed(emitOps(from)))
      return failure();
    if (!types.empty())
      scf::YieldOp::create(b, loc, packAll(from.getTerminator()->getOperands()));
    return success();
  };
  if (failed(emitArm(op.getThenRegion().front(), choice.thenBlock())))
    return failure();
  if (otherwise &&
      failed(emitArm(op.getElseRegion().front(), choice.elseBlock())))
    return failure();
  unpackAll(op.getResults(), choice.getResults());
  return success();
}

LogicalResult Lowering::lower(scf::WhileOp op) {
  SmallVector<Type> before = packedTypes(op.getInits().getTypes());
  SmallVector<Type> after = packedTypes(op.getResultTypes());
  auto loop = scf::WhileOp::create(b, loc, after, packAll(op.getInits()));
  SmallVector<Location> locs(std::max(before.size(), after.size()), loc);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&loop.getBefore(), {}, before,
                                 ArrayRef(locs).take_front(before.size()));
    unpackAll(op.getBeforeArguments(), block->getArguments());
    if (failed(emitOps(*op.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    Value goesOn = scalar(condition.getCondition());
    // It may wait for what nobody writes any more. Tickets end by themselves.
    if (!drawsItems(op))
      goesOn = and_(goesOn, eq(agreeOnFailure(), 0));
    scf::ConditionOp::create(b, loc, goesOn, packAll(condition.getArgs()));
    block = b.createBlock(&loop.getAfter(), {}, after,
                          ArrayRef(locs).take_front(after.size()));
    unpackAll(op.getAfterArguments(), block->getArguments());
    ItemSpan span(*this, op, op.getAfterArguments().empty() ? Value() : op.getAfterArguments()[0]);
    if (failed(emitOps(*op.getAfterBody())))
      return failure();
    span.end();
    // One thread may have more to do than the others: without this they would go around
    // by themselves as far as ptxas knows, and nothing in the loop were uniform.
    syncWarp();
    scf::YieldOp::create(b, loc, packAll(op.getYieldOp().getOperands()));
  }
  unpackAll(op.getResults(), loop.getResults());
  return success();
}
