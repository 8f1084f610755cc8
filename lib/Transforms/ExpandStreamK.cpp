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
// (mkernel/Analysis/StreamK.h), nobody is the owner: all CTAs that have a part of an item store it, wait
// for each other, and each adds up some rows of all parts and goes on with these. The more parts there
// are, the fewer rows are added at a time.
//
//===----------------------------------------------------------------------===//
#include "SliceEpilogue.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Transforms/ItemOrder.h"
#include "mkernel/Transforms/Passes.h"
#include "mkernel/Transforms/Reductions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::mk {
#define GEN_PASS_DEF_EXPANDSTREAMKPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;
using mlir::mk_sm::missed;

/// The owner loads parts of up to so many bytes together, so that the next one is under way while
/// one is added; larger ones would take the registers that the sum is in.
static constexpr int64_t kBytesAhead = 64 << 10;
/// As many at most.
static constexpr int64_t kMostAhead = 4;
/// Slices of a shared item at most, and rows of one at least: of a transposed tile they are what one
/// access stores.
static constexpr int64_t kMostSlices = 8, kLeastRows = 8;

static constexpr StringRef kExpandStreamK = "mk-expand-stream-k";

namespace {
class Expansion {
public:
  Expansion(ForeachOp loop, int64_t ctas)
      : loop(loop), kernel(getKernel(loop)), b(loop), loc(loop.getLoc()), ctas(ctas) {}

  LogicalResult run();

private:
  LogicalResult check();
  void findSlices();
  void declare();
  void countItems();
  /// The indices of item `t`, mapped to those of the loop's body.
  IRMapping itemAt(Value t);
  void buildWhole();
  void buildSplit();
  void buildPart(Value w, Value begin, Value end, Value item);
  FoldOp clonePart(IRMapping &mapping, Value from, Value to);
  void storePart(Value w, ValueRange part);
  void awaitParts(Value first, Value count);
  SmallVector<Value> sumParts(Value w, Value item, ValueRange part);
  SmallVector<Value> addParts(Value w, Value from, Value to, int64_t together, ValueRange sums);
  SmallVector<Value> loadParts(ValueRange place, TypeRange types);
  Value makeNeutral(Type type);
  void finishPart(Value w, Value item, Value isLast, ValueRange part, IRMapping mapping);
  void sharePart(Value w, Value item, ValueRange part, const IRMapping &mapping);
  void finishSlices(Value w, Value first, int64_t slices, const IRMapping &mapping);
  SmallVector<Value> sumSlice(Value first, Value row, ArrayRef<Type> types, int64_t together);
  SmallVector<Value> combine(ValueRange left, ValueRange right);
  BlockArgument addScratch(const Twine &name, MemRefType type);

  Value index(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
  template <typename Op> Value make(Value x, Value y) { return Op::create(b, loc, x, y); }
  Value compare(arith::CmpIPredicate how, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, how, x, y);
  }
  /// floor(x * units / parts): where part x begins.
  Value partBegin(Value x) {
    return make<arith::DivSIOp>(make<arith::MulIOp>(x, units), parts);
  }

  ForeachOp loop;
  KernelOp kernel;
  OpBuilder b;
  Location loc;
  int64_t ctas;
  FoldOp fold;
  /// Which tiles are cut where CTAs finish some rows of an item each; none if they cannot.
  std::optional<FoldSlices> slices;
  ItemSpace space;
  /// Items of whole waves; steps of a fold, of all folds that are split, and CTAs
  /// among which they are divided.
  Value whole, steps, units, parts;
  /// Parts of each, and whether all are cut into as many.
  Value ofItem, alike;
  SmallVector<Value> scratch;
  Value ready;
};
} // namespace

