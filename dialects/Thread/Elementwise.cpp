//===- Elementwise.cpp - Ops of arith and math on scalars and elements ----===//
#include "mkernel/Dialect/Thread/Elementwise.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_thread;

bool mk_thread::isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// The same op on scalars, with attributes and, for floats, contraction: a
/// product and a sum become one instruction.
static Value cloneOn(OpBuilder &b, Location loc, Operation *op, ArrayRef<Value> operands,
                     Type type) {
  OperationState state(loc, op->getName(), operands, type, op->getAttrs());
  if (isa<FloatType>(type) && isa<arith::ArithFastMathInterface>(op))
    state.attributes.set(
        "fastmath", arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract));
  return b.create(state)->getResult(0);
}

/// The quotient that stands in this block already, as where a remainder follows it; else null.
static Value findQuotient(Emitter &e, Value x, Value y) {
  for (Operation &op :
       llvm::reverse(llvm::make_range(e.getInsertionBlock()->begin(), e.getInsertionPoint())))
    if (auto divide = dyn_cast<DivideOp>(op); divide && divide.getX() == x && divide.getY() == y)
      return divide;
  return {};
}

/// Quotient and remainder of unsigned 64-bit integers that are the same in all lanes, by whole
/// warps.
static std::pair<Value, Value> divideU(Emitter &e, Value x, Value y) {
  Value quotient = findQuotient(e, x, y);
  if (!quotient)
    quotient = DivideOp::create(e, x, y);
  return {quotient, sub(e, x, mul(e, quotient, y))};
}

/// Quotient (towards zero) and remainder (of x's sign) of signed ones.
static std::pair<Value, Value> divideS(Emitter &e, Value x, Value y) {
  Value zero = e.c64(0);
  auto negative = [&](Value value) { return slt(e, value, zero); };
  auto magnitude = [&](Value value) {
    return select(e, negative(value), sub(e, zero, value), value);
  };
  auto [quotient, rest] = divideU(e, magnitude(x), magnitude(y));
  Value differ = xor_(e, negative(x), negative(y));
  return {select(e, differ, sub(e, zero, quotient), quotient),
          select(e, negative(x), sub(e, zero, rest), rest)};
}

/// A 64-bit division of scalars, which are the same in all lanes, by what is not
/// constant; null for other ops.
static Value divide(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivUIOp,
           arith::CeilDivSIOp, arith::FloorDivSIOp>(op) ||
      !operands[0].getType().isInteger(64) || isa<RankedTensorType>(op->getResult(0).getType()) ||
      operands[1].getDefiningOp<arith::ConstantOp>())
    return {};
  Value x = operands[0], y = operands[1];
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  auto [quotient, rest] = isSigned ? divideS(e, x, y) : divideU(e, x, y);
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return quotient;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return rest;
  // Rounded up where something is left and, if signed, the quotient is positive;
  // down where it is negative.
  Value left = ne(e, rest, 0);
  if (!isSigned)
    return add(e, quotient, resize(e, left, e.i64));
  Value negative = slt(e, xor_(e, x, y), 0);
  if (isa<arith::FloorDivSIOp>(op))
    return sub(e, quotient, resize(e, and_(e, left, negative), e.i64));
  return add(e, quotient, resize(e, and_(e, left, xor_(e, negative, e.cbool(true))), e.i64));
}

/// Whether mk-thread-expand-math has code for a function.
static bool hasInstructions(Operation *op) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<arith::RemFOp>(op))
    return type.isF32() || type.isBF16() || type.isF16();
  if (isa<math::Exp2Op, math::ExpOp, math::Log2Op, math::LogOp, math::Log10Op, math::RsqrtOp,
          math::SqrtOp, math::SinOp, math::CosOp, math::ErfOp, math::TanhOp, math::PowFOp>(op))
    return type.isF32() || type.isBF16() || type.isF16();
  return isa<math::FmaOp, math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp,
             math::RoundEvenOp, math::TruncOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::AbsIOp>(op);
}

bool mk_thread::hasCode(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return false;
  // Other floats of 8 bits or less are bits that nothing calculates with.
  if (mk::hasUnknownFloat(op))
    return false;
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::SelectOp,
           arith::BitcastOp, arith::ConstantOp>(op) &&
      (llvm::any_of(op->getOperandTypes(), mk::isFp8) ||
       llvm::any_of(op->getResultTypes(), mk::isFp8)))
    return false; // no arithmetic on 8-bit floats
  // Instructions round to the nearest, ties to even.
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    return truncation.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
           arith::RoundingMode::to_nearest_even;
  return !(isa<math::MathDialect>(op->getDialect()) || isa<arith::RemFOp>(op)) ||
         hasInstructions(op);
}

/// An f32 that is rounded to the same number of 8 bits as `x`, an f64: see CompleteFloats.cpp.
static Value roundToOdd(Emitter &e, Value x) {
  Value nearest = LLVM::FPTruncOp::create(e, e.f32, x);
  Value back = LLVM::FPExtOp::create(e, x.getType(), nearest);
  Value isExact = LLVM::FCmpOp::create(e, LLVM::FCmpPredicate::ueq, back, x);
  Value isLarger = LLVM::FCmpOp::create(e, LLVM::FCmpPredicate::ogt, LLVM::FAbsOp::create(e, back),
                                        LLVM::FAbsOp::create(e, x));
  Value word = LLVM::BitcastOp::create(e, e.i32, nearest);
  word = or_(e, select(e, isLarger, sub(e, word, 1), word), e.c32(1));
  return select(e, isExact, nearest, LLVM::BitcastOp::create(e, e.f32, word));
}

Value mk_thread::compute(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  if (Value quotient = divide(e, op, operands))
    return quotient;
  Type result = getElementTypeOrSelf(op->getResult(0).getType()), type = getRegisterType(result);
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<arith::ExtFOp>(op) && mk::isFp8(from)) {
    // By way of f16, which holds every fp8.
    Value halves = mk_thread::FromFp8Op::create(e, from, resize(e, operands[0], e.i16));
    Value half = LLVM::BitcastOp::create(e, e.getF16Type(), resize(e, halves, e.i16));
    if (type.isF16())
      return half;
    Value wide = LLVM::FPExtOp::create(e, type.isF64() ? type : Type(e.f32), half);
    return type.isBF16() ? Value(LLVM::FPTruncOp::create(e, type, wide)) : wide;
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return resize(e, operands[0], type, /*isSigned=*/isa<arith::IndexCastOp>(op));
  if (isa<arith::TruncFOp>(op) && mk::isFp8(result)) {
    Value number = operands[0];
    if (from.isF64())
      number = roundToOdd(e, number);
    else if (!from.isF32())
      number = LLVM::FPExtOp::create(e, e.f32, number);
    return resize(e, mk_thread::ToFp8Op::create(e, result, number, e.cf32(0)), e.i8);
  }
  // By way of f32, and rounded once even so: see ExpandFp8.cpp.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && mk::isFp8(result)) {
    Value number = cloneOn(e, e.getLoc(), op, operands, e.f32);
    return resize(e, mk_thread::ToFp8Op::create(e, result, number, e.cf32(0)), e.i8);
  }
  // Of one bit that becomes a bf16 LLVM 22 makes 1, not -1.
  if (isa<arith::SIToFPOp>(op) && from.isInteger(1) && type.isBF16())
    return select(e, operands[0], e.constant(e.getFloatAttr(type, -1)),
                  e.constant(e.getFloatAttr(type, 0)));
  return cloneOn(e, e.getLoc(), op, operands, type);
}
