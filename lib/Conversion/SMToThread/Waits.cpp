//===- Waits.cpp - Waiting with a deadline --------------------------------===//
//
// Every wait is bounded (mkernel/ABI/Gpu.h). Whoever passes its deadline first reports and raises
// the abort word; the others see it. From then on the CTA has failed (Faults.cpp), and waits for
// memory that others write return at once. How a wait goes is said in
// lib/Conversion/ThreadToLLVM/LowerWaits.cpp.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;

void Lowering::waitBarrier(Value address, Value parity, Value stage,
                           int64_t number, bool ofPut) {
  create<mk_thread::BarrierWaitOp>(address, parity, stage,
                                   makeReport(ofPut ? MK_WAIT_COPY : MK_WAIT_RING, number),
                                   /*patient=*/!ofPut);
}

void Lowering::waitWord(Value address, Value wanted, bool equal, MemScope scope,
                        int64_t kind, int64_t number, const Waited &waited,
                        Value count, Value second, Value leader) {
  IntegerAttr array = waited.array >= 0 ? b.getI64IntegerAttr(waited.array) : IntegerAttr();
  create<mk_thread::WaitWordOp>(scope, address, wanted, equal, resize(count, i32), second,
                                leader ? resize(leader, i32) : Value(), waited.element, array,
                                makeReport(kind, number), makeWaitSpan(kind, number));
}
