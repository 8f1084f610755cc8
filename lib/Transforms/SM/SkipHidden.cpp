//===- SkipHidden.cpp - Iterations of which a warpgroup keeps nothing -----===//
//
// Of a tile of scores of causal attention on the diagonal the warpgroup of the first rows sees
// fewer keys than that of the last ones: it leaves the loop behind its own last iteration. One
// whose rows all lie behind the end of what is stored goes through none. Slots of the iterations
// that are left come and go all the same: a warpgroup waits for each and releases it, since a slot
// is free when all have released it.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "MaskLimits.h"
#include "StoredRows.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSkipHidden = "mk-sm-skip-hidden";

/// Whether a tile is of accumulators, or has a value for each row of such: of a row all lies in one
/// warp. Elements of others change threads by way of shared memory, for which all warpgroups meet.
static bool isOfRows(Type type) {
  Attribute layout = cast<RankedTensorType>(type).getEncoding();
  auto slice = dyn_cast_or_null<SliceAttr>(layout);
  return slice ? slice.getAxis() == 1 && isa<MmaAttr>(slice.getOf())
               : isa_and_nonnull<MmaAttr>(layout);
}

/// Whether a warpgroup does the op without the others.
static bool isDoneApart(Operation &op) {
  auto isApart = [](Type type) { return !isa<RankedTensorType>(type) || isOfRows(type); };
  if (!llvm::all_of(op.getOperandTypes(), isApart) || !llvm::all_of(op.getResultTypes(), isApart))
    return false;
  if (auto reduce = dyn_cast<mk::ReduceOp>(op))
    return reduce.getAxis() == 1;
  if (auto broadcast = dyn_cast<mk::BroadcastOp>(op)) {
    auto from = cast<RankedTensorType>(broadcast.getSource().getType());
    auto to = cast<RankedTensorType>(broadcast.getType());
    auto slice = dyn_cast<SliceAttr>(from.getEncoding());
    return slice && slice.getOf() == to.getEncoding();
  }
  return op.getNumRegions() == 0 &&
         (isa<WaitOp, ReleaseOp, TileOp, ReadOp, MmaOp, MmaFenceOp, MmaWaitOp, DeferOp, RescaleOp,
              PartialSumOp, mk::MaskOp, scf::YieldOp>(op) ||
          isa_and_present<arith::ArithDialect, math::MathDialect>(op.getDialect()));
}

namespace {
class Skipper : MaskLimits {
public:
  explicit Skipper(scf::ForOp loop)
      : MaskLimits(loop), partition(loop->getParentOfType<PartitionOp>()) {}
  void run();

private:
  bool mayLeave();
  /// Whether each warpgroup has `rows` rows of a fragment, one after the other.
  bool isDivided(Type fragment);
  /// Whether each store of the loop's results says how many rows are valid, as of groups of a
  /// grouped product, or of shards: many tiles may be cut. The argument's own end cuts the last
  /// ones only.
  bool endInside();
  /// The loop in front, whose results this one begins with, which ends where it begins, and which
  /// takes the same slots; null if there is none.
  scf::ForOp findWhole();
  /// Behind which iteration the warpgroup sees nothing more; null if that is the last one for all.
  Value findEnd(Value warpgroup);
  /// i1: whether the warpgroup has rows that are stored; null if all have.
  Value findStored(Value warpgroup);
  /// The last op of an item that takes a slot of the rings in which the loop waits; null if that is
  /// no op behind the loop in its block, or if a warpgroup could wait in between for what only
  /// comes when it has released slots.
  Operation *findLast();
  /// Waits for slots of these iterations, and releases them.
  void drain(Value from, Value to);
  /// Where nothing else is left out: either the loop, or its slots come and go.
  void branch(Value stored);

  PartitionOp partition;
  int64_t rows = 0; // of a warpgroup
};
} // namespace

