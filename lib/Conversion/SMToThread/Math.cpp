//===- Math.cpp - Functions of one f32 ------------------------------------===//
//
// The special function unit gives 2^x, log2 x, 1/x and 1/sqrt(x) to about 1e-7; the
// rest is built on these and on polynomials (least maximum error found by
// interpolation at Chebyshev nodes; errors quoted are relative).
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using Predicate = arith::CmpIPredicate;

static constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

Value Lowering::exp2(Value x) {
  return intrinsic("llvm.nvvm.ex2.approx.ftz.f32", f32, x);
}

Value Lowering::fma(Value x, Value y, Value z) {
  return LLVM::FMAOp::create(b, loc, x, y, z);
}

Value Lowering::polynomial(Value x, ArrayRef<double> coefficients) {
  Value result = cf32(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, cf32(coefficient));
  return result;
}

// Below 1 in x: x * p(x^2), to 5e-8. Above: 1 - 2^-q(|x|), to 1e-7; it is 1 in
// f32 from 4 on.
Value Lowering::erf(Value x) {
  Value magnitude = LLVM::FAbsOp::create(b, loc, x);
  Value square = LLVM::FMulOp::create(b, loc, x, x);
  Value low = LLVM::FMulOp::create(
      b, loc, x,
      polynomial(square, {1.1283791261787375, -0.37612343775328305,
                          0.11280316652508654, -0.02671505423235779,
                          0.004921762027973871, -0.0005648059865865217}));
  Value bounded = LLVM::MinNumOp::create(b, loc, magnitude, cf32(4.0));
  Value exponent = polynomial(
      bounded, {0.0008909133267058423, 1.624953940127221, 0.9213369816580977,
                0.14946043280474255, -0.03276548538463222, 0.004979527845011994,
                -0.0004595527171043288, 1.9199675475928535e-05});
  Value high = LLVM::FSubOp::create(
      b, loc, cf32(1.0), exp2(LLVM::FNegOp::create(b, loc, exponent)));
  high = LLVM::CopySignOp::create(b, loc, high, x);
  // A NaN takes the first.
  Value far = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::ogt, magnitude,
                                   cf32(1.0));
  return select(far, high, low);
}

// Below 0.6: x * p(x^2), to 9e-8. Above: 1 - 2 / (1 + e^2x).
Value Lowering::tanh(Value x) {
  Value magnitude = LLVM::FAbsOp::create(b, loc, x);
  Value square = LLVM::FMulOp::create(b, loc, x, x);
  Value low = LLVM::FMulOp::create(
      b, loc, x,
      polynomial(square, {0.999999915864399, -0.3333219295587255,
                          0.13308288073982, -0.052006408181034185,
                          0.015328155854566726}));
  Value power = exp2(LLVM::FMulOp::create(b, loc, x, cf32(2 * kLog2E)));
  Value inverse = create<mk_thread::ApproximateOp>(
      mk_thread::Approximation::RcpFtz, LLVM::FAddOp::create(b, loc, power, cf32(1.0)));
  Value high = fma(inverse, cf32(-2.0), cf32(1.0));
  Value far = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::ogt, magnitude,
                                   cf32(0.6));
  return select(far, high, low);
}

Value Lowering::math(Operation *op, ArrayRef<Value> operands) {
  Type type = operands.front().getType();
  // 16-bit types by way of f32.
  if (type.isBF16() || type.isF16()) {
    SmallVector<Value> wide;
    for (Value operand : operands)
      wide.push_back(LLVM::FPExtOp::create(b, loc, f32, operand));
    Value result = math(op, wide);
    if (!result)
      return {};
    return LLVM::FPTruncOp::create(b, loc, type, result);
  }
  Value x = operands.front();
  auto unary = [&](StringRef name) { return intrinsic(name, f32, x); };
  auto scaled = [&](Value value, double by) -> Value {
    return LLVM::FMulOp::create(b, loc, value, cf32(by));
  };
  if (type.isF32()) {
    if (isa<math::Exp2Op>(op))
      return exp2(x);
    if (isa<math::ExpOp>(op))
      return exp2(scaled(x, kLog2E));
    if (isa<math::Log2Op>(op))
      return unary("llvm.nvvm.lg2.approx.f");
    if (isa<math::LogOp>(op))
      return scaled(unary("llvm.nvvm.lg2.approx.f"), kLn2);
    if (isa<math::Log10Op>(op))
      return scaled(unary("llvm.nvvm.lg2.approx.f"), 0.30102999566398120);
    if (isa<math::RsqrtOp>(op))
      return unary("llvm.nvvm.rsqrt.approx.f");
    if (isa<math::SqrtOp>(op))
      return unary("llvm.nvvm.sqrt.approx.f");
    if (isa<math::SinOp>(op))
      return create<mk_thread::ApproximateOp>(mk_thread::Approximation::Sin, x);
    if (isa<math::CosOp>(op))
      return create<mk_thread::ApproximateOp>(mk_thread::Approximation::Cos, x);
    if (isa<math::ErfOp>(op))
      return erf(x);
    if (isa<math::TanhOp>(op))
      return tanh(x);
    if (isa<math::PowFOp>(op))
      return exp2(LLVM::FMulOp::create(b, loc, operands[1],
                                       unary("llvm.nvvm.lg2.approx.f")));
  }
  // These are instructions, or a few of them, as LLVM has them.
  if (isa<math::FmaOp>(op))
    return LLVM::FMAOp::create(b, loc, operands[0], operands[1], operands[2]);
  if (isa<math::AbsFOp>(op))
    return LLVM::FAbsOp::create(b, loc, x);
  if (isa<math::CopySignOp>(op))
    return LLVM::CopySignOp::create(b, loc, x, operands[1]);
  if (isa<math::FloorOp>(op))
    return LLVM::FFloorOp::create(b, loc, x);
  if (isa<math::CeilOp>(op))
    return LLVM::FCeilOp::create(b, loc, x);
  if (isa<math::RoundEvenOp>(op))
    return LLVM::RoundEvenOp::create(b, loc, x);
  if (isa<math::TruncOp>(op))
    return LLVM::FTruncOp::create(b, loc, x);
  if (isa<math::CountLeadingZerosOp>(op))
    return LLVM::CountLeadingZerosOp::create(b, loc, type, x, false);
  if (isa<math::CountTrailingZerosOp>(op))
    return LLVM::CountTrailingZerosOp::create(b, loc, type, x, false);
  if (isa<math::CtPopOp>(op))
    return LLVM::CtPopOp::create(b, loc, x);
  if (isa<math::AbsIOp>(op))
    return maxS(x, sub(cint(type, 0), x));
  return {};
}
