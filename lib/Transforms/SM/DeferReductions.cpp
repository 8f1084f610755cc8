//===- DeferReductions.cpp - Lanes add up behind the loop -----------------===//
//
// For a loop
//   for ..., l = l0: l' = l * a + reduce_add(x)    (rows; a may be missing)
// in which nothing else sees l, it makes
//   for ..., p = l0 / n: p' = p * a + partial_sum(x)
//   l = reduce_add(p)
// where n is the number of columns of p, a power of two: n equal parts of l0 add up to l0 to the
// bit. A loop that is one of several, each going on where the one before ended, has its exchange
// between lanes once as well, not once a step.
//
// The recurrence is linear, so it holds for each thread's part of a row by itself, and
// the exchange between lanes is done once.
//
// Where tiles are dealt out it is the tile that is carried: for
//   for ..., l = l0: l' = max(l, reduce_max(x))    (or a sum, or a minimum; along any axis)
// it makes
//   for ..., p = the least: p' = max(p, x)
//   l = max(l0, reduce_max(p))
// or, of sums, what a thread has of each (`mk_sm.partial_sum`), where the tile takes too many
// registers: in a loop with products more than l did.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Transforms/Reductions.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kDeferReductions = "mk-sm-defer-reductions";

namespace {
/// A sum along rows that a loop carries.
struct Recurrence {
  unsigned carried; // which iter_arg
  arith::AddFOp add;
  mk::ReduceOp reduce;
  arith::MulFOp scaling; // null: the sum only grows
  Value factor;
};

/// Whether a tile of this type may be sums along the rows of accumulators.
bool holdsSums(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  auto slice = tile ? dyn_cast_or_null<SliceAttr>(tile.getEncoding()) : SliceAttr();
  return slice && slice.getAxis() == 1 && isa<MmaAttr>(slice.getOf());
}

/// The op that defines `value` if it stands in `block` and nothing else uses it.
template <typename OpT> OpT getOwn(Value value, Block *block) {
  auto op = value.getDefiningOp<OpT>();
  return op && op->getBlock() == block && op->hasOneUse() ? op : OpT();
}

std::optional<Recurrence> match(scf::ForOp loop, unsigned carried) {
  Block *body = loop.getBody();
  Value arg = loop.getRegionIterArg(carried);
  if (!holdsSums(arg.getType()) || !arg.hasOneUse() || loop.getResult(carried).use_empty())
    return std::nullopt;
  auto add = getOwn<arith::AddFOp>(loop.getYieldedValues()[carried], body);
  for (unsigned i = 0; add && i != 2; ++i) {
    auto reduce = getOwn<mk::ReduceOp>(add->getOperand(i), body);
    // Of what is dealt out otherwise lanes have no part of a row.
    if (!reduce || reduce.getKind() != mk::Reduction::Add || reduce.getAxis() != 1 ||
        !isa_and_nonnull<MmaAttr>(reduce.getSource().getType().getEncoding()))
      continue;
    Value rest = add->getOperand(1 - i);
    if (rest == arg)
      return Recurrence{carried, add, reduce, {}, {}};
    auto scaling = getOwn<arith::MulFOp>(rest, body);
    if (scaling && llvm::is_contained(scaling->getOperands(), arg))
      return Recurrence{carried, add, reduce, scaling,
                        scaling->getOperand(scaling.getLhs() == arg)};
  }
  return std::nullopt;
}

/// Says why a sum along rows that the loop carries is exchanged in each iteration.
void explainKept(scf::ForOp loop, unsigned carried) {
  auto add = loop.getYieldedValues()[carried].getDefiningOp<arith::AddFOp>();
  if (!add || !holdsSums(add.getType()))
    return;
  for (Value operand : add->getOperands()) {
    auto reduce = operand.getDefiningOp<mk::ReduceOp>();
    if (!reduce || reduce.getKind() != mk::Reduction::Add)
      continue;
    if (!loop.getRegionIterArg(carried).hasOneUse())
      missed(reduce, kDeferReductions) << "adds to a sum that the loop uses before it is complete, "
                                          "so lanes exchange it in each iteration";
    else if (!reduce->hasOneUse() || !add->hasOneUse())
      missed(reduce, kDeferReductions) << "gives a sum that the iteration uses otherwise, too, so "
                                          "lanes exchange it in each iteration";
    else
      missed(reduce, kDeferReductions) << "adds to what is no product of the carried sum and a "
                                          "factor, so lanes exchange it in each iteration";
  }
}

/// What a loop that went on from `sums` starts from: equal parts of them in all columns.
Value spread(OpBuilder &b, Location loc, Value sums, RankedTensorType partial) {
  if (isZero(sums))
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(partial));
  auto type = cast<RankedTensorType>(sums.getType());
  double columns = static_cast<double>(partial.getDimSize(1));
  Value share = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), 1 / columns)));
  Value parts = arith::MulFOp::create(b, loc, sums, share);
  return mk::BroadcastOp::create(b, loc, partial, parts, b.getDenseI64ArrayAttr({1}));
}

