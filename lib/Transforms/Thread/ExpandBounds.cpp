//===- ExpandBounds.cpp - Ends of loops that are counted in 32 bits --------===//
#include "Expand.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_thread;

static SmallVector<Value> clampEnd(ClampEndOp op, Emitter &e) {
  constexpr int64_t kMost = 1 << 30;
  Value fits = e.cbool(true), to = op.getTo();
  for (Value value : op->getOperands())
    if (!getConstantIntValue(value))
      fits = and_(e, fits, sle(e, value, kMost));
  if (getConstantIntValue(op.getFrom()).value_or(-1) < 0)
    fits = and_(e, fits, sge(e, op.getFrom(), -kMost));
  if (!getConstantIntValue(fits)) {
    if (auto report = op.getReport())
      FailUnlessOp::create(e, resize(e, fits, e.i32), *report);
    to = select(e, fits, to, op.getFrom());
  }
  return {maxS(e, to, -kMost)};
}

void mk_thread::expandBounds(ModuleOp module) { replaceEach<ClampEndOp>(module, clampEnd); }
