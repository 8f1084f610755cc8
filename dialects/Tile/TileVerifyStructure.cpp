//===- TileVerifyStructure.cpp - Verifiers of meshes and declarations -----===//
#include "TileVerify.h"
#include "TileVerifySizes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mk;

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                               int64_t size, LinkKind link) {
  if (name.empty())
    return emitError() << "an axis needs a name";
  if (!ShapedType::isDynamic(size) && size < 1)
    return emitError() << "axis '" << name << "' has size " << size
                       << ": give a positive size, or '?' to bind it later";
  return success();
}

LogicalResult CtasAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t fixed,
                               APFloat share, bool rest, int64_t min, StringAttr fixedParam,
                               StringAttr beside, bool engines) {
  assert((!engines || (fixed == 1 && !beside && !fixedParam)) && "'engines' stands alone");
  bool hasShare = !share.isZero();
  double part = share.convertToDouble();
  if (hasShare && !(part > 0 && part <= 1))
    return emitError() << "a role's share of the grid is " << part
                       << ", it must be above 0 and at most 1";
  if (fixedParam)
    return success(); // known when it is resolved
  if (beside && !fixed && !hasShare && !rest)
    return success(); // those of the other role
  if (fixed < 0 || (fixed > 0) + hasShare + rest != 1)
    return emitError() << "a role needs at least one CTA, got " << fixed
                       << ": give a positive number, a share or 'rest'";
  if (fixed ? min != fixed : min < 1)
    return emitError() << "the minimum of CTAs is " << min << ", it must be "
                       << (fixed ? std::to_string(fixed) : "at least 1");
  return success();
}

/// Extents of signals and counters: known and positive, or `?`.
static LogicalResult verifyExtents(function_ref<InFlightDiagnostic()> emitError, StringRef what,
                                   ArrayRef<int64_t> shape) {
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 1)
      return emitError() << "a " << what << " array has extent " << extent
                         << ": extents are positive, or '?' for operands";
  return success();
}

LogicalResult SignalType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Scope scope, int64_t arrivals) {
  if (failed(verifyExtents(emitError, "signal", shape)))
    return failure();
  if (arrivals < 1 && arrivals != kDynamicArrivals && arrivals != kRuntimeArrivals)
    return emitError() << "a signal needs at least one arrival a launch, got " << arrivals
                       << ": use 'arrivals = ?' for a run-time "
                       << "number, 'dynamic' for one not known beforehand";
  return success();
}

LogicalResult CounterType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape) {
  return verifyExtents(emitError, "counter", shape);
}

LogicalResult QueueType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t capacity,
                                int64_t width, Type element) {
  if (!ShapedType::isDynamic(capacity) && capacity < 1)
    return emitError() << "a queue has room for " << capacity
                       << " records: give a positive capacity, or '?' for an operand";
  if (ShapedType::isDynamic(width) || width < 1)
    return emitError() << "the records of a queue need a fixed, positive number of words, as in "
                          "!mk.queue<?x2xi32>";
  if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    return emitError() << "the words of a queue are i32 or i64, got " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

LogicalResult MeshOp::verify() {
  if (getAxes().empty())
    return emitOpError() << "@" << getSymName()
                         << " needs at least one axis, as in (gpu = ? via link)";
  llvm::StringSet<> names;
  for (Attribute attribute : getAxes()) {
    auto axis = dyn_cast<AxisAttr>(attribute);
    if (!axis)
      return emitOpError() << "lists " << attribute << " as an axis, expected #mk.axis<...>";
    if (!names.insert(axis.getName()).second)
      return emitOpError() << "@" << getSymName() << " has two axes named '" << axis.getName()
                           << "': rename one of them";
  }
  return verifyRanks(*this);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// One operand for each `?` of the type.
static LogicalResult verifyExtentOperands(Operation *op, ArrayRef<int64_t> shape,
                                          ValueRange extents) {
  size_t dynamic = llvm::count_if(shape, ShapedType::isDynamic);
  if (extents.size() == dynamic)
    return success();
  return op->emitOpError() << "has " << extents.size() << " extents, but its type has " << dynamic
                           << " '?': give one for each";
}

/// Whether an argument of the kernel may have another value on each rank.
static bool isOfRank(BlockArgument arg, KernelOp kernel) {
  return arg.getArgNumber() < kernel.getNumDims() &&
         kernel.getDimKind(arg.getArgNumber()) == DimKind::Rank;
}

/// Whether this is an extent of a buffer that is split there, which may be uneven.
static bool isUnevenExtent(memref::DimOp dim, KernelOp kernel) {
  // What does not dominate the op that is verified may have no operands yet.
  if (dim->getNumOperands() != 2)
    return false;
  auto arg = dyn_cast<BlockArgument>(dim.getSource());
  if (!arg || arg.getArgNumber() < kernel.getNumDims())
    return false;
  auto split = kernel.getArgSplit(arg.getArgNumber() - kernel.getNumDims());
  std::optional<int64_t> i = getConstant(dim.getIndex());
  return i && *i >= 0 && *i < static_cast<int64_t>(split.size()) &&
         !cast<ArrayAttr>(split[*i]).empty();
}

void mk::VaryingValue::explain(InFlightDiagnostic &diag) const {
  diag.attachNote(value.getLoc()) << (inLaunch ? "this is known in the launch only"
                                               : "this may differ between ranks");
}

/// Whether it is the op itself, not its operands, that makes its value vary.
static std::optional<VaryingValue> findVarying(Operation *op, KernelOp kernel) {
  if (isa<RankOp, CoordOp>(op))
    return VaryingValue{op->getResult(0), false};
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    if (isUnevenExtent(dim, kernel))
      return VaryingValue{dim, false};
    return std::nullopt;
  }
  // What a function does is seen when it has been inlined.
  if (op->getNumResults() && isa<MemoryEffectOpInterface>(op) && !isMemoryEffectFree(op))
    return VaryingValue{op->getResult(0), true};
  return std::nullopt;
}

std::optional<VaryingValue> mk::findVaryingValue(Value value, KernelOp kernel) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    if (auto arg = dyn_cast<BlockArgument>(current)) {
      bool inLaunch = arg.getOwner() != &kernel.getBody().front();
      if (inLaunch || isOfRank(arg, kernel))
        return VaryingValue{current, inLaunch};
      continue;
    }
    Operation *op = current.getDefiningOp();
    std::optional<VaryingValue> found;
    // A loop's result is what its body makes of it.
    op->walk([&](Operation *inner) {
      found = findVarying(inner, kernel);
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found)
      return found;
    if (!isa<memref::DimOp>(op))
      llvm::append_range(worklist, getInputs(op));
  }
  return std::nullopt;
}