LogicalResult Expansion::check() {
  fold = *loop.getBody().getOps<FoldOp>().begin();
  if (OrderAttr order = loop.getOrderAttr(); order && order.getAlternate() > 1)
    return loop.emitOpError()
           << "has order(alternate = " << order.getAlternate()
           << "), but schedule stream_k splits items among CTAs: use schedule(static), or "
              "leave alternate out";
  auto isInside = [&](Value value) {
    return loop.getBody().isAncestor(value.getParentRegion());
  };
  if (isInside(fold.getCount()))
    return fold.emitOpError() << "has a count that depends on the item, but schedule "
                                 "stream_k divides as many steps for each: compute it "
                                 "before the loop, or use schedule(ticket)";
  for (auto [i, init] : llvm::enumerate(fold.getInits()))
    if (!isTile(init.getType()))
      return fold.emitOpError()
             << "carries a scalar (value " << i
             << "), which schedule stream_k cannot pass between CTAs: carry a "
                "tile, or use schedule(ticket)";
  // They would take effect once for each part.
  for (Operation *op = &loop.getBody().front().front(); op != fold; op = op->getNextNode()) {
    Operation *found = nullptr;
    op->walk([&](Operation *inner) {
      if (isa<StoreOp, PutOp, SignalOp, CountOp, PushOp>(inner))
        found = inner;
    });
    if (found)
      return found->emitOpError()
             << "stands before the fold that schedule stream_k splits, and would take "
                "effect for each part: move it behind the fold, or use schedule(ticket)";
  }
  auto name = dyn_cast<FlatSymbolRefAttr>(fold.getCombineAttr());
  if (!name)
    return success();
  auto function = kernel->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr());
  if (!function || !function.getBody().hasOneBlock())
    return fold.emitOpError() << "combines by " << name
                              << ", which has no body of one block here";
  return success();
}

BlockArgument Expansion::addScratch(const Twine &name, MemRefType type) {
  Builder &builder = b;
  auto append = [&](ArrayAttr list, Attribute last) {
    SmallVector<Attribute> values(list.begin(), list.end());
    values.push_back(last);
    return builder.getArrayAttr(values);
  };
  std::string unique = name.str();
  for (unsigned i = 1; llvm::is_contained(kernel.getArgNames(), builder.getStringAttr(unique)); ++i)
    unique = (name + "_" + Twine(i)).str();
  SmallVector<AffineExpr> shape;
  for (int64_t extent : type.getShape())
    shape.push_back(builder.getAffineConstantExpr(extent));
  auto map = AffineMap::get(kernel.getNumDims(), kernel.getSizeAxes().size(), shape,
                            builder.getContext());
  kernel.setArgNamesAttr(append(kernel.getArgNames(), builder.getStringAttr(unique)));
  kernel.setArgKindsAttr(append(kernel.getArgKinds(),
                                builder.getStringAttr(stringifyArgKind(ArgKind::Scratch))));
  kernel.setArgShapesAttr(append(kernel.getArgShapes(), AffineMapAttr::get(map)));
  kernel.setArgSplitsAttr(append(kernel.getArgSplits(), builder.getArrayAttr({})));
  kernel.setArgTypesAttr(append(kernel.getArgTypes(), TypeAttr::get(type)));
  return kernel.getBody().addArgument(type, loc);
}

/// Where parts are stored and who says that they are there: one place a CTA.
void Expansion::declare() {
  auto role = loop->getParentOfType<RoleOp>();
  std::string name = role.getSymName().str() + "_parts";
  for (Type type : fold.getResultTypes()) {
    auto tile = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape{ctas};
    llvm::append_range(shape, tile.getShape());
    scratch.push_back(addScratch(name, MemRefType::get(shape, tile.getElementType())));
  }
  OpBuilder top(role);
  auto type = SignalType::get(b.getContext(), {ctas}, Scope::GPU, /*arrivals=*/1);
  ready = SignalsOp::create(top, loc, type, ValueRange(), Value(),
                            top.getStringAttr(name + "_ready"));
}

/// Into how many slices of the same number of rows an item may be cut, most first.
static SmallVector<int64_t> getSliceCounts(FoldOp fold) {
  auto type = cast<RankedTensorType>(fold.getResultTypes().front());
  int64_t rows = type.getRank() ? type.getDimSize(0) : 1;
  SmallVector<int64_t> counts;
  for (int64_t count = kMostSlices; count > 1; count /= 2)
    if (rows % count == 0 && rows / count >= kLeastRows)
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
    missed(found.getObstacleOp(), kExpandStreamK) << remark::add(
        "{0}, so one CTA adds up all parts of a split item", found.getObstacle());
}

