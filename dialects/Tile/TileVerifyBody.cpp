//===- TileVerifyBody.cpp - What the body of a kernel may hold ------------===//
//
// All that stands in a kernel is followed by the checks for deadlocks and races,
// and lowered for every target. What one of them would have to skip or to refuse
// is refused here, with what to write instead.
//
//===----------------------------------------------------------------------===//
#include "TileVerify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::mk;

/// Ops of this dialect and of the SM level have verifiers of their own.
static bool isOwn(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return op->isRegistered() && (dialect == "mk" || dialect == "mk_sm");
}

bool mk::mayStand(Operation *op) {
  if (isOwn(op))
    return true;
  StringRef dialect = op->getName().getDialectNamespace();
  if (op->getName().getStringRef() == "math.clampf" || op->getName().getStringRef() == "math.ipowi")
    return false;
  if (dialect == "arith" || dialect == "math")
    return op->isRegistered();
  return llvm::StringSwitch<bool>(op->getName().getStringRef())
      .Cases({"scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition"}, true)
      .Cases({"memref.load", "memref.store", "memref.dim"}, true)
      .Cases({"tensor.splat", "tensor.extract", "tensor.dim"}, true)
      // Inlined, then verified again; what canonicalisation leaves.
      .Cases({"func.call", "ub.poison"}, true)
      .Default(false);
}

namespace {
struct Refusal {
  StringRef reason, remedy;
};
} // namespace

static Refusal refuseMemory(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (isa<ViewLikeOpInterface>(op))
    return {"it makes a view of a buffer, and accesses are not followed through views",
            "use the argument itself, with offsets, or declare it with the shape that is needed"};
  if (name.contains("alloc"))
    return {"it holds memory of its own",
            "declare a scratch argument, or carry tiles and scalars through loops"};
  if (name.contains("atomic"))
    return {"other CTAs may touch the same memory at the same time only by ops of mk",
            "use mk.count, or mk.store and mk.put with reduce(add)"};
  if (name.contains("copy"))
    return {"it moves memory as a whole, which is not followed",
            "use mk.load and mk.store of tiles, or mk.put"};
  return {"of the ops of memref only load, store and dim are followed",
          "use these, or mk.load, mk.store and mk.put"};
}

static Refusal refusalOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  StringRef dialect = op->getName().getDialectNamespace();
  constexpr StringLiteral region = "what its region does is not followed";
  if (!op->isRegistered())
    return {"nobody knows what it does", "use ops of mk, arith, math and scf"};
  if (name == "math.clampf")
    return {"no target has a lowering for it", "use arith.maximumf and arith.minimumf"};
  if (name == "math.ipowi")
    return {"no target has a lowering for it", "multiply"};
  if (dialect == "memref" || name == "linalg.copy")
    return refuseMemory(op);
  if (name == "scf.index_switch" || name == "affine.if")
    return {region, "use scf.if"};
  if (name == "scf.execute_region")
    return {region, "write its ops in its place"};
  if (name == "affine.for")
    return {region, "use scf.for"};
  if (dialect == "scf" || name == "affine.parallel")
    return {region, "use mk.foreach, whose items the CTAs of a role share, or scf.for"};
  if (name == "affine.load" || name == "affine.store")
    return {"its access is not followed", "use memref.load and memref.store"};
  if (dialect == "affine" || dialect == "index")
    return {"indices are computed by arith", "use arith on index values"};
  if (dialect == "vector")
    return {"vectors are the business of the target",
            "use tiles: mk.load, mk.store, and arith and math on tensors"};
  if (dialect == "linalg" || dialect == "tensor")
    return {"not every target has a lowering for it",
            "use mk.dot, mk.reduce, mk.broadcast, mk.mask, and arith and math on tiles"};
  return {"it is no op of the tile level", "use ops of mk, arith, math and scf"};
}

/// Buffers, signals, counters and queues are followed to where they come from:
/// an argument, a declaration, mk.select.
static LogicalResult verifyValue(Operation *op, Value value) {
  Type type = value.getType();
  if (isa<IndexType, IntegerType, FloatType>(type) || isTile(type) ||
      type.getDialect().getNamespace() == "mk_sm")
    return success();
  if (isa<BaseMemRefType>(type))
    return op->emitOpError() << "gives a buffer (" << type
                             << "), and accesses are not followed through it: a buffer is an "
                                "argument of the kernel, or chosen between two by mk.select";
  if (isa<SignalType, CounterType, QueueType>(type))
    return op->emitOpError() << "gives a " << type
                             << ": name the declared one where it is used, in the branches of an "
                                "scf.if if it is one of several";
  return op->emitOpError() << "works on a " << type
                           << ": the values of a kernel are index, integers, floats and tiles "
                              "(tensors of static shape, or with #mk.extents)";
}

/// Numbers that both targets compute with.
static LogicalResult verifyNumber(Operation *op, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() > 64)
    return op->emitOpError() << "computes with " << element << "; integers have 64 bits or less";
  if (auto number = dyn_cast<FloatType>(element); number && number.getWidth() < 8)
    return op->emitOpError() << "computes with " << element
                             << ", which no target does: the smallest floats have 8 bits";
  return success();
}

/// A loop that would go on for ever, or backwards, as far as is known here.
static LogicalResult verifyStep(scf::ForOp loop) {
  auto constant = loop.getStep().getDefiningOp<arith::ConstantOp>();
  auto step = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  if (step && !step.getValue().isStrictlyPositive())
    return loop.emitOpError() << "has a step of " << step.getValue().getSExtValue()
                              << "; it has to be 1 or more";
  return success();
}

static LogicalResult verifyBodyOp(Operation *op) {
  if (!mayStand(op)) {
    Refusal refusal = refusalOf(op);
    return op->emitOpError() << "cannot stand in a kernel: " << refusal.reason << "; "
                             << refusal.remedy;
  }
  bool passesOn = isOwn(op) && !isa<FoldOp>(op);
  if (passesOn || op->getName().getStringRef() == "func.call")
    return success();
  for (Value result : op->getResults())
    if (failed(verifyValue(op, result)) || failed(verifyNumber(op, result.getType())))
      return failure();
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && failed(verifyStep(loop)))
    return failure();
  for (Region &region : op->getRegions())
    for (Value argument : region.getArguments())
      if (failed(verifyValue(op, argument)))
        return failure();
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return verifyWritable(op, store.getMemRef());
  // Both targets count upwards in signed numbers.
  if (auto attribute = op->getInherentAttr("unsignedCmp"); attribute && *attribute)
    return op->emitOpError() << "cannot compare unsigned in a kernel: use signed bounds";
  return success();
}

LogicalResult mk::verifyBody(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>(
      [](Operation *op) { return WalkResult(verifyBodyOp(op)); });
  return failure(result.wasInterrupted());
}
