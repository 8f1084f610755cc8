//===- TileVerifyLoops.cpp - Verifiers of iteration -----------------------===//
#include "TileVerify.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, ScheduleKind kind,
                                   int64_t tail, int64_t parts, StringAttr kindParam,
                                   StringAttr tailParam, StringAttr partsParam) {
  if (parts < 0 || parts > 8)
    return emitError() << "has parts = " << parts
                       << ": 1 to 8 CTAs of a cluster do an item together";
  if (kindParam)
    return success(); // known when it is resolved
  if (kind == ScheduleKind::StreamK && tail < 1 && !tailParam)
    return emitError() << "schedule stream_k needs the number of waves that are split: write "
                          "'stream_k, tail = 1'";
  if (kind != ScheduleKind::StreamK && (tail || tailParam))
    return emitError() << "schedule " << stringifyScheduleKind(kind)
                       << " has no tail: only stream_k splits one";
  if (kind != ScheduleKind::Static && (parts || partsParam))
    return emitError() << "schedule " << stringifyScheduleKind(kind)
                       << " has no parts: only items of static are done by CTAs side by side";
  return success();
}

LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t raster,
                                OwnPlace own, int64_t spread, bool stagger, int64_t longestFirst,
                                int64_t alternate, StringAttr rasterParam,
                                StringAttr alternateParam) {
  bool hasRaster = raster || rasterParam;
  if (raster < 0 || spread < 0 || longestFirst < 0)
    return emitError()
           << "an order has a negative number: raster, spread and longest_first count items";
  if (own == OwnPlace::Spread ? spread < 1 : spread != 0)
    return emitError() << "own = spread(n) needs n of at least 1, other places have no n";
  if (alternate < 0 || alternate > 2)
    return emitError()
           << "alternate = " << alternate
           << ", but items are shared by all warpgroups (1) or go to two teams in turn (2)";
  if (!hasRaster && own == OwnPlace::Any && !stagger && !longestFirst && !alternate &&
      !alternateParam)
    return emitError() << "an order says raster, own, stagger, longest_first or alternate; leave "
                          "it out for row-major";
  if (longestFirst && (hasRaster || own != OwnPlace::Any || stagger))
    return emitError() << "longest_first fixes the order by itself: drop raster, own and stagger, "
                          "or longest_first";
  return success();
}

/// All block arguments of a loop's body are indices.
static LogicalResult verifyIndexArguments(Operation *op, Region &body, size_t expected,
                                          StringRef why) {
  if (body.getNumArguments() != expected)
    return op->emitOpError() << "has " << body.getNumArguments() << " indices, but " << why
                             << " make " << expected;
  for (BlockArgument index : body.getArguments())
    if (!index.getType().isIndex())
      return op->emitOpError() << "index " << index.getArgNumber() << " must be of type index, got "
                               << index.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Foreach
//===----------------------------------------------------------------------===//

static LogicalResult verifyStreamK(ForeachOp loop) {
  unsigned folds = 0;
  bool combines = true;
  for (FoldOp fold : loop.getBody().getOps<FoldOp>()) {
    ++folds;
    combines &= static_cast<bool>(fold.getCombineAttr());
  }
  if (folds != 1)
    return loop.emitOpError() << "with schedule stream_k needs exactly one mk.fold directly in its "
                                 "body, which is what gets split; it has "
                              << folds;
  if (!combines)
    return loop.emitOpError() << "with schedule stream_k splits its mk.fold, which does not say "
                                 "how parts are put together: add combine(...)";
  return success();
}

LogicalResult ForeachOp::verify() {
  if (getBounds().empty())
    return emitOpError() << "needs at least one dimension";
  if (failed(verifyIndexArguments(*this, getBody(), getBounds().size(), "its bounds")))
    return failure();

  OrderAttr order = getOrderAttr();
  bool hasOwn = order && order.getOwn() != OwnPlace::Any;
  if (!getOwn().empty() && getOwn().size() != 2)
    return emitOpError() << "takes own(%first, %count), got " << getOwn().size() << " values";
  if (hasOwn && getOwn().empty())
    return emitOpError() << "orders the own part by 'own = " << stringifyOwnPlace(order.getOwn())
                         << "' and must say what it is: own(%first, %count)";
  if (!hasOwn && !getOwn().empty())
    return emitOpError() << "names its own part, but its order does not use it: add order(own = "
                            "first), or drop own(...)";
  if (order && order.hasRaster() && getBounds().size() < 2)
    return emitOpError() << "with a raster order needs two dimensions";
  if (order && order.getLongestFirst() > 1 && getBounds().size() < 2)
    return emitOpError() << "with longest_first = " << order.getLongestFirst()
                         << " needs two dimensions: the first is grouped, the last descends";

  if (!getSchedule())
    return success();
  if (!isDistributedLoop(*this))
    return emitOpError() << "lies in another loop and runs in order: drop its schedule, only the "
                            "outermost is distributed";
  if (getScheduleKind() != ScheduleKind::StreamK)
    return success();
  if ((*this)->getParentOfType<PrepareOp>())
    return emitOpError() << "cannot be split in mk.prepare: drop stream_k";
  return verifyStreamK(*this);
}

LogicalResult ForeachItemOp::verify() {
  size_t width = getQueue().getType().getWidth();
  if (failed(verifyIndexArguments(*this, getBody(), width + getBounds().size(),
                                  "the words of a record and the inner bounds")))
    return failure();
  for (Operation *parent = (*this)->getParentOp(); parent; parent = parent->getParentOp()) {
    if (isa<PrepareOp>(parent))
      return emitOpError()
             << "stands in mk.prepare, where nothing is pushed: move it into a mk.role";
    if (isa<ForeachOp, ForeachItemOp, ForeachPeerOp>(parent))
      return emitOpError() << "lies in another loop, but the records of a queue go to CTAs as they "
                              "become free: make it the outermost loop of its role";
  }
  return success();
}

LogicalResult ForeachPeerOp::verify() {
  if (getAxes().empty())
    return emitOpError() << "needs at least one axis, as in 'along gpu'";
  llvm::StringSet<> names;
  for (auto name : getAxes().getAsRange<StringAttr>())
    if (!names.insert(name.getValue()).second)
      return emitOpError() << "names axis '" << name.getValue() << "' twice";
  return verifyIndexArguments(*this, getBody(), 1, "its axes");
}

LogicalResult ForeachPeerOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto name : getAxes().getAsRange<StringAttr>())
    if (failed(verifyAxis(*this, name.getValue(), symbols)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Fold
//===----------------------------------------------------------------------===//

static bool isCarriable(Type type) {
  if (type.isIntOrIndexOrFloat())
    return true;
  return isTile(type) && cast<RankedTensorType>(type).getElementType().isIntOrIndexOrFloat();
}

/// Whether parts may begin with a constant each and give what one fold gives; unknown values may.
static bool mayBeginParts(Value init, Reduction kind) {
  if (kind == Reduction::Max || kind == Reduction::Min)
    return true; // however often it is counted
  // m_Constant takes it that a constant has a value; this one may not be verified yet.
  SmallVector<OpFoldResult> folded;
  Operation *constant = init.getDefiningOp();
  if (!constant || !constant->hasTrait<OpTrait::ConstantLike>() ||
      failed(constant->fold({}, folded)) || folded.empty())
    return true;
  auto value = dyn_cast<Attribute>(folded.front());
  if (!value)
    return true;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (!dense.isSplat())
      return false;
    value = dense.getSplatValue<Attribute>();
  }
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat v = number.getValue();
    return kind == Reduction::Add ? v.isZero() : v.isExactlyValue(1.0);
  }
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    const APInt &v = number.getValue();
    return kind == Reduction::Add ? v.isZero() : v.isOne();
  }
  return true;
}

