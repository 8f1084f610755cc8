//===- ExpandStreamK.cpp - Loops whose last items are split ---------------===//
//
// `schedule(stream_k, tail = t)` becomes two static loops in ordinary ops: one over
// the items that fill whole waves, and one over parts of the others. Where there are CTAs for two
// parts of each of these or more, each is cut into as many parts, up to a number. Else the steps
// of the split items' folds, item behind item, are divided evenly among the
// role's CTAs. A CTA walks its steps from the last item to the first:
//
//   - where its part ends before the item does, it stores the carried tiles to
//     a scratch argument and raises a signal. That can only be its last item, and
//     is done first, so that nobody waits for a CTA that waits;
//   - where its part ends with the item, it is the owner: it waits for the CTAs before it, adds
//     what they have stored, each in front of its own sum, and goes on behind the fold.
//
// Where items are cut alike and what stands behind the fold works on each row by itself
// (mkernel/Analysis/StreamK.h), nobody is the owner: all CTAs that have a part of an item store it,
// wait for each other, and each adds up some rows of all parts and goes on with these. The more
// parts there are, the fewer rows are added at a time. Items that differ in a last dimension of as
// many as CTAs of a cluster are cut side by side then: CTAs side by side have the same part of
// them, and can fetch together what they share.
//
// Where it is known that items fill whole waves there is nothing to split, and the loop is static.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "SliceEpilogue.h"
#include "StreamKParts.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Transforms/ItemOrder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;
using mlir::mk_sm::missed;

static constexpr StringRef kExpandStreamK = "mk-expand-stream-k";

namespace {
class Expansion : IndexMath {
public:
  Expansion(ForeachOp loop, int64_t ctas)
      : IndexMath{OpBuilder(loop), loop.getLoc()}, loop(loop), kernel(getKernel(loop)), ctas(ctas) {
  }

  LogicalResult run();

private:
  LogicalResult check();
  bool isEven();
  void findSlices();
  void findCluster();
  void countItems();
  /// The indices of item `t`, mapped to those of the loop's body.
  IRMapping itemAt(Value t);
  void buildWhole();
  void buildSplit();
  void buildParts(Value w);
  void buildBeside(Value w);
  void buildPart(Value w, Value begin, Value end, Value item);
  FoldOp clonePart(IRMapping &mapping, Value from, Value to);
  SmallVector<Value> sumParts(Value w, Value item, ValueRange part);
  void finishPart(Value w, Value item, Value isLast, ValueRange part, IRMapping mapping);
  void sharePart(Value w, Value item, ValueRange part, const IRMapping &mapping);
  void finishSlices(Value w, Value first, int64_t slices, const IRMapping &mapping);

  /// floor(x * units / parts): where part x begins.
  Value partBegin(Value x) { return div(mul(x, units), parts); }

  ForeachOp loop;
  KernelOp kernel;
  int64_t ctas;
  FoldOp fold;
  /// Which tiles are cut where CTAs finish some rows of an item each; none if they cannot.
  std::optional<FoldSlices> slices;
  /// How many CTAs side by side have the same part of items side by side, where all are cut alike.
  int64_t cluster = 1;
  ItemSpace space;
  /// Items of whole waves; steps of a fold, of all folds that are split, and CTAs
  /// among which they are divided.
  Value whole, steps, units, parts;
  /// Parts of each, and whether all are cut into as many.
  Value ofItem, alike;
  std::optional<StreamKParts> left; // what CTAs leave for each other
};
} // namespace

