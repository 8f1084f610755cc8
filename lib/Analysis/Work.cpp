//===- Work.cpp - What a launch of a kernel has to do ---------------------===//
#include "WorkNumbers.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Packing.h"
#include "mkernel/Analysis/StreamK.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::mk;

void Work::add(const Work &other, double times) {
  products += times * other.products;
  operands += times * other.operands;
  copies += times * other.copies;
  turns += times * other.turns;
  loads += times * other.loads;
  stores += times * other.stores;
  elements += times * other.elements;
  functions += times * other.functions;
  sums += times * other.sums;
}

/// What the strides of a tensor map are multiples of, in bytes: a rule of the driver's API for all machines
/// (cuTensorMapEncodeTiled).
static constexpr int64_t kMapAlignment = 16;

/// What the parts that CTAs of a cluster fetch of a tile are multiples of (the swizzle's period, which the PTX ISA fixes).
static constexpr int64_t kSwizzleRows = 8;

/// Of a loop whose items differ, so many are looked at: bounds the time of the analysis.
static constexpr int64_t kSamples = 16;

static constexpr StringLiteral kUnknownExtents = "has a tile whose extents are not known";

static bool isTileType(Type type) { return isa<RankedTensorType>(type); }

static bool hasTiles(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool touches = isa<mk::StoreOp>(inner) || llvm::any_of(inner->getResultTypes(), isTileType);
        return touches ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What waits for others, or tells them something.
static bool isCommunication(Operation *op) {
  return isa<PutOp, mk::WaitOp, SignalOp, CountOp, PushOp>(op);
}

static bool hasDot(Operation *op) {
  return op->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {
/// Counts with one choice of parameters. What returns a bool has given up if it is false.
class Counter {
public:
  Counter(KernelOp kernel, const NamedNumbers &sizes, const NamedNumbers &params, std::string &why)
      : kernel(kernel), numbers(kernel, sizes, params), why(why),
        unit(getSm(kernel).getMatrixUnit()), rates(getSmTarget(kernel).getRates()),
        chunk(getSm(kernel).getChunk()) {}

  bool run(int64_t grid, KernelWork &work);

private:
  bool giveUp(Operation *op, const Twine &reason);
  FailureOr<SmallVector<int64_t>> divide(int64_t grid);
  bool countLoop(ForeachOp loop, LoopWork &work);
  bool countItem(ForeachOp loop, ArrayRef<int64_t> indices, LoopWork &work);
  bool count(Block &block, double times, bool inner);
  bool countNested(Operation *op, double times, bool inner);
  bool countCarried(Operation *loop);
  bool countBranch(scf::IfOp op, double times, bool inner);
  bool countOp(Operation *op, double times, bool inner);
  bool countDot(DotOp dot, Work &work, double times);
  bool countTile(Operation *op, Work &work, double times);
  double countChunks(Type tile);
  bool isPacked(Value buffer);
  double countCopies(LoadOp load);
  void findCluster(ForeachOp loop, ArrayRef<int64_t> bounds, const LoopWork &work);
  bool isShared(LoadOp load);
  void countArguments(KernelWork &work);

  KernelOp kernel;
  WorkNumbers numbers;
  std::string &why;
  MatrixUnitAttr unit;
  RatesAttr rates; // null: times are of no interest
  int64_t chunk;
  ItemWork item;
  LoopWork *current = nullptr;
  llvm::SmallDenseSet<Value> counted; // tiles in registers
  /// How many CTAs of a cluster do items that differ in this index alone; null: they are none.
  int64_t cluster = 1;
  BlockArgument differing;
  llvm::SmallDenseMap<unsigned, bool> packable; // arguments whose rows no tensor map describes
  bool alone = true;
};
} // namespace

bool Counter::giveUp(Operation *op, const Twine &reason) {
  if (why.empty()) {
    llvm::raw_string_ostream os(why);
    os << '\'' << op->getName() << '\'';
    if (auto at = dyn_cast<FileLineColLoc>(op->getLoc()))
      os << " in line " << at.getLine();
    os << ' ' << reason;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Ops of an item
//===----------------------------------------------------------------------===//

static bool isStaged(Value tile) { return tile.getDefiningOp<LoadOp>() != nullptr; }

/// Whether it is a tile that a loop carries, or is made from one element by element.
static bool isCarried(Value tile) {
  if (auto argument = dyn_cast<BlockArgument>(tile))
    return isa<FoldOp, scf::ForOp>(argument.getOwner()->getParentOp());
  Operation *op = tile.getDefiningOp();
  return OpTrait::hasElementwiseMappableTraits(op) && llvm::any_of(op->getOperands(), isCarried);
}

bool Counter::countDot(DotOp dot, Work &work, double times) {
  auto acc = numbers.getShape(dot.getAcc().getType());
  auto lhs = numbers.getShape(dot.getLhs().getType());
  if (!acc || !lhs)
    return giveUp(dot, kUnknownExtents);
  double m = (*acc)[0], n = (*acc)[1], k = (*lhs)[dot.getTransposeA() ? 0 : 1];
  double bits = cast<RankedTensorType>(dot.getLhs().getType()).getElementTypeBitWidth();
  bool isExact = bits == 32 && !dot.getPrecision();
  // Without tensor cores a product of f32 takes 16 times as long.
  work.products += times * 2 * m * n * k * bits / 16 * (isExact ? 8 : 1);
  double rows = llvm::divideCeil((*acc)[0], unit.getRows());
  double columns = llvm::divideCeil((*acc)[1], unit.getColumns());
  // The left one is read at half the rate of the right one.
  work.operands += times * k * bits / 8 * (n * rows + (isStaged(dot.getLhs()) ? 2 * m * columns : 0));
  bool isSummedApart = bits == 8 && !matchPattern(dot.getAcc(), m_AnyZeroFloat());
  if (isSummedApart)
    work.sums += times * m * n;
  current->rows = std::gcd(current->rows, (*acc)[0]);
  current->columns = std::max(current->columns, (*acc)[1]);
  if (counted.insert(dot.getResult()).second) {
    // A loop's own are counted there.
    current->accumulators += m * n * ((isSummedApart ? 1 : 0) + (isCarried(dot.getAcc()) ? 0 : 1));
    if (!isStaged(dot.getLhs()))
      current->accumulators += m * k * bits / 32;
  }
  return true;
}

/// Of an op that is computed element by element.
bool Counter::countTile(Operation *op, Work &work, double times) {
  // Constants, and what is only spread out, cost nothing that counts.
  if (isa<arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp, BroadcastOp, TransposeOp,
          tensor::ExtractOp>(op))
    return true;
  Type type = isa<ReduceOp>(op) ? op->getOperand(0).getType() : op->getResult(0).getType();
  auto shape = numbers.getShape(type);
  if (!shape)
    return giveUp(op, kUnknownExtents);
  double elements = times * countElements(*shape);
  work.elements += elements;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
      !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp>(op))
    work.functions += elements;
  return true;
}

/// Tiles leave in chunks of their rows, also where the last one is not full: by how much that is more.
double Counter::countChunks(Type tile) {
  auto shape = numbers.getShape(tile);
  if (!shape || shape->size() != 2)
    return 1;
  int64_t bits = std::max(8u, cast<RankedTensorType>(tile).getElementTypeBitWidth());
  double chunks = double((*shape)[1]) * bits / (8 * chunk);
  auto parts = llvm::divideCeil((*shape)[0], unit.getRows()) * int64_t(std::ceil(chunks));
  current->storeParts = std::max<int64_t>(current->storeParts, parts);
  return chunks > 1 ? std::ceil(chunks) / chunks : 1;
}

/// Whether tiles of an argument come from a copy of it that is made in front of the launch.
bool Counter::isPacked(Value buffer) {
  if (numbers.areRowsAligned(buffer, kMapAlignment))
    return false;
  unsigned arg = cast<BlockArgument>(buffer).getArgNumber() - kernel.getNumDims();
  auto [known, isNew] = packable.try_emplace(arg);
  if (isNew)
    known->second = mayPack(kernel, arg);
  return known->second;
}

/// How much longer than its bytes a copy into shared memory takes.
double Counter::countCopies(LoadOp load) {
  bool packs = isPacked(load.getSource());
  if (!rates)
    return 1;
  // What no tensor map describes is copied by threads, element by element.
  if (!packs && !numbers.areRowsAligned(load.getSource(), kMapAlignment))
    return rates.getByThreads() / 100.0;
  bool isAligned = packs || numbers.areRowsAligned(load.getSource(), rates.getSector());
  double more = isAligned ? 1 : rates.getOffSector() / 100.0;
  // All of it comes in at each SM, but memory is asked for a part by each.
  if (isShared(load))
    more = std::max(1.0, more / cluster);
  // It comes in boxes of chunks, also where a row ends in the middle of one.
  auto shape = numbers.getShape(load.getType());
  int64_t bits = std::max(8u, cast<RankedTensorType>(load.getType()).getElementTypeBitWidth());
  double chunks = double(shape->back()) * bits / (8 * chunk);
  return chunks > 1 ? more * std::ceil(chunks) / chunks : more;
}

/// Where CTAs side by side, which take items one after the other, are clusters that can share copies
/// (`mk-sm-share-copies`).
void Counter::findCluster(ForeachOp loop, ArrayRef<int64_t> bounds, const LoopWork &work) {
  cluster = 1;
  differing = {};
  size_t last = bounds.size();
  while (last > 0 && bounds[last - 1] == 1)
    --last;
  if (!last || work.schedule != ScheduleKind::Static)
    return;
  for (int64_t size = getSm(kernel).getCluster(); size > 1; size /= 2)
    if (bounds[last - 1] == size && work.ctas % size == 0) {
      cluster = size;
      differing = loop.getBody().getArgument(last - 1);
      return;
    }
}

static bool dependsOn(Value value, BlockArgument argument) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  return op && argument.getOwner()->findAncestorOpInBlock(*op) &&
         llvm::any_of(op->getOperands(), [&](Value v) { return dependsOn(v, argument); });
}

bool Counter::isShared(LoadOp load) {
  auto shape = numbers.getShape(load.getType());
  return cluster > 1 && shape->size() > 1 &&
         (*shape)[shape->size() - 2] % (cluster * kSwizzleRows) == 0 &&
         llvm::none_of(load.getOffsets(), [&](Value v) { return dependsOn(v, differing); });
}

bool Counter::countOp(Operation *op, double times, bool inner) {
  Work &work = inner ? item.inner : item.outer;
  if (auto load = dyn_cast<LoadOp>(op)) {
    bool isCopied = llvm::all_of(load->getUsers(), llvm::IsaPred<DotOp>);
    std::optional<double> inBuffer = numbers.getBytes(load.getType(), load.getSource());
    if (!inBuffer)
      return giveUp(op, kUnknownExtents);
    if (!isCopied) {
      work.loads += times * *inBuffer;
      return true;
    }
    // The copy engine takes as long for rows that lie outside the buffer.
    double whole = *numbers.getBytes(load.getType(), Value());
    work.copies += times * whole * countCopies(load);
    (inner ? current->slot : current->once) += whole;
    return true;
  }
  if (auto store = dyn_cast<mk::StoreOp>(op)) {
    std::optional<double> bytes = numbers.getBytes(store.getTile().getType(), store.getDest());
    if (!bytes)
      return giveUp(op, kUnknownExtents);
    alone &= !store.getPeer();
    work.stores += times * *bytes * countChunks(store.getTile().getType());
    return true;
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return countDot(dot, work, times);
  alone &= !isCommunication(op);
  return !op->getNumResults() || !isTileType(op->getResult(0).getType()) ||
         countTile(op, work, times);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Where it is not known which branch is taken, the one with more to do.
bool Counter::countBranch(scf::IfOp op, double times, bool inner) {
  std::optional<int64_t> taken = numbers.getIndex(op.getCondition());
  auto branch = [&](Region &region, ItemWork &result) {
    ItemWork before = item;
    item = {};
    bool ok = region.empty() || count(region.front(), times, inner);
    result = std::exchange(item, before);
    return ok;
  };
  ItemWork then, otherwise;
  if ((taken.value_or(1) != 0 && !branch(op.getThenRegion(), then)) ||
      (taken.value_or(0) == 0 && !branch(op.getElseRegion(), otherwise)))
    return false;
  auto weigh = [](const ItemWork &work) {
    auto sum = [](const Work &w) { return w.products + w.copies + w.loads + w.stores + w.elements; };
    return sum(work.inner) + sum(work.outer);
  };
  const ItemWork &chosen = weigh(then) >= weigh(otherwise) ? then : otherwise;
  item.inner.add(chosen.inner, 1);
  item.outer.add(chosen.outer, 1);
  return true;
}

/// Registers for the tiles that a loop carries. One that an outer loop carries, and only hands on to this one, is counted there.
bool Counter::countCarried(Operation *loop) {
  auto inner = dyn_cast<scf::ForOp>(loop);
  ValueRange inits = inner ? inner.getInitArgs() : cast<FoldOp>(loop).getInits();
  for (auto [carried, init] : llvm::zip(loop->getResults(), inits)) {
    if (!isTileType(carried.getType()) || !counted.insert(carried).second)
      continue;
    if (isa<BlockArgument>(init) && isCarried(init) && init.hasOneUse())
      continue;
    auto shape = numbers.getShape(carried.getType());
    if (!shape)
      return giveUp(loop, kUnknownExtents);
    if (shape->size() > 1)
      current->accumulators += countElements(*shape);
  }
  return true;
}

bool Counter::countNested(Operation *op, double times, bool inner) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return countBranch(branch, times, inner);
  if (!hasTiles(op)) {
    op->walk([&](Operation *nested) { alone &= !isCommunication(nested); });
    return true;
  }
  std::optional<double> trips = numbers.countTrips(op);
  if (!trips)
    return giveUp(op, "makes a number of turns that is not known before the launch");
  // The first turn stands for all.
  if (auto range = dyn_cast<scf::ForOp>(op))
    if (std::optional<int64_t> from = numbers.getIndex(range.getLowerBound()))
      numbers.assume(range.getInductionVar(), *from);
  bool isInner = inner || hasDot(op);
  return (!isInner || countCarried(op)) &&
         count(op->getRegion(0).front(), times * *trips, isInner);
}

bool Counter::count(Block &block, double times, bool inner) {
  bool copies = llvm::any_of(block.getOps<LoadOp>(), [](LoadOp load) {
    return llvm::all_of(load->getUsers(), llvm::IsaPred<DotOp>);
  });
  if (copies)
    (inner ? item.inner : item.outer).turns += times;
  for (Operation &op : block) {
    bool isLoop = isa<LoopLikeOpInterface, FoldOp, ForeachOp, ForeachPeerOp, ForeachItemOp, scf::IfOp>(op);
    if (isLoop ? !countNested(&op, times, inner) : !countOp(&op, times, inner))
      return false;
  }
  return true;
}

bool Counter::countItem(ForeachOp loop, ArrayRef<int64_t> indices, LoopWork &work) {
  numbers.reset();
  for (auto [argument, index] : llvm::zip(loop.getBody().getArguments(), indices))
    numbers.assume(argument, index);
  item = {};
  counted.clear();
  work.accumulators = work.slot = work.once = work.rows = work.columns = work.storeParts = 0;
  current = &work;
  if (!count(loop.getBody().front(), 1, false))
    return false;
  work.samples.push_back(item);
  return true;
}

/// Sample `s`: evenly along the last dimension, and along the others so that all combinations turn up
/// (multiples of the golden ratio).
static SmallVector<int64_t> spread(int64_t s, int64_t samples, ArrayRef<int64_t> bounds) {
  SmallVector<int64_t> indices(bounds.size());
  double at = (s + 0.5) / samples;
  for (size_t d = bounds.size(); d-- > 0;) {
    indices[d] = static_cast<int64_t>(at * bounds[d]);
    at = std::fmod((s + 0.5) * std::pow(1.6180339887498949, bounds.size() - d), 1.0);
  }
  return indices;
}

bool Counter::countLoop(ForeachOp loop, LoopWork &work) {
  SmallVector<int64_t> bounds;
  double items = 1;
  for (Value bound : loop.getBounds()) {
    std::optional<int64_t> number = numbers.getIndex(bound);
    if (!number)
      return giveUp(loop, "goes over a number of items that is not known before the launch");
    bounds.push_back(std::max<int64_t>(*number, 0));
    items *= bounds.back();
  }
  work.items = items;
  work.schedule = loop.getScheduleKind();
  if (ScheduleAttr schedule = loop.getScheduleAttr()) {
    work.tail = schedule.getTailParam() ? numbers.getParam(schedule.getTailParam()).value_or(1)
                                        : std::max<int64_t>(schedule.getTail(), 1);
    if (schedule.getKindParam())
      work.schedule = symbolizeScheduleKind(numbers.getParam(schedule.getKindParam()).value_or(0))
                          .value_or(ScheduleKind::Static);
  }
  if (work.schedule == ScheduleKind::StreamK)
    for (FoldOp fold : loop.getBody().getOps<FoldOp>())
      work.isShared = bool(FoldSlices(fold));
  if (OrderAttr order = loop.getOrderAttr()) {
    work.teams = order.getAlternateParam() ? numbers.getParam(order.getAlternateParam()).value_or(1)
                                           : std::max<int64_t>(order.getAlternate(), 1);
  }
  findCluster(loop, bounds, work);
  if (items < 1 || countItem(loop, {}, work))
    return true;
  // Items differ by their indices.
  why.clear();
  auto samples = static_cast<int64_t>(std::min<double>(kSamples, items));
  for (int64_t s = 0; s != samples; ++s)
    if (!countItem(loop, spread(s, samples, bounds), work))
      return false;
  return true;
}

/// Bytes of arguments that roles read tiles from, or write them to.
void Counter::countArguments(KernelWork &work) {
  llvm::SmallDenseSet<Value> used;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      used.insert(load.getSource());
    else if (auto store = dyn_cast<mk::StoreOp>(op))
      used.insert(store.getDest());
  });
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    auto type = cast<MemRefType>(kernel.getKernelArg(i).getType());
    if (!used.contains(kernel.getKernelArg(i)) || !type.getElementType().isIntOrFloat())
      continue;
    double elements = 1;
    for (unsigned d = 0; d != type.getRank(); ++d)
      elements *= numbers.getShard(i, d).value_or(0);
    double bytes = elements * std::max(8u, type.getElementTypeBitWidth()) / 8;
    work.memory += bytes;
    work.packed += packable.lookup(i) ? bytes : 0;
  }
}

