//===- TileVerifyComm.cpp - Verifiers of communication --------------------===//
#include "TileVerify.h"

using namespace mlir;
using namespace mlir::mk;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

std::optional<int64_t> mk::getConstant(Value value) {
  // An op that does not dominate the one that asks has not been verified, and may lack its value.
  auto op = value ? value.getDefiningOp<arith::ConstantOp>() : nullptr;
  if (!op)
    return std::nullopt;
  auto number = dyn_cast_or_null<IntegerAttr>(op.getValueAttr());
  return number ? std::optional(number.getValue().getSExtValue()) : std::nullopt;
}

LogicalResult mk::verifyInRole(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
    if (isa<PrepareOp>(parent))
      return op->emitOpError() << "stands in mk.prepare, which runs before peers are ready and may "
                                  "not communicate: move it into a mk.role";
    if (isa<RoleOp>(parent))
      return success();
    if (isa<KernelOp>(parent))
      return op->emitOpError() << "stands beside the roles of a kernel: move it into a mk.role";
  }
  return success();
}

LogicalResult mk::verifyIndices(Operation *op, StringRef what, ArrayRef<int64_t> shape,
                                ValueRange indices) {
  if (indices.size() != shape.size())
    return op->emitOpError() << "has " << indices.size() << " indices into a " << what
                             << " of rank " << shape.size() << ": give one for each dimension";
  for (auto [d, extent] : llvm::enumerate(shape)) {
    std::optional<int64_t> index = getConstant(indices[d]);
    if (index && (*index < 0 || (!ShapedType::isDynamic(extent) && *index >= extent)))
      return op->emitOpError() << "has index " << *index << " in dimension " << d << " of a "
                               << what << ", which is out of "
                               << "its bounds";
  }
  return success();
}

LogicalResult mk::verifyAttachedSignal(Operation *op, Value signal, ValueRange indices, bool strong,
                                       bool crosses) {
  if (!signal) {
    if (!indices.empty())
      return op->emitOpError() << "has signal indices, but no signal";
    if (strong)
      return op->emitOpError()
             << "is strong, which is said of a signal: add 'signal strong %s[...]'";
    return success();
  }
  auto type = cast<SignalType>(signal.getType());
  if (failed(verifyIndices(op, "signal", type.getShape(), indices)))
    return failure();
  if (crosses && type.getScope() != Scope::Sys)
    return op->emitOpError() << "raises a peer's signal of scope gpu, which only its owner raises: "
                                "declare it as !mk.signal<..., sys, ...>";
  return success();
}

LogicalResult mk::verifySymmetric(Operation *op, Type dest) {
  if (isSymmetric(dest))
    return success();
  return op->emitOpError() << "writes to a peer's " << dest
                           << ", but only symmetric memory is the same place there: give the "
                              "buffer the space #mk.symmetric";
}

LogicalResult mk::verifyWritable(Operation *op, Value dest) {
  if (dest.getDefiningOp<SelectOp>())
    return op->emitOpError() << "writes to a buffer chosen by mk.select, which can only be read: "
                                "write in an scf.if instead";
  auto arg = dyn_cast<BlockArgument>(dest);
  if (!arg)
    return success();
  auto kernel = dyn_cast<KernelOp>(arg.getOwner()->getParentOp());
  if (!kernel || arg.getArgNumber() < kernel.getNumDims())
    return success();
  unsigned i = arg.getArgNumber() - kernel.getNumDims();
  if (kernel.getArgKind(i) == ArgKind::In)
    return op->emitOpError() << "writes to argument '"
                             << cast<StringAttr>(kernel.getArgNames()[i]).getValue()
                             << "' of kind in: declare it as inout, out or scratch";
  return success();
}

LogicalResult mk::verifyRemoteReduction(Operation *op, std::optional<Reduction> reduction,
                                        Type element) {
  if (!reduction)
    return success();
  if (*reduction != Reduction::Add)
    return op->emitOpError() << "reduces by " << stringifyReduction(*reduction)
                             << ": memory can only be added to; load, combine and store instead";
  if (!isa<FloatType>(element) && !element.isInteger(32) && !element.isInteger(64))
    return op->emitOpError() << "adds to elements of " << element
                             << ": floats, i32 and i64 can be added in memory";
  return success();
}

