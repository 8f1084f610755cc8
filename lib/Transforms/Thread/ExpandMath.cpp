//===- ExpandMath.cpp - Functions of one f32 ------------------------------===//
//
// The special function unit gives 2^x, log2 x, 1/x and 1/sqrt(x) to about 1e-7; the
// rest is built on these and on polynomials (least maximum error found by
// interpolation at Chebyshev nodes; errors quoted are relative).
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::mk_thread;

static constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

static Value scale(Emitter &e, Value x, double by) {
  return LLVM::FMulOp::create(e, x, e.cf32(by));
}
static Value exp2(Emitter &e, Value x) {
  return intrinsic(e, "llvm.nvvm.ex2.approx.ftz.f32", e.f32, x);
}
static Value log2(Emitter &e, Value x) { return intrinsic(e, "llvm.nvvm.lg2.approx.f", e.f32, x); }
static Value isAbove(Emitter &e, Value x, double bound) {
  return LLVM::FCmpOp::create(e, LLVM::FCmpPredicate::ogt, x, e.cf32(bound));
}

static Value polynomial(Emitter &e, Value x, ArrayRef<double> coefficients) {
  Value result = e.cf32(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = LLVM::FMAOp::create(e, result, x, e.cf32(coefficient));
  return result;
}

// Below 1 in x: x * p(x^2), to 5e-8. Above: 1 - 2^-q(|x|), to 1e-7; it is 1 in f32 from 4 on.
static Value erf(Emitter &e, Value x) {
  Value magnitude = LLVM::FAbsOp::create(e, x);
  Value square = LLVM::FMulOp::create(e, x, x);
  Value series = polynomial(e, square,
                            {1.1283791261787375, -0.37612343775328305, 0.11280316652508654,
                             -0.02671505423235779, 0.004921762027973871, -0.0005648059865865217});
  Value low = LLVM::FMulOp::create(e, x, series);
  Value bounded = LLVM::MinNumOp::create(e, magnitude, e.cf32(4.0));
  Value exponent = polynomial(e, bounded,
                              {0.0008909133267058423, 1.624953940127221, 0.9213369816580977,
                               0.14946043280474255, -0.03276548538463222, 0.004979527845011994,
                               -0.0004595527171043288, 1.9199675475928535e-05});
  Value power = exp2(e, LLVM::FNegOp::create(e, exponent));
  Value high = LLVM::FSubOp::create(e, e.cf32(1.0), power);
  high = LLVM::CopySignOp::create(e, high, x);
  // A NaN takes the first.
  return select(e, isAbove(e, magnitude, 1.0), high, low);
}

// Below 0.6: x * p(x^2), to 9e-8. Above: 1 - 2 / (1 + e^2x).
static Value tanh(Emitter &e, Value x) {
  Value magnitude = LLVM::FAbsOp::create(e, x);
  Value square = LLVM::FMulOp::create(e, x, x);
  Value series = polynomial(e, square,
                            {0.999999915864399, -0.3333219295587255, 0.13308288073982,
                             -0.052006408181034185, 0.015328155854566726});
  Value low = LLVM::FMulOp::create(e, x, series);
  Value power = exp2(e, scale(e, x, 2 * kLog2E));
  Value sum = LLVM::FAddOp::create(e, power, e.cf32(1.0));
  Value inverse = NVVM::RcpApproxFtzF32Op::create(e, e.f32, sum);
  Value high = LLVM::FMAOp::create(e, inverse, e.cf32(-2.0), e.cf32(1.0));
  return select(e, isAbove(e, magnitude, 0.6), high, low);
}

/// The other operand of an addition of 1; null for all else.
static Value getAddedToOne(Operation *op) {
  auto sum = dyn_cast_or_null<arith::AddFOp>(op);
  if (!sum || !sum.getType().isF32())
    return {};
  return matchPattern(sum.getRhs(), m_OneFloat())   ? sum.getLhs()
         : matchPattern(sum.getLhs(), m_OneFloat()) ? sum.getRhs()
                                                    : Value();
}

// 1 + tanh x, where nothing else is done with tanh x: 2 / (1 + e^-2x), which is as good where it is
// near 0. Gives false where that does not hold.
static bool expandOnePlusTanh(Emitter &e, math::TanhOp op) {
  if (op->use_empty() || !llvm::all_of(op->getUsers(), [&](Operation *user) {
        return getAddedToOne(user) == op.getResult();
      }))
    return false;
  Value power = exp2(e, scale(e, op.getOperand(), -2 * kLog2E));
  Value half = LLVM::FMAOp::create(e, power, e.cf32(0.5), e.cf32(0.5));
  Value result = NVVM::RcpApproxFtzF32Op::create(e, e.f32, half);
  for (Operation *user : llvm::to_vector(op->getUsers())) {
    user->replaceAllUsesWith(ValueRange(result));
    user->erase();
  }
  op.erase();
  return true;
}

/// Whether the divisor is 1 and an exponential, which is neither small nor negative: a product with
/// its reciprocal is good to 2 ulp then (and 0 where that is below 2^-126).
static bool dividesByLogistic(Operation *op) {
  auto division = dyn_cast<arith::DivFOp>(op);
  Value power = division ? getAddedToOne(division.getRhs().getDefiningOp()) : Value();
  return power && isa_and_nonnull<math::ExpOp, math::Exp2Op>(power.getDefiningOp());
}

static Value isEqual(Emitter &e, Value x, Value y) {
  return LLVM::FCmpOp::create(e, LLVM::FCmpPredicate::oeq, x, y);
}

// 2^(y log2 |x|), with the special cases of C (ISO/IEC 9899:2018, F.10.4.4): 1 where y is 0 or x is
// 1, the sign of x where y is odd, NaN for negative x where y is no integer.
static Value power(Emitter &e, Value x, Value y) {
  Value magnitude = LLVM::FAbsOp::create(e, x), one = e.cf32(1.0), zero = e.cf32(0.0);
  Value result = exp2(e, LLVM::FMulOp::create(e, y, log2(e, magnitude)));
  result = select(e, isEqual(e, magnitude, one), one, result); // also of infinite y
  Value half = scale(e, y, 0.5);
  Value isInteger = isEqual(e, LLVM::FTruncOp::create(e, y), y);
  Value isEven = isEqual(e, LLVM::FTruncOp::create(e, half), half);
  Value isOdd = and_(e, isInteger, xor_(e, isEven, e.cbool(true)));
  result = select(e, isOdd, LLVM::CopySignOp::create(e, result, x), result);
  Value isNegative = LLVM::FCmpOp::create(e, LLVM::FCmpPredicate::olt, x, zero);
  Value isFinite = LLVM::FCmpOp::create(e, LLVM::FCmpPredicate::olt, magnitude,
                                        e.cf32(std::numeric_limits<float>::infinity()));
  Value isReal = or_(e, isInteger, xor_(e, and_(e, isNegative, isFinite), e.cbool(true)));
  result = select(e, isReal, result, e.cf32(std::numeric_limits<float>::quiet_NaN()));
  return select(e, or_(e, isEqual(e, y, zero), isEqual(e, x, one)), one, result);
}

// What is left of x / y, exactly. In f64 products of 28 bits of the quotient and an f32 are exact;
// a quotient has 277 bits at most (2^128 / 2^-149).
static Value remainder(Emitter &e, Value x, Value y) {
  constexpr int kBits = 28, kSteps = 10;
  Type wide = e.getF64Type();
  auto number = [&](double value) { return e.constant(e.getFloatAttr(wide, value)); };
  auto isBelow = [&](Value a, Value b) {
    return LLVM::FCmpOp::create(e, LLVM::FCmpPredicate::olt, a, b);
  };
  Value divisor = LLVM::FAbsOp::create(e, LLVM::FPExtOp::create(e, wide, y));
  Value rest = LLVM::FAbsOp::create(e, LLVM::FPExtOp::create(e, wide, x));
  Value dividend = rest, zero = number(0);
  Value inverse = LLVM::FDivOp::create(e, number(1), divisor);
  for (int step = kSteps - 1; step >= 0; --step) {
    Value scaled = LLVM::FMulOp::create(e, divisor, number(std::ldexp(1, kBits * step)));
    Value quotient = LLVM::FMulOp::create(e, LLVM::FMulOp::create(e, rest, inverse),
                                          number(std::ldexp(1, -kBits * step)));
    quotient = LLVM::FNegOp::create(e, LLVM::FTruncOp::create(e, quotient));
    rest = LLVM::FMAOp::create(e, quotient, scaled, rest);
    // The inverse is rounded: the quotient may be one too large or too small.
    rest = LLVM::FAddOp::create(e, rest, select(e, isBelow(rest, zero), scaled, zero));
    rest = LLVM::FSubOp::create(e, rest, select(e, isBelow(rest, scaled), zero, scaled));
  }
  Value infinity = number(std::numeric_limits<double>::infinity());
  Value isWhole = and_(e, isEqual(e, divisor, infinity), isBelow(dividend, infinity));
  rest = select(e, isWhole, dividend, rest);
  return LLVM::CopySignOp::create(e, LLVM::FPTruncOp::create(e, e.f32, rest), x);
}

/// Functions that there are of f32 alone; null for others.
static Value approximate(Emitter &e, Operation *op, ValueRange operands) {
  Value x = operands[0];
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::Exp2Op) { return exp2(e, x); })
      .Case([&](math::ExpOp) { return exp2(e, scale(e, x, kLog2E)); })
      .Case([&](math::Log2Op) { return log2(e, x); })
      .Case([&](math::LogOp) { return scale(e, log2(e, x), kLn2); })
      .Case([&](math::Log10Op) { return scale(e, log2(e, x), 0.30102999566398120); })
      .Case([&](math::RsqrtOp) { return intrinsic(e, "llvm.nvvm.rsqrt.approx.f", e.f32, x); })
      .Case([&](math::SqrtOp) { return intrinsic(e, "llvm.nvvm.sqrt.approx.f", e.f32, x); })
      .Case([&](math::SinOp) { return ApproximateOp::create(e, Approximation::Sin, x); })
      .Case([&](math::CosOp) { return ApproximateOp::create(e, Approximation::Cos, x); })
      .Case([&](math::ErfOp) { return erf(e, x); })
      .Case([&](math::TanhOp) { return tanh(e, x); })
      .Case([&](math::PowFOp) { return power(e, x, operands[1]); })
      .Case([&](arith::RemFOp) { return remainder(e, x, operands[1]); })
      // div.full is good to 2 ulp.
      .Case([&](arith::DivFOp) { return intrinsic(e, "llvm.nvvm.div.full", e.f32, operands); })
      .Default([](Operation *) { return Value(); });
}

