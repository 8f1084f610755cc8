//===- LowerAsserts.cpp - Assertions become faults of a status ------------===//
#include "Functions.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Analysis/Lines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::mk;

static int64_t getFault(cf::AssertOp op) {
  StringRef message = op.getMsg();
  int64_t kind = MK_FAULT_ASSERT;
  if (message == "bounds" || message.starts_with("ERROR: Runtime op verification failed"))
    kind = MK_FAULT_BOUNDS;
  else if (message == "memory")
    kind = MK_FAULT_MEMORY;
  return -1 - (getLine(op.getLoc()) + (kind << 32));
}

/// Returns its argument: all faults of a function end there.
static Block *addExit(func::FuncOp function) {
  auto *exit = new Block;
  function.getBody().push_back(exit);
  Location loc = function.getLoc();
  Type status = function.getFunctionType().getResult(0);
  OpBuilder b = OpBuilder::atBlockBegin(exit);
  func::ReturnOp::create(b, loc, exit->addArgument(status, loc));
  return exit;
}

LogicalResult mk::lowerAsserts(func::FuncOp function) {
  SmallVector<cf::AssertOp> asserts;
  function.walk([&](cf::AssertOp op) { asserts.push_back(op); });
  if (asserts.empty())
    return success();
  FunctionType type = function.getFunctionType();
  if (type.getNumResults() != 1 || !type.getResult(0).isInteger(64))
    return asserts.front().emitOpError() << "stands in @" << function.getSymName()
                                         << ", which returns no status: write what it is needed "
                                            "for without a function that is called";
  Block *exit = addExit(function);
  for (cf::AssertOp op : asserts) {
    if (op->getParentRegion() != &function.getBody())
      return op.emitOpError() << "stands inside another op, where nothing can return";
    Block *block = op->getBlock();
    Block *rest = block->splitBlock(op);
    OpBuilder b = OpBuilder::atBlockEnd(block);
    Value fault = arith::ConstantIntOp::create(b, op.getLoc(), getFault(op), 64);
    cf::CondBranchOp::create(b, op.getLoc(), op.getArg(), rest, ValueRange(), exit,
                             ValueRange(fault));
    op.erase();
  }
  return success();
}
