//===- Blocks.cpp - Code with branches ------------------------------------===//
#include "Blocks.h"

using namespace mlir;
using namespace mlir::mk::thread;

SmallVector<Value> mk::thread::callRoutine(Ptx &ptx, const Frame &frame, const Twine &name,
                                           const Arguments &arguments, TypeRange results,
                                           MakeRoutine make) {
  LLVM::LLVMFuncOp kernel = frame.function;
  auto module = kernel->getParentOfType<ModuleOp>();
  StringAttr symbol = StringAttr::get(kernel.getContext(), "mk_" + name);
  auto routine = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!routine) {
    Location loc = kernel.getLoc();
    // Not by the rewriter: patterns do not visit what is outside of the kernel.
    OpBuilder b(kernel);
    Type result = results.empty() ? LLVM::LLVMVoidType::get(b.getContext()) : results.front();
    auto type = LLVM::LLVMFunctionType::get(result, SmallVector<Type>(arguments.get().getTypes()));
    // Weak: LLVM concludes nothing from what it does.
    routine = LLVM::LLVMFuncOp::create(b, loc, symbol, type, LLVM::Linkage::Weak);
    b.setInsertionPointToEnd(routine.addEntryBlock(b));
    Ptx inner{b, loc};
    SmallVector<Value> values = make(inner, routine.getArguments());
    LLVM::ReturnOp::create(b, loc, results.empty() ? SmallVector<Value>() : values);
  }
  return SmallVector<Value>(
      LLVM::CallOp::create(ptx.b, ptx.loc, routine, arguments.get()).getResults());
}

Blocks::Blocks(Ptx &ptx, TypeRange results)
    : ptx(ptx), region(ptx.b.getInsertionBlock()->getParent()) {
  end = add(results);
}

Block *Blocks::add(TypeRange arguments) {
  OpBuilder::InsertionGuard guard(ptx.b);
  return ptx.b.createBlock(region, region->end(), arguments,
                           SmallVector<Location>(arguments.size(), ptx.loc));
}

void Blocks::enter(Block *block) {
  block->moveBefore(region, region->end());
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
      .setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(
          ptx.b.getContext(), {}, {}, {}, never, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

SmallVector<Value> Blocks::finish(ValueRange results) {
  if (Block *block = ptx.b.getInsertionBlock();
      block->empty() || !block->back().hasTrait<OpTrait::IsTerminator>())
    jump(end, results);
  enter(end);
  return SmallVector<Value>(end->getArguments());
}
