//===- AdvanceLoads.cpp - An iteration loads for the next one -------------===//
//
// Turns
//   for j: s = load a[j]; t = f(s); p = mma x, y; p = mma_wait p; use p, t
// into
//   s = load a[first], if there is an iteration
//   for j: p = mma x, y; s' = load a[j + 1]; t = f(s); p = mma_wait p; use p, t; s = s'
// The last iteration loads its own again, which exists.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kAdvanceLoads = "mk-sm-advance-loads";

/// The op in front of which dots have been started and nobody has waited for them.
static Operation *findBehindDots(Block *body) {
  bool started = false;
  for (Operation &op : *body) {
    started |= isa<MmaOp>(op);
    if (started && isa<MmaWaitOp>(op))
      return &op;
  }
  return body->getTerminator();
}

/// Moves pure ops in front of `end` that take `values`, and nothing in front of it needs, there.
static void sink(Block *body, Operation *end, ValueRange values) {
  llvm::SmallPtrSet<Operation *, 16> moved;
  SmallVector<Operation *> taking;
  for (Operation &op : llvm::make_range(body->begin(), end->getIterator()))
    if (isPure(&op) && !op.getNumRegions() && llvm::any_of(op.getOperands(), [&](Value operand) {
          return llvm::is_contained(values, operand) ||
                 llvm::is_contained(taking, operand.getDefiningOp());
        }))
      taking.push_back(&op);
  Operation *before = end;
  for (Operation *op : llvm::reverse(taking)) {
    bool needed = llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *here = body->findAncestorOpInBlock(*user);
      return here && here->isBeforeInBlock(end) && !moved.contains(here);
    });
    if (needed)
      continue;
    op->moveBefore(before);
    moved.insert(op);
    before = op;
  }
}

static void advance(scf::ForOp loop, ArrayRef<Operation *> loads) {
  passed(loop, kAdvanceLoads) << remark::add("loads {0} values an iteration ahead", loads.size());
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Value runs = hasIterations(rewriter, loop);
  SmallVector<Value> first = loadEarlyIf(rewriter, runs, loop, loads, loop.getLowerBound());
  // Behind the start of the dots, which hide them.
  Operation *end = findBehindDots(loop.getBody());
  auto loadNext = [&](OpBuilder &, Location loc, ArrayRef<BlockArgument>) {
    mk::IndexMath m{OpBuilder(end), loc};
    Value next = m.add(loop.getInductionVar(), loop.getStep());
    Value exists = m.less(next, loop.getUpperBound());
    return loadEarly(m.b, loop, loads, m.select(exists, next, loop.getInductionVar()));
  };
  auto fresh = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, loadNext));
  ValueRange carried = fresh.getRegionIterArgs().take_back(loads.size());
  for (auto [load, value] : llvm::zip(loads, carried)) {
    load->getResult(0).replaceAllUsesWith(value);
    load->erase();
  }
  sink(fresh.getBody(), end, carried);
}

void mk_sm::advanceLoads(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module)) {
    Operation *large = nullptr;
    SmallVector<Operation *> loads = getEarlyLoads(loop, &large);
    // What stands behind the start of a dot is hidden by that.
    auto isHidden = [&](Operation *load) {
      return llvm::any_of(loop.getBody()->getOps<MmaOp>(),
                          [&](MmaOp dot) { return dot->isBeforeInBlock(load); });
    };
    llvm::erase_if(loads, isHidden);
    if (large && !isHidden(large))
      missed(large, kAdvanceLoads)
          << "is waited for where it is used: with other loads it takes too many registers to be "
             "carried; load it in front of the loop, or let fewer rows be a tile";
    if (!loads.empty())
      advance(loop, loads);
  }
}
