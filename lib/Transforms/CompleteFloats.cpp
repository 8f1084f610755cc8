//===- CompleteFloats.cpp - Ops on floats that upstream's lowerings lack --===//
//
// CPUs have no instruction that narrows an f64 to 16 or 8 bits: by way of f32 a number would be
// rounded twice. Rounded to odd, an f32 tells whether it was exact, and is rounded right then, and
// so is the sum of a product and a number (Boldo, Melquiond: Emulation of FMA and correctly rounded
// sums, IEEE Trans. Comput. 57, 2008). e^x - 1 and log(1 + x) lose digits where x is small: what is
// lost in 1 + x or e^x is divided out again (Kahan; Higham: Accuracy and Stability of Numerical
// Algorithms, 2nd ed., 1.14.1).
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Dialect/Tile/Floats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// Arithmetic on scalars, or on vectors of the shape of one.
struct Floats {
  ImplicitLocOpBuilder b;
  Type like;

  Type shaped(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(TypedAttr attr) {
    if (auto vector = dyn_cast<VectorType>(like))
      attr = DenseElementsAttr::get(vector.clone(attr.getType()), Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }
  Value number(Type type, const APFloat &value) {
    return constant(b.getFloatAttr(getElementTypeOrSelf(type), value));
  }
  Value number(Type type, double value) {
    return constant(b.getFloatAttr(getElementTypeOrSelf(type), value));
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
};
} // namespace

static const llvm::fltSemantics &getSemantics(Type type) {
  return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
}

static bool isSixteenBits(Type type) {
  return isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(type));
}

/// An f32 that is rounded to the same number of 16 or 8 bits as `x`, an f64.
static Value roundToOdd(Floats &f, Value x) {
  ImplicitLocOpBuilder &b = f.b;
  Type narrow = f.shaped(b.getF32Type()), bits = f.shaped(b.getI32Type());
  Value nearest = arith::TruncFOp::create(b, narrow, x);
  Value back = arith::ExtFOp::create(b, x.getType(), nearest);
  Value isExact = f.compare(arith::CmpFPredicate::UEQ, back, x); // a NaN stays one
  Value isLarger = f.compare(arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back),
                             math::AbsFOp::create(b, x));
  Value word = arith::BitcastOp::create(b, bits, nearest);
  Value one = f.constant(b.getI32IntegerAttr(1));
  word = f.select(isLarger, arith::SubIOp::create(b, word, one), word); // towards zero
  word = arith::OrIOp::create(b, word, one);
  return f.select(isExact, nearest, arith::BitcastOp::create(b, narrow, word));
}

/// x * y + z of 16 bits, rounded once. In f64 the product is exact. The sum is rounded to odd: what
/// it lacks is known exactly (Knuth: TAOCP 2, 4.2.2, theorem B).
static Value computeFma(Floats &f, ValueRange operands, Type type) {
  ImplicitLocOpBuilder &b = f.b;
  Type wide = f.shaped(b.getF64Type()), bits = f.shaped(b.getI64Type());
  SmallVector<Value> x;
  for (Value operand : operands)
    x.push_back(arith::ExtFOp::create(b, wide, operand));
  Value product = arith::MulFOp::create(b, x[0], x[1]);
  Value sum = arith::AddFOp::create(b, product, x[2]);
  Value part = arith::SubFOp::create(b, sum, product);
  Value rest = arith::AddFOp::create(
      b, arith::SubFOp::create(b, product, arith::SubFOp::create(b, sum, part)),
      arith::SubFOp::create(b, x[2], part));
  Value zero = f.number(wide, 0);
  Value isInexact = f.compare(arith::CmpFPredicate::ONE, rest, zero);
  Value word = arith::BitcastOp::create(b, bits, sum), one = f.constant(b.getI64IntegerAttr(1));
  Value isEven =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, arith::AndIOp::create(b, word, one),
                            f.constant(b.getI64IntegerAttr(0)));
  // Away from zero where the rest has the sign of the sum.
  Value isAway = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       f.compare(arith::CmpFPredicate::OGT, rest, zero),
                                       f.compare(arith::CmpFPredicate::OGT, sum, zero));
  Value odd =
      f.select(isAway, arith::AddIOp::create(b, word, one), arith::SubIOp::create(b, word, one));
  word = f.select(arith::AndIOp::create(b, isInexact, isEven), odd, word);
  Value exact = roundToOdd(f, arith::BitcastOp::create(b, wide, word));
  return arith::TruncFOp::create(b, type, exact);
}

