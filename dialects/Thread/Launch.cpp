//===- Launch.cpp - What a kernel knows of its launch ---------------------===//
#include "mkernel/Dialect/Thread/Launch.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Dialect/Thread/Control.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "mkernel/Dialect/Thread/Memory.h"

using namespace mlir;
using namespace mlir::mk_thread;

Value mk_thread::ownRank(Emitter &e) {
  return resize(e, launchField(e, offsetof(mk_gpu_launch, rank), e.i32), e.i64);
}

Value mk_thread::controlAddress(Emitter &e) {
  return launchField(e, offsetof(mk_gpu_launch, control), e.i64);
}

Value mk_thread::heapOf(Emitter &e, Value rank) {
  return load(e, e.i64,
              add(e, launchFieldHere(e, offsetof(mk_gpu_launch, heaps)), shl(e, rank, 3)));
}

Value mk_thread::readFailed(Emitter &e) {
  return LoadSharedOp::create(e, e.i32, /*address=*/Value(), e.frame.getFailed());
}
Value mk_thread::isFine(Emitter &e) { return eq(e, readFailed(e), 0); }
void mk_thread::ifFine(Emitter &e, function_ref<void()> body) { ifThen(e, isFine(e), body); }
