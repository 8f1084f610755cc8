//===- SMVerifyMatrices.cpp - Verifiers of matrix ops ---------------------===//
#include "SMVerify.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Fences and waits
//===----------------------------------------------------------------------===//

/// Checks what stands in registers for matrix ops.
static LogicalResult verifyRegisters(Operation *op, TypeRange types) {
  for (Type type : types) {
    if (failed(verifyFragment(op, type)))
      return failure();
    if (!isa<MmaAttr>(getLayout(type)))
      return op->emitOpError()
             << "is about registers of matrix ops, which have layout #mk_sm.mma, not " << type
             << ": convert it (mk_sm.convert_layout)";
  }
  return success();
}

LogicalResult MmaFenceOp::verify() { return verifyRegisters(*this, getFragments().getTypes()); }

LogicalResult MmaWaitOp::verify() {
  if (failed(verifyRegisters(*this, getFragments().getTypes())))
    return failure();
  int64_t pending = getPending();
  mk::SmAttr sm = mk::getSm(*this);
  if (int64_t most = sm ? sm.getMatrixUnit().getPending() : pending; pending < 0 || pending > most)
    return emitOpError() << "leaves 0 to " << most << " ops in flight, not " << pending;
  for (Value fragment : getFragments()) {
    auto dot = fragment.getDefiningOp<MmaOp>();
    // What comes behind this op does not dominate it, which is reported later.
    if (!dot || dot->getBlock() != (*this)->getBlock() || !dot->isBeforeInBlock(*this))
      continue;
    // Ops complete in order; those inside others may be any number.
    int64_t behind = 0;
    for (Operation *op = dot->getNextNode(); op != *this; op = op->getNextNode())
      op->walk([&](MmaOp inner) { behind += inner == op ? 1 : 8; });
    if (behind >= pending)
      continue;
    InFlightDiagnostic diag =
        emitOpError() << "names a result that it does not wait for: of the op that gives it and "
                      << behind << " behind that, " << pending << " may stay in flight; leave "
                      << behind << " at most";
    diag.attachNote(dot.getLoc()) << "started here";
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static RankedTensorType getOperandTile(Type type) {
  if (auto staged = dyn_cast<StagedType>(type))
    return staged.getTile();
  return cast<RankedTensorType>(type);
}

/// A use of an accumulator in flight by another op than mma (as its accumulator), mma_wait and
/// rescale in_flight; null if there is none. Follows what loops and branches carry.
static Operation *findUseInFlight(Value result) {
  llvm::SetVector<Value> inFlight;
  inFlight.insert(result);
  for (unsigned i = 0; i != inFlight.size(); ++i)
    for (OpOperand &use : inFlight[i].getUses()) {
      Operation *user = use.getOwner();
      unsigned number = use.getOperandNumber();
      if (auto dot = dyn_cast<MmaOp>(user); dot && &use == &dot.getAccMutable())
        continue;
      if (isa<MmaWaitOp>(user))
        continue;
      if (auto rescale = dyn_cast<RescaleOp>(user);
          rescale && rescale.getInFlight() && &use == &rescale.getSourceMutable())
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        inFlight.insert(loop.getTiedLoopRegionIterArg(&use));
        inFlight.insert(loop.getTiedLoopResult(&use));
      } else if (auto yield = dyn_cast<scf::YieldOp>(user)) {
        Operation *parent = yield->getParentOp();
        if (auto around = dyn_cast<scf::ForOp>(parent))
          inFlight.insert(around.getRegionIterArg(number));
        if (isa<scf::ForOp, scf::IfOp>(parent))
          inFlight.insert(parent->getResult(number));
        else
          return user;
      } else {
        return user;
      }
    }
  return nullptr;
}

LogicalResult MmaOp::verify() {
  auto acc = getAcc().getType();
  if (failed(verifyFragment(*this, acc)))
    return failure();
  if (!isa<MmaAttr>(acc.getEncoding()) || !acc.getElementType().isF32())
    return emitOpError() << "accumulates in f32 with layout #mk_sm.mma, not in " << acc;
  if (!isa<StagedType>(getRhs().getType()))
    return emitOpError() << "takes its right operand from shared memory; " << getRhs().getType()
                         << " is in registers";
  if (auto lhs = dyn_cast<RankedTensorType>(getLhs().getType())) {
    if (lhs.getEncoding() != acc.getEncoding())
      return emitOpError()
             << "takes a left operand in registers with the layout of its accumulator, got " << lhs;
    if (failed(verifyFragment(*this, lhs)))
      return failure();
    if (getTransposeA())
      return emitOpError() << "cannot transpose a left operand in registers";
  }
  Type left = getOperandTile(getLhs().getType()).getElementType();
  Type right = getOperandTile(getRhs().getType()).getElementType();
  if (!left.isIntOrFloat() || left.getIntOrFloatBitWidth() != right.getIntOrFloatBitWidth())
    return emitOpError() << "multiplies elements of " << left << " by those of " << right
                         << ": convert one of them";
  auto shape = [](Type type) { return getOperandTile(type).getShape().take_back(2); };
  ArrayRef<int64_t> a = shape(getLhs().getType()), b = shape(getRhs().getType());
  bool ta = getTransposeA(), tb = getTransposeB();
  if (a[!ta] != b[tb] || a[ta] != acc.getDimSize(0) || b[!tb] != acc.getDimSize(1))
    return emitOpError() << "multiplies " << getLhs().getType() << " by " << getRhs().getType()
                         << " into " << acc << ": the shapes do not fit";
  if (Operation *user = findUseInFlight(getResult())) {
    InFlightDiagnostic diag = emitOpError() << "is in flight when its result is used; wait for it "
                                               "by mk_sm.mma_wait, and use what that gives";
    diag.attachNote(user->getLoc()) << "used here";
    return diag;
  }
  return success();
}
