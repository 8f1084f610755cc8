//===- Blocks.cpp - Code with branches ------------------------------------===//
#include "Blocks.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk::thread;

Blocks::Blocks(Ptx &ptx, TypeRange results)
    : ptx(ptx), op(scf::ExecuteRegionOp::create(ptx.b, ptx.loc, results)) {
  end = add(results);
  enter(add());
}

Block *Blocks::add(TypeRange arguments) {
  OpBuilder::InsertionGuard guard(ptx.b);
  Region &region = op->getRegion(0);
  return ptx.b.createBlock(&region, region.end(), arguments,
                           SmallVector<Location>(arguments.size(), ptx.loc));
}

void Blocks::enter(Block *block) {
  block->moveBefore(&op->getRegion(0), op->getRegion(0).end());
  ptx.b.setInsertionPointToEnd(block);
}

void Blocks::jump(Block *to, ValueRange arguments) {
  LLVM::BrOp::create(ptx.b, ptx.loc, arguments, to);
}

void Blocks::jumpIf(Value condition, Block *to, ValueRange arguments) {
  Block *next = add();
  LLVM::CondBrOp::create(ptx.b, ptx.loc, condition, to, arguments, next, ValueRange());
  enter(next);
}

void Blocks::repeat(Block *header, ValueRange arguments) {
  auto never = LLVM::LoopUnrollAttr::get(ptx.b.getContext(), /*disable=*/ptx.b.getBoolAttr(true),
                                         {}, {}, {}, {}, {}, {});
  LLVM::BrOp::create(ptx.b, ptx.loc, arguments, header)
      .setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(ptx.b.getContext(), {}, {}, {}, never, {},
                                                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

SmallVector<Value> Blocks::finish(ValueRange results) {
  if (Block *block = ptx.b.getInsertionBlock();
      block->empty() || !block->back().hasTrait<OpTrait::IsTerminator>())
    jump(end, results);
  enter(end);
  scf::YieldOp::create(ptx.b, ptx.loc, end->getArguments());
  ptx.b.setInsertionPointAfter(op);
  return SmallVector<Value>(op->getResults());
}