/// What a loop carries that reductions of tiles that are dealt out are joined to.
struct DealtRecurrence {
  unsigned carried;
  Operation *join;
  mk::ReduceOp reduce;
  bool isPartial; // what a thread has of each sum is carried, not the tile
};

bool isJoin(Operation *op, mk::Reduction kind) {
  switch (kind) {
  case mk::Reduction::Add:
    return isa<arith::AddFOp, arith::AddIOp>(op);
  case mk::Reduction::Max:
    return isa<arith::MaximumFOp, arith::MaxSIOp>(op);
  case mk::Reduction::Min:
    return isa<arith::MinimumFOp, arith::MinSIOp>(op);
  default:
    return false;
  }
}

/// Registers that tiles may take which the loop carries in place of what they are reduced to:
/// beside products as many as are loaded ahead there, and those of the sums; else twice as many,
/// if an iteration's own tiles leave them.
int64_t countMost(scf::ForOp loop) {
  int64_t early = mk::getSm(loop).getRegisters().getReserve().getEarly();
  if (mk::holds<MmaOp>(loop))
    return early;
  if (!mk::holds<MmaOp>(loop->getParentOfType<PartitionOp>()))
    return 2 * early;
  int64_t largest = 0;
  for (Operation &op : *loop.getBody())
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()))
        largest = std::max(largest, countRegisters(result.getType()));
  return std::min(2 * early, countFree(loop) - 2 * largest);
}

/// `most` registers are left for tiles that are carried.
std::optional<DealtRecurrence> matchDealt(scf::ForOp loop, unsigned carried, int64_t most) {
  Value arg = loop.getRegionIterArg(carried);
  Operation *join = loop.getYieldedValues()[carried].getDefiningOp();
  if (!arg.hasOneUse() || !join || join->getBlock() != loop.getBody() || !join->hasOneUse() ||
      *arg.user_begin() != join || join->getNumOperands() != 2)
    return std::nullopt;
  auto reduce = getOwn<mk::ReduceOp>(join->getOperand(join->getOperand(0) == arg), loop.getBody());
  if (!reduce || !isJoin(join, reduce.getKind()) ||
      !isa_and_nonnull<BlockedAttr>(reduce.getSource().getType().getEncoding()))
    return std::nullopt;
  bool multiplies = mk::holds<MmaOp>(loop);
  if (multiplies)
    most = std::max(most, countRegisters(arg.getType()));
  RankedTensorType tile = reduce.getSource().getType();
  RankedTensorType partial = reduce.getKind() == mk::Reduction::Add
                                 ? getPartialType(tile, reduce.getAxis())
                                 : RankedTensorType();
  bool fits = countRegisters(tile) <= most;
  if (!fits && !(partial && countRegisters(partial) <= most))
    return std::nullopt;
  return DealtRecurrence{carried, join, reduce, partial && (multiplies || !fits)};
}

