//===- Fragments.cpp - What stores of fragments share ---------------------===//
#include "Fragments.h"

using namespace mlir;
using namespace mlir::mk_thread;

void mk_thread::emitSwitch(Emitter &e, Value number, int64_t from, int64_t count,
                           function_ref<void(int64_t)> body) {
  if (count == 1)
    return body(from);
  int64_t half = int64_t(llvm::PowerOf2Ceil(count)) / 2;
  ifThenElse(
      e, eq(e, and_(e, number, half), 0), [&] { emitSwitch(e, number, from, half, body); },
      [&] { emitSwitch(e, number, from + half, count - half, body); });
}
