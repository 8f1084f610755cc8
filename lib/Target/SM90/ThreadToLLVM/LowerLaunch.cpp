//===- LowerLaunch.cpp - Parameters, shared memory, places ----------------===//
#include "Ptx.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static Value addressOf(Ptx &ptx, const Frame &frame, LLVM::GEPArg offset) {
  LLVM::LLVMFuncOp function = frame.function;
  Block &entry = function.getBody().front();
  return LLVM::GEPOp::create(ptx.b, ptx.loc, LLVM::LLVMPointerType::get(ptx.b.getContext()),
                             ptx.b.getI8Type(), entry.getArgument(0), ArrayRef(offset));
}

void mk::thread::addLaunchPatterns(RewritePatternSet &patterns, const Frame &frame) {
  // NVVM's ops for these have no effects: LLVM would read them once, and keep them.
  addPattern<ThreadIdOp>(patterns, [](ThreadIdOp op, Ptx &ptx) {
    return ptx.run("mov.u32 $0, %tid.x;", op.getType(), {}, op.getPinned());
  });
  addPattern<CtaIdOp>(patterns, [](CtaIdOp op, Ptx &ptx) {
    return ptx.run("mov.u32 $0, %ctaid.x;", op.getType(), {}, /*touchesMemory=*/false);
  });
  addPattern<ParamOp>(patterns, [frame](ParamOp op, Ptx &ptx) -> SmallVector<Value> {
    int64_t offset = op.getOffset();
    // LLVM would keep what it has loaded.
    if (op.getPinned())
      return {ptx.loadParam(frame, offset)};
    Value address = addressOf(ptx, frame, static_cast<int32_t>(offset));
    return {LLVM::LoadOp::create(ptx.b, ptx.loc, op.getType(), address, /*alignment=*/0,
                                 /*isVolatile=*/false, /*isNonTemporal=*/false,
                                 /*isInvariant=*/true)};
  });
  addPattern<ParamAddressOp>(patterns, [frame](ParamAddressOp op, Ptx &ptx) -> SmallVector<Value> {
    if (!op.getIndex())
      return {addressOf(ptx, frame, static_cast<int32_t>(op.getOffset()))};
    Value offset = op.getIndex();
    if (op.getOffset())
      offset = arith::AddIOp::create(
          ptx.b, ptx.loc, offset, arith::ConstantIntOp::create(ptx.b, ptx.loc, op.getOffset(), 32));
    return {addressOf(ptx, frame, offset)};
  });
  addPattern<SharedBaseOp>(patterns, [frame](SharedBaseOp op, Ptx &ptx) -> SmallVector<Value> {
    // LLVM would keep the address of a global.
    if (op.getPinned())
      return ptx.run("mov.b32 $0, " + frame.at(op.getOffset()) + ";", op.getType(), {},
                     /*touchesMemory=*/false);
    LLVM::GlobalOp global = frame.shared;
    Value address = LLVM::AddressOfOp::create(ptx.b, ptx.loc, global);
    return {LLVM::PtrToIntOp::create(ptx.b, ptx.loc, op.getType(), address)};
  });
}
