//===- CheckedArith.h - Sizes whose wraps are faults ------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOHOST_CHECKEDARITH_H
#define MKERNEL_LIB_CONVERSION_TILETOHOST_CHECKEDARITH_H

#include "HostLowering.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::mk {

/// Arithmetic of mk_plan. Each sum, difference and product that may wrap is tested
/// beside it; the first that does is the fault that the plan returns.
class CheckedArith {
public:
  explicit CheckedArith(HostLowering &lowering) : lowering(lowering) {}

  /// Where what follows stands: a line of the file (0: not known), and the extent
  /// of an argument that it computes, if it does.
  void place(int64_t line, int64_t argument = -1, int64_t dimension = 0);

  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  /// Tests an op that has been built, if it is one that may wrap.
  void check(Operation *op);
  /// An extent with dimensions' values; failure if it divides by what is no positive number.
  FailureOr<Value> emit(AffineExpr expr, ValueRange dims);

  /// 0, or the fault that was met first, an i64.
  Value getFault();

private:
  template <typename Op> void test(Operation *op);

  HostLowering &lowering;
  int64_t code = 0;
  Value fault;
};

} // namespace mlir::mk

#endif // MKERNEL_LIB_CONVERSION_TILETOHOST_CHECKEDARITH_H
