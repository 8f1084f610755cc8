//===- Launch.h - What a kernel knows of its launch ---------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_LAUNCH_H
#define MKERNEL_DIALECT_THREAD_LAUNCH_H

#include "mkernel/Dialect/Thread/Emitter.h"

namespace mlir::mk_thread {

/// An i64 of the parameters; `pinned`: LLVM never moves it.
inline Value readParam(Emitter &e, int64_t offset, bool pinned = false) {
  return ParamOp::create(e, e.i64, offset, pinned);
}
/// A field of mk_gpu_launch in the parameters (mkernel/ABI/Gpu.h).
inline Value launchField(Emitter &e, int64_t offset, Type type) {
  return ParamOp::create(e, type, e.frame.getLaunch() + offset);
}
/// An i64 of it, never moved by LLVM: for code that is seldom run.
inline Value launchFieldHere(Emitter &e, int64_t offset) {
  return readParam(e, e.frame.getLaunch() + offset, /*pinned=*/true);
}
/// What counts from one launch to the next: mk_gpu_control.
Value controlAddress(Emitter &e);
Value ownRank(Emitter &e);
/// Where this device addresses the rank's heap; 0: only the proxy reaches it.
Value heapOf(Emitter &e, Value rank);

/// The word that says that this CTA has failed, read where it stands.
Value readFailed(Emitter &e);
/// i1: this CTA has not failed, as far as this thread knows: it knows what threads have
/// found before a barrier that it has come to.
Value isFine(Emitter &e);
void ifFine(Emitter &e, function_ref<void()> body);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_LAUNCH_H
