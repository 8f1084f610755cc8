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
