//===- WorkOps.cpp - What ops of an item cost -----------------------------===//
#include "WorkCounter.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Analysis/Multiples.h"
#include "mkernel/Analysis/Packing.h"
#include "mkernel/Analysis/Spread.h"
#include "mkernel/Support/Banks.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::mk;

static bool isStaged(Value tile) { return tile.getDefiningOp<LoadOp>() != nullptr; }

bool mk::isCarried(Value tile) {
  if (auto argument = dyn_cast<BlockArgument>(tile))
    return isa<FoldOp, scf::ForOp>(argument.getOwner()->getParentOp());
  Operation *op = tile.getDefiningOp();
  return OpTrait::hasElementwiseMappableTraits(op) && llvm::any_of(op->getOperands(), isCarried);
}

bool WorkCounter::countDot(DotOp dot, Work &work, double times) {
  auto acc = numbers.getShape(dot.getAcc().getType());
  auto shape = numbers.getShape(dot.getLhs().getType());
  if (!acc || !shape)
    return giveUp(dot, kUnknownExtents);
  double k = (*shape)[dot.getTransposeA() ? 0 : 1];
  Value lhs = dot.getLhs();
  // Here it is still as the file has it (`mk-transpose-dots`).
  if (isTransposed(unit, (*acc)[0], (*acc)[1])) {
    std::swap((*acc)[0], (*acc)[1]);
    lhs = dot.getRhs();
  }
  double m = (*acc)[0], n = (*acc)[1];
  double bits = cast<RankedTensorType>(dot.getLhs().getType()).getElementTypeBitWidth();
  bool isExact = bits == 32 && !dot.getPrecision();
  // Without tensor cores a product of f32 takes 16 times as long.
  work.products += times * 2 * m * n * k * bits / 16 * (isExact ? 8 : 1);
  double rows = llvm::divideCeil((*acc)[0], unit.getRows());
  double columns = llvm::divideCeil((*acc)[1], unit.getColumns());
  // The left one is read at half the rate of the right one.
  work.operands += times * k * bits / 8 * (n * rows + (isStaged(lhs) ? 2 * m * columns : 0));
  // Of products of 8 bits each step is added up apart: to what they add to, or by ops that take it.
  bool isAddedUp = bits == 8 && !matchPattern(dot.getAcc(), m_AnyZeroFloat());
  if (isAddedUp)
    work.sums += times * m * n;
  current->rows = std::gcd(current->rows, (*acc)[0]);
  current->columns = std::max(current->columns, (*acc)[1]);
  if (counted.insert(dot.getResult()).second) {
    // A loop's own are counted there.
    current->accumulators += m * n * (isAddedUp || !isCarried(dot.getAcc()) ? 1 : 0);
    if (!isStaged(lhs))
      current->accumulators += m * k * bits / 32;
  }
  return true;
}

/// Whether a loop only adds up what the op gives: threads do with their own sums until it ends
/// (`mk-sm-defer-reductions`).
static bool isAddedUp(ReduceOp reduce) {
  if (reduce.getKind() != Reduction::Add || !reduce->hasOneUse())
    return false;
  Operation *sum = *reduce->user_begin();
  return isa<arith::AddFOp, arith::AddIOp>(sum) && sum->hasOneUse() &&
         sum->user_begin()->hasTrait<OpTrait::IsTerminator>() &&
         llvm::any_of(sum->getOperands(), llvm::IsaPred<BlockArgument>);
}

/// Rows and columns that threads exchange through shared memory, in as many parts as that has room
/// for: all write in each part, and read. Behind products tiles leave turned.
bool WorkCounter::countTransposed(TransposeOp op, Work &work, double times) {
  // As many elementwise ops take as long: of a copy of 16384 x 16384 in bf16 on an H200.
  constexpr double kOps = 8;
  auto shape = numbers.getShape(op.getSource().getType());
  if (!shape)
    return giveUp(op, kUnknownExtents);
  int64_t bits = std::max(8u, cast<RankedTensorType>(op.getType()).getElementTypeBitWidth());
  int64_t bytes = (*shape)[0] * mkernel::spreadRow((*shape)[1] * bits / 8, mkernel::kPairBytes);
  SmAttr sm = getSm(kernel);
  int64_t room = mk_sm::getExchangeLimit(sm, /*besideRings=*/false, holds<DotOp>(kernel));
  int64_t parts = llvm::divideCeil(bytes, room);
  work.elements += times * kOps * countElements(*shape) * parts;
  work.reductions += times * 2 * parts; // all meet, as for these
  return true;
}

