//===- DivideItems.cpp - Items that CTAs of a cluster do together ---------===//
//
// CTAs r, r + 1, ... r + p - 1 (r a multiple of p) do an item: each some steps of its fold, in
// order. Behind it each gets some columns of all parts, puts them together in the order of the
// CTAs, and goes on with these columns alone. Vectors of rows, as sums of them, each gets whole. A
// CTA without steps brings what the fold begins with.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "SliceEpilogue.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mkernel/Transforms/Reductions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

namespace {
class Division : IndexMath {
public:
  explicit Division(ItemsOp items)
      : IndexMath{OpBuilder(items), items.getLoc()}, items(items), ctas(items.getParts()) {}

  LogicalResult run();

private:
  LogicalResult check();
  LogicalResult checkClusters();
  LogicalResult checkWaits();
  SmallVector<Value> foldPart(Value part);
  Value combine(Value tile);
  Value combineRows(Value rows);

  ItemsOp items;
  int64_t ctas;
  FoldOp fold;
  int64_t columns = 0; // of a part
};
} // namespace

/// The file has a loop where items are.
static InFlightDiagnostic refuse(ItemsOp items) {
  return emitError(items.getLoc()) << "'mk.foreach' op ";
}

LogicalResult Division::checkClusters() {
  auto role = items->getParentOfType<RoleOp>();
  auto kernel = items->getParentOfType<KernelOp>();
  if (!role)
    return refuse(items) << "stands in mk.prepare, where no item is divided: leave parts out";
  FailureOr<SmallVector<int64_t>> counts = getCtas(kernel);
  if (failed(counts))
    return failure();
  auto [first, count] = getCtaRange(kernel, *counts, role.getSymName());
  int64_t grid = countGrid(kernel, *counts);
  if (grid % ctas == 0 && first % ctas == 0 && count % ctas == 0)
    return success();
  return refuse(items) << "is done by " << count << " of " << grid << " CTAs from number " << first
                       << " on, which are no whole clusters of " << ctas
                       << ": change its number, or use fewer parts";
}

