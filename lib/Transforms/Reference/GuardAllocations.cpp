//===- GuardAllocations.cpp - Temporaries that there is no memory for -----===//
#include "GuardAllocations.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Analysis/Lines.h"
#include "mkernel/Support/Checked.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::mk;

using mkernel::checked::kMostElements;

/// Whether `extents` are not negative and have a product that can be had.
static Value isPossible(OpBuilder &b, Location loc, MemRefType type, ValueRange dynamic) {
  IndexMath m{b, loc};
  Value good = arith::ConstantIntOp::create(b, loc, 1, 1), left = m.index(kMostElements);
  unsigned next = 0;
  for (int64_t extent : type.getShape()) {
    Value size = ShapedType::isDynamic(extent) ? dynamic[next++] : m.index(extent);
    // left: how many of these there may be at most; each extent takes its part.
    Value fits = m.cmp(arith::CmpIPredicate::ule, size, left);
    good = arith::AndIOp::create(b, loc, good, fits);
    Value divisor = arith::MaxUIOp::create(b, loc, size, m.index(1));
    left = arith::DivUIOp::create(b, loc, left, divisor);
  }
  return good;
}

LogicalResult mk::guardAllocations(ModuleOp module) {
  WalkResult result = module.walk([](memref::AllocOp op) -> WalkResult {
    MemRefType type = op.getType();
    if (type.hasStaticShape()) {
      mkernel::checked::Number elements = mkernel::checked::product(type.getShape());
      if (elements && *elements <= kMostElements)
        return WalkResult::advance();
      return op.emitError() << "the reference has a tensor of "
                            << llvm::interleaved(type.getShape(), " x ")
                            << " elements, more than 2^46: use smaller extents";
    }
    OpBuilder b(op);
    Value good = isPossible(b, op.getLoc(), type, op.getDynamicSizes());
    cf::AssertOp::create(b, op.getLoc(), good, "memory");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A block that returns its argument. What has been allocated stays: the program is
/// about to say that it has no memory.
static Block *addExit(LLVM::LLVMFuncOp function) {
  auto *exit = new Block;
  function.getBody().push_back(exit);
  OpBuilder b = OpBuilder::atBlockBegin(exit);
  Location loc = function.getLoc();
  LLVM::ReturnOp::create(b, loc, exit->addArgument(b.getI64Type(), loc));
  return exit;
}

void mk::guardMemory(LLVM::LLVMFuncOp function) {
  SmallVector<LLVM::CallOp> calls;
  function.walk([&](LLVM::CallOp call) {
    if (call.getCallee() == "malloc")
      calls.push_back(call);
  });
  if (calls.empty())
    return;
  Block *exit = addExit(function);
  for (LLVM::CallOp call : calls) {
    Block *block = call->getBlock();
    Block *rest = block->splitBlock(std::next(Block::iterator(call)));
    OpBuilder b = OpBuilder::atBlockEnd(block);
    Location loc = call.getLoc();
    Value null = LLVM::ZeroOp::create(b, loc, call.getResult().getType());
    Value none = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, call.getResult(), null);
    int64_t fault = -1 - (getLine(loc) + (int64_t(MK_FAULT_MEMORY) << 32));
    Value code = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(fault));
    LLVM::CondBrOp::create(b, loc, none, exit, ValueRange(code), rest, ValueRange());
  }
}
