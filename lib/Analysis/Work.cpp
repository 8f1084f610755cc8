//===- Work.cpp - What a launch of a kernel has to do ---------------------===//
#include "mkernel/Analysis/Work.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Transforms/Evaluate.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
  loads += times * other.loads;
  stores += times * other.stores;
  elements += times * other.elements;
  functions += times * other.functions;
  sums += times * other.sums;
}

/// Of a loop whose items differ, so many are looked at.
static constexpr int64_t kSamples = 16;

static bool isTileType(Type type) { return isa<RankedTensorType>(type); }

static bool hasTiles(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool touches = isa<StoreOp>(inner) || llvm::any_of(inner->getResultTypes(), isTileType);
        return touches ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool hasDot(Operation *op) {
  return op->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {
/// Counts with one choice of parameters.
class Counter {
public:
  Counter(KernelOp kernel, const NamedNumbers &sizes, const NamedNumbers &params, std::string &why)
      : kernel(kernel), sizes(sizes), params(params), why(why),
        unit(getSm(kernel).getMatrixUnit()) {
    kernel.walk([&](Operation *op) {
      if (isa<ParamOp, memref::DimOp, RankOp, CoordOp>(op))
        known.push_back(op);
    });
  }

  bool run(int64_t grid, KernelWork &work);

private:
  //===--- Numbers --------------------------------------------------------===//

  void assume(IndexEvaluator &numbers);
  std::optional<int64_t> getShard(unsigned arg, unsigned dim);
  std::optional<int64_t> getParam(StringAttr name);
  std::optional<SmallVector<int64_t>> getShape(Type tile);
  double getBytes(Type tile, Value buffer);
  bool giveUp(Operation *op, const Twine &reason);

  //===--- Work -----------------------------------------------------------===//

  bool countLoop(ForeachOp loop, LoopWork &work);
  bool countItem(ForeachOp loop, ArrayRef<int64_t> indices, LoopWork &work);
  bool count(Block &block, double times, bool inner);
  bool countNested(Operation *op, double times, bool inner);
  bool countBranch(scf::IfOp op, double times, bool inner);
  bool countOp(Operation *op, double times, bool inner);
  void countDot(DotOp dot, Work &work, double times);
  void countTile(Operation *op, Work &work, double times);
  std::optional<double> countTrips(Operation *loop);
  double countArguments();

  KernelOp kernel;
  const NamedNumbers &sizes, &params;
  std::string &why;
  MatrixUnitAttr unit;
  SmallVector<Operation *> known;
  IndexEvaluator numbers;
  ItemWork item;
  LoopWork *current = nullptr;
  llvm::SmallDenseSet<Value> counted; // accumulators
  bool alone = true, failed = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

bool Counter::giveUp(Operation *op, const Twine &reason) {
  if (why.empty()) {
    llvm::raw_string_ostream os(why);
    os << '\'' << op->getName() << '\'';
    if (auto at = dyn_cast<FileLineColLoc>(op->getLoc()))
      os << " in line " << at.getLine();
    os << ' ' << reason;
  }
  failed = true;
  return false;
}

/// Elements of a dimension of an argument that the first rank has.
std::optional<int64_t> Counter::getShard(unsigned arg, unsigned dim) {
  AffineMap shape = kernel.getArgShape(arg);
  SmallVector<AffineExpr> dims, symbols;
  MLIRContext *context = kernel.getContext();
  auto find = [&](Attribute name) -> AffineExpr {
    auto it = sizes.find(cast<StringAttr>(name).getValue());
    return it == sizes.end() ? getAffineSymbolExpr(0, context)
                             : getAffineConstantExpr(it->second, context);
  };
  for (Attribute name : kernel.getDimNames())
    dims.push_back(find(name));
  for (Attribute name : kernel.getSizeAxes())
    symbols.push_back(find(name));
  auto extent = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(shape.getResult(dim).replaceDimsAndSymbols(dims, symbols), 0, 1));
  if (!extent)
    return std::nullopt;
  int64_t ranks = 1;
  ArrayAttr split = kernel.getArgSplit(arg);
  if (split && !split.empty())
    for (Attribute axis : cast<ArrayAttr>(split[dim])) {
      MeshOp mesh = kernel.getMeshOp();
      int64_t size = mesh.getAxis(mesh.findAxis(cast<StringAttr>(axis).getValue())).getSize();
      if (ShapedType::isDynamic(size))
        return std::nullopt;
      ranks *= size;
    }
  return llvm::divideCeil(extent.getValue(), ranks);
}

/// Tells the evaluator what it cannot know from the IR. The first rank stands for all.
void Counter::assume(IndexEvaluator &numbers) {
  for (auto [i, name] : llvm::enumerate(kernel.getDimNames()))
    if (auto it = sizes.find(cast<StringAttr>(name).getValue()); it != sizes.end())
      numbers.assume(kernel.getDim(i), it->second);
  for (Operation *op : known) {
    if (auto param = dyn_cast<ParamOp>(op)) {
      if (auto it = params.find(param.getName()); it != params.end())
        numbers.assume(param.getValue(), it->second);
    } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto arg = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> index = dim.getConstantIndex();
      if (arg && index && arg.getOwner() == &kernel.getBody().front())
        if (auto extent = getShard(arg.getArgNumber() - kernel.getNumDims(), *index))
          numbers.assume(dim, *extent);
    } else {
      numbers.assume(op->getResult(0), 0);
    }
  }
}

std::optional<int64_t> Counter::getParam(StringAttr name) {
  for (Operation *op : known)
    if (auto param = dyn_cast<ParamOp>(op); param && param.getNameAttr() == name)
      return numbers.getIndex(param.getValue());
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> Counter::getShape(Type tile) {
  auto type = cast<RankedTensorType>(tile);
  SmallVector<int64_t> shape(type.getShape());
  auto extents = dyn_cast_or_null<ExtentsAttr>(type.getEncoding());
  ArrayRef<StringAttr> names = extents ? extents.getNames() : ArrayRef<StringAttr>();
  for (int64_t &extent : shape) {
    if (!ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> number = names.empty() ? std::nullopt : getParam(names.front());
    if (!number || *number < 1)
      return std::nullopt;
    extent = *number;
    names = names.drop_front();
  }
  return shape;
}

static double countElements(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
}

/// Of what a tile has of a buffer, which may have less; 0 and a failure if its extents are not known.
double Counter::getBytes(Type tile, Value buffer) {
  auto shape = getShape(tile);
  failed |= !shape;
  auto argument = dyn_cast_or_null<BlockArgument>(buffer);
  if (shape && argument && argument.getOwner() == &kernel.getBody().front()) {
    int64_t skipped = cast<MemRefType>(buffer.getType()).getRank() - shape->size();
    for (auto [d, extent] : llvm::enumerate(*shape))
      if (auto most = getShard(argument.getArgNumber() - kernel.getNumDims(), skipped + d))
        extent = std::min(extent, *most);
  }
  Type element = cast<RankedTensorType>(tile).getElementType();
  double bits = element.isIntOrFloat() ? std::max(8u, element.getIntOrFloatBitWidth()) : 64;
  return shape ? countElements(*shape) * bits / 8 : 0;
}

//===----------------------------------------------------------------------===//
// Ops of an item
//===----------------------------------------------------------------------===//

/// The tile that a left operand or an accumulator is loaded from, through casts.
static bool isStaged(Value tile) { return tile.getDefiningOp<LoadOp>() != nullptr; }

void Counter::countDot(DotOp dot, Work &work, double times) {
  auto acc = getShape(dot.getAcc().getType());
  auto lhs = getShape(dot.getLhs().getType());
  if (!acc || !lhs || acc->size() != 2 || lhs->size() != 2) {
    giveUp(dot, "has tiles whose extents are not known");
    return;
  }
  double m = (*acc)[0], n = (*acc)[1], k = (*lhs)[dot.getTransposeA() ? 0 : 1];
  double bits = cast<RankedTensorType>(dot.getLhs().getType()).getElementTypeBitWidth();
  bool isExact = bits == 32 && !dot.getPrecision();
  // Without tensor cores a product of f32 takes 16 times as long.
  work.products += times * 2 * m * n * k * bits / 16 * (isExact ? 8 : 1);
  double rows = llvm::divideCeil((*acc)[0], unit.getRows());
  double columns = llvm::divideCeil((*acc)[1], unit.getColumns());
  work.operands += times * k * bits / 8 * (n * rows + (isStaged(dot.getLhs()) ? m * columns : 0));
  bool isSummedApart = bits == 8 && !matchPattern(dot.getAcc(), m_AnyZeroFloat());
  if (isSummedApart)
    work.sums += times * m * n;
  current->rows = std::gcd(current->rows, (*acc)[0]);
  if (counted.insert(dot.getResult()).second) {
    current->accumulators += m * n * (isSummedApart ? 2 : 1);
    if (!isStaged(dot.getLhs()))
      current->accumulators += m * k * bits / 32;
  }
}

/// Of an op that is computed element by element.
void Counter::countTile(Operation *op, Work &work, double times) {
  // Constants, and what is only spread out, cost nothing that counts.
  if (isa<arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp, BroadcastOp, TransposeOp,
          tensor::ExtractOp>(op))
    return;
  Type type = isa<ReduceOp>(op) ? op->getOperand(0).getType() : op->getResult(0).getType();
  auto shape = getShape(type);
  if (!shape) {
    giveUp(op, "has a tile whose extents are not known");
    return;
  }
  double elements = times * countElements(*shape);
  work.elements += elements;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
      !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp>(op))
    work.functions += elements;
}

bool Counter::countOp(Operation *op, double times, bool inner) {
  Work &work = inner ? item.inner : item.outer;
  if (auto load = dyn_cast<LoadOp>(op)) {
    bool isCopied = llvm::all_of(load->getUsers(), llvm::IsaPred<DotOp>);
    (isCopied ? work.copies : work.loads) += times * getBytes(load.getType(), load.getSource());
    if (isCopied)
      (inner ? current->slot : current->once) += getBytes(load.getType(), Value());
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    alone &= !store.getPeer();
    work.stores += times * getBytes(store.getTile().getType(), store.getDest());
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    countDot(dot, work, times);
  } else if (isa<PutOp, WaitOp, SignalOp, CountOp, PushOp>(op)) {
    alone = false;
  } else if (op->getNumResults() && isTileType(op->getResult(0).getType())) {
    countTile(op, work, times);
  }
  return !failed;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<double> Counter::countTrips(Operation *loop) {
  if (auto fold = dyn_cast<FoldOp>(loop))
    return numbers.getIndex(fold.getCount());
  if (auto foreach = dyn_cast<ForeachOp>(loop)) {
    double trips = 1;
    for (Value bound : foreach.getBounds()) {
      std::optional<int64_t> number = numbers.getIndex(bound);
      if (!number)
        return std::nullopt;
      trips *= std::max<int64_t>(*number, 0);
    }
    return trips;
  }
  if (auto peers = dyn_cast<ForeachPeerOp>(loop)) {
    double ranks = 1;
    MeshOp mesh = kernel.getMeshOp();
    for (Attribute axis : peers.getAxes()) {
      int64_t size = mesh.getAxis(mesh.findAxis(cast<StringAttr>(axis).getValue())).getSize();
      if (ShapedType::isDynamic(size))
        return std::nullopt;
      ranks *= size;
    }
    return peers.getIncludingSelf() ? ranks : ranks - 1;
  }
  if (auto range = dyn_cast<scf::ForOp>(loop)) {
    auto from = numbers.getIndex(range.getLowerBound()), to = numbers.getIndex(range.getUpperBound()),
         step = numbers.getIndex(range.getStep());
    if (from && to && step && *step > 0)
      return *to > *from ? llvm::divideCeil(*to - *from, *step) : 0;
  }
  return std::nullopt;
}

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

bool Counter::countNested(Operation *op, double times, bool inner) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return countBranch(branch, times, inner);
  if (!hasTiles(op)) {
    alone &= !op->walk([](Operation *nested) {
                  return isa<PutOp, WaitOp, SignalOp, CountOp, PushOp>(nested)
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                }).wasInterrupted();
    return true;
  }
  std::optional<double> trips = countTrips(op);
  if (!trips)
    return giveUp(op, "makes a number of turns that is not known before the launch");
  return count(op->getRegion(0).front(), times * *trips, inner || hasDot(op));
}

bool Counter::count(Block &block, double times, bool inner) {
  for (Operation &op : block) {
    bool isLoop = isa<LoopLikeOpInterface, FoldOp, ForeachOp, ForeachPeerOp, ForeachItemOp, scf::IfOp>(op);
    if (isLoop ? !countNested(&op, times, inner) : !countOp(&op, times, inner))
      return false;
  }
  return true;
}

bool Counter::countItem(ForeachOp loop, ArrayRef<int64_t> indices, LoopWork &work) {
  numbers = IndexEvaluator();
  assume(numbers);
  for (auto [argument, index] : llvm::zip(loop.getBody().getArguments(), indices))
    numbers.assume(argument, index);
  item = {};
  counted.clear();
  work.accumulators = work.slot = work.once = work.rows = 0;
  current = &work;
  failed = false;
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
  if (ScheduleAttr schedule = loop.getScheduleAttr(); schedule && schedule.getKindParam())
    work.schedule = symbolizeScheduleKind(getParam(schedule.getKindParam()).value_or(0))
                        .value_or(ScheduleKind::Static);
  if (OrderAttr order = loop.getOrderAttr()) {
    work.teams = order.getAlternateParam() ? getParam(order.getAlternateParam()).value_or(1)
                                           : std::max<int64_t>(order.getAlternate(), 1);
  }
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
double Counter::countArguments() {
  llvm::SmallDenseSet<Value> used;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      used.insert(load.getSource());
    else if (auto store = dyn_cast<StoreOp>(op))
      used.insert(store.getDest());
  });
  double bytes = 0;
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    auto type = cast<MemRefType>(kernel.getKernelArg(i).getType());
    if (!used.contains(kernel.getKernelArg(i)) || !type.getElementType().isIntOrFloat())
      continue;
    double elements = 1;
    for (unsigned d = 0; d != type.getRank(); ++d)
      elements *= getShard(i, d).value_or(0);
    bytes += elements * std::max(8u, type.getElementTypeBitWidth()) / 8;
  }
  return bytes;
}

bool Counter::run(int64_t grid, KernelWork &work) {
  assume(numbers);
  SmallVector<CtasAttr> shares;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    CtasAttr ctas = role.getCtas();
    if (StringAttr name = ctas.getFixedParam()) {
      std::optional<int64_t> fixed = getParam(name);
      if (!fixed)
        return giveUp(role, "has a number of CTAs that is not known before the launch");
      ctas = resolveCtas(ctas, *fixed);
    }
    shares.push_back(ctas);
  }
  FailureOr<SmallVector<int64_t>> ctas = assignCtas(kernel, shares, grid);
  if (mlir::failed(ctas))
    return giveUp(kernel, "needs more CTAs than there are");
  for (auto [i, role] : llvm::enumerate(kernel.getBody().getOps<RoleOp>()))
    for (Operation &op : role.getBody().front()) {
      if (isa<ForeachItemOp>(op))
        return giveUp(&op, "visits records of a queue");
      auto loop = dyn_cast<ForeachOp>(op);
      if (!loop)
        continue;
      numbers = IndexEvaluator();
      assume(numbers);
      LoopWork &part = work.loops.emplace_back();
      part.role = role.getSymNameAttr();
      part.ctas = (*ctas)[i];
      if (!countLoop(loop, part))
        return false;
    }
  work.memory = countArguments();
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