/// CTAs of each role.
FailureOr<SmallVector<int64_t>> Counter::divide(int64_t grid) {
  SmallVector<CtasAttr> shares;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    CtasAttr ctas = role.getCtas();
    if (StringAttr name = ctas.getFixedParam()) {
      std::optional<int64_t> fixed = numbers.getParam(name);
      if (!fixed)
        return failure();
      ctas = resolveCtas(ctas, *fixed);
    }
    shares.push_back(ctas);
  }
  return assignCtas(kernel, shares, grid);
}

bool Counter::run(int64_t grid, KernelWork &work) {
  for (RequireOp require : kernel.getBody().getOps<RequireOp>())
    if (numbers.getIndex(require.getCondition()) == 0)
      return giveUp(require, "does not hold: " + require.getMessage());
  FailureOr<SmallVector<int64_t>> ctas = divide(grid);
  if (failed(ctas))
    return giveUp(kernel, "needs more CTAs than there are, or a number that is not known before the launch");
  numbers.assumeCtas(*ctas);
  for (auto [i, role] : llvm::enumerate(kernel.getBody().getOps<RoleOp>()))
    for (Operation &op : role.getBody().front()) {
      if (isa<ForeachItemOp>(op))
        return giveUp(&op, "visits records of a queue");
      auto loop = dyn_cast<ForeachOp>(op);
      if (!loop)
        continue;
      numbers.reset();
      LoopWork &part = work.loops.emplace_back();
      part.role = role.getSymNameAttr();
      part.ctas = (*ctas)[i];
      if (!countLoop(loop, part))
        return false;
    }
  countArguments(work);
  work.isAlone = alone;
  return true;
}

std::optional<KernelWork> mk::countWork(KernelOp kernel, int64_t grid, const NamedNumbers &sizes,
                                        const NamedNumbers &params, std::string &why) {
  KernelWork work;
  why.clear();
  // Numbers that do not fit together are somebody else's error.
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  if (!Counter(kernel, sizes, params, why).run(grid, work))
    return std::nullopt;
  return work;
}
