//===- Loops.h - What the SM level's passes ask of loops --------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_LOOPS_H
#define MKERNEL_LIB_TRANSFORMS_SM_LOOPS_H

#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::mk_sm {

/// The loops of consumer partitions that hold matrix ops directly and no other loop.
SmallVector<scf::ForOp> getDotLoops(ModuleOp module);

/// The innermost loops of consumers without products that only load and store: nothing in them is
/// waited for.
SmallVector<scf::ForOp> getPlainLoops(ModuleOp module);
/// Whether such a loop stores.
bool stores(scf::ForOp loop);

/// Whether a loop of dots has two or more, and work on fragments besides that of the tensor cores.
bool computesBetweenDots(scf::ForOp loop);

/// Whether `value` is a constant fragment of zeros.
bool isZero(Value value);

/// What a value was before it passed through mma_fence.
Value skipFence(Value value);
/// The op that waits for `value`, the result of a matrix op, if that is its only
/// use and the wait covers everything; null otherwise.
MmaWaitOp getFullWait(Value value, unsigned &result);

/// Whether an op of a loop of dots may come behind slots of later iterations. Not all do that have
/// no visible effect: waits for signals, turns and mailboxes may not.
bool onlyReads(Operation *op);
/// Whether the loop has the few iterations that another loop, in front of it or behind, leaves.
bool isRemainder(scf::ForOp loop);

/// Whether rings of the scope have room for slots that hide copies, and one more: the loop keeps
/// one while it waits for the next.
bool hasRoomToKeep(scf::ForOp loop);

/// i1: whether the loop has an iteration.
Value hasIterations(OpBuilder &b, scf::ForOp loop);
/// Where the loop has an iteration, what `b` then puts in its place; else what it starts from.
scf::IfOp branchOnIterations(OpBuilder &b, scf::ForOp loop);

/// Registers of 32 bits in which a thread holds a scalar or its part of a fragment.
int64_t countRegisters(Type type);
/// Registers of tiles that are there in front of the loop and used in it or behind it.
int64_t countOver(scf::ForOp loop);
/// Registers that a loop without products has for itself, what it carries included.
int64_t countFree(scf::ForOp loop);
/// A loop, and the values that say in its body which iteration it is.
struct Counted {
  Operation *loop;
  SmallVector<Value, 2> counters;

  Counted(scf::ForOp loop) : loop(loop), counters{loop.getInductionVar()} {}
  Counted(ItemsOp loop) : loop(loop), counters{loop.getItem(), loop.getRound()} {}
  Block *getBody() const { return &loop->getRegion(0).front(); }
};

/// Loads of the loop's body that an iteration can do for one behind it: of numbers and of
/// fragments of `most` registers together, out of what no kernel writes, or of anything where
/// nothing is meanwhile, from places that follow from the iteration alone. `giveUp` gets each other
/// one, and why it is none of them; `isWanted` says which are looked at, else all are.
SmallVector<Operation *> getEarlyLoads(Counted loop, int64_t most, bool nothingIsWritten,
                                       function_ref<void(Operation *, StringRef)> giveUp,
                                       function_ref<bool(Operation *)> isWanted = nullptr);
/// What loads that getEarlyLoads gave give in an iteration of the loop, of which `counters` are
/// given; with them is cloned what their places are computed from.
SmallVector<Value> loadEarly(OpBuilder &b, const Counted &loop, ArrayRef<Operation *> loads,
                             ValueRange counters);

/// The same for several iterations, in sequence; zeros and no load where `condition` is
/// false.
SmallVector<Value> loadEarlyIf(OpBuilder &b, Value condition, const Counted &loop,
                               ArrayRef<Operation *> loads, ArrayRef<Value> iterations);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_LOOPS_H
