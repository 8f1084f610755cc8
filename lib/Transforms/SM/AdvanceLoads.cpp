//===- AdvanceLoads.cpp - An iteration loads for the next one -------------===//
//
// Turns
//   for j: s = load a[j]; t = f(s); p = mma x, y; p = mma_wait p; use p, t
// into
//   s = load a[first], if there is an iteration
//   for j: p = mma x, y; s' = load a[j + 1]; t = f(s); p = mma_wait p; use p, t; s = s'
// The last iteration loads its own again, which exists. Where only scalars are loaded, they are for
// the iteration after the next. What is read of a slot is read behind the start of its dot, too.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "Pressure.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
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
  SmallVector<Operation *> users;
  for (Operation &op : llvm::make_range(body->begin(), end->getIterator()))
    if (isPure(&op) && !op.getNumRegions() && llvm::any_of(op.getOperands(), [&](Value operand) {
          return llvm::is_contained(values, operand) ||
                 llvm::is_contained(users, operand.getDefiningOp());
        }))
      users.push_back(&op);
  Operation *before = end;
  for (Operation *op : llvm::reverse(users)) {
    bool needed = llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *ancestor = body->findAncestorOpInBlock(*user);
      return ancestor && ancestor->isBeforeInBlock(end) && !moved.contains(ancestor);
    });
    if (needed)
      continue;
    op->moveBefore(before);
    moved.insert(op);
    before = op;
  }
}

/// How many iterations ahead in a loop of dots: a scalar takes one register more for each, and a
/// cache line that is not there yet takes longer than the products of one iteration.
static int64_t getDistance(scf::ForOp loop, ArrayRef<Operation *> loads) {
  return llvm::all_of(loads, llvm::IsaPred<memref::LoadOp>) && !isRemainder(loop) ? 2 : 1;
}

/// Registers for what is under way in a loop without products: those that it leaves, up to four
/// times as many as beside products. It needs what it carries, what an iteration loads, and the
/// largest tile that is computed from that, besides what others need; one that stores, all that is
/// there at once.
static int64_t countLeft(scf::ForOp loop) {
  mk::RegisterReserveAttr reserve = mk::getSm(loop).getRegisters().getReserve();
  int64_t left = countFree(loop);
  if (stores(loop))
    return std::min<int64_t>(left - countPressure(*loop.getBody()), 4 * reserve.getEarly());
  int64_t largest = 0;
  auto count = [](Value value) {
    return isa<RankedTensorType>(value.getType()) ? countRegisters(value.getType()) : 0;
  };
  for (Value carried : loop.getRegionIterArgs())
    left -= count(carried);
  for (Operation &op : *loop.getBody())
    for (Value result : op.getResults())
      if (isa<mk::LoadOp>(op))
        left -= count(result);
      else
        largest = std::max(largest, count(result));
  return std::min<int64_t>(left - largest, 4 * reserve.getEarly());
}

/// How many iterations ahead in a loop without products, of which so many registers are left: more
/// in a role that has none either, where nothing else keeps memory busy.
static int64_t getDistanceAlone(scf::ForOp loop, int64_t left, ArrayRef<Operation *> loads) {
  int64_t most = mk::holds<MmaOp>(loop->getParentOfType<PartitionOp>()) ? 4 : 8;
  int64_t registers = 0;
  for (Operation *load : loads)
    registers += countRegisters(load->getResult(0).getType());
  return std::clamp<int64_t>(left / registers, 1, most);
}

/// Reads what a slot has beside the operands of a dot once the dot is under way: until then
/// everybody waits for that, unless another one is under way.
static void deferReads(scf::ForOp loop) {
  if (isRemainder(loop))
    return;
  auto dots = loop.getOps<MmaOp>();
  for (ReadOp read : llvm::to_vector(loop.getOps<ReadOp>())) {
    if (!llvm::hasSingleElement(dots)) {
      if (read->isBeforeInBlock(*dots.begin()))
        missed(read, kAdvanceLoads) << "holds up several dots, which are behind it: only one dot "
                                       "goes in front of what is read; use a loop for each";
      continue;
    }
    Operation *dot = read->getNextNode();
    auto takes = [&] { return llvm::is_contained(read->getUsers(), dot); };
    while (dot && !isa<MmaOp, ReleaseOp>(dot) && !takes())
      dot = dot->getNextNode();
    if (isa_and_nonnull<MmaOp>(dot) && !takes())
      read->moveAfter(dot);
  }
}

