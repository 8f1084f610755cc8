//===- ResolveParams.cpp - Numbers for parameters -------------------------===//
//
// A parameter is a value, and may also be named in types and attributes. All of
// them are replaced at once, so that the types of a kernel agree before and after.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/InterleavedRange.h"

namespace mlir::mk {
#define GEN_PASS_DEF_RESOLVEPARAMSPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
/// The parameters of one kernel; without a number where it is not constant.
using Params = llvm::MapVector<StringAttr, std::optional<int64_t>>;

/// Replaces the names of parameters in one op by their numbers.
class Resolver {
public:
  /// `numbers`: those of the op that run() is called for.
  Resolver(const Params &params, IndexEvaluator &numbers) : params(params), numbers(numbers) {
    replacer.addReplacement([&](RankedTensorType type) { return replace(type); });
    replacer.addReplacement([&](ScheduleAttr attr) { return replace(attr); });
    replacer.addReplacement([&](OrderAttr attr) { return replace(attr); });
    replacer.addReplacement([&](CtasAttr attr) { return replace(attr); });
  }

  /// Whether a name has been replaced.
  bool hasChanged() const { return changed; }

  LogicalResult run(Operation *root) {
    if (root->walk([&](Operation *op) { return WalkResult(resolve(op)); }).wasInterrupted())
      return failure();
    return success();
  }

private:
  LogicalResult resolve(Operation *op);
  template <typename Op> LogicalResult dropSizes(Op op);
  LogicalResult checkExtents(ForeachOp loop);
  LogicalResult checkDivisor(Operation *op);
  /// The number of a parameter, at least `least`; else `fallback` and an error.
  int64_t number(StringAttr name, const Twine &what, int64_t least, int64_t fallback,
                 int64_t most = std::numeric_limits<int64_t>::max());
  std::optional<Type> replace(RankedTensorType type);
  std::optional<Attribute> replace(ScheduleAttr schedule);
  std::optional<Attribute> replace(OrderAttr order);
  std::optional<Attribute> replace(CtasAttr ctas);

  const Params &params;
  IndexEvaluator &numbers;
  AttrTypeReplacer replacer;
  Operation *current = nullptr;
  bool bad = false;
  bool changed = false;
};
} // namespace

int64_t Resolver::number(StringAttr name, const Twine &what, int64_t least, int64_t fallback,
                         int64_t most) {
  changed = true;
  auto it = params.find(name);
  if (it != params.end() && it->second && *it->second >= least && *it->second <= most)
    return *it->second;
  if (bad)
    return fallback;
  bad = true;
  InFlightDiagnostic diag = current->emitOpError()
                            << "has " << what << " '" << name.getValue() << "', ";
  if (it == params.end()) {
    diag << "but the kernel has no such parameter; ";
    if (params.empty())
      diag << "it has none";
    else
      diag << "it has "
           << quoted(llvm::map_range(params, [](auto &param) { return param.first.getValue(); }));
    diag << ": add mk.param \"" << name.getValue() << "\"";
  } else if (!it->second) {
    diag << "whose default is no constant: bind what it depends on, or say --set "
         << name.getValue() << "=N";
  } else {
    diag << "which is " << *it->second << ", it must be at "
         << (*it->second < least ? "least " : "most ") << (*it->second < least ? least : most);
  }
  return fallback;
}

std::optional<Type> Resolver::replace(RankedTensorType type) {
  auto extents = dyn_cast_or_null<ExtentsAttr>(type.getEncoding());
  if (!extents)
    return std::nullopt;
  SmallVector<int64_t> shape(type.getShape());
  ArrayRef<StringAttr> names = extents.getNames();
  for (int64_t &extent : shape) {
    if (!ShapedType::isDynamic(extent))
      continue;
    extent = number(names.front(), "a tile of extent", 1, 1);
    names = names.drop_front();
  }
  // Bytes and registers of tiles are counted below.
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (llvm::MulOverflow(elements, extent, elements) || elements > kMaxTileElements) {
      if (!bad)
        current->emitOpError() << "has a tile of " << llvm::interleaved(shape, " x ")
                               << " elements, more than 2^24: use smaller extents";
      bad = true;
      return RankedTensorType::get({1}, type.getElementType());
    }
  return RankedTensorType::get(shape, type.getElementType());
}

