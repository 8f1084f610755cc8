//===- Control.cpp - Branches and loops -----------------------------------===//
#include "mkernel/Dialect/Thread/Control.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::mk_thread;

void mk_thread::ifThenElse(Emitter &e, Value condition, function_ref<void()> then,
                           function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(e, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise)
    return;
  e.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

SmallVector<Value> mk_thread::choose(Emitter &e, Value condition,
                                     function_ref<SmallVector<Value>()> then,
                                     function_ref<SmallVector<Value>()> otherwise) {
  auto op = scf::IfOp::create(
      e, condition, [&](OpBuilder &, Location) { scf::YieldOp::create(e, then()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(e, otherwise()); });
  return SmallVector<Value>(op.getResults());
}

void mk_thread::within(Emitter &e, Region &region, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToEnd(region.empty() ? &region.emplaceBlock() : &region.front());
  body();
}

void mk_thread::forRange(Emitter &e, Value from, Value to, Value step,
                         function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(e, from, to, step);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void mk_thread::whileTrue(Emitter &e, function_ref<Value()> condition, function_ref<void()> body) {
  auto loop = scf::WhileOp::create(e, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(e);
  e.createBlock(&loop.getBefore());
  scf::ConditionOp::create(e, condition(), ValueRange());
  e.createBlock(&loop.getAfter());
  body();
  scf::YieldOp::create(e);
}

void mk_thread::keepRolled(Emitter &e) {
  auto never =
      LLVM::LoopUnrollAttr::get(e.getContext(), e.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  auto loop = LLVM::LoopAnnotationAttr::get(e.getContext(), {}, {}, {}, never, {}, {}, {}, {}, {},
                                            {}, {}, {}, {}, {}, {});
  e.getInsertionBlock()->getParentOp()->setAttr("llvm.loop_annotation", loop);
}