void Expansion::countItems() {
  space.bounds = clampBounds(b, loc, loop.getBounds());
  space.order = loop.getOrderAttr();
  space.own.assign(loop.getOwn().begin(), loop.getOwn().end());
  if (space.order && space.order.getStagger())
    space.rank = RankOp::create(b, loc, b.getIndexType(), ValueRange(), ArrayAttr());
  Value items = mk::countItems(b, loc, space.bounds);
  Value zero = index(0), wave = index(ctas);
  steps = make<arith::MaxSIOp>(fold.getCount(), zero);
  // Whole waves but for the last of the tail; all items if there is nothing to
  // gain, or nothing to split.
  Value waves = make<arith::DivSIOp>(items, wave);
  Value kept = make<arith::MaxSIOp>(
      make<arith::SubIOp>(waves, index(loop.getSchedule()->getTail() - 1)), zero);
  Value even = compare(arith::CmpIPredicate::eq, make<arith::RemSIOp>(items, wave), zero);
  Value empty = compare(arith::CmpIPredicate::eq, steps, zero);
  Value all = make<arith::OrIOp>(even, empty);
  whole = arith::SelectOp::create(b, loc, all, items, make<arith::MulIOp>(kept, wave));
  Value split = make<arith::SubIOp>(items, whole);
  units = make<arith::MulIOp>(split, steps);
  int64_t most = slices ? kMostSharedParts : kMostParts;
  ofItem = make<arith::DivSIOp>(wave, make<arith::MaxSIOp>(split, index(1)));
  ofItem = make<arith::MinSIOp>(make<arith::MinSIOp>(ofItem, steps), index(most));
  alike = compare(arith::CmpIPredicate::sge, ofItem, index(2));
  parts = arith::SelectOp::create(b, loc, alike, make<arith::MulIOp>(split, ofItem),
                                  make<arith::MinSIOp>(units, wave));
}

IRMapping Expansion::itemAt(Value t) {
  IRMapping mapping;
  mapping.map(loop.getBody().getArguments(), getItemIndices(b, loc, t, space));
  return mapping;
}

/// A static loop without an order over [0, bound); the builder stands in its body.
static ForeachOp createLoop(OpBuilder &b, Location loc, Value bound) {
  auto created = ForeachOp::create(
      b, loc, ValueRange{bound}, ValueRange(),
      ScheduleAttr::get(b.getContext(), ScheduleKind::Static, 0, StringAttr(), StringAttr()),
      OrderAttr());
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
  Value w = created.getBody().getArgument(0), one = index(1);
  Value begin = partBegin(w), end = partBegin(make<arith::AddIOp>(w, one));
  Value first = make<arith::DivSIOp>(begin, steps);
  Value last = make<arith::DivSIOp>(make<arith::SubIOp>(end, one), steps);
  Value count = make<arith::AddIOp>(make<arith::SubIOp>(last, first), one);
  auto items = scf::ForOp::create(b, loc, index(0), count, one);
  b.setInsertionPointToStart(items.getBody());
  buildPart(w, begin, end, make<arith::SubIOp>(last, items.getInductionVar()));
}

/// Steps [from, to) of an item's fold, and what stands in front of it.
FoldOp Expansion::clonePart(IRMapping &mapping, Value from, Value to) {
  for (Operation *op = &loop.getBody().front().front(); op != fold; op = op->getNextNode())
    b.clone(*op, mapping);
  Value count = make<arith::SubIOp>(to, from);
  auto part = cast<FoldOp>(b.clone(*fold, mapping));
  part.getCountMutable().assign(count);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&part.getBody().front());
  BlockArgument step = part.getBody().getArgument(0);
  Value shifted = make<arith::AddIOp>(from, step);
  step.replaceAllUsesExcept(shifted, shifted.getDefiningOp());
  return part;
}

/// What part `w`, steps [begin, end), does for split item `item`.
void Expansion::buildPart(Value w, Value begin, Value end, Value item) {
  IRMapping mapping = itemAt(make<arith::AddIOp>(whole, item));
  Value before = make<arith::MulIOp>(item, steps);
  Value from = make<arith::MaxSIOp>(make<arith::SubIOp>(begin, before), index(0));
  Value to = make<arith::MinSIOp>(make<arith::SubIOp>(end, before), steps);
  FoldOp part = clonePart(mapping, from, to);
  Value isLast = compare(arith::CmpIPredicate::eq, to, steps);
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
  storePart(w, part);
  b.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> sums = sumParts(w, item, part);
  mapping.map(fold.getResults(), sums);
  for (Operation *op = fold->getNextNode(); op; op = op->getNextNode())
    b.clone(*op, mapping);
}

