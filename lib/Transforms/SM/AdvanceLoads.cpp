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
    if (isPure(&op) && !op.getNumRegions() &&
        llvm::any_of(op.getOperands(), [&](Value operand) {
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

/// The loop with `first` carried besides; its body is that of `loop`, which is gone.
static scf::ForOp carry(scf::ForOp loop, ValueRange first) {
  OpBuilder b(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  llvm::append_range(inits, first);
  auto fresh = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                  loop.getStep(), inits);
  Block *body = fresh.getBody(), *old = loop.getBody();
  if (!body->empty())
    body->clear();
  body->getOperations().splice(body->begin(), old->getOperations());
  for (auto [from, to] : llvm::zip(old->getArguments(), body->getArguments()))
    from.replaceAllUsesWith(to);
  for (auto [from, to] : llvm::zip(loop.getResults(), fresh.getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
  return fresh;
}

static void advance(scf::ForOp loop, ArrayRef<Operation *> loads) {
  passed(loop, kAdvanceLoads) << remark::add("loads {0} values an iteration ahead", loads.size());
  OpBuilder before(loop);
  Value runs = hasIterations(before, loop);
  loop = carry(loop, loadEarlyIf(before, runs, loop, loads, loop.getLowerBound()));
  Block *body = loop.getBody();
  Location loc = loop.getLoc();
  ValueRange carried = loop.getRegionIterArgs().take_back(loads.size());
  // Behind the start of the dots, which hide them.
  Operation *end = findBehindDots(body);
  OpBuilder b(end);
  Value next = arith::AddIOp::create(b, loc, loop.getInductionVar(), loop.getStep());
  Value exists =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
  SmallVector<Value> yielded(body->getTerminator()->getOperands());
  llvm::append_range(
      yielded, loadEarly(b, loop, loads,
                         arith::SelectOp::create(b, loc, exists, next, loop.getInductionVar())));
  for (auto [load, value] : llvm::zip(loads, carried))
    load->getResult(0).replaceAllUsesWith(value);
  body->getTerminator()->setOperands(yielded);
  for (Operation *load : loads)
    load->erase();
  sink(body, end, carried);
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
      missed(large, kAdvanceLoads) << "is waited for where it is used: with other loads it takes "
                                      "too many registers to be carried; load it in front of the "
                                      "loop, or let fewer rows be a tile";
    if (!loads.empty())
      advance(loop, loads);
  }
}
