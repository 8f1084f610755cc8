//===- Rebuilder.cpp - A slice of a role as code of its own ---------------===//
#include "Rebuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk_sm;

LogicalResult Rebuilder::rebuild(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    enter(&op);
    if (slice.contains(&op)) {
      LogicalResult done = llvm::TypeSwitch<Operation *, LogicalResult>(&op)
                               .Case<ItemsOp, scf::ForOp, scf::WhileOp, scf::IfOp>(
                                   [&](auto control) { return rebuild(control); })
                               .Default([&](Operation *leaf) { return rebuildLeaf(leaf); });
      if (failed(done))
        return failure();
    }
    leave(&op);
  }
  return success();
}

/// Teams are the partition's from here on.
LogicalResult Rebuilder::rebuild(ItemsOp loop) {
  auto fresh =
      ItemsOp::create(b, loop.getLoc(), get(loop.getTotal()), /*teams=*/1, loop.getEvery());
  mapping.map(loop.getItem(), fresh.getItem());
  mapping.map(loop.getRound(), fresh.getRound());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&fresh.getBody().front());
  return rebuild(loop.getBody().front());
}

LogicalResult Rebuilder::rebuild(scf::ForOp loop) {
  SmallVector<unsigned> kept;
  SmallVector<Value> inits;
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!slice.contains(arg))
      continue;
    kept.push_back(i);
    inits.push_back(get(loop.getInits()[i], arg));
  }
  auto fresh = scf::ForOp::create(b, loop.getLoc(), get(loop.getLowerBound()),
                                  get(loop.getUpperBound()), get(loop.getStep()), inits);
  mapping.map(loop.getInductionVar(), fresh.getInductionVar());
  for (auto [j, i] : llvm::enumerate(kept)) {
    mapping.map(loop.getRegionIterArgs()[i], fresh.getRegionIterArgs()[j]);
    mapping.map(loop.getResult(i), fresh.getResult(j));
  }
  OpBuilder::InsertionGuard guard(b);
  if (kept.empty())
    b.setInsertionPoint(fresh.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(fresh.getBody());
  if (failed(rebuild(*loop.getBody())))
    return failure();
  if (kept.empty())
    return success();
  SmallVector<Value> yielded;
  for (unsigned i : kept)
    yielded.push_back(get(loop.getYieldedValues()[i], loop.getRegionIterArgs()[i]));
  scf::YieldOp::create(b, loop.getLoc(), yielded);
  return success();
}

LogicalResult Rebuilder::rebuild(scf::WhileOp loop) {
  SmallVector<unsigned> keptBefore, keptAfter;
  SmallVector<Value> inits;
  SmallVector<Type> types;
  SmallVector<Location> initLocs, locs;
  for (auto [i, arg] : llvm::enumerate(loop.getBeforeArguments()))
    if (slice.contains(arg)) {
      keptBefore.push_back(i);
      inits.push_back(get(loop.getInits()[i], arg));
      initLocs.push_back(arg.getLoc());
    }
  for (auto [i, arg] : llvm::enumerate(loop.getAfterArguments()))
    if (slice.contains(arg) || slice.contains(loop.getResult(i))) {
      keptAfter.push_back(i);
      types.push_back(getType(arg));
      locs.push_back(arg.getLoc());
    }
  auto fresh = scf::WhileOp::create(b, loop.getLoc(), types, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&fresh.getBefore(), {}, ValueRange(inits).getTypes(), initLocs);
  for (auto [j, i] : llvm::enumerate(keptBefore))
    mapping.map(loop.getBeforeArguments()[i], before->getArgument(j));
  if (failed(rebuild(*loop.getBeforeBody())))
    return failure();
  SmallVector<Value> passed, yielded;
  for (unsigned i : keptAfter)
    passed.push_back(get(loop.getConditionOp().getArgs()[i], loop.getAfterArguments()[i]));
  scf::ConditionOp::create(b, loop.getLoc(), get(loop.getConditionOp().getCondition()), passed);

  Block *after = b.createBlock(&fresh.getAfter(), {}, types, locs);
  for (auto [j, i] : llvm::enumerate(keptAfter)) {
    mapping.map(loop.getAfterArguments()[i], after->getArgument(j));
    mapping.map(loop.getResult(i), fresh.getResult(j));
  }
  if (failed(rebuild(*loop.getAfterBody())))
    return failure();
  for (unsigned i : keptBefore)
    yielded.push_back(get(loop.getYieldOp().getResults()[i], loop.getBeforeArguments()[i]));
  scf::YieldOp::create(b, loop.getLoc(), yielded);
  return success();
}

LogicalResult Rebuilder::rebuild(scf::IfOp branch) {
  SmallVector<unsigned> kept;
  SmallVector<Type> types;
  for (OpResult result : branch->getResults())
    if (slice.contains(result)) {
      kept.push_back(result.getResultNumber());
      types.push_back(getType(result));
    }
  bool hasElse = branch.elseBlock();
  auto fresh = scf::IfOp::create(b, branch.getLoc(), types, get(branch.getCondition()),
                                 /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  for (auto [j, i] : llvm::enumerate(kept))
    mapping.map(branch.getResult(i), fresh.getResult(j));
  auto fill = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(to);
    if (failed(rebuild(*from)))
      return failure();
    SmallVector<Value> yielded;
    for (unsigned i : kept)
      yielded.push_back(get(from->getTerminator()->getOperand(i), branch.getResult(i)));
    scf::YieldOp::create(b, branch.getLoc(), yielded);
    return success();
  };
  if (failed(fill(branch.thenBlock(), fresh.thenBlock())))
    return failure();
  return hasElse ? fill(branch.elseBlock(), fresh.elseBlock()) : success();
}