static Value computeExpM1(Floats &f, Value x) {
  ImplicitLocOpBuilder &b = f.b;
  Type type = x.getType();
  Value one = f.number(type, 1), minusOne = f.number(type, -1);
  Value power = math::ExpOp::create(b, x);
  Value less = arith::SubFOp::create(b, power, one);
  Value result =
      arith::MulFOp::create(b, less, arith::DivFOp::create(b, x, math::LogOp::create(b, power)));
  Value infinity = f.number(type, APFloat::getInf(getSemantics(type)));
  result = f.select(f.compare(arith::CmpFPredicate::OEQ, power, infinity), power, result);
  result = f.select(f.compare(arith::CmpFPredicate::OEQ, less, minusOne), less, result);
  return f.select(f.compare(arith::CmpFPredicate::OEQ, power, one), x, result);
}

static Value computeLog1P(Floats &f, Value x) {
  ImplicitLocOpBuilder &b = f.b;
  Type type = x.getType();
  Value one = f.number(type, 1);
  Value sum = arith::AddFOp::create(b, x, one);
  Value rest = arith::SubFOp::create(b, sum, one);
  Value result =
      arith::MulFOp::create(b, math::LogOp::create(b, sum), arith::DivFOp::create(b, x, rest));
  Value infinity = f.number(type, APFloat::getInf(getSemantics(type)));
  result = f.select(f.compare(arith::CmpFPredicate::OEQ, sum, infinity), sum, result);
  return f.select(f.compare(arith::CmpFPredicate::OEQ, sum, one), x, result);
}

static LogicalResult narrow(Floats &f, arith::TruncFOp op) {
  if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
      arith::RoundingMode::to_nearest_even)
    return op.emitOpError() << "cannot be lowered: " << kRoundingModes;
  op.removeRoundingmodeAttr();
  if (getElementTypeOrSelf(op.getIn().getType()).isF64() &&
      (isSixteenBits(op.getType()) || isFp8(op.getType())))
    op.getInMutable().assign(roundToOdd(f, op.getIn()));
  return success();
}

static Value classify(Floats &f, Operation *op) {
  Value magnitude = math::AbsFOp::create(f.b, op->getOperand(0));
  const llvm::fltSemantics &semantics = getSemantics(magnitude.getType());
  Value infinity = f.number(magnitude.getType(), APFloat::getInf(semantics));
  if (isa<math::IsInfOp>(op))
    return f.compare(arith::CmpFPredicate::OEQ, magnitude, infinity);
  Value least = f.number(magnitude.getType(), APFloat::getSmallestNormalized(semantics));
  return arith::AndIOp::create(f.b, f.compare(arith::CmpFPredicate::OGE, magnitude, least),
                               f.compare(arith::CmpFPredicate::OLT, magnitude, infinity));
}

LogicalResult mk::completeFloats(Operation *op) {
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && hasUnknownFloat(op))
    return op->emitOpError() << "cannot be lowered: " << kFloatTypes;
  if (!isa<math::FmaOp, math::ExpM1Op, math::Log1pOp, math::IsInfOp, math::IsNormalOp,
           arith::TruncFOp>(op))
    return success();
  Floats f{ImplicitLocOpBuilder(op->getLoc(), op), op->getOperand(0).getType()};
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    return narrow(f, truncation);
  // fp8 is another pass's.
  if (llvm::any_of(op->getOperandTypes(), isFp8))
    return success();
  Type type = op->getResult(0).getType();
  Value result;
  if (isa<math::IsInfOp, math::IsNormalOp>(op)) {
    result = classify(f, op);
  } else if (isa<math::FmaOp>(op)) {
    if (isSixteenBits(type))
      result = computeFma(f, op->getOperands(), type);
  } else {
    Value x = op->getOperand(0);
    if (isSixteenBits(type))
      x = arith::ExtFOp::create(f.b, f.shaped(f.b.getF32Type()), x);
    result = isa<math::ExpM1Op>(op) ? computeExpM1(f, x) : computeLog1P(f, x);
    if (isSixteenBits(type))
      result = arith::TruncFOp::create(f.b, type, result);
  }
  if (!result)
    return success();
  op->replaceAllUsesWith(ValueRange(result));
  op->erase();
  return success();
}
