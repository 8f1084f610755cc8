//===- CheckedArith.cpp - Sizes whose wraps are faults --------------------===//
#include "CheckedArith.h"
#include "mkernel/ABI/Package.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk;

void CheckedArith::place(int64_t line, int64_t argument, int64_t dimension) {
  int64_t extent = argument < 0 ? 0 : 1 + 256 * argument + dimension;
  code = -1 - (line + (int64_t(MK_FAULT_OVERFLOW) << 32) + (extent << 36));
}

Value CheckedArith::getFault() { return fault ? fault : lowering.i64(0); }

/// `Op` is LLVM's form of the op that says whether its result fits.
template <typename Op> void CheckedArith::test(Operation *op) {
  OpBuilder &b = lowering.b;
  Location loc = op->getLoc();
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  // Constants have been checked where they were bound.
  if (getConstantIntValue(lhs) && getConstantIntValue(rhs))
    return;
  if (lhs.getType().isIndex()) {
    lhs = lowering.toI64(lhs);
    rhs = lowering.toI64(rhs);
  }
  auto both = LLVM::LLVMStructType::getLiteral(b.getContext(), {lhs.getType(), b.getI1Type()});
  Value result = Op::create(b, loc, both, lhs, rhs);
  Value wraps = LLVM::ExtractValueOp::create(b, loc, result, 1);
  Value none = getFault();
  Value isFirst = lowering.equal(none, lowering.i64(0));
  Value isFault = arith::AndIOp::create(b, loc, wraps, isFirst);
  fault = lowering.select(isFault, lowering.i64(code), none);
}

void CheckedArith::check(Operation *op) {
  if (op->getNumOperands() != 2)
    return;
  Type type = op->getOperand(0).getType();
  // What fits in no register wraps on purpose, or is a flag.
  if (!type.isIndex() && !type.isInteger(32) && !type.isInteger(64))
    return;
  if (isa<arith::AddIOp>(op))
    test<LLVM::SAddWithOverflowOp>(op);
  else if (isa<arith::SubIOp>(op))
    test<LLVM::SSubWithOverflowOp>(op);
  else if (isa<arith::MulIOp>(op))
    test<LLVM::SMulWithOverflowOp>(op);
}

Value CheckedArith::add(Value a, Value b) {
  Value sum = lowering.add(a, b);
  check(sum.getDefiningOp());
  return sum;
}

Value CheckedArith::mul(Value a, Value b) {
  Value product = lowering.mul(a, b);
  check(product.getDefiningOp());
  return product;
}

FailureOr<Value> CheckedArith::emit(AffineExpr expr, ValueRange dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return lowering.index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure(); // a symbol: an axis without a size
  FailureOr<Value> lhs = emit(binary.getLHS(), dims);
  FailureOr<Value> rhs = emit(binary.getRHS(), dims);
  if (failed(lhs) || failed(rhs))
    return failure();
  AffineExprKind kind = expr.getKind();
  if (kind == AffineExprKind::Add)
    return add(*lhs, *rhs);
  if (kind == AffineExprKind::Mul)
    return mul(*lhs, *rhs);
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!divisor || divisor.getValue() < 1)
    return failure();
  OpBuilder &b = lowering.b;
  Location loc = lowering.loc;
  if (kind == AffineExprKind::CeilDiv)
    return Value(arith::CeilDivSIOp::create(b, loc, *lhs, *rhs));
  Value floor = arith::FloorDivSIOp::create(b, loc, *lhs, *rhs);
  if (kind == AffineExprKind::FloorDiv)
    return floor;
  // mod: what the floor leaves, never negative; no larger than what it was.
  return lowering.sub(*lhs, lowering.mul(floor, *rhs));
}