std::optional<Attribute> Resolver::replace(ScheduleAttr schedule) {
  if (!schedule.getKindParam() && !schedule.getTailParam() && !schedule.getPartsParam())
    return std::nullopt;
  ScheduleKind kind = schedule.getKind();
  if (StringAttr name = schedule.getKindParam()) {
    int64_t choice = number(name, "schedule", 0, 0);
    std::optional<ScheduleKind> symbol = symbolizeScheduleKind(choice);
    if (!symbol && !bad) {
      bad = true;
      current->emitOpError() << "has schedule '" << name.getValue() << "', which is " << choice
                             << ", it must be 0 (static), 1 (ticket) or 2 (stream_k)";
    }
    kind = symbol.value_or(ScheduleKind::Static);
  }
  int64_t tail = schedule.getTail();
  if (kind != ScheduleKind::StreamK)
    tail = 0;
  else if (StringAttr name = schedule.getTailParam())
    tail = number(name, "a tail of", 1, 1);
  if (kind == ScheduleKind::StreamK && tail < 1) {
    if (!bad)
      current->emitOpError() << "has schedule stream_k by parameter '"
                             << schedule.getKindParam().getValue()
                             << "', but says no tail: write tail = 1";
    bad = true;
    tail = 1;
  }
  int64_t parts = schedule.getParts();
  if (StringAttr name = schedule.getPartsParam())
    parts = number(name, "a schedule of parts =", 1, 1, 8);
  if (kind != ScheduleKind::Static || parts == 1)
    parts = 0;
  return ScheduleAttr::get(schedule.getContext(), kind, tail, parts, StringAttr(), StringAttr(),
                           StringAttr());
}

std::optional<Attribute> Resolver::replace(OrderAttr order) {
  if (!order.getRasterParam() && !order.getAlternateParam())
    return std::nullopt;
  int64_t raster = order.getRaster(), alternate = order.getAlternate();
  if (order.getRasterParam())
    raster = number(order.getRasterParam(), "order raster =", 1, 1);
  if (order.getAlternateParam())
    alternate = number(order.getAlternateParam(), "order alternate =", 1, 1, 2);
  return OrderAttr::get(order.getContext(), raster, order.getOwn(), order.getSpread(),
                        order.getStagger(), order.getLongestFirst(), alternate, StringAttr(),
                        StringAttr());
}

std::optional<Attribute> Resolver::replace(CtasAttr ctas) {
  if (!ctas.getFixedParam())
    return std::nullopt;
  // 0 leaves it to the share, if there is one.
  bool hasShare = !ctas.getShare().isZero();
  int64_t count = number(ctas.getFixedParam(), "a number of CTAs", hasShare ? 0 : 1, 1);
  return resolveCtas(ctas, count);
}

/// Upstream's ops that make a tensor take a size for each open extent: they
/// must be those that the type names.
template <typename Op> LogicalResult Resolver::dropSizes(Op op) {
  auto extents = dyn_cast_or_null<ExtentsAttr>(op.getType().getEncoding());
  if (!extents)
    return success();
  for (auto [name, size] : llvm::zip(extents.getNames(), op.getDynamicSizes())) {
    int64_t wanted = number(name, "a tile of extent", 1, 1);
    std::optional<int64_t> given = numbers.getIndex(size);
    if (!bad && given != wanted)
      return op.emitOpError() << "is given " << (given ? std::to_string(*given) : "no constant")
                              << " for extent '" << name.getValue() << "', which is " << wanted
                              << ": pass the value of this mk.param";
  }
  op.getDynamicSizesMutable().clear();
  return failure(bad);
}

/// Items are counted without sign: less than none would be nearly endless, or be taken for none.
LogicalResult Resolver::checkExtents(ForeachOp loop) {
  for (auto [i, extent] : llvm::enumerate(loop.getBounds()))
    if (std::optional<int64_t> number = numbers.getIndex(extent); number && *number < 0)
      return loop.emitOpError()
             << "goes over " << *number << " items in dimension " << i
             << ": give the parameters or sizes it follows from values that leave at least 0";
  return success();
}

/// The parameter that makes `value` 0: one that is 0, and the value is not where that is 1; else
/// the first of those that have to be changed together. Null if there is none.
static ParamOp findZero(Value value) {
  SmallVector<ParamOp> zeros = llvm::to_vector(
      llvm::make_filter_range(getParamsOf(value), [](ParamOp op) { return op.getNumber() == 0; }));
  auto isZeroWithout = [&](ArrayRef<ParamOp> params) {
    for (ParamOp param : params)
      param.setNumber(1);
    std::optional<int64_t> number = evaluateIndex(value);
    for (ParamOp param : params)
      param.setNumber(0);
    return number == 0;
  };
  for (ParamOp param : zeros)
    if (!isZeroWithout(param))
      return param;
  return zeros.empty() || isZeroWithout(zeros) ? ParamOp() : zeros.front();
}

