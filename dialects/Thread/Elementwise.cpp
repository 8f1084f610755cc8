//===- Elementwise.cpp - Ops of arith and math on scalars and elements ----===//
#include "mkernel/Dialect/Thread/Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk_thread;

bool mk_thread::isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// The same op on scalars, with attributes and, for floats, contraction: a
/// product and a sum become one instruction.
static Value cloneOn(OpBuilder &b, Location loc, Operation *op,
                     ArrayRef<Value> operands, Type type) {
  OperationState state(loc, op->getName(), operands, type, op->getAttrs());
  if (isa<FloatType>(type) && isa<arith::ArithFastMathInterface>(op))
    state.attributes.set("fastmath",
                         arith::FastMathFlagsAttr::get(
                             b.getContext(), arith::FastMathFlags::contract));
  return b.create(state)->getResult(0);
}

/// A 64-bit division of scalars, which are the same in all lanes, by what is not
/// constant; null for other ops.
static Value divide(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::CeilDivUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op) ||
      !operands[0].getType().isInteger(64) ||
      isa<RankedTensorType>(op->getResult(0).getType()) ||
      operands[1].getDefiningOp<arith::ConstantOp>())
    return {};
  Value x = operands[0], y = operands[1];
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                      arith::FloorDivSIOp>(op);
  auto [quotient, rest] = isSigned ? e.divideS(x, y) : e.divideU(x, y);
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return quotient;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return rest;
  // Rounded up where something is left and, if signed, the quotient is positive;
  // down where it is negative.
  using Predicate = arith::CmpIPredicate;
  Value left = e.cmp(Predicate::ne, rest, int64_t(0));
  if (!isSigned)
    return e.add(quotient, e.resize(left, e.i64));
  Value negative = e.cmp(Predicate::slt, e.xor_(x, y), int64_t(0));
  if (isa<arith::FloorDivSIOp>(op))
    return e.sub(quotient, e.resize(e.and_(left, negative), e.i64));
  return e.add(quotient, e.resize(e.and_(left, e.not_(negative)), e.i64));
}

/// Whether mk-thread-expand-math has code for a function.
static bool hasInstructions(Operation *op) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
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
  auto isUnknown = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && !isFp8(element) &&
           !isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(element);
  };
  if (llvm::any_of(op->getOperandTypes(), isUnknown) ||
      llvm::any_of(op->getResultTypes(), isUnknown))
    return false;
  auto takesFp8 = [](Type type) { return isFp8(getElementTypeOrSelf(type)); };
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp>(op) &&
      llvm::any_of(op->getOperandTypes(), takesFp8))
    return false; // no arithmetic on 8-bit floats
  return !isa<math::MathDialect>(op->getDialect()) || hasInstructions(op);
}

Value mk_thread::compute(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  if (Value quotient = divide(e, op, operands))
    return quotient;
  Type result = getElementTypeOrSelf(op->getResult(0).getType()), type = getRegisterType(result);
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<arith::ExtFOp>(op) && isFp8(from)) {
    // By way of f16, which holds every fp8.
    Value halves = e.create<mk_thread::FromFp8Op>(from, e.resize(operands[0], e.i16));
    Value half = e.create<LLVM::BitcastOp>(e.b.getF16Type(), e.resize(halves, e.i16));
    return type.isF16() ? half : Value(e.create<LLVM::FPExtOp>(e.f32, half));
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return e.resize(operands[0], type, /*isSigned=*/isa<arith::IndexCastOp>(op));
  if (isa<arith::TruncFOp>(op) && isFp8(result))
    return e.resize(e.create<mk_thread::ToFp8Op>(result, operands[0], e.cf32(0)), e.i8);
  return cloneOn(e.b, e.loc, op, operands, type);
}
