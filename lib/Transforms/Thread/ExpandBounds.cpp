//===- ExpandBounds.cpp - Ends of loops that are counted in 32 bits --------===//
#include "Expand.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_thread;

static SmallVector<Value> clampEnd(ClampEndOp op, Emitter &e) {
  Value fits = e.cbool(true), from = op.getFrom(), to = op.getTo();
  bool begins = getConstantIntValue(from).value_or(-1) >= 0; // where 32 bits reach
  for (Value value : op->getOperands())
    if (!getConstantIntValue(value))
      fits = and_(e, fits, sle(e, value, kMostCounted));
  if (!begins)
    fits = and_(e, fits, sge(e, from, -kMostCounted));
  Value clamped = maxS(e, to, -kMostCounted);
  if (getConstantIntValue(fits))
    return {clamped};
  // A loop without a turn is right wherever it begins. Where `from` and the step are known to fit,
  // an end in front of that does, too.
  if (auto report = op.getReport()) {
    bool known = begins && getConstantIntValue(op.getStep());
    Value right = known ? fits : or_(e, fits, sle(e, to, from));
    FailUnlessOp::create(e, resize(e, right, e.i32), *report);
  }
  return {select(e, fits, clamped, from)};
}

void mk_thread::expandBounds(ModuleOp module) { replaceEach<ClampEndOp>(module, clampEnd); }