LogicalResult FoldOp::verify() {
  if (getInits().empty())
    return emitOpError() << "carries nothing: use scf.for";
  for (Value init : getInits())
    if (!isCarriable(init.getType()))
      return emitOpError() << "carries tiles (tensors of static shape) and scalars, not "
                           << init.getType();
  Attribute combine = getCombineAttr();
  if (!combine || isa<FlatSymbolRefAttr>(combine))
    return success();
  auto reduction = dyn_cast<ReductionAttr>(combine);
  if (!reduction)
    return emitOpError() << "combines by " << combine
                         << ", expected add, mul, max, min or @function";
  for (auto [i, init] : llvm::enumerate(getInits()))
    if (!mayBeginParts(init, reduction.getValue()))
      return emitOpError() << "combines parts by " << stringifyReduction(reduction.getValue())
                           << ", but its initial value"
                           << (getInits().size() > 1 ? " number " + Twine(i) : Twine())
                           << " would be counted once for each part: start from "
                           << (reduction.getValue() == Reduction::Add ? 0 : 1)
                           << " and apply it after the loop";
  return success();
}

LogicalResult FoldOp::verifyRegions() {
  if (getBody().getNumArguments() != getInits().size() + 1)
    return emitOpError() << "carries " << getInits().size()
                         << " values, so its body has one index and as many arguments; it has "
                         << getBody().getNumArguments() << " arguments";
  if (!getBody().getArgument(0).getType().isIndex())
    return emitOpError() << "index must be of type index, got "
                         << getBody().getArgument(0).getType();
  for (auto [i, init] : llvm::enumerate(getInits()))
    if (getBody().getArgument(i + 1).getType() != init.getType())
      return emitOpError() << "starts value " << i << " with " << init.getType()
                           << ", but its body has " << getBody().getArgument(i + 1).getType();
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getValues().getTypes() != getInits().getTypes())
    return yield.emitOpError() << "gives (" << yield.getValues().getTypes()
                               << "), but the fold carries (" << getInits().getTypes() << ")";
  return success();
}

LogicalResult FoldOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto name = dyn_cast_or_null<FlatSymbolRefAttr>(getCombineAttr());
  if (!name)
    return success();
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, name);
  auto function = dyn_cast_or_null<FunctionOpInterface>(symbol);
  if (!function)
    return emitOpError() << "combines by " << name
                         << (symbol ? ", which is no function" : ", which does not exist");
  SmallVector<Type> inputs(getInits().getTypes());
  llvm::append_range(inputs, getInits().getTypes());
  if (function.getArgumentTypes() == ArrayRef<Type>(inputs) &&
      function.getResultTypes() == ArrayRef<Type>(inputs).take_front(getInits().size()))
    return success();
  return emitOpError() << "combines by " << name << " of type " << function.getFunctionType()
                       << ", expected (" << inputs << ") -> (" << getInits().getTypes()
                       << "): the left tiles, then the right ones";
}