/// Of an op that is computed element by element.
bool WorkCounter::countTile(Operation *op, Work &work, double times) {
  if (auto transpose = dyn_cast<TransposeOp>(op); transpose && !current->rows)
    return countTransposed(transpose, work, times);
  // Constants, and what is only spread out, cost nothing that counts.
  auto isKnown = [&](Value value) { return numbers.isFixed(value); };
  if (isa<tensor::EmptyOp, TransposeOp, tensor::ExtractOp>(op) ||
      isSpread(op->getResult(0), isKnown))
    return true;
  Type type = isa<ReduceOp>(op) ? op->getOperand(0).getType() : op->getResult(0).getType();
  auto shape = numbers.getShape(type);
  if (!shape)
    return giveUp(op, kUnknownExtents);
  double elements = times * countElements(*shape);
  work.elements += elements;
  current->largest = std::max<int64_t>(current->largest, countElements(*shape));
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !isAddedUp(reduce))
    work.reductions += times;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
      !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp>(op))
    work.functions += elements;
  return true;
}

/// Whether the tile is what mk.transpose has made of accumulators, changed element by element.
static bool isTurned(Value tile) {
  Operation *op = tile.getDefiningOp();
  while (op && !isa<TransposeOp>(op))
    op = op->hasTrait<OpTrait::Elementwise>() ? op->getOperand(0).getDefiningOp() : nullptr;
  return op != nullptr;
}

/// Tiles leave in chunks of their rows, also where the last one is not full, and those that are
/// computed transposed in blocks of rows, of which the last one overlaps: by how much that is more.
double WorkCounter::countChunks(mk::StoreOp store) {
  Type tile = store.getTile().getType();
  auto shape = numbers.getShape(tile);
  if (!shape || shape->size() != 2)
    return 1;
  int64_t bits = std::max(8u, cast<RankedTensorType>(tile).getElementTypeBitWidth());
  double chunks = double((*shape)[1]) * bits / (8 * chunk);
  int64_t rows = (*shape)[0];
  auto parts = llvm::divideCeil(rows, unit.getRows()) * int64_t(std::ceil(chunks));
  item.storeParts = std::max<int64_t>(item.storeParts, parts);
  current->storeParts = std::max<int64_t>(current->storeParts, parts);
  current->storedChunks = current->storedChunks ? std::min(current->storedChunks, chunks) : chunks;
  current->isTransposed |= rows % unit.getRows() != 0 || isTurned(store.getTile());
  double more = chunks > 1 ? std::ceil(chunks) / chunks : 1;
  // Threads store others as they hold them.
  if (!current->rows || bits != 16 || store.getReduction() || rows <= unit.getRows() ||
      rows % unit.getRows() == 0)
    return more;
  current->overlaps = true;
  return more * llvm::alignTo(rows, unit.getRows()) / rows;
}

/// Bytes of sectors that tiles beside each other share, where rows of the buffer begin within one:
/// each row of a tile has one, which is read and written again. `bytes` of the tile are stored.
double WorkCounter::countSharedBytes(mk::StoreOp store, double bytes) {
  auto shape = numbers.getShape(store.getTile().getType());
  std::optional<double> whole = numbers.getBytes(store.getTile().getType(), Value());
  int64_t sector = getSm(kernel).getSector();
  if (!shape || shape->size() < 2 || !whole || store.getPeer() ||
      numbers.areRowsAligned(store.getDest(), sector))
    return 0;
  return 2.0 * sector * (*shape)[shape->size() - 2] * bytes / *whole;
}

/// Whether tiles of an argument come from a copy of it that is made in front of the launch.
bool WorkCounter::isPacked(Value buffer) {
  if (numbers.areRowsAligned(buffer, kEngineBytes))
    return false;
  unsigned arg = cast<BlockArgument>(buffer).getArgNumber() - kernel.getNumDims();
  auto [known, isNew] = packable.try_emplace(arg);
  if (isNew)
    known->second = mayPack(kernel, arg);
  return known->second;
}