LogicalResult Expansion::check() {
  fold = *loop.getBody().getOps<FoldOp>().begin();
  if (OrderAttr order = loop.getOrderAttr(); order && order.getAlternate() > 1)
    return loop.emitOpError() << "has order(alternate = " << order.getAlternate()
                              << "), but schedule stream_k splits items among CTAs: use "
                                 "schedule(static), or leave alternate out";
  auto isInside = [&](Value value) { return loop.getBody().isAncestor(value.getParentRegion()); };
  if (isInside(fold.getCount()))
    return fold.emitOpError()
           << "has a count that depends on the item, but schedule stream_k divides as many steps "
              "for each: compute it before the loop, or use schedule(ticket)";
  for (auto [i, init] : llvm::enumerate(fold.getInits()))
    if (!isTile(init.getType()))
      return fold.emitOpError() << "carries a scalar (value " << i
                                << "), which schedule stream_k cannot pass between CTAs: carry a "
                                   "tile, or use schedule(ticket)";
  if (failed(verifyBefore(fold, "schedule stream_k splits")))
    return failure();
  auto name = dyn_cast<FlatSymbolRefAttr>(fold.getCombineAttr());
  if (!name)
    return success();
  auto function = kernel->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr());
  if (!function || !function.getBody().hasOneBlock())
    return fold.emitOpError() << "combines by " << name << ", which has no body of one block here";
  return success();
}

/// Into how many slices of the same number of rows an item may be cut, most first: each number is
/// code of its own.
static SmallVector<int64_t> getSliceCounts(FoldOp fold) {
  auto type = cast<RankedTensorType>(fold.getResultTypes().front());
  int64_t rows = type.getRank() ? type.getDimSize(0) : 1;
  ThresholdsAttr limits = getSm(fold).getThresholds();
  SmallVector<int64_t> counts;
  for (int64_t count = limits.getItemSlices(); count > 1; count /= 2)
    if (rows % count == 0 && rows / count >= limits.getSliceRows())
      counts.push_back(count);
  return counts;
}

void Expansion::findSlices() {
  FoldSlices found(fold);
  if (found && getSliceCounts(fold).empty())
    return;
  if (found)
    slices = std::move(found);
  else
    missed(found.getObstacleOp(), kExpandStreamK)
        << remark::add("{0}, so one CTA adds up all parts of a split item", found.getObstacle());
}

void Expansion::findCluster() {
  if (!slices)
    return;
  APInt extent;
  for (Value bound : llvm::reverse(loop.getBounds()))
    if (!matchPattern(bound, m_ConstantInt(&extent)) || extent != 1)
      break;
  for (int64_t size = getLargestCluster(getSm(loop), std::nullopt); size > 1; size /= 2)
    if (extent.getBitWidth() > 1 && extent == size && ctas % size == 0)
      cluster = size;
}

void Expansion::countItems() {
  space.bounds = clampBounds(b, loc, loop.getBounds());
  space.order = loop.getOrderAttr();
  space.own.assign(loop.getOwn().begin(), loop.getOwn().end());
  if (space.order && space.order.getStagger())
    space.rank = RankOp::create(b, loc, b.getIndexType(), ValueRange(), ArrayAttr());
  Value items = mk::countItems(b, loc, space.bounds);
  Value zero = index(0), wave = index(ctas);
  steps = max(fold.getCount(), zero);
  // Whole waves but for the last of the tail; all items if there is nothing to
  // gain, or nothing to split.
  Value waves = div(items, wave);
  Value kept = max(sub(waves, index(loop.getSchedule()->getTail() - 1)), zero);
  Value even = equal(rem(items, wave), zero);
  Value empty = equal(steps, zero);
  Value all = make<arith::OrIOp>(even, empty);
  whole = select(all, items, mul(kept, wave));
  Value split = sub(items, whole);
  units = mul(split, steps);
  ThresholdsAttr thresholds = getSm(loop).getThresholds();
  int64_t most = slices ? thresholds.getSlicedParts() : thresholds.getItemParts();
  ofItem = div(wave, max(split, index(1)));
  ofItem = min(min(ofItem, steps), index(most));
  alike = cmp(arith::CmpIPredicate::sge, ofItem, index(2));
  parts = select(alike, mul(split, ofItem), min(units, wave));
}

IRMapping Expansion::itemAt(Value t) {
  IRMapping mapping;
  mapping.map(loop.getBody().getArguments(), getItemIndices(b, loc, t, space));
  return mapping;
}

static ScheduleAttr makeStatic(MLIRContext *context) {
  return ScheduleAttr::get(context, ScheduleKind::Static, /*tail=*/0, /*parts=*/0, StringAttr(),
                           StringAttr(), StringAttr());
}