/// A wait in some steps guards what other steps do, but these may be another CTA's.
LogicalResult Division::checkWaits() {
  WalkResult result = fold.walk([&](mk::WaitOp wait) -> WalkResult {
    for (Operation *up = wait->getParentOp(); up != fold; up = up->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(up);
          branch && fold.getBody().isAncestor(branch.getCondition().getParentRegion()))
        return wait.emitOpError() << "is executed in some steps of a fold that parts divide, and "
                                     "not by CTAs that have others: wait in each step, or in "
                                     "front of the fold";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Division::check() {
  if (failed(checkClusters()))
    return failure();
  if (items.getTeams() > 1)
    return refuse(items) << "has teams that take items in turn, but its items are divided: "
                            "leave alternate out, or parts";
  auto folds = items.getBody().getOps<FoldOp>();
  if (!llvm::hasSingleElement(folds))
    return refuse(items)
           << "needs exactly one mk.fold directly in its body, which parts divide, but "
              "has "
           << llvm::range_size(folds)
           << ": take it out of scf.if and of other loops, or leave parts out";
  fold = *folds.begin();
  if (!fold.getCombineAttr())
    return fold.emitOpError() << "does not say how parts are put together: add combine(...)";
  if (failed(verifyBefore(fold, "parts divide")) || failed(checkWaits()))
    return failure();
  // Of a product that is computed transposed the file calls rows what are columns here.
  bool isSwapped = false;
  fold.walk([&](DotOp dot) { isSwapped |= dot.getSwapped(); });
  StringRef line = isSwapped ? "row" : "column";
  FoldSlices slices(fold, /*axis=*/1);
  if (!slices)
    return slices.getObstacleOp()->emitOpError()
           << slices.getObstacle() << ", so parts of items cannot be finished " << line << " by "
           << line << ": use another schedule, or leave parts out";
  int64_t rows = 0;
  for (Type result : fold.getResultTypes())
    if (auto tile = cast<RankedTensorType>(result); tile.getRank() == 2)
      rows = rows && rows != tile.getDimSize(0) ? -1 : tile.getDimSize(0);
  for (Type result : fold.getResultTypes()) {
    auto tile = cast<RankedTensorType>(result);
    int64_t step = ctas * MmaAttr::kColumns;
    bool isOfRows = tile.getRank() == 1 && !isSwapped && tile.getDimSize(0) == rows;
    if (tile.getElementTypeBitWidth() == 32 && isOfRows)
      continue;
    if (tile.getElementTypeBitWidth() != 32 || tile.getRank() != 2)
      return fold.emitOpError() << "carries " << getWrittenType(fold, tile) << ", of which " << ctas
                                << " CTAs cannot have parts: use matrices of elements of 32 bits, "
                                   "and vectors of as many as these have rows, or leave parts out";
    if (tile.getDimSize(1) % step)
      return fold.emitOpError() << "carries " << getWrittenType(fold, tile) << ", of which " << ctas
                                << " CTAs cannot have parts: use a multiple of " << step << ' '
                                << line << "s, or fewer parts";
    columns = tile.getDimSize(1) / ctas;
  }
  // Threads of different CTAs hold the same columns of accumulators only.
  if (!holds<DotOp>(fold))
    return fold.emitOpError() << "has no mk.dot, but CTAs have parts of what products add up to: "
                                 "leave parts out";
  return success();
}

/// What the steps of part `part` add up to.
SmallVector<Value> Division::foldPart(Value part) {
  Value size = index(ctas), steps = max(fold.getCount(), index(0));
  Value from = div(mul(part, steps), size);
  Value to = div(mul(add(part, index(1)), steps), size);
  IRMapping mapping;
  return SmallVector<Value>(cloneSteps(b, fold, mapping, from, to).getResults());
}

/// The columns of this CTA of what all CTAs have.
Value Division::combine(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<Type> types(ctas, cutTile(type, 1, type.getDimSize(1) / ctas));
  auto swap = SwapPartsOp::create(b, loc, types, tile, /*counter=*/Value());
  Reduction kind = cast<ReductionAttr>(fold.getCombineAttr()).getValue();
  arith::AtomicRMWKind how = getReductionKind(kind, type.getElementType());
  Value sum = swap.getParts().front();
  for (Value part : swap.getParts().drop_front())
    sum = arith::getReductionOp(how, b, loc, sum, part);
  return sum;
}

/// All of a vector of rows, by way of columns that are all the same.
Value Division::combineRows(Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  auto repeated = RankedTensorType::get({type.getDimSize(0), ctas * MmaAttr::kColumns},
                                        type.getElementType(), type.getEncoding());
  Value columns = BroadcastOp::create(b, loc, repeated, rows, ArrayRef<int64_t>{1});
  return ReduceOp::create(b, loc, type, Reduction::Max, combine(columns), /*axis=*/1);
}

LogicalResult Division::run() {
  if (failed(check()))
    return failure();
  items.setParts(1);
  if (matchPattern(fold.getCount(), m_Zero()))
    return success(); // nothing to divide
  items.getTotalMutable().assign(mul(items.getTotal(), index(ctas)));
  b.setInsertionPointToStart(&items.getBody().front());
  Value size = index(ctas), own = items.getItem();
  Value item = div(own, size), part = rem(own, size);
  llvm::SmallPtrSet<Operation *, 2> both{item.getDefiningOp(), part.getDefiningOp()};
  own.replaceAllUsesExcept(item, both);
  b.setInsertionPoint(fold);
  loc = fold.getLoc();
  SmallVector<Value> sums;
  for (Value tile : foldPart(part))
    sums.push_back(cast<RankedTensorType>(tile.getType()).getRank() == 1 ? combineRows(tile)
                                                                         : combine(tile));
  cloneSlice(b, fold, FoldSlices(fold, /*axis=*/1), IRMapping(), sums, mul(part, index(columns)),
             columns);
  SmallVector<Operation *> whole;
  for (Operation *op = fold; op; op = op->getNextNode())
    whole.push_back(op);
  for (Operation *op : llvm::reverse(whole))
    op->erase();
  return success();
}

LogicalResult mk::divideItems(ItemsOp items) {
  return items.getParts() == 1 ? success() : Division(items).run();
}