/// Instructions, or a few of them, as LLVM has them; null for other ops.
static Value translate(Emitter &e, Operation *op, ValueRange operands) {
  Value x = operands[0];
  Type type = x.getType();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::FmaOp) { return LLVM::FMAOp::create(e, x, operands[1], operands[2]); })
      .Case([&](math::AbsFOp) { return LLVM::FAbsOp::create(e, x); })
      .Case([&](math::CopySignOp) { return LLVM::CopySignOp::create(e, x, operands[1]); })
      .Case([&](math::FloorOp) { return LLVM::FFloorOp::create(e, x); })
      .Case([&](math::CeilOp) { return LLVM::FCeilOp::create(e, x); })
      .Case([&](math::RoundEvenOp) { return LLVM::RoundEvenOp::create(e, x); })
      .Case([&](math::TruncOp) { return LLVM::FTruncOp::create(e, x); })
      .Case([&](math::CountLeadingZerosOp) {
        return LLVM::CountLeadingZerosOp::create(e, type, x, false);
      })
      .Case([&](math::CountTrailingZerosOp) {
        return LLVM::CountTrailingZerosOp::create(e, type, x, false);
      })
      .Case([&](math::CtPopOp) { return LLVM::CtPopOp::create(e, x); })
      .Case([&](math::AbsIOp) { return maxS(e, x, sub(e, e.cint(type, 0), x)); })
      .Default([](Operation *) { return Value(); });
}