bool Skipper::isDivided(Type fragment) {
  auto type = cast<RankedTensorType>(fragment);
  return isa_and_nonnull<MmaAttr>(type.getEncoding()) &&
         type.getDimSize(0) == rows * partition.getNumWarpgroups();
}

bool Skipper::endInside() {
  StoredRows stored(rows * partition.getNumWarpgroups());
  return stored.follow(loop.getResults()) && stored.endInside();
}

bool Skipper::mayLeave() {
  if (partition.getTeams() > 1 || partition.getNumWarpgroups() < 2 ||
      getConstantIntValue(loop.getStep()) != 1)
    return false;
  auto dots = loop.getBody()->getOps<MmaOp>();
  rows = cast<RankedTensorType>((*dots.begin()).getType()).getDimSize(0) /
         partition.getNumWarpgroups();
  // Masks hide what is computed between products.
  if (!computesBetweenDots(loop) && !endInside())
    return false;
  for (Operation &op : *loop.getBody())
    if (!isDoneApart(op)) {
      missed(loop, kSkipHidden) << remark::add(
          "has '{0}', which is not known to be done by a warpgroup alone",
          op.getName().getStringRef());
      return false;
    }
  // What is the same for all rows would differ between warpgroups behind the loop.
  for (Type type : loop.getResultTypes())
    if (!isa<RankedTensorType>(type) || !isOfRows(type)) {
      missed(loop, kSkipHidden) << "carries what belongs to no row of a tile, and would differ "
                                   "between warpgroups behind it";
      return false;
    }
  return llvm::all_of(dots, [&](MmaOp mma) { return isDivided(mma.getType()); });
}

/// The rings whose slots an iteration waits for, in this order.
static SmallVector<Value> getRings(scf::ForOp loop) {
  return llvm::map_to_vector(loop.getBody()->getOps<WaitOp>(),
                             [](WaitOp wait) -> Value { return wait.getRing(); });
}

scf::ForOp Skipper::findWhole() {
  if (loop.getInitArgs().empty())
    return {};
  auto whole = loop.getInitArgs().front().getDefiningOp<scf::ForOp>();
  bool follows = whole && whole.getUpperBound() == loop.getLowerBound() &&
                 whole.getStep() == loop.getStep() && getRings(whole) == getRings(loop) &&
                 llvm::equal(whole.getResults(), loop.getInitArgs()) &&
                 llvm::all_of(*whole.getBody(), isDoneApart);
  return follows ? whole : scf::ForOp();
}

Value Skipper::findEnd(Value warpgroup) {
  Value all = loop.getUpperBound(), end = all;
  for (auto mask : loop.getBody()->getOps<mk::MaskOp>()) {
    if (!mask.getSkippable() || !isDivided(mask.getType()))
      continue;
    // Of the warpgroup's rows, where it is most.
    auto element = [&](unsigned d, int64_t factor) {
      int64_t extent = d == 0 ? rows : cast<RankedTensorType>(mask.getType()).getDimSize(d);
      Linear most{{}, std::max<int64_t>(factor, 0) * (extent - 1), 0};
      if (d == 0 && factor)
        most.base = mul(warpgroup, index(rows * factor));
      return most;
    };
    // Any constraint hides.
    for (unsigned i = 0; i < mask.getSet().getNumConstraints(); ++i)
      if (std::optional<Value> first = findFirstBroken(mask, i, element, [](StringRef) {}))
        end = min(end, *first);
  }
  return end == all ? Value() : max(end, loop.getLowerBound());
}

Value Skipper::findStored(Value warpgroup) {
  StoredRows stored(rows * partition.getNumWarpgroups());
  if (!stored.follow(loop.getResults()) || stored.areAll() ||
      !stored.isKnownAt(&*b.getInsertionPoint()))
    return {};
  Value count = stored.count(b, loc);
  return less(mul(warpgroup, index(rows)), count);
}

