//===- LowerLoops.cpp - Items of a CTA on the host target -----------------===//
#include "HostLowering.h"
#include "mkernel/ABI/HostCalls.h"
#include "mkernel/ABI/Launch.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult HostLowering::lower(mk_sm::ItemsOp op) {
  Value first = toIndex(loadField(getCta(), offsetof(mk_cta, index), b.getI32Type()));
  Value sharing = toIndex(loadField(getCta(), offsetof(mk_cta, count), b.getI32Type()));
  Value step = mul(sharing, index(op.getEvery()));
  auto loop = scf::ForOp::create(b, loc, first, op.getTotal(), step);
  b.setInsertionPointToStart(loop.getBody());
  Value item = loop.getInductionVar();
  if (!op.getRound().use_empty())
    op.getRound().replaceAllUsesWith(div(item, sharing));
  op.getItem().replaceAllUsesWith(item);
  loop.getBody()->getOperations().splice(b.getInsertionPoint(),
                                         op.getBody().front().getOperations());
  return replace(op);
}

LogicalResult HostLowering::lower(mk_sm::AtItemOp op) {
  SmallVector<Value> operands = {getCta(), i32(op.getLoop())};
  for (unsigned i = 0; i < 4; ++i)
    operands.push_back(i < op.getIndices().size() ? toI64(op.getIndices()[i]) : i64(-1));
  call("mkrt_item", operands);
  return replace(op);
}

LogicalResult HostLowering::lower(mk_sm::TicketOp op) {
  Value ticket = call("mkrt_ticket", {getCta(), i32(op.getLoop())}, b.getI64Type()).front();
  return replace(op, toIndex(ticket));
}

LogicalResult HostLowering::lower(mk_sm::PopOp op) {
  Value record = stackArray({}, op.getNumResults());
  recordLine(loc);
  call("mkrt_pop", {getCta(), number(op.getQueue()), toI64(op.getEntry()), record});
  SmallVector<Value> words;
  for (int32_t i = 0, e = op.getNumResults(); i != e; ++i) {
    Value address = LLVM::GEPOp::create(b, loc, pointerType(), b.getI64Type(), record,
                                        ArrayRef<LLVM::GEPArg>{i});
    words.push_back(toIndex(LLVM::LoadOp::create(b, loc, b.getI64Type(), address)));
  }
  return replace(op, words);
}