/// Whether rows of a tile begin at multiples of so many bytes: those of what it is fetched from,
/// and its first column.
bool WorkCounter::beginsAtMultiples(LoadOp load, bool packs, int64_t bytes) {
  if (!packs && !numbers.areRowsAligned(load.getSource(), bytes))
    return false;
  int64_t bits = std::max(8u, cast<RankedTensorType>(load.getType()).getElementTypeBitWidth());
  auto known = [&](Value value) { return numbers.getGiven(value); };
  ValueRange at = load.getOffsets();
  return at.empty() ||
         isProbablyMultipleOf(at.back(), std::max<int64_t>(8 * bytes / bits, 1), known);
}

/// Adds a copy of so many bytes into shared memory.
void WorkCounter::addCopies(LoadOp load, double bytes, Work &work) {
  bool packs = isPacked(load.getSource());
  if (!rates) {
    work.copies += bytes;
    return;
  }
  // What no tensor map describes is copied by threads, element by element.
  if (!packs && !numbers.areRowsAligned(load.getSource(), kEngineBytes)) {
    work.copies += bytes * rates.getByThreads() / 100;
    return;
  }
  // It comes in boxes of chunks, also where a row ends in the middle of one.
  auto shape = numbers.getShape(load.getType());
  int64_t bits = std::max(8u, cast<RankedTensorType>(load.getType()).getElementTypeBitWidth());
  double chunks = double(shape->back()) * bits / (8 * chunk);
  if (chunks > 1)
    bytes *= std::ceil(chunks) / chunks;
  work.copies += bytes;
  // At which half, quarter or eighth of a line rows begin.
  int64_t step = rates.getLine();
  while (step > kEngineBytes && !beginsAtMultiples(load, packs, step))
    step /= 2;
  double halvings = std::log2(double(rates.getLine()) / step);
  // All of it comes in at each SM, but CTAs that share a copy ask for a part each.
  double asked = bytes * std::pow(rates.getOffLine() / 100.0, halvings) / countSharers(load);
  work.asked += asked;
  // All of an argument comes from device memory once, if that much is copied. What the kernel has
  // made itself is in the cache.
  if (auto arg = dyn_cast<BlockArgument>(load.getSource()))
    work.fresh += asked * std::min(1.0, countBytes(arg.getArgNumber() - kernel.getNumDims()) /
                                            (bytes * current->items));
}

/// Whether CTAs side by side do the same parts of items side by side (`mk-expand-stream-k`).
static bool dividesSideBySide(const LoopWork &work) {
  double kept = std::max(std::floor(work.items / work.ctas) - (work.tail - 1), 0.0) * work.ctas;
  return work.isShared && 2 * (work.items - kept) <= work.ctas;
}

/// Where CTAs side by side, which take items one after the other, are clusters that can share
/// copies (`mk-sm-share-copies`).
void WorkCounter::findCluster(ForeachOp loop, ArrayRef<int64_t> bounds, const LoopWork &work) {
  cluster = 1;
  differing.clear();
  size_t last = bounds.size();
  while (last > 0 && bounds[last - 1] == 1)
    --last;
  bool isStatic = work.schedule == ScheduleKind::Static && work.parts == 1;
  if (!last || !(isStatic || (work.schedule == ScheduleKind::StreamK && dividesSideBySide(work))))
    return;
  std::optional<int64_t> atOnce;
  if (isStatic)
    atOnce = int64_t(work.items);
  // Rows that are walked together lie side by side.
  OrderAttr order = loop.getOrderAttr();
  int64_t rows = !order                   ? 1
                 : order.getRasterParam() ? numbers.getParam(order.getRasterParam()).value_or(1)
                                          : order.getRaster();
  bool byRows = rows > 1 && bounds.front() > 1;
  int64_t largest = getLargestCluster(getSm(kernel), atOnce);
  // By the last dimension, or the last two.
  int64_t size = 1;
  for (size_t d = last; d > 0 && d + 2 > last && !(byRows && d <= 2); --d) {
    size *= bounds[d - 1];
    // Where all items are done at once there are no CTAs but for these.
    bool fewer = size > 2 && atOnce && *atOnce < work.ctas;
    if (size == 1 || !llvm::isPowerOf2_64(size) || size > largest || (!fewer && work.ctas % size))
      return;
    cluster = size;
    differing.push_back({loop.getBody().getArgument(d - 1), bounds[d - 1]});
  }
}

