//===- GuardDivisions.cpp - No division is undefined ----------------------===//
#include "Functions.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Analysis/Lines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;

static bool isSigned(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, index::DivSOp,
             index::RemSOp, index::CeilDivSOp, index::FloorDivSOp>(op);
}

/// A division of integers that may be undefined.
static bool isOpen(Operation *op) {
  if (!isSigned(op) && !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, index::DivUOp,
                            index::RemUOp, index::CeilDivUOp>(op))
    return false;
  APInt divisor;
  return op->getOperand(1).getType().isIntOrIndex() &&
         (!matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() ||
          (isSigned(op) && divisor.isAllOnes()));
}

/// Whether the quotient is not defined.
static Value isUndefined(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Type type = op->getOperand(1).getType();
  auto equals = [&](Value value, const APInt &number) -> Value {
    Value constant = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, number));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, constant);
  };
  unsigned bits =
      type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  Value zero = equals(op->getOperand(1), APInt::getZero(bits));
  if (!isSigned(op))
    return zero;
  Value least = equals(op->getOperand(0), APInt::getSignedMinValue(bits));
  Value minus = equals(op->getOperand(1), APInt::getAllOnes(bits));
  Value both = arith::AndIOp::create(b, loc, least, minus);
  return arith::OrIOp::create(b, loc, zero, both);
}

static func::FuncOp getCallee(ModuleOp module, Type pointer) {
  constexpr StringLiteral name = "mkrt_fault";
  if (auto callee = module.lookupSymbol<func::FuncOp>(name))
    return callee;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto callee = func::FuncOp::create(
      b, module.getLoc(), name, b.getFunctionType({pointer, b.getI32Type(), b.getI32Type()}, {}));
  callee.setPrivate();
  return callee;
}

void mk::guardDivisions(func::FuncOp function) {
  SmallVector<Operation *> divisions;
  function.walk([&](Operation *op) {
    if (isOpen(op))
      divisions.push_back(op);
  });
  FunctionType type = function.getFunctionType();
  bool ofCta = type.getNumResults() == 0 && type.getNumInputs() == 1 &&
               isa<LLVM::LLVMPointerType>(type.getInput(0));
  bool hasStatus = type.getNumResults() == 1 && type.getResult(0).isInteger(64);
  if (divisions.empty() || (!ofCta && !hasStatus))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(&function.front());
  Location loc = function.getLoc();
  Value status; // memory of it
  if (hasStatus) {
    Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
    Value none = arith::ConstantIntOp::create(b, loc, 0, 64);
    status = LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                    b.getI64Type(), one);
    LLVM::StoreOp::create(b, loc, none, status);
  }
  for (Operation *op : divisions) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
    Value undefined = isUndefined(b, op);
    auto report = scf::IfOp::create(b, loc, undefined);
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(report.thenBlock());
      int64_t line = getLine(loc);
      if (hasStatus)
        LLVM::StoreOp::create(b, loc, arith::ConstantIntOp::create(b, loc, -1 - line, 64), status);
      else
        func::CallOp::create(b, loc,
                             getCallee(function->getParentOfType<ModuleOp>(), type.getInput(0)),
                             ValueRange{function.getArgument(0),
                                        arith::ConstantIntOp::create(b, loc, MK_FAULT_DIVISION, 32),
                                        arith::ConstantIntOp::create(b, loc, line, 32)});
    }
    // Nobody sees the quotient; the machine must not stop at it.
    Type number = op->getOperand(1).getType();
    Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(number, 1));
    op->setOperand(1, arith::SelectOp::create(b, loc, undefined, one, op->getOperand(1)));
  }
  if (!hasStatus)
    return;
  function.walk([&](func::ReturnOp op) {
    b.setInsertionPoint(op);
    loc = op.getLoc();
    Value found = LLVM::LoadOp::create(b, loc, b.getI64Type(), status);
    Value none = arith::ConstantIntOp::create(b, loc, 0, 64);
    Value isSuccess =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, op.getOperand(0), none);
    op.setOperand(0, arith::SelectOp::create(b, loc, isSuccess, found, op.getOperand(0)));
  });
}
