//===- Integers.cpp - Integer arithmetic that folds -----------------------===//
#include "mkernel/Dialect/Thread/Integers.h"

using namespace mlir;
using namespace mlir::mk_thread;

Value mk_thread::resize(Emitter &e, Value x, Type type, bool isSigned) {
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from == to)
    return x;
  if (from > to)
    return e.createOrFold<arith::TruncIOp>(type, x);
  return isSigned ? e.createOrFold<arith::ExtSIOp>(type, x)
                  : e.createOrFold<arith::ExtUIOp>(type, x);
}