/// Where a tile lies in `buffer` whose first indices are `place`.
static SmallVector<Value> placeOf(ValueRange place, Value zero, Value buffer) {
  SmallVector<Value> result(place);
  result.resize(cast<MemRefType>(buffer.getType()).getRank(), zero);
  return result;
}

/// A scalar that changes no sum.
Value Expansion::makeNeutral(Type type) {
  Type element = getElementTypeOrSelf(type);
  Reduction kind = cast<ReductionAttr>(fold.getCombineAttr()).getValue();
  return arith::getIdentityValue(getReductionKind(kind, element), element, b, loc);
}

SmallVector<Value> Expansion::loadParts(ValueRange place, TypeRange types) {
  Value zero = index(0);
  SmallVector<Value> tiles;
  for (auto [buffer, type] : llvm::zip(scratch, types))
    tiles.push_back(LoadOp::create(b, loc, type, buffer, placeOf(place, zero, buffer),
                                   /*valid=*/ValueRange(), /*pad=*/Value()));
  return tiles;
}

void Expansion::storePart(Value w, ValueRange part) {
  Value zero = index(0);
  for (auto [tile, buffer] : llvm::zip(part, scratch))
    StoreOp::create(b, loc, tile, buffer, placeOf(w, zero, buffer),
                    /*valid=*/ValueRange(), /*peer=*/Value(), /*signal=*/Value(),
                    /*signal_index=*/ValueRange(), /*strong=*/false, ReductionAttr());
  SignalOp::create(b, loc, ready, ValueRange{w}, /*peer=*/Value());
}

/// How many parts of these types are loaded together.
static int64_t countAhead(TypeRange types, int64_t most) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += cast<RankedTensorType>(type).getNumElements() *
             llvm::divideCeil(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8);
  return std::clamp<int64_t>(kBytesAhead / std::max<int64_t>(bytes, 1), 1, most);
}

/// Waits for `count` parts from `first` on.
void Expansion::awaitParts(Value first, Value count) {
  OpBuilder::InsertionGuard guard(b);
  Value one = index(1);
  auto waits = scf::ForOp::create(b, loc, index(0), count, one);
  b.setInsertionPointToStart(waits.getBody());
  Value other = make<arith::AddIOp>(first, waits.getInductionVar());
  WaitOp::create(b, loc, ready, ValueRange{other}, one);
}

/// What the parts before `w` of the item give together with its own.
SmallVector<Value> Expansion::sumParts(Value w, Value item, ValueRange part) {
  // The part that holds the item's first step: the last that begins at it or before.
  Value one = index(1);
  Value start = make<arith::AddIOp>(make<arith::MulIOp>(item, steps), one);
  Value scaled = make<arith::SubIOp>(make<arith::MulIOp>(start, parts), one);
  Value first = make<arith::DivSIOp>(scaled, units);
  Value zero = index(0), before = make<arith::SubIOp>(w, first);
  awaitParts(first, before);
  int64_t together = countAhead(fold.getResultTypes(), kMostAhead);
  if (together == 1)
    return addParts(w, zero, before, 1, part);
  Value rest = make<arith::RemSIOp>(before, index(together));
  Value most = make<arith::SubIOp>(before, rest);
  SmallVector<Value> sums = addParts(w, zero, most, together, part);
  return addParts(w, most, before, 1, sums);
}