Operation *Skipper::findLast() {
  SmallVector<Value> rings = getRings(loop);
  auto takes = [&](Operation *op) {
    return mk::holdsAny(op, [&](Operation *inner) {
      return llvm::any_of(inner->getOperands(),
                          [&](Value operand) { return llvm::is_contained(rings, operand); });
    });
  };
  Operation *last = loop;
  bool goesOn = true; // without what others have to do first
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    auto wait = dyn_cast<WaitOp>(op);
    goesOn &= isDoneApart(*op) && (!wait || llvm::is_contained(rings, wait.getRing()));
    if (!takes(op))
      continue;
    if (!goesOn)
      return nullptr;
    last = op;
  }
  // Around it there may be loops, which come here again.
  for (Operation *up = loop->getParentOp(); !isa<PartitionOp>(up); up = up->getParentOp())
    for (Operation *op = up->getNextNode(); op; op = op->getNextNode())
      if (takes(op))
        return nullptr;
  return last;
}

void Skipper::drain(Value from, Value to) {
  auto rest = scf::ForOp::create(b, loc, from, to, loop.getStep());
  b.setInsertionPointToStart(rest.getBody());
  for (auto wait : loop.getBody()->getOps<WaitOp>()) {
    WaitOp::create(b, loc, wait.getSlot().getType(), wait.getRing(), ValueRange());
    ReleaseOp::create(b, loc, wait.getRing(), ValueRange());
  }
}

void Skipper::branch(Value stored) {
  auto choice = scf::IfOp::create(b, loc, loop.getResultTypes(), stored, /*withElseRegion=*/true);
  loop.replaceAllUsesWith(choice.getResults());
  loop->moveBefore(choice.thenBlock(), choice.thenBlock()->begin());
  b.setInsertionPointToEnd(choice.thenBlock());
  scf::YieldOp::create(b, loc, loop.getResults());
  b.setInsertionPointToEnd(choice.elseBlock());
  scf::YieldOp::create(b, loc, loop.getInitArgs());
  b.setInsertionPointToStart(choice.elseBlock());
  drain(loop.getLowerBound(), loop.getUpperBound());
}

void Skipper::run() {
  if (!mayLeave())
    return;
  Operation *last = findLast();
  if (!last) { // as of the iterations without masks: they are looked at with those behind them
    if (!computesBetweenDots(loop))
      missed(loop, kSkipHidden) << "has rings in which others wait behind it: a warpgroup of which "
                                   "no row is stored goes through it, too";
    return;
  }
  scf::ForOp whole = findWhole();
  b.setInsertionPoint(whole ? whole : loop);
  Value warpgroup = WarpgroupIndexOp::create(b, loc, b.getIndexType());
  Value stored = findStored(warpgroup);
  b.setInsertionPoint(loop);
  Value all = loop.getUpperBound();
  Value end = findEnd(warpgroup);
  if (end)
    passed(loop, kSkipHidden) << remark::add(
        "is left by each of {0} warpgroups behind the last iteration of which it sees anything",
        partition.getNumWarpgroups());
  if (!stored && !computesBetweenDots(loop))
    missed(loop, kSkipHidden) << "gives rows of which the number that is stored is computed behind "
                                 "it: compute it in front";
  if (stored)
    passed(loop, kSkipHidden) << "is left out by warpgroups of which no row is stored";
  // Nothing is kept over the loop.
  if (stored && !end && !whole && last == loop)
    return branch(stored);
  Value from = end ? end : all;
  loop.setUpperBound(from);
  if (stored) {
    if (whole) {
      b.setInsertionPoint(whole);
      whole.setUpperBound(select(stored, whole.getUpperBound(), whole.getLowerBound()));
      b.setInsertionPoint(loop);
    }
    loop.setUpperBound(select(stored, from, loop.getLowerBound()));
    from = select(stored, from, (whole ? whole : loop).getLowerBound());
  }
  if (from == all)
    return;
  b.setInsertionPointAfter(last);
  drain(from, all);
}

void mk_sm::skipHidden(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module))
    Skipper(loop).run();
}
