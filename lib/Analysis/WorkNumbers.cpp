//===- WorkNumbers.cpp - Sizes and parameters of one choice ---------------===//
#include "WorkNumbers.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::mk;

/// Whether the result of an op follows from sizes and parameters alone, but not from the IR.
static bool isGiven(Operation *op) {
  return isa<ParamOp, memref::DimOp, RankOp, CoordOp, CtasOfOp>(op);
}

WorkNumbers::WorkNumbers(KernelOp kernel, const NamedNumbers &sizes, const NamedNumbers &params)
    : kernel(kernel), sizes(sizes), params(params) {
  kernel.walk([&](Operation *op) {
    if (isGiven(op))
      known.push_back(op);
  });
  reset();
}

/// Tells the evaluator what it cannot know from the IR. The first rank stands for all.
void WorkNumbers::reset() {
  numbers = IndexEvaluator();
  numbers.takeGuesses();
  for (auto [i, name] : llvm::enumerate(kernel.getDimNames()))
    if (auto it = sizes.find(cast<StringAttr>(name).str()); it != sizes.end())
      numbers.assume(kernel.getDim(i), it->second);
  for (Operation *op : known) {
    if (auto param = dyn_cast<ParamOp>(op)) {
      if (auto it = params.find(param.getName().str()); it != params.end())
        numbers.assume(param.getValue(), it->second);
    } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto arg = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> index = dim.getConstantIndex();
      if (arg && index && arg.getOwner() == &kernel.getBody().front())
        if (auto extent = getShard(arg.getArgNumber() - kernel.getNumDims(), *index))
          numbers.assume(dim, *extent);
    } else if (auto count = dyn_cast<CtasOfOp>(op)) {
      if (auto it = ctasOf.find(count.getRole()); it != ctasOf.end())
        numbers.assume(count, it->second);
    } else {
      numbers.assume(op->getResult(0), 0);
    }
  }
}

std::optional<int64_t> WorkNumbers::countRanks(ArrayAttr axes) {
  int64_t ranks = 1;
  MeshOp mesh = kernel.getMeshOp();
  for (Attribute axis : axes) {
    int64_t size = mesh.getAxis(mesh.findAxis(cast<StringAttr>(axis).getValue())).getSize();
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    ranks *= size;
  }
  return ranks;
}

std::optional<int64_t> WorkNumbers::getShard(unsigned arg, unsigned dim) {
  auto [it, isNew] = shards.try_emplace({arg, dim});
  if (isNew)
    it->second = computeShard(arg, dim);
  return it->second;
}

std::optional<int64_t> WorkNumbers::computeShard(unsigned arg, unsigned dim) {
  SmallVector<AffineExpr> dims, symbols;
  MLIRContext *context = kernel.getContext();
  // What is not known stays a symbol.
  auto find = [&](Attribute name) -> AffineExpr {
    auto it = sizes.find(cast<StringAttr>(name).str());
    return it == sizes.end() ? getAffineSymbolExpr(0, context)
                             : getAffineConstantExpr(it->second, context);
  };
  for (Attribute name : kernel.getDimNames())
    dims.push_back(find(name));
  for (Attribute name : kernel.getSizeAxes())
    symbols.push_back(find(name));
  AffineExpr whole = kernel.getArgShape(arg).getResult(dim).replaceDimsAndSymbols(dims, symbols);
  auto extent = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(whole, 0, 1));
  if (!extent)
    return std::nullopt;
  ArrayAttr split = kernel.getArgSplit(arg);
  if (!split || split.empty())
    return extent.getValue();
  std::optional<int64_t> ranks = countRanks(cast<ArrayAttr>(split[dim]));
  if (!ranks)
    return std::nullopt;
  return llvm::divideCeil(extent.getValue(), *ranks);
}

void WorkNumbers::assumeCtas(ArrayRef<int64_t> ctas) {
  for (auto [role, count] : llvm::zip(kernel.getBody().getOps<RoleOp>(), ctas))
    ctasOf[role.getSymName()] = count;
  reset();
}

std::optional<int64_t> WorkNumbers::getGiven(Value value) {
  Operation *op = value.getDefiningOp();
  bool given = op ? isGiven(op) : value.getParentBlock() == &kernel.getBody().front();
  return given ? numbers.getIndex(value) : std::nullopt;
}

