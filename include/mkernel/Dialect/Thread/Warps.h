//===- Warps.h - What the lanes of a warp do together -------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_WARPS_H
#define MKERNEL_DIALECT_THREAD_WARPS_H

#include "mkernel/Dialect/Thread/Emitter.h"

namespace mlir::mk_thread {

/// `kind`: down, bfly or idx, of a shfl.sync of all lanes.
Value shuffle(Emitter &e, StringRef kind, Value value, Value by);
/// The value of lane 0; the result is the same in all lanes.
Value fromLane0(Emitter &e, Value value);
/// An i32 that is the same in all lanes, in a uniform register, where descriptors have to
/// be: ptxas moves the result of a shuffle there anew in each iteration of a loop.
Value uniform(Emitter &e, Value value);
/// In one lane of a warp whose lanes are all here. ptxas knows that it is one: behind another
/// condition it puts a loop over lanes around what the copy engine is told.
void ifElected(Emitter &e, function_ref<void()> body);

/// An intrinsic of LLVM that has no op.
Value intrinsic(Emitter &e, StringRef name, Type result, ValueRange operands);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_WARPS_H