static bool dependsOn(Value value, BlockArgument argument) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  return op && argument.getOwner()->findAncestorOpInBlock(*op) &&
         llvm::any_of(getInputs(op), [&](Value v) { return dependsOn(v, argument); });
}

int64_t WorkCounter::countSharers(LoadOp load) {
  if (load.getRows())
    return 1; // by threads of each CTA
  auto shape = numbers.getShape(load.getType());
  for (auto [index, count] : differing)
    if (count > 1 && shape->size() > 1 &&
        (*shape)[shape->size() - 2] % (count * getSm(kernel).getSwizzleRows()) == 0 &&
        llvm::none_of(load.getOffsets(), [&](Value v) { return dependsOn(v, index); }))
      return count;
  return 1;
}

/// Whether the copy engine brings such a tile (`mk-sm-stage-loads`); what is no matrix comes in few
/// registers.
bool WorkCounter::isTakenByEngine(LoadOp load) {
  auto shape = numbers.getShape(load.getType());
  if (!shape || shape->size() != 2)
    return true;
  int64_t bits = std::max(8u, cast<RankedTensorType>(load.getType()).getElementTypeBitWidth());
  int64_t bytes = (*shape)[1] * bits / 8;
  return (*shape)[0] % unit.getRows() == 0 &&
         (bytes % chunk == 0 || (2 * bytes >= chunk && bytes < chunk));
}

void WorkCounter::addHeld(LoadOp load) {
  auto bytes = static_cast<int64_t>(*numbers.getBytes(load.getType(), Value()));
  // Where rows do not begin at words each element has a register, but not if it changes rows and
  // columns.
  constexpr int64_t kWordBytes = 4;
  if (!numbers.areRowsAligned(load.getSource(), kWordBytes) &&
      llvm::none_of(load->getUsers(), llvm::IsaPred<TransposeOp>)) {
    int64_t elementBytes = llvm::divideCeil(load.getSource().getType().getElementTypeBitWidth(), 8);
    current->largest = std::max(current->largest, bytes / elementBytes);
    bytes *= llvm::divideCeil(kWordBytes, elementBytes);
  }
  current->held += bytes;
  current->heldAtOnce = std::max(current->heldAtOnce, bytes);
}

bool WorkCounter::countOp(Operation *op, double times, bool inner) {
  Work &work = inner ? item.inner : item.outer;
  if (auto load = dyn_cast<LoadOp>(op)) {
    bool isCopied = llvm::all_of(load->getUsers(), llvm::IsaPred<DotOp>);
    std::optional<double> inBuffer = numbers.getBytes(load.getType(), load.getSource());
    if (!inBuffer)
      return giveUp(op, kUnknownExtents);
    if (!isCopied) {
      work.loads += times * *inBuffer;
      work.direct += isTakenByEngine(load) ? 0 : times * *inBuffer;
      if (isa<ForeachOp>(op->getParentOp()) && load.getTile().getType().getRank() == 2)
        addHeld(load);
      return true;
    }
    // The copy engine takes as long for rows that lie outside the buffer.
    double whole = *numbers.getBytes(load.getType(), Value());
    addCopies(load, times * whole, work);
    (inner ? current->slot : current->once) += whole;
    return true;
  }
  if (auto store = dyn_cast<mk::StoreOp>(op)) {
    std::optional<double> bytes = numbers.getBytes(store.getTile().getType(), store.getDest());
    if (!bytes)
      return giveUp(op, kUnknownExtents);
    alone &= !store.getPeer();
    work.stores += times * *bytes * countChunks(store);
    work.shared += times * countSharedBytes(store, *bytes);
    double sent = times * *bytes * getShareSent(store.getPeer());
    work.sent += sent;
    work.announced += store.getSignal() ? sent : 0;
    return true;
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return countDot(dot, work, times);
  if (auto wait = dyn_cast<WaitOp>(op); wait && times > 0) {
    if (auto it = arriving.find(wait.getSignal()); it != arriving.end()) {
      item.waits += times;
      current->arrivals = it->second;
    } else if (announcing.contains(wait.getSignal())) {
      item.gathers += times;
    }
  }
  alone &= !isCommunication(op);
  return !op->getNumResults() || !isTileType(op->getResult(0).getType()) ||
         countTile(op, work, times);
}
