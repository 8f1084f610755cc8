//===- ShareGroup.cpp - CTAs of a cluster that share a copy ---------------===//
#include "mkernel/Dialect/Thread/ShareGroup.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk_thread;

Value mk_thread::makeMask(Emitter &e, ShareGroup group, Value cta, int64_t cluster) {
  Value mask = e.c32(group.getMask());
  int64_t others = cluster - 1 - group.getPlaceBits();
  return others ? shl(e, mask, and_(e, cta, others)) : mask;
}

Value mk_thread::makePlace(Emitter &e, ShareGroup group, Value cta) {
  return shr(e, and_(e, cta, group.getPlaceBits()), llvm::Log2_64(group.stride));
}
