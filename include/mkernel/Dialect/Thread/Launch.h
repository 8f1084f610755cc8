//===- Launch.h - What a kernel knows of its launch ---------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_LAUNCH_H
#define MKERNEL_DIALECT_THREAD_LAUNCH_H

#include "mkernel/ABI/Gpu.h"
#include "mkernel/Dialect/Thread/Control.h"
#include "mkernel/Dialect/Thread/Memory.h"

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
inline Value readLaunchField(Emitter &e, int64_t offset) {
  return readParam(e, e.frame.getLaunch() + offset, /*pinned=*/true);
}
/// What counts from one launch to the next: mk_gpu_control.
inline Value controlAddress(Emitter &e) {
  return launchField(e, offsetof(mk_gpu_launch, control), e.i64);
}
inline Value ownRank(Emitter &e) {
  return resize(e, launchField(e, offsetof(mk_gpu_launch, rank), e.i32), e.i64);
}
/// Where this device addresses the rank's heap; 0: only the proxy reaches it.
inline Value heapOf(Emitter &e, Value rank) {
  return load(e, e.i64,
              add(e, readLaunchField(e, offsetof(mk_gpu_launch, heaps)), shl(e, rank, 3)));
}

/// The word that says that this CTA has failed, read where it stands.
inline Value readFailed(Emitter &e) {
  return LoadSharedOp::create(e, e.i32, /*address=*/Value(), e.frame.getFailed());
}
/// i1: this CTA has not failed, as far as this thread knows: it knows what threads have
/// found before a barrier that it has come to.
inline Value isFine(Emitter &e) { return eq(e, readFailed(e), 0); }
inline void unlessFailed(Emitter &e, function_ref<void()> body) { ifThen(e, isFine(e), body); }

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_LAUNCH_H
