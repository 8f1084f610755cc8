//===- ThreadMemoryOps.cpp - What accesses to memory demand ----------------===//
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Words of an access of so many bytes are these.
static LogicalResult verifyWords(Operation *op, int64_t bytes, TypeRange words) {
  size_t wanted = bytes > 4 && words.size() > 1 ? bytes / 4 : 1;
  if (!llvm::is_contained({1, 2, 4, 8, 16}, bytes) || (bytes == 16 && words.size() == 1) ||
      words.size() != wanted)
    return op->emitOpError()
           << "of " << bytes << " bytes has " << words.size()
           << " words; use 1, 2, 4 or 8 bytes as one word, or 8 or 16 as words of 4";
  for (Type type : words)
    if (int64_t width = type.getIntOrFloatBitWidth() / 8;
        width != std::max<int64_t>(bytes / words.size(), 2))
      return op->emitOpError() << "of " << bytes << " bytes has a word of " << width << " bytes";
  return success();
}

/// Without an address an access is at an offset in the kernel's shared memory.
static LogicalResult verifySharedAccess(Operation *op, Value address, int64_t offset, Type type) {
  return address ? success() : verifyInShared(op, offset, type.getIntOrFloatBitWidth() / 8);
}
LogicalResult LoadSharedOp::verify() {
  return verifySharedAccess(*this, getAddress(), getOffset(), getResult().getType());
}
LogicalResult StoreSharedOp::verify() {
  return verifySharedAccess(*this, getAddress(), getOffset(), getValue().getType());
}

static LogicalResult verifyCondition(Operation *op, Value condition, bool isInverted) {
  if (condition || !isInverted)
    return success();
  return op->emitOpError("inverts a condition, and has none: leave out `inverted`");
}

LogicalResult LoadOp::verify() {
  if (failed(verifyCondition(*this, getCondition(), getInverted())))
    return failure();
  if (getCondition() ? getOtherwise().getTypes() != getResults().getTypes()
                     : !getOtherwise().empty())
    return emitOpError("needs as many values for where the condition does not hold as it has "
                       "results, and of their types");
  return verifyWords(*this, getBytes(), getResults().getTypes());
}

LogicalResult StoreOp::verify() {
  if (failed(verifyCondition(*this, getCondition(), getInverted())))
    return failure();
  if (getAdd().has_value() != getScope().has_value())
    return emitOpError(
        "has only one of `add` and `scope`: an addition has a scope, a store has none");
  if (getAdd() && getAddress().getType().isInteger(32))
    return emitOpError("adds to shared memory; elements are added in global memory");
  if (failed(verifyAddition(*this, getAdd())))
    return failure();
  if (getAdd() && (getWords().size() != 1 ||
                   int64_t(getAdd()->getIntOrFloatBitWidth()) != 8 * int64_t(getBytes())))
    return emitOpError() << "adds an element of " << *getAdd() << " with " << getWords().size()
                         << " words of " << getBytes()
                         << " bytes in all; use one word of the element's size";
  return verifyWords(*this, getBytes(), getWords().getTypes());
}

LogicalResult ReduceAddOp::verify() {
  if (getOrder() == MemOrder::Relaxed || getOrder() == MemOrder::Release)
    return success();
  return emitOpError()
         << "is " << stringifyMemOrder(getOrder())
         << "; what reads nothing is relaxed or releases (else: mk_thread.atomic_add)";
}
LogicalResult LoadAtomicOp::verify() {
  if (getOrder() == MemOrder::Relaxed || getOrder() == MemOrder::Acquire)
    return success();
  return emitOpError() << "is " << stringifyMemOrder(getOrder())
                       << "; a load is relaxed or acquires";
}
LogicalResult StoreAtomicOp::verify() {
  if (getOrder() == MemOrder::Relaxed || getOrder() == MemOrder::Release)
    return success();
  return emitOpError() << "is " << stringifyMemOrder(getOrder())
                       << "; a store is relaxed or releases";
}