static Value expand(Emitter &e, Operation *op) {
  Type type = op->getOperand(0).getType();
  bool isMath = isa<math::MathDialect>(op->getDialect());
  // NaN if an operand is; the instruction exists for f32 and 16-bit types.
  if (isa<arith::MaximumFOp>(op) && !type.isF64())
    return LLVM::MaximumOp::create(e, op->getOperand(0), op->getOperand(1));
  if (isa<arith::MinimumFOp>(op) && !type.isF64())
    return LLVM::MinimumOp::create(e, op->getOperand(0), op->getOperand(1));
  // 16-bit types by way of f32.
  SmallVector<Value> operands(op->getOperands());
  // There is an instruction of 16 bits that multiplies and adds, rounded once.
  bool isHalf = (isMath || isa<arith::RemFOp>(op)) && !isa<math::FmaOp>(op) &&
                (type.isBF16() || type.isF16());
  if (isHalf)
    for (Value &operand : operands)
      operand = LLVM::FPExtOp::create(e, e.f32, operand);
  Value result;
  if (operands[0].getType().isF32())
    result = approximate(e, op, operands);
  if (!result && isMath)
    result = translate(e, op, operands);
  return result && isHalf ? Value(LLVM::FPTruncOp::create(e, type, result)) : result;
}

void mk_thread::expandMath(KernelOp kernel) {
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 8> logistic;
  kernel.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) ||
        isa<arith::DivFOp, arith::RemFOp, arith::MaximumFOp, arith::MinimumFOp>(op))
      ops.push_back(op);
    // Before the exponentials are expanded.
    if (dividesByLogistic(op))
      logistic.insert(op);
  });
  if (ops.empty())
    return;
  Emitter emitter(kernel.getContext(), kernel.getLoc());
  emitter.enter(kernel);
  for (Operation *op : ops) {
    emitter.setLoc(op->getLoc());
    emitter.setInsertionPoint(op);
    if (auto tanh = dyn_cast<math::TanhOp>(op); tanh && expandOnePlusTanh(emitter, tanh))
      continue;
    Value result;
    if (logistic.contains(op))
      result = LLVM::FMulOp::create(
          emitter, op->getOperand(0),
          NVVM::RcpApproxFtzF32Op::create(emitter, emitter.f32, op->getOperand(1)));
    else
      result = expand(emitter, op);
    if (result) {
      op->replaceAllUsesWith(ValueRange(result));
      op->erase();
    }
  }
}
