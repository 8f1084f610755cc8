//===- CompleteFloats.cpp - Ops on floats that upstream's lowerings lack --===//
//
// CPUs have no instruction that narrows an f64 to 16 bits: by way of f32 a number would be rounded
// twice. Rounded to odd, an f32 tells whether it was exact, and is rounded right then (Boldo,
// Melquiond: Emulation of FMA and correctly rounded sums, IEEE Trans. Comput. 57, 2008). e^x - 1
// and log(1 + x) lose digits where x is small: what is lost in 1 + x or e^x is divided out again
// (Kahan; Higham: Accuracy and Stability of Numerical Algorithms, 2nd ed., 1.14.1).
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Dialect/Tile/Tile.h"
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

/// An f32 that is rounded to the same number of 16 bits as `x`, an f64.
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

/// What stands for an op, with operands of 16 bits widened to f32; null for others.
static Value complete(Floats &f, Operation *op, ArrayRef<Value> operands) {
  ImplicitLocOpBuilder &b = f.b;
  Value x = operands.empty() ? Value() : operands[0];
  if (isa<math::FmaOp>(op) && isSixteenBits(op->getResult(0).getType()))
    return math::FmaOp::create(b, x, operands[1], operands[2]);
  if (isa<math::ExpM1Op>(op))
    return computeExpM1(f, x);
  if (isa<math::Log1pOp>(op))
    return computeLog1P(f, x);
  return {};
}

static LogicalResult narrow(Floats &f, arith::TruncFOp op) {
  if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
      arith::RoundingMode::to_nearest_even)
    return op.emitOpError() << "cannot be lowered: " << kRoundingModes;
  op.removeRoundingmodeAttr();
  if (getElementTypeOrSelf(op.getIn().getType()).isF64() && isSixteenBits(op.getType()))
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

/// Whether nothing calculates with it; fp8 has become integers by now.
static bool isUnknown(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && !isa<Float8E4M3FNType, Float8E5M2Type>(element) &&
         !isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(element);
}

LogicalResult mk::completeFloats(Operation *op) {
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      (llvm::any_of(op->getOperandTypes(), isUnknown) ||
       llvm::any_of(op->getResultTypes(), isUnknown)))
    return op->emitOpError() << "cannot be lowered: " << kFloatTypes;
  if (!isa<math::FmaOp, math::ExpM1Op, math::Log1pOp, math::IsInfOp, math::IsNormalOp,
           arith::TruncFOp>(op))
    return success();
  Floats f{ImplicitLocOpBuilder(op->getLoc(), op), op->getOperand(0).getType()};
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    return narrow(f, truncation);
  Value result;
  if (isa<math::IsInfOp, math::IsNormalOp>(op)) {
    result = classify(f, op);
  } else {
    SmallVector<Value> operands(op->getOperands());
    Type type = op->getResult(0).getType();
    if (isSixteenBits(type))
      for (Value &operand : operands)
        operand = arith::ExtFOp::create(f.b, f.shaped(f.b.getF32Type()), operand);
    result = complete(f, op, operands);
    if (result && isSixteenBits(type))
      result = arith::TruncFOp::create(f.b, type, result);
  }
  if (!result)
    return success();
  op->replaceAllUsesWith(ValueRange(result));
  op->erase();
  return success();
}
