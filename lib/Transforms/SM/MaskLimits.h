//===- MaskLimits.h - Which iterations a mask is about ----------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_MASKLIMITS_H
#define MKERNEL_LIB_TRANSFORMS_SM_MASKLIMITS_H

#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mk_sm {

/// Iterations of a loop by the value that a constraint of a mask in it has at one element of each
/// tile. Arithmetic is put in front of the loop.
class MaskLimits : public mk::IndexMath {
public:
  explicit MaskLimits(scf::ForOp loop)
      : mk::IndexMath{OpBuilder(loop), loop.getLoc()}, loop(loop) {}

  /// base + constant + slope * j, where j is the induction variable of the loop and base a value
  /// outside of it (null: 0).
  struct Linear {
    Value base;
    int64_t constant = 0;
    int64_t slope = 0;
  };
  /// What dimension `dim` adds to the value, whose factor is `factor`.
  using Element = function_ref<Linear(unsigned dim, int64_t factor)>;

  /// The first iteration in which constraint `number` of the mask does not hold at an element,
  /// which it then does in none behind it: of all, if it always holds, the loop's end. None if that
  /// cannot be said: `giveUp` gets the reason.
  std::optional<Value> findFirstBroken(mk::MaskOp mask, unsigned number, Element element,
                                       function_ref<void(StringRef)> giveUp);

protected:
  scf::ForOp loop;

private:
  Value addTo(Value a, Value c) { return a && c ? add(a, c) : a ? a : c; }
  Value scale(Value a, int64_t factor) { return a && factor != 1 ? mul(a, index(factor)) : a; }
  std::optional<Linear> analyse(Value value);
  Linear combine(Linear x, int64_t a, Linear y, int64_t c);
};

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_MASKLIMITS_H
