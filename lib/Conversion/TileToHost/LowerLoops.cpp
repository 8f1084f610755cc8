//===- LowerLoops.cpp - Items of a CTA on the host target -----------------===//
#include "HostLowering.h"
#include "mkernel/ABI/HostCalls.h"
#include "mkernel/ABI/Launch.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult HostLowering::lowerItems(mk_sm::ItemsOp op) {
  Value first = toIndex(loadField(getCta(), offsetof(mk_cta, index), b_.getI32Type()));
  Value sharing = toIndex(loadField(getCta(), offsetof(mk_cta, count), b_.getI32Type()));
  Value step = mul(sharing, index(op.getEvery()));
  auto loop = scf::ForOp::create(b_, loc_, first, op.getTotal(), step);
  b_.setInsertionPointToStart(loop.getBody());
  Value item = loop.getInductionVar();
  if (!op.getRound().use_empty())
    op.getRound().replaceAllUsesWith(div(item, sharing));
  op.getItem().replaceAllUsesWith(item);
  loop.getBody()->getOperations().splice(b_.getInsertionPoint(),
                                         op.getBody().front().getOperations());
  op.erase();
  return success();
}

LogicalResult HostLowering::lowerAtItem(mk_sm::AtItemOp op) {
  SmallVector<Value> operands = {getCta(), i32(op.getLoop())};
  for (unsigned i = 0; i < 4; ++i)
    operands.push_back(i < op.getIndices().size() ? toI64(op.getIndices()[i]) : i64(-1));
  call("mkrt_item", operands);
  op.erase();
  return success();
}

LogicalResult HostLowering::lowerTicket(mk_sm::TicketOp op) {
  Value ticket =
      call("mkrt_ticket", {getCta(), i32(op.getLoop())}, b_.getI64Type()).front();
  op.replaceAllUsesWith(toIndex(ticket));
  op.erase();
  return success();
}

LogicalResult HostLowering::lowerPop(mk_sm::PopOp op) {
  Value record = stackArray({}, op.getNumResults());
  recordLine(loc_);
  call("mkrt_pop", {getCta(), number(op.getQueue()), toI64(op.getEntry()), record});
  for (auto [i, word] : llvm::enumerate(op.getRecord())) {
    Value address = LLVM::GEPOp::create(b_, loc_, pointerType(), b_.getI64Type(), record,
                                        ArrayRef<LLVM::GEPArg>{int32_t(i)});
    word.replaceAllUsesWith(
        toIndex(LLVM::LoadOp::create(b_, loc_, b_.getI64Type(), address)));
  }
  op.erase();
  return success();
}
