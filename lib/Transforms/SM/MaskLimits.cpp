//===- MaskLimits.cpp - Which iterations a mask is about ------------------===//
#include "MaskLimits.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_sm;

using Linear = MaskLimits::Linear;

Linear MaskLimits::combine(Linear x, int64_t a, Linear y, int64_t c) {
  return {addTo(scale(x.base, a), scale(y.base, c)), x.constant * a + y.constant * c,
          x.slope * a + y.slope * c};
}

std::optional<Linear> MaskLimits::analyse(Value value) {
  if (value == loop.getInductionVar())
    return Linear{{}, 0, 1};
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return Linear{{}, *constant, 0};
  if (loop.isDefinedOutsideOfLoop(value))
    return Linear{value, 0, 0};
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Linear> x = analyse(op->getOperand(0));
  std::optional<Linear> y = analyse(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return combine(*x, 1, *y, 1);
  if (isa<arith::SubIOp>(op))
    return combine(*x, 1, *y, -1);
  auto isConstant = [](const Linear &l) { return !l.base && !l.slope; };
  if (isConstant(*y))
    return combine(*x, y->constant, {}, 0);
  if (isConstant(*x))
    return combine(*y, x->constant, {}, 0);
  return std::nullopt;
}

std::optional<Value> MaskLimits::findFirstBroken(mk::MaskOp mask, unsigned number, Element element,
                                                 function_ref<void(StringRef)> giveUp) {
  IntegerSet set = mask.getSet();
  if (set.isEq(number)) {
    giveUp("has an equation, which holds for no whole tile");
    return std::nullopt;
  }
  SmallVector<int64_t> flat; // dims, symbols, constant
  if (failed(getFlattenedAffineExpr(set.getConstraint(number), set.getNumDims(),
                                    set.getNumSymbols(), &flat)) ||
      flat.size() != set.getNumDims() + set.getNumSymbols() + 1) {
    giveUp(
        "has a constraint with divisions or remainders: write it with sums and constant factors");
    return std::nullopt;
  }
  Linear value{{}, flat.back(), 0};
  for (unsigned d = 0; d < set.getNumDims(); ++d)
    value = combine(value, 1, element(d, flat[d]), 1);
  for (auto [s, symbol] : llvm::enumerate(mask.getSymbols())) {
    int64_t factor = flat[set.getNumDims() + s];
    if (!factor)
      continue;
    std::optional<Linear> linear = analyse(symbol);
    if (!linear) {
      giveUp("depends on a number that is no sum of multiples of the loop's variable and of values "
             "outside of it");
      return std::nullopt;
    }
    value = combine(value, 1, *linear, factor);
  }
  if (value.slope > 0) {
    giveUp("leaves more of a tile the further the loop goes; only its last iterations can be split "
           "off: go through the loop from its end");
    return std::nullopt;
  }
  Value base = addTo(value.base, index(value.constant));
  if (value.slope == 0) {
    Value holds = cmp(arith::CmpIPredicate::sge, base, index(0));
    return select(holds, loop.getUpperBound(), loop.getLowerBound());
  }
  // base + slope * j >= 0 up to j = floor(base / -slope).
  Value last = arith::FloorDivSIOp::create(b, loc, base, index(-value.slope));
  return add(last, index(1));
}
