//===- SMVerifyFragments.cpp - Verifiers of fragments ---------------------===//
#include "SMVerify.h"
#include "mkernel/Dialect/Tile/Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk_sm;

LogicalResult mk_sm::verifyFragment(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (!tensor.getEncoding())
    return op->emitOpError() << "works on fragments, but " << type
                             << " has no layout: give it one, such as #mk_sm.mma";
  if (!tensor.hasStaticShape())
    return op->emitOpError() << "has " << type << ": fragments have extents that are numbers";
  std::string problem = explainLayout(tensor.getShape(), tensor.getEncoding());
  if (!problem.empty())
    return op->emitOpError() << "has " << type << ": " << problem;
  auto partition = op->getParentOfType<PartitionOp>();
  if (!partition)
    return success();
  if (failed(verifyIn(op, PartitionKind::Consumer)))
    return failure();
  int64_t threads = getLayoutThreads(tensor.getEncoding());
  if (threads != partition.getNumThreads())
    return op->emitOpError() << "has " << type << " over " << threads
                             << " threads, but its body is run by " << partition.getNumThreads()
                             << ": use a layout over as many";
  return success();
}

LogicalResult PartialSumOp::verify() { return verifyFragment(*this, getSource().getType()); }

LogicalResult ConvertLayoutOp::verify() {
  auto from = getSource().getType(), to = getResult().getType();
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "changes only the layout, not " << from << " to " << to;
  return failure(failed(verifyFragment(*this, from)) || failed(verifyFragment(*this, to)));
}

//===----------------------------------------------------------------------===//
// When fragments are computed
//===----------------------------------------------------------------------===//

/// Finds the last op that takes elements in the end; null if one is in another block.
static Operation *findLastUser(Operation *op, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *last = op;
  for (Operation *user : op->getUsers()) {
    if (user->getBlock() != op->getBlock())
      return nullptr;
    if (!seen.insert(user).second)
      continue;
    bool passesOn = isa<DeferOp, MaterializeOp>(user) || isDeferred(user);
    Operation *lastUser = passesOn ? findLastUser(user, seen) : user;
    if (!lastUser)
      return nullptr;
    last = last->isBeforeInBlock(lastUser) ? lastUser : last;
  }
  return last;
}

/// Whether nothing that may write stands between a load and the ops that take its elements; nothing
/// that gives back the slots of tiles that are read.
static LogicalResult verifyMayWait(DeferOp op, Operation *load, Operation *last) {
  for (Operation *between = load->getNextNode(); between && between->isBeforeInBlock(last);
       between = between->getNextNode())
    if (isa<ReadOp>(load)) {
      if (!isa<ReleaseOp>(between))
        continue;
      InFlightDiagnostic diag = op.emitOpError()
                                << "defers the reading of a slot past a release, which may give it "
                                   "back: release it behind the ops that take the tile";
      diag.attachNote(between->getLoc()) << "this one";
      return diag;
    } else if (!isMemoryEffectFree(between) && !isa<mk::LoadOp, ReloadOp>(between)) {
      InFlightDiagnostic diag = op.emitOpError()
                                << "defers a load past an op that may write what it reads: take "
                                   "the tile in front of that op";
      diag.attachNote(between->getLoc()) << "this one";
      return diag;
    }
  return success();
}

LogicalResult DeferOp::verify() {
  if (failed(verifyFragment(*this, getType())))
    return failure();
  Operation *source = getSource().getDefiningOp();
  auto transpose = dyn_cast_or_null<mk::TransposeOp>(source);
  if (transpose && !isThreadLocal(transpose))
    return emitOpError() << "defers an mk.transpose that moves elements between threads, which all "
                            "do at once: leave it out";
  bool elementwise = source && isa<arith::ArithDialect, math::MathDialect>(source->getDialect());
  if ((!elementwise &&
       !isa_and_nonnull<mk::BroadcastOp, mk::LoadOp, ReadOp, ReloadOp, mk::TransposeOp>(source)) ||
      source->getNumResults() != 1)
    return emitOpError() << "defers what is made by no elementwise op, transposition, broadcast or "
                            "load of a tile: leave it out";
  if (!source->hasOneUse())
    return emitOpError() << "defers a tile that other ops take as well: let them take the result "
                            "of mk_sm.defer";
  llvm::SmallPtrSet<Operation *, 8> seen;
  Operation *last = findLastUser(source, seen);
  if (!last)
    return emitOpError() << "defers a tile to an op in another block, which may run more often: "
                            "leave it out, or take the tile in the same block";
  if (getAhead() && !isa<mk::LoadOp>(source))
    return emitOpError() << "loads " << getAhead()
                         << " elements ahead, but defers no load: leave "
                            "'ahead' out";
  if (int64_t elements = getNumElements(getType()); int64_t(getAhead()) > elements)
    return emitOpError() << "loads " << getAhead() << " elements ahead, of which a thread holds "
                         << elements << ": give it no more";
  auto load = dyn_cast<mk::LoadOp>(source);
  // Of its own item `mk-sm-hoist-loads` brings a load in front of what only that item writes.
  bool mayWait = load ? mk::readsNeverWritten(load) || (getAhead() && load.getOwn())
                      : !isa<ReadOp, ReloadOp>(source);
  return mayWait ? success() : verifyMayWait(*this, source, last);
}

LogicalResult MaterializeOp::verify() {
  if (failed(verifyFragment(*this, getType())))
    return failure();
  for (OpOperand &use : getResult().getUses())
    if (auto store = dyn_cast<mk::StoreOp>(use.getOwner());
        !store || store->getBlock() != (*this)->getBlock())
      return emitOpError() << "is about the two ways of an mk.store of its block, but "
                           << use.getOwner()->getName() << " takes the tile: leave it out there";
  return success();
}

LogicalResult RescaleOp::verify() {
  RankedTensorType type = getSource().getType(), factors = getFactors().getType();
  if (failed(verifyFragment(*this, type)) || failed(verifyFragment(*this, factors)))
    return failure();
  if (!isa<MmaAttr>(type.getEncoding()) || !type.getElementType().isF32())
    return emitOpError() << "scales accumulators in f32 with layout #mk_sm.mma, not " << type
                         << ": use arith.mulf";
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError() << "scales along dimension " << axis << " of " << type << ", which has "
                         << type.getRank() << ": use 0 or 1";
  auto wanted = RankedTensorType::get({type.getDimSize(1 - axis)}, type.getElementType(),
                                      SliceAttr::get(getContext(), axis, type.getEncoding()));
  if (factors != wanted)
    return emitOpError() << "scales by " << factors << ", but the factors of " << type
                         << " along dimension " << axis << " are " << wanted;
  return success();
}
