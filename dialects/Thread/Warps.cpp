//===- Warps.cpp - What the lanes of a warp do together -------------------===//
#include "mkernel/Dialect/Thread/Warps.h"
#include "mkernel/Dialect/Thread/Control.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "mkernel/Dialect/Thread/Memory.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mk_thread;

void mk_thread::ifElected(Emitter &e, function_ref<void()> body) {
  ifThen(e, NVVM::ElectSyncOp::create(e, e.i1, /*membermask=*/Value()), body);
}

Value mk_thread::intrinsic(Emitter &e, StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(e, result, e.getStringAttr(name), operands).getResult(0);
}

Value mk_thread::shuffle(Emitter &e, StringRef kind, Value value, Value by) {
  Type type = value.getType();
  auto words = [&](Value word) {
    return intrinsic(e, ("llvm.nvvm.shfl.sync." + kind + ".i32").str(), e.i32,
                     {e.c32(-1), word, by, e.c32(31)});
  };
  if (type.isF32())
    return intrinsic(e, ("llvm.nvvm.shfl.sync." + kind + ".f32").str(), e.f32,
                     {e.c32(-1), value, by, e.c32(31)});
  Value bits = toBits(e, value), low = words(resize(e, bits, e.i32));
  if (type.getIntOrFloatBitWidth() <= 32)
    return fromBits(e, low, type);
  Value high = words(resize(e, shr(e, bits, 32), e.i32));
  return fromBits(e, or_(e, resize(e, low, e.i64), shl(e, resize(e, high, e.i64), 32)), type);
}

Value mk_thread::fromLane0(Emitter &e, Value value) { return shuffle(e, "idx", value, e.c32(0)); }

Value mk_thread::uniform(Emitter &e, Value value) {
  return intrinsic(e, "llvm.nvvm.redux.sync.umin", e.i32, {value, e.c32(-1)});
}