/// A static loop without an order over [0, bound); the builder stands in its body.
static ForeachOp createLoop(OpBuilder &b, Location loc, Value bound) {
  auto created = ForeachOp::create(b, loc, ValueRange{bound}, /*likely=*/Value(), ValueRange(),
                                   makeStatic(b.getContext()), OrderAttr());
  Block &body = created.getBody().emplaceBlock();
  body.addArgument(b.getIndexType(), loc);
  b.setInsertionPointToStart(&body);
  return created;
}

void Expansion::buildWhole() {
  OpBuilder::InsertionGuard guard(b);
  ForeachOp created = createLoop(b, loc, whole);
  IRMapping mapping = itemAt(created.getBody().getArgument(0));
  for (Operation &op : loop.getBody().front())
    b.clone(op, mapping);
}

void Expansion::buildSplit() {
  OpBuilder::InsertionGuard guard(b);
  ForeachOp created = createLoop(b, loc, parts);
  Value w = created.getBody().getArgument(0);
  if (cluster == 1)
    return buildParts(w);
  auto choice = scf::IfOp::create(b, loc, alike, /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  buildBeside(w);
  b.setInsertionPointToStart(choice.elseBlock());
  buildParts(w);
}

/// Where all items are cut alike: CTAs of a cluster have the same part of items side by side. Parts
/// keep their numbers, item behind item.
void Expansion::buildBeside(Value w) {
  Value size = index(cluster), one = index(1);
  Value together = div(w, size), place = rem(w, size);
  Value group = div(together, ofItem), number = rem(together, ofItem);
  Value item = add(mul(group, size), place);
  auto stepsBefore = [&](Value n) { return div(mul(n, steps), ofItem); };
  IRMapping mapping = itemAt(add(whole, item));
  FoldOp part = clonePart(mapping, stepsBefore(number), stepsBefore(add(number, one)));
  Value ofAll = add(mul(item, ofItem), number);
  sharePart(ofAll, item, part.getResults(), mapping);
}

/// The steps of part `w`, item by item from the last.
void Expansion::buildParts(Value w) {
  OpBuilder::InsertionGuard guard(b);
  Value one = index(1);
  Value begin = partBegin(w), end = partBegin(add(w, one));
  Value first = div(begin, steps);
  Value last = div(sub(end, one), steps);
  Value count = add(sub(last, first), one);
  auto items = scf::ForOp::create(b, loc, index(0), count, one);
  b.setInsertionPointToStart(items.getBody());
  buildPart(w, begin, end, sub(last, items.getInductionVar()));
}

/// Steps [from, to) of an item's fold, and what stands in front of it.
FoldOp Expansion::clonePart(IRMapping &mapping, Value from, Value to) {
  for (Operation *op = &loop.getBody().front().front(); op != fold; op = op->getNextNode())
    b.clone(*op, mapping);
  return cloneSteps(b, fold, mapping, from, to);
}

/// What part `w`, steps [begin, end), does for split item `item`.
void Expansion::buildPart(Value w, Value begin, Value end, Value item) {
  IRMapping mapping = itemAt(add(whole, item));
  Value before = mul(item, steps);
  Value from = max(sub(begin, before), index(0));
  Value to = min(sub(end, before), steps);
  FoldOp part = clonePart(mapping, from, to);
  Value isLast = equal(to, steps);
  if (!slices)
    return finishPart(w, item, isLast, part.getResults(), mapping);
  auto choice = scf::IfOp::create(b, loc, alike, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  sharePart(w, item, part.getResults(), mapping);
  b.setInsertionPointToStart(choice.elseBlock());
  finishPart(w, item, isLast, part.getResults(), mapping);
}

/// The owner of the item has its last part.
void Expansion::finishPart(Value w, Value item, Value isLast, ValueRange part, IRMapping mapping) {
  auto choice = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  left->store(w, part);
  b.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> sums = sumParts(w, item, part);
  mapping.map(fold.getResults(), sums);
  for (Operation *op = fold->getNextNode(); op; op = op->getNextNode())
    b.clone(*op, mapping);
}

/// What the parts before `w` of the item give together with its own.
SmallVector<Value> Expansion::sumParts(Value w, Value item, ValueRange part) {
  // The part that holds the item's first step: the last that begins at it or before.
  Value one = index(1);
  Value start = add(mul(item, steps), one);
  Value scaled = sub(mul(start, parts), one);
  Value first = div(scaled, units);
  Value before = sub(w, first);
  left->await(first, before);
  return left->sumBefore(w, before, part);
}

/// Stores the part, waits for the item's others, and finishes the rows that fall to this CTA.
void Expansion::sharePart(Value w, Value item, ValueRange part, const IRMapping &mapping) {
  left->store(w, part);
  Value first = mul(item, ofItem);
  left->await(first, ofItem);
  OpBuilder::InsertionGuard guard(b);
  // Into half as many where that is enough for all CTAs.
  SmallVector<int64_t> counts = getSliceCounts(fold);
  for (auto [count, half] : llvm::zip(counts, ArrayRef(counts).drop_front())) {
    Value many = cmp(arith::CmpIPredicate::sgt, ofItem, index(half));
    auto choice = scf::IfOp::create(b, loc, many, /*withElseRegion=*/true);
    b.setInsertionPointToStart(choice.thenBlock());
    finishSlices(w, first, count, mapping);
    b.setInsertionPointToStart(choice.elseBlock());
  }
  finishSlices(w, first, counts.back(), mapping);
}

/// Cuts the item whose parts begin at `first` into so many slices, which its CTAs take in turn.
void Expansion::finishSlices(Value w, Value first, int64_t count, const IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types;
  int64_t rows = cast<RankedTensorType>(fold.getResultTypes().front()).getDimSize(0) / count;
  for (Type type : fold.getResultTypes())
    types.push_back(cutTile(type, 0, rows));
  auto own = scf::ForOp::create(b, loc, sub(w, first), index(count), ofItem);
  b.setInsertionPointToStart(own.getBody());
  Value row = mul(own.getInductionVar(), index(rows));
  cloneSlice(b, fold, *slices, mapping, left->sumRows(first, ofItem, row, types, count), row, rows);
}

/// Whether it is known that all items fill whole waves.
bool Expansion::isEven() {
  int64_t items = 1;
  for (Value bound : loop.getBounds()) {
    std::optional<int64_t> number = evaluateIndex(bound);
    if (!number)
      return false;
    items *= std::max<int64_t>(*number, 0);
  }
  return items % ctas == 0;
}

LogicalResult Expansion::run() {
  if (failed(check()))
    return failure();
  if (isEven()) {
    loop.setScheduleAttr(makeStatic(loop.getContext()));
    return success();
  }
  findSlices();
  findCluster();
  left.emplace(fold, static_cast<IndexMath &>(*this));
  left->declare(loop->getParentOfType<RoleOp>(), ctas);
  countItems();
  buildWhole();
  buildSplit();
  loop.erase();
  return success();
}

LogicalResult mk::expandStreamK(KernelOp kernel) {
  SmallVector<ForeachOp> loops;
  kernel.walk([&](ForeachOp loop) {
    if (loop.getScheduleKind() == ScheduleKind::StreamK)
      loops.push_back(loop);
  });
  if (loops.empty())
    return success();
  FailureOr<SmallVector<int64_t>> ctas = getCtas(kernel);
  if (failed(ctas))
    return failure();
  llvm::DenseMap<Operation *, int64_t> ctasOf;
  for (auto [role, count] : llvm::zip(kernel.getBody().getOps<RoleOp>(), *ctas))
    ctasOf[role] = count;
  for (ForeachOp loop : loops) {
    auto role = dyn_cast<RoleOp>(loop->getParentOp());
    if (!role)
      return loop.emitOpError() << "with schedule stream_k stands inside another op; move it to "
                                   "the role's top level or use schedule(static)";
    // A role whose only CTA does everything has nothing to divide.
    if (failed(Expansion(loop, std::max<int64_t>(ctasOf.lookup(role), 1)).run()))
      return failure();
  }
  return success();
}