/// A division that every launch executes, by what a parameter makes 0.
LogicalResult Resolver::checkDivisor(Operation *op) {
  if (!isa<arith::DivUIOp, arith::DivSIOp, arith::CeilDivUIOp, arith::CeilDivSIOp,
           arith::FloorDivSIOp, arith::RemUIOp, arith::RemSIOp>(op) ||
      !isa<KernelOp>(op->getParentOp()) || numbers.getIndex(op->getOperand(1)) != 0)
    return success();
  ParamOp param = findZero(op->getOperand(1));
  if (!param)
    return success();
  return op->emitOpError() << "divides by 0, since parameter '" << param.getName()
                           << "' is 0: it must be at least 1";
}

LogicalResult Resolver::resolve(Operation *op) {
  current = op;
  if (failed(checkDivisor(op)))
    return failure();
  if (auto loop = dyn_cast<ForeachOp>(op); loop && failed(checkExtents(loop)))
    return failure();
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    if (failed(dropSizes(splat)))
      return failure();
  } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    if (failed(dropSizes(empty)))
      return failure();
  }
  replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                             /*replaceTypes=*/true);
  return failure(bad);
}

namespace {
struct ResolveParamsPass : mk::impl::ResolveParamsPassBase<ResolveParamsPass> {
  LogicalResult collect(KernelOp kernel, IndexEvaluator &numbers, Params &params) {
    WalkResult result = kernel.walk([&](ParamOp op) -> WalkResult {
      std::optional<int64_t> number = numbers.getIndex(op.getValue());
      if (number && *number < int64_t(op.getLeast()))
        return op.emitOpError() << op.explainTooSmall(*number);
      auto [it, isNew] = params.insert({op.getNameAttr(), number});
      if (isNew || it->second == number)
        return WalkResult::advance();
      return op.emitOpError() << "'" << op.getName()
                              << "' is declared twice with different defaults";
    });
    return failure(result.wasInterrupted());
  }

  /// Functions that folds of the kernel combine by.
  SmallVector<func::FuncOp> getCombines(KernelOp kernel) {
    llvm::SetVector<func::FuncOp> functions;
    kernel.walk([&](FoldOp fold) {
      if (auto name = dyn_cast_or_null<FlatSymbolRefAttr>(fold.getCombineAttr()))
        if (auto function = getOperation().lookupSymbol<func::FuncOp>(name.getAttr()))
          functions.insert(function);
    });
    return functions.takeVector();
  }

  LogicalResult resolveCombine(func::FuncOp function, const Params &params) {
    auto it = resolved.find(function);
    if (it == resolved.end()) {
      IndexEvaluator numbers;
      Resolver resolver(params, numbers);
      if (failed(resolver.run(function)))
        return failure();
      if (resolver.hasChanged())
        resolved.try_emplace(function, params);
      return success();
    }
    // Another kernel came first.
    if (llvm::equal(it->second, params))
      return success();
    return function.emitError() << "@" << function.getSymName()
                                << " combines tiles of kernels with different parameters; choose a "
                                   "kernel by --kernel, or give each its own function";
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      Params params;
      // Those that mk-verify-sizes has found, where it was the pass before.
      auto &numbers = getChildAnalysis<IndexEvaluator>(kernel);
      if (failed(collect(kernel, numbers, params)) || failed(Resolver(params, numbers).run(kernel)))
        return signalPassFailure();
      for (func::FuncOp function : getCombines(kernel))
        if (failed(resolveCombine(function, params)))
          return signalPassFailure();
      SmallVector<ParamOp> ops;
      kernel.walk([&](ParamOp op) { ops.push_back(op); });
      for (ParamOp op : ops) {
        OpBuilder builder(op);
        Value value = op.getDefaultValue();
        if (std::optional<int64_t> number = params[op.getNameAttr()])
          value = arith::ConstantIndexOp::create(builder, op.getLoc(), *number);
        op.replaceAllUsesWith(value);
        op.erase();
      }
    }
  }

  llvm::DenseMap<Operation *, Params> resolved;
};
} // namespace
