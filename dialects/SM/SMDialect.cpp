//===- SMDialect.cpp - Registration of the SM dialect ---------------------===//
#include "SMVerify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk_sm;

#include "mkernel/Dialect/SM/SMDialect.cpp.inc"
#include "mkernel/Dialect/SM/SMEnums.cpp.inc"
#include "mkernel/Dialect/SM/SMInterfaces.cpp.inc"

void MkSMDialect::initialize() {
  registerAttrs();
  registerTypes();
  registerOps();
}

//===----------------------------------------------------------------------===//
// Attributes of other dialects' ops
//===----------------------------------------------------------------------===//

/// Finds the last op that takes elements in the end; null if one is in another block.
static Operation *findLastUser(Operation *op, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *last = op;
  for (Operation *user : op->getUsers()) {
    if (user->getBlock() != op->getBlock())
      return nullptr;
    if (!seen.insert(user).second)
      continue;
    Operation *lastUser = user->hasAttr(kDeferredAttr) ? findLastUser(user, seen) : user;
    if (!lastUser)
      return nullptr;
    last = last->isBeforeInBlock(lastUser) ? lastUser : last;
  }
  return last;
}

static LogicalResult verifyDeferred(Operation *op) {
  bool elementwise = isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
  auto transpose = dyn_cast<mk::TransposeOp>(op);
  if (transpose && !isThreadLocal(transpose))
    return op->emitOpError() << "has " << kDeferredAttr
                             << ", but moves elements between threads, which all do at once";
  if ((!elementwise && !isa<mk::BroadcastOp, mk::LoadOp, ReloadOp, mk::TransposeOp>(op)) ||
      op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return op->emitOpError()
           << "has " << kDeferredAttr
           << ", but is no elementwise op, transposition, broadcast or load of a tile";
  llvm::SmallPtrSet<Operation *, 8> seen;
  Operation *last = findLastUser(op, seen);
  if (!last)
    return op->emitOpError() << "is deferred to an op in another block, which may run more often";
  if (!isa<mk::LoadOp, ReloadOp>(op))
    return success();
  for (Operation *between = op->getNextNode(); between && between->isBeforeInBlock(last);
       between = between->getNextNode())
    if (!isMemoryEffectFree(between) && !isa<mk::LoadOp, ReloadOp>(between)) {
      InFlightDiagnostic diag = op->emitOpError()
                                << "is deferred past an op that may write what it reads";
      diag.attachNote(between->getLoc()) << "this one";
      return diag;
    }
  return success();
}

mk::BroadcastOp mk_sm::getRowFactors(Operation *op) {
  if (!isa<arith::MulFOp>(op))
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.getElementType().isF32() || !isa_and_nonnull<MmaAttr>(type.getEncoding()))
    return {};
  for (Value operand : op->getOperands())
    if (auto broadcast = operand.getDefiningOp<mk::BroadcastOp>())
      if (auto source = dyn_cast<RankedTensorType>(broadcast.getSource().getType());
          source && source.getEncoding() == SliceAttr::get(op->getContext(), broadcast.getDims()[0],
                                                           type.getEncoding()))
        return broadcast;
  return {};
}

static LogicalResult verifyAgreed(Operation *op) {
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    if (!drawsItems(loop))
      return success();
    return op->emitOpError() << "has " << kAgreedAttr
                             << ", but draws items, of which none are left after a failure: "
                                "leave it out";
  }
  auto partition = op->getParentOfType<PartitionOp>();
  bool agrees =
      partition && (partition.getKind() != PartitionKind::Consumer || partition.getAgrees());
  if (isa<memref::LoadOp>(op) && agrees)
    return success();
  return op->emitOpError()
         << "has " << kAgreedAttr
         << ", which scf.while may have, and memref.load in a producer, in a mover "
            "and in a consumer that 'agrees': leave it out, or let the consumer agree";
}

static LogicalResult verifyRescaling(Operation *op) {
  if (getRowFactors(op))
    return success();
  return op->emitOpError() << "has " << kRescalingAttr
                           << ", but does not scale rows or columns of an accumulator in f32";
}

LogicalResult MkSMDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  using Verifier = LogicalResult (*)(Operation *);
  StringRef name = attribute.getName();
  bool materializes = name == kMaterializeAttr && isa<mk::StoreOp>(op);
  Verifier verify = name == kDeferredAttr    ? verifyDeferred
                    : name == kRescalingAttr ? verifyRescaling
                    : name == kAgreedAttr    ? verifyAgreed
                                             : nullptr;
  if (!verify && !materializes)
    return op->emitOpError() << "has attribute " << attribute.getName()
                             << ", which mk_sm does not know of it";
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError() << "has " << attribute.getValue() << " for " << name
                             << ", which takes no value: write the name alone";
  return verify ? verify(op) : success();
}