//===----------------------------------------------------------------------===//
// Puts and signals
//===----------------------------------------------------------------------===//

LogicalResult PutOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  size_t rank = source.getRank();
  if (dest.getRank() != source.getRank())
    return emitOpError() << "copies between buffers that have " << rank << " and " << dest.getRank()
                         << " dimensions: declare both arguments with as many dimensions, of "
                            "extent 1 where one has fewer";
  if (getSrcOffsets().size() != rank || getSizes().size() != rank || getDstOffsets().size() != rank)
    return emitOpError() << "has " << getSrcOffsets().size() << " source offsets, "
                         << getSizes().size() << " sizes and " << getDstOffsets().size()
                         << " destination offsets for buffers of " << rank
                         << " dimensions: give one for each";
  if (source.getElementType() != dest.getElementType())
    return emitOpError() << "copies elements of " << source.getElementType() << " to a buffer of "
                         << dest.getElementType() << ": a put does not convert";
  if (failed(verifySymmetric(*this, dest)))
    return failure();
  if (Value rows = getRows()) {
    auto list = cast<RankedTensorType>(rows.getType());
    if (rank == 0 || !isTile(list))
      return emitOpError()
             << "takes its rows from a tile (of static shape), which needs buffers with rows; got "
             << list << " and rank " << rank;
    std::optional<int64_t> count = getConstant(getSizes().front());
    if (count && list.hasStaticShape() && *count > list.getDimSize(0))
      return emitOpError() << "puts " << *count << " rows, but lists only " << list.getDimSize(0);
  }
  if (failed(verifyWritable(*this, getDest())) ||
      failed(verifyRemoteReduction(*this, getReduction(), dest.getElementType())) ||
      failed(verifyAttachedSignal(*this, getSignal(), getSignalIndex(), getStrong(),
                                  /*crosses=*/true)))
    return failure();
  return verifyInRole(*this);
}

LogicalResult SignalOp::verify() {
  SignalType type = getSignal().getType();
  if (failed(verifyIndices(*this, "signal", type.getShape(), getIndex())))
    return failure();
  int64_t amount = getAmount();
  if (amount < 1)
    return emitOpError() << "adds " << amount << ", but arrivals only count up: add at least 1";
  if (type.getArrivals() > 0 && amount > type.getArrivals())
    return emitOpError() << "adds " << amount << " to a signal with " << type.getArrivals()
                         << " arrivals a launch: add less, or change the type";
  if (getPeer() && type.getScope() != Scope::Sys)
    return emitOpError() << "raises a peer's signal of scope gpu, which only its owner raises: "
                            "declare it as !mk.signal<..., sys, ...>";
  return verifyInRole(*this);
}

LogicalResult WaitOp::verify() {
  SignalType type = getSignal().getType();
  if (failed(verifyIndices(*this, "signal", type.getShape(), getIndex())))
    return failure();
  // No lower limit: a count of, say, other nodes is 0 on one node.
  std::optional<int64_t> count = getConstant(getCount());
  if (count && type.getArrivals() > 0 && *count > type.getArrivals())
    return emitOpError() << "waits for " << *count << " arrivals, but the signal gets only "
                         << type.getArrivals()
                         << " a launch, so that it never ends: wait for less, or change the type";
  return verifyInRole(*this);
}

LogicalResult FenceOp::verify() { return verifyInRole(*this); }
LogicalResult SettleOp::verify() { return verifyInRole(*this); }

//===----------------------------------------------------------------------===//
// Counters and queues
//===----------------------------------------------------------------------===//

LogicalResult CountOp::verify() {
  if (failed(verifyIndices(*this, "counter", getCounter().getType().getShape(), getIndex())))
    return failure();
  return verifyInRole(*this);
}

LogicalResult PushOp::verify() {
  int64_t width = getQueue().getType().getWidth();
  if (static_cast<int64_t>(getRecord().size()) != width)
    return emitOpError() << "appends a record of " << getRecord().size() << " words to a queue of "
                         << width;
  return verifyInRole(*this);
}