bool WorkNumbers::isFixed(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isGiven(op))
    return getGiven(value).has_value();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isFixed(operand); });
}

std::optional<int64_t> WorkNumbers::getParam(StringAttr name) {
  for (Operation *op : known)
    if (auto param = dyn_cast<ParamOp>(op); param && param.getNameAttr() == name)
      return numbers.getIndex(param.getValue());
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> WorkNumbers::getShape(Type tile) {
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

double mk::countElements(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
}

std::optional<double> WorkNumbers::getBytes(Type tile, Value buffer) {
  auto shape = getShape(tile);
  if (!shape)
    return std::nullopt;
  auto argument = dyn_cast_or_null<BlockArgument>(buffer);
  if (argument && argument.getOwner() == &kernel.getBody().front()) {
    int64_t skipped = cast<MemRefType>(buffer.getType()).getRank() - shape->size();
    for (auto [d, extent] : llvm::enumerate(*shape))
      if (auto most = getShard(argument.getArgNumber() - kernel.getNumDims(), skipped + d))
        extent = std::min(extent, *most);
  }
  Type element = cast<RankedTensorType>(tile).getElementType();
  double bits = element.isIntOrFloat() ? std::max(8u, element.getIntOrFloatBitWidth()) : 64;
  return countElements(*shape) * bits / 8;
}

bool WorkNumbers::areRowsAligned(Value buffer, int64_t bytes) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto type = cast<MemRefType>(buffer.getType());
  if (!argument || argument.getOwner() != &kernel.getBody().front() || !type.getRank() ||
      !type.getElementType().isIntOrFloat())
    return true;
  std::optional<int64_t> columns =
      getShard(argument.getArgNumber() - kernel.getNumDims(), type.getRank() - 1);
  return !columns || *columns * type.getElementTypeBitWidth() % (8 * bytes) == 0;
}

std::optional<int64_t> WorkNumbers::getLikely(ForeachOp loop) {
  std::optional<int64_t> likely =
      loop.getLikely() ? numbers.getIndex(loop.getLikely()) : std::nullopt;
  return likely ? std::optional(std::max<int64_t>(*likely, 0)) : std::nullopt;
}

std::optional<SmallVector<int64_t>> WorkNumbers::getBounds(ForeachOp loop) {
  std::optional<int64_t> likely = getLikely(loop);
  SmallVector<int64_t> bounds;
  std::optional<size_t> open;
  double others = 1;
  for (auto [i, bound] : llvm::enumerate(loop.getBounds())) {
    std::optional<int64_t> number = numbers.getIndex(bound);
    if (!number && (open || !likely))
      return std::nullopt;
    if (!number)
      open = i;
    bounds.push_back(std::max<int64_t>(number.value_or(0), 0));
    others *= number ? bounds.back() : 1;
  }
  if (open && others > 0)
    bounds[*open] = std::ceil(*likely / others);
  return bounds;
}

double WorkNumbers::countLikely(ForeachOp loop, double most) {
  std::optional<int64_t> likely = getLikely(loop);
  return likely ? std::min<double>(*likely, most) : most;
}

std::optional<double> WorkNumbers::countTrips(Operation *loop) {
  if (auto fold = dyn_cast<FoldOp>(loop))
    return numbers.getIndex(fold.getCount());
  if (auto foreach = dyn_cast<ForeachOp>(loop)) {
    auto bounds = getBounds(foreach);
    return bounds ? countLikely(foreach, countElements(*bounds)) : getLikely(foreach);
  }
  if (auto peers = dyn_cast<ForeachPeerOp>(loop)) {
    std::optional<int64_t> ranks = countRanks(peers.getAxes());
    if (!ranks)
      return std::nullopt;
    return *ranks - (peers.getIncludingSelf() ? 0 : 1);
  }
  auto range = dyn_cast<scf::ForOp>(loop);
  if (!range)
    return std::nullopt;
  auto from = numbers.getIndex(range.getLowerBound()), to = numbers.getIndex(range.getUpperBound()),
       step = numbers.getIndex(range.getStep());
  if (!from || !to || !step || *step < 1)
    return std::nullopt;
  return *to > *from ? llvm::divideCeil(*to - *from, *step) : 0;
}