LogicalResult SignalsOp::verify() {
  SignalType type = getType();
  if (failed(verifyExtentOperands(*this, type.getShape(), getExtents())))
    return failure();
  if (type.hasRuntimeArrivals() && !getArrivals())
    return emitOpError() << "has type " << type << " and needs the number: add arrivals(%n)";
  if (!type.hasRuntimeArrivals() && getArrivals())
    return emitOpError() << "is given arrivals, but its type says "
                         << (type.isDynamic() ? "'dynamic'" : "a number")
                         << ": drop the operand or write 'arrivals = ?'";
  // Peers compute the place of an element from their own extents.
  KernelOp kernel = getKernel(*this);
  if (type.getScope() != Scope::Sys || !kernel)
    return success();
  for (Value extent : getExtents())
    if (std::optional<VaryingValue> cause = findVaryingValue(extent, kernel)) {
      InFlightDiagnostic diag = emitOpError() << "of scope sys needs extents that are the same on "
                                                 "every rank: use uniform dimensions and mk.size";
      cause->explain(diag);
      return diag;
    }
  return success();
}

LogicalResult CountersOp::verify() {
  return verifyExtentOperands(*this, getType().getShape(), getExtents());
}

LogicalResult QueueOp::verify() {
  bool dynamic = ShapedType::isDynamic(getType().getCapacity());
  if (dynamic && !getCapacity())
    return emitOpError() << "has type " << getType()
                         << " and needs its capacity: mk.queue(%records)";
  if (!dynamic && getCapacity())
    return emitOpError() << "is given a capacity, but its type has one: drop the operand or write "
                            "'?' in the type";
  return success();
}

//===----------------------------------------------------------------------===//
// Ranks and CTAs
//===----------------------------------------------------------------------===//

LogicalResult RankOp::verify() {
  size_t axes = getAxes() ? getAxes()->size() : 0;
  if (axes != getCoords().size())
    return emitOpError() << "names " << axes << " axes, but gives " << getCoords().size()
                         << " coordinates";
  llvm::StringSet<> names;
  if (axes)
    for (auto name : getAxes()->getAsRange<StringAttr>())
      if (!names.insert(name.getValue()).second)
        return emitOpError() << "gives two coordinates along axis '" << name.getValue() << "'";
  return success();
}

LogicalResult RankOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getAxes())
    for (auto name : getAxes()->getAsRange<StringAttr>())
      if (failed(verifyAxis(*this, name.getValue(), symbols)))
        return failure();
  return success();
}

LogicalResult CoordOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAxis(*this, getAxis(), symbols);
}

LogicalResult SizeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return getAxis() ? verifyAxis(*this, *getAxis(), symbols) : success();
}

LogicalResult CtasOfOp::verify() {
  KernelOp kernel = getKernel(*this);
  if (!kernel)
    return success();
  // Roles are verified later: one may have no name yet.
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    if (role.getSymNameAttr() == getRoleAttr().getAttr())
      return success();
  return emitOpError() << "asks for role @" << getRole() << ", but kernel @" << kernel.getSymName()
                       << " has no such role";
}