/// Adds those that lie `from` to `to` parts before part `w`, but for the last, in front of `sums`, so
/// many at a time. From the last to the first: what is held besides the sum are these.
SmallVector<Value> Expansion::addParts(Value w, Value from, Value to, int64_t together,
                                       ValueRange sums) {
  auto loop = scf::ForOp::create(b, loc, from, to, index(together), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<SmallVector<Value>> loaded(together);
  for (auto [i, tiles] : llvm::enumerate(loaded)) {
    Value back = make<arith::AddIOp>(loop.getInductionVar(), index(i + 1));
    Value other = make<arith::SubIOp>(w, back);
    tiles = loadParts(other, fold.getResultTypes());
  }
  SmallVector<Value> result(loop.getRegionIterArgs());
  for (const SmallVector<Value> &tiles : loaded)
    result = combine(tiles, result);
  scf::YieldOp::create(b, loc, result);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> Expansion::combine(ValueRange left, ValueRange right) {
  if (auto name = dyn_cast<FlatSymbolRefAttr>(fold.getCombineAttr())) {
    auto function = kernel->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr());
    SmallVector<Value> operands(left.begin(), left.end());
    operands.append(right.begin(), right.end());
    return SmallVector<Value>(func::CallOp::create(b, loc, function, operands).getResults());
  }
  SmallVector<Value> results;
  Reduction kind = cast<ReductionAttr>(fold.getCombineAttr()).getValue();
  for (auto [x, y] : llvm::zip(left, right)) {
    Type element = getElementTypeOrSelf(x.getType());
    results.push_back(arith::getReductionOp(getReductionKind(kind, element), b, loc, x, y));
  }
  return results;
}

/// Stores the part, waits for the item's others, and finishes the rows that fall to this CTA.
void Expansion::sharePart(Value w, Value item, ValueRange part, const IRMapping &mapping) {
  storePart(w, part);
  Value first = make<arith::MulIOp>(item, ofItem);
  awaitParts(first, ofItem);
  OpBuilder::InsertionGuard guard(b);
  // Into half as many where that is enough for all CTAs.
  SmallVector<int64_t> counts = getSliceCounts(fold);
  for (auto [count, half] : llvm::zip(counts, ArrayRef(counts).drop_front())) {
    Value many = compare(arith::CmpIPredicate::sgt, ofItem, index(half));
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
  auto own = scf::ForOp::create(b, loc, make<arith::SubIOp>(w, first), index(count), ofItem);
  b.setInsertionPointToStart(own.getBody());
  Value row = make<arith::MulIOp>(own.getInductionVar(), index(rows));
  cloneSlice(b, fold, *slices, mapping, sumSlice(first, row, types, countAhead(types, count)), row, rows);
}

/// Adds up the rows of all parts from `row` on, from the last part to the first, so many at a time.
SmallVector<Value> Expansion::sumSlice(Value first, Value row, ArrayRef<Type> types,
                                       int64_t together) {
  SmallVector<Value> none;
  for (Type type : types)
    none.push_back(tensor::SplatOp::create(b, loc, makeNeutral(type), cast<RankedTensorType>(type)));
  auto sum = scf::ForOp::create(b, loc, index(0), ofItem, index(together), none);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(sum.getBody());
  Value last = make<arith::SubIOp>(make<arith::AddIOp>(first, ofItem), index(1));
  SmallVector<SmallVector<Value>> loaded;
  SmallVector<Value> exists;
  for (int64_t i = 0; i != together; ++i) {
    Value back = make<arith::AddIOp>(sum.getInductionVar(), index(i));
    // Where there are fewer the first one is read once more, and not added.
    exists.push_back(compare(arith::CmpIPredicate::slt, back, ofItem));
    Value other = make<arith::MaxSIOp>(make<arith::SubIOp>(last, back), first);
    loaded.push_back(loadParts({other, row}, types));
  }
  SmallVector<Value> sums(sum.getRegionIterArgs());
  for (auto [there, tiles] : llvm::zip(exists, loaded))
    for (auto [sum, next] : llvm::zip(sums, combine(tiles, sums)))
      sum = arith::SelectOp::create(b, loc, there, next, sum);
  scf::YieldOp::create(b, loc, sums);
  return SmallVector<Value>(sum.getResults());
}

LogicalResult Expansion::run() {
  if (failed(check()))
    return failure();
  findSlices();
  declare();
  countItems();
  buildWhole();
  buildSplit();
  loop.erase();
  return success();
}

namespace {
struct ExpandStreamKPass : mk::impl::ExpandStreamKPassBase<ExpandStreamKPass> {
  using ExpandStreamKPassBase::ExpandStreamKPassBase;

  LogicalResult expand(KernelOp kernel) {
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
        return loop.emitOpError() << "with schedule stream_k stands inside another op; move "
                                     "it to the role's top level or use schedule(static)";
      // A role whose only CTA does everything has nothing to divide.
      if (failed(Expansion(loop, std::max<int64_t>(ctasOf.lookup(role), 1)).run()))
        return failure();
    }
    return success();
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (failed(expand(kernel)))
        return signalPassFailure();
  }
};
} // namespace