void transform(scf::ForOp loop, DealtRecurrence &found) {
  auto [carried, join, reduce, isPartial] = found;
  Value arg = loop.getRegionIterArg(carried), result = loop.getResult(carried);
  Value tile = reduce.getSource();
  OpBuilder b(join);
  if (isPartial)
    tile = PartialSumOp::create(b, reduce.getLoc(), tile, reduce.getAxis());
  auto type = cast<RankedTensorType>(tile.getType());
  arith::AtomicRMWKind kind = mk::getReductionKind(reduce.getKind(), type.getElementType());
  passed(reduce, kDeferReductions) << "is exchanged between threads behind the loop";
  arg.setType(type);
  Value next = arith::getReductionOp(kind, b, join->getLoc(), arg, tile);
  join->replaceAllUsesWith(ValueRange(next));
  join->erase();
  b.setInsertionPoint(loop);
  OpOperand &init = loop.getInitArgsMutable()[carried];
  Value before = init.get();
  TypedAttr least = arith::getIdentityValueAttr(kind, type.getElementType(), b, loop.getLoc());
  init.set(arith::ConstantOp::create(b, loop.getLoc(), DenseElementsAttr::get(type, least)));
  result.setType(type);
  b.setInsertionPointAfter(loop);
  auto whole = mk::ReduceOp::create(b, reduce.getLoc(), reduce.getType(), reduce.getKind(), result,
                                    reduce.getAxis());
  bool isNeutral = reduce.getKind() == mk::Reduction::Add && isZero(before);
  Value sum =
      isNeutral ? whole.getResult() : arith::getReductionOp(kind, b, loop.getLoc(), before, whole);
  result.replaceAllUsesExcept(sum, whole);
  reduce->erase();
}

void transform(scf::ForOp loop, Recurrence &found) {
  Value arg = loop.getRegionIterArg(found.carried);
  Value result = loop.getResult(found.carried);
  auto sums = cast<RankedTensorType>(arg.getType());
  passed(found.reduce, kDeferReductions) << "is exchanged between lanes behind the loop";

  OpBuilder b(found.reduce);
  Value next = PartialSumOp::create(b, found.reduce.getLoc(), found.reduce.getSource());
  auto partial = cast<RankedTensorType>(next.getType());
  arg.setType(partial);
  Value before = arg;
  if (found.scaling) {
    b.setInsertionPoint(found.scaling);
    Location loc = found.scaling.getLoc();
    Value factors =
        mk::BroadcastOp::create(b, loc, partial, found.factor, b.getDenseI64ArrayAttr({1}));
    before = arith::MulFOp::create(b, loc, arg, factors, found.scaling.getFastmath());
  }
  b.setInsertionPoint(found.add);
  Value sum = arith::AddFOp::create(b, found.add.getLoc(), before, next, found.add.getFastmath());
  found.add->replaceAllUsesWith(ValueRange(sum));
  found.add->erase();
  found.reduce->erase();
  if (found.scaling)
    found.scaling->erase();

  b.setInsertionPoint(loop);
  OpOperand &init = loop.getInitArgsMutable()[found.carried];
  init.set(spread(b, loop.getLoc(), init.get(), partial));
  result.setType(partial);
  b.setInsertionPointAfter(loop);
  auto whole = mk::ReduceOp::create(b, loop.getLoc(), sums, mk::Reduction::Add, result, /*axis=*/1);
  result.replaceAllUsesExcept(whole.getResult(), whole);
}
} // namespace

void mk_sm::deferReductions(scf::ForOp loop) {
  auto partition = loop->getParentOfType<PartitionOp>();
  if (!partition)
    return; // of what copy engines do
  int64_t most = countMost(loop);
  bool multiplies = mk::holds<MmaOp>(partition);
  for (unsigned i = 0, e = loop.getNumResults(); i != e; ++i)
    if (std::optional<Recurrence> found = match(loop, i))
      transform(loop, *found);
    else if (std::optional<DealtRecurrence> dealt = matchDealt(loop, i, most)) {
      int64_t before = countRegisters(loop.getRegionIterArg(i).getType());
      transform(loop, *dealt);
      // In roles without products each tile has as many for itself.
      if (multiplies)
        most -= std::max<int64_t>(0, countRegisters(loop.getRegionIterArg(i).getType()) - before);
    } else
      explainKept(loop, i);
}
