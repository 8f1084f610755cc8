//===- Workarounds.h - What NVVM and LLVM cannot say yet ---------*- C++ -*-===//
//
// Instructions that are written as inline PTX because the op of LLVM 22 for
// them is missing or wrong, each with its reason. Together with
// lib/Target/SM90/Convergent.cpp the only place for such things.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOLLVM_WORKAROUNDS_H
#define MKERNEL_LIB_CONVERSION_SMTOLLVM_WORKAROUNDS_H

#include "Emitter.h"

namespace mlir::mk::sm {

/// One wgmma: a block of 64 rows and `n` columns.
struct Wgmma {
  int64_t n = 0, k = 0;
  StringRef type, typeB; // of the operands: bf16, f16, tf32, e4m3, e5m2; fp8 may differ
  bool transposeA = false, transposeB = false; // 16-bit types only
  SmallVector<Value> a;                 // one descriptor, or 4 registers
  Value b;                              // descriptor
  int64_t aOffset = 0, bOffset = 0;     // added to descriptors
  Value accumulate;                     // i1; null: see `fresh`
  bool fresh = false;                   // the accumulators count as zero
};

/// Issues it. `acc` holds n / 2 values; with `fresh` their contents do not
/// matter, and they may be null.
SmallVector<Value> issueWgmma(Emitter &e, const Wgmma &mma,
                              ArrayRef<Value> acc);

/// wgmma.fence and wgmma.wait_group with ties on what they order.
SmallVector<Value> fenceWgmma(Emitter &e, ValueRange values);
SmallVector<Value> waitWgmma(Emitter &e, int64_t pending, ValueRange values);
void commitWgmma(Emitter &e);

/// Quotient and remainder of unsigned 64-bit integers that are the same in all lanes,
/// by whole warps.
std::pair<Value, Value> divideU(Emitter &e, Value x, Value y);
/// Quotient (towards zero) and remainder (of x's sign) of signed ones.
std::pair<Value, Value> divideS(Emitter &e, Value x, Value y);

enum class MemScope { Cta, Gpu, Sys };
/// Atomic read-modify-write on global memory with the order and scope named.
/// `order` is relaxed, release, acquire or acq_rel.
Value atomicAdd(Emitter &e, Value address, Value amount, StringRef order,
                MemScope scope);
void reduceAdd(Emitter &e, Value address, Value amount, StringRef order,
               MemScope scope);
Value atomicExchange(Emitter &e, Value address, Value value, StringRef order,
                     MemScope scope);
void fenceAcqRel(Emitter &e, MemScope scope);
Value loadAcquire(Emitter &e, Type type, Value address, MemScope scope);
Value loadRelaxed(Emitter &e, Type type, Value address, MemScope scope);
void storeRelease(Emitter &e, Value value, Value address, MemScope scope);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOLLVM_WORKAROUNDS_H