static scf::ForOp advance(scf::ForOp loop, ArrayRef<Operation *> loads, int64_t distance,
                          bool isBesideDots) {
  bool counts = getConstantIntValue(loop.getStep()) == 1;
  if (!counts)
    distance = 1;
  passed(loop, kAdvanceLoads) << remark::add("loads {0} values ahead; iterations: {1}",
                                             loads.size(), distance);
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Value runs = hasIterations(rewriter, loop);
  SmallVector<Value> first = loadEarlyIf(rewriter, runs, loop, loads, loop.getLowerBound());
  for (int64_t i = 1; i < distance; ++i) {
    mk::IndexMath m{rewriter, loop.getLoc()};
    Value later =
        m.min(m.add(loop.getLowerBound(), m.index(i)), m.sub(loop.getUpperBound(), m.index(1)));
    llvm::append_range(first, loadEarlyIf(rewriter, runs, loop, loads, later));
  }
  // Behind the start of the dots, which hide them.
  Operation *end = findBehindDots(loop.getBody());
  auto loadNext = [&](OpBuilder &, Location loc, ArrayRef<BlockArgument> carried) {
    mk::IndexMath m{OpBuilder(end), loc};
    Value next = m.add(loop.getInductionVar(), counts ? m.index(distance) : loop.getStep());
    // Analyses of ranges see that the smaller one of two is below the end.
    Value existing =
        counts ? m.min(next, m.sub(loop.getUpperBound(), m.index(1)))
               : m.select(m.less(next, loop.getUpperBound()), next, loop.getInductionVar());
    SmallVector<Value> yields(carried.drop_front(loads.size()));
    llvm::append_range(yields, loadEarly(m.b, loop, loads, existing));
    return yields;
  };
  auto fresh = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, loadNext));
  ValueRange carried = fresh.getRegionIterArgs().take_back(first.size()).take_front(loads.size());
  for (auto [load, value] : llvm::zip(loads, carried)) {
    load->getResult(0).replaceAllUsesWith(value);
    load->erase();
  }
  if (isBesideDots)
    sink(fresh.getBody(), end, carried);
  return fresh;
}

void mk_sm::advanceLoads(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module)) {
    // What stands behind the start of a dot is hidden by that.
    auto isHidden = [&](Operation *load) {
      return llvm::any_of(loop.getBody()->getOps<MmaOp>(),
                          [&](MmaOp dot) { return dot->isBeforeInBlock(load); });
    };
    auto miss = [&](Operation *load, StringRef why) {
      if (!isHidden(load))
        missed(load, kAdvanceLoads) << "is waited for where it is used: " << why.str();
    };
    int64_t most = mk::getSm(loop).getRegisters().getReserve().getEarly();
    SmallVector<Operation *> loads = getEarlyLoads(loop, most, /*nothingIsWritten=*/false, miss);
    llvm::erase_if(loads, isHidden);
    if (!loads.empty())
      loop = advance(loop, loads, getDistance(loop, loads), /*isBesideDots=*/true);
    deferReads(loop);
  }
  for (scf::ForOp loop : getPlainLoops(module)) {
    auto miss = [&](Operation *load, StringRef why) {
      missed(load, kAdvanceLoads) << "is waited for where it is used: " << why.str();
    };
    int64_t left = countLeft(loop);
    SmallVector<Operation *> loads =
        getEarlyLoads(loop, left, /*nothingIsWritten=*/!stores(loop), miss);
    if (loads.empty())
      continue;
    // A turn of the loop takes each of these values once, so that none moves from a register to
    // another one, for which it would have to be there. Tiles that are not loaded ahead would be
    // loaded several at a time.
    int64_t distance = getDistanceAlone(loop, left, loads);
    bool hasOthers = llvm::any_of(loop.getOps<mk::LoadOp>(), [&](mk::LoadOp load) {
      return !llvm::is_contained(loads, load.getOperation());
    });
    scf::ForOp fresh = advance(loop, loads, distance, /*isBesideDots=*/false);
    if (!hasOthers)
      (void)loopUnrollByFactor(fresh, distance);
  }
}
