//===- OverlapDots.cpp - Dependent dots run an iteration late -------------===//
//
// For a loop
//   for j: s = wait0(mma x, y)             "early" dots
//          ...                             the rest
//          o' = scale(acc)                 "rescaling": depends on acc
//          acc = wait0(mma p(s), z, o')    the "late" dot
// it makes (FlashAttention-3, arXiv:2407.08608, section 3.2, generalised)
//   if there is an iteration:
//     first iteration without its late dot: p, o'
//     for j behind the first:
//       s = mma x, y; a = mma p, z, o'     late dot of the iteration before
//       s = wait1(s); rest; a = wait0(a); p, o' = rest, scale(a)
//     acc = wait0(mma p, z, o')
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kOverlapDots = "mk-sm-overlap-dots";

namespace {
class Overlap {
public:
  explicit Overlap(scf::ForOp loop) : loop(loop), body(loop.getBody()), loc(loop.getLoc()) {}

  /// Whether the loop has the shape; fills the members below. Says why not, where there are
  /// dots to overlap.
  bool analyse();
  void transform();

private:
  using OpSet = llvm::SmallPtrSet<Operation *, 16>;

  /// Says what keeps the loop as it is.
  static bool giveUp(Operation *op, StringRef why) {
    missed(op, kOverlapDots) << why;
    return false;
  }
  bool analyseEarly(MmaOp dot);
  bool analyseLate();
  bool analyseRescaling();
  bool dependsOn(Operation *op, const OpSet &set) const;

  /// Clones ops of the body for which `wanted` holds.
  void clone(OpBuilder &b, IRMapping &map, llvm::function_ref<bool(Operation *)> wanted);
  /// An iteration, with the late dot of the one before. `map` maps what this
  /// iteration carries, `before` what the late dot takes.
  void cloneSteady(OpBuilder &b, IRMapping &map, IRMapping &before);
  /// Starts the late dot with the operands in `map`, behind a fence of them.
  Value startLate(OpBuilder &b, IRMapping &map);
  void fenceLate(OpBuilder &b, IRMapping &map);
  /// Stands for a fence that is made elsewhere.
  static void passFence(MmaFenceOp fence, IRMapping &map);
  SmallVector<Value> completeLate(OpBuilder &b, Value inFlight);
  /// The values carried from one iteration to the next besides the accumulator.
  SmallVector<Value> carriedBy(IRMapping &map);

  scf::ForOp loop;
  Block *body;
  Location loc;
  SmallVector<MmaOp> early;
  MmaOp late;
  MmaWaitOp lateWait;
  unsigned accumulator = 0; // which iter_arg
  OpSet lateOps;            // slot, tiles, fence, dot, wait, release
  OpSet rescaling;          // what depends on the accumulator
  SmallVector<ReleaseOp> lateReleases;
  SmallVector<Value> lateOperands; // fragments that the late dot takes
};
} // namespace

bool Overlap::dependsOn(Operation *op, const OpSet &set) const {
  bool depends = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp())
        depends |= set.contains(def);
  });
  return depends;
}

bool Overlap::analyseEarly(MmaOp dot) {
  unsigned result;
  MmaWaitOp wait = getFullWait(dot.getResult(), result);
  if (!wait || wait.getFragments().size() != 1)
    return giveUp(dot, "is not waited for at once and by itself, so it has been moved already");
  if (!isa<StagedType>(dot.getLhs().getType()))
    return giveUp(dot, "has a left operand in registers, which is computed first: load it from "
                       "memory, or do this dot last");
  Value sum = skipFence(dot.getAcc());
  if (llvm::is_contained(loop.getRegionIterArgs(), sum))
    return giveUp(dot, "adds to an accumulator that the loop carries; only dots that start from "
                       "zero can begin early, and to add their results takes as many registers "
                       "again: leave it as it is (mk-sm-defer-waits keeps such dots in flight)");
  if (!isZero(sum))
    return giveUp(dot, "adds to an accumulator; only dots that start from zero can begin early: "
                       "add its result by arith.addf");
  early.push_back(dot);
  return true;
}

bool Overlap::analyseLate() {
  unsigned result;
  lateWait = getFullWait(late.getResult(), result);
  if (!lateWait || lateWait.getFragments().size() != 1)
    return giveUp(late, "is not waited for at once and by itself, so it has been moved already");
  if (!lateWait.getResult(0).hasOneUse() ||
      (*lateWait.getResult(0).use_begin()).getOwner() != body->getTerminator())
    return giveUp(late, "gives a result that its iteration uses, too; only one that is carried to "
                        "the next iteration can come late");
  OpOperand &use = *lateWait.getResult(0).use_begin();
  accumulator = use.getOperandNumber();
  lateOps.insert(late);
  lateOps.insert(lateWait);
  for (Value operand : {Value(late.getLhs()), Value(late.getAcc())})
    if (auto fence = operand.getDefiningOp<MmaFenceOp>()) {
      for (Operation *user : fence->getUsers())
        if (user != late)
          return giveUp(late, "shares the fence of its operands with other dots");
      lateOps.insert(fence);
    }
  if (isa<RankedTensorType>(late.getLhs().getType()))
    lateOperands.push_back(skipFence(late.getLhs()));
  lateOperands.push_back(skipFence(late.getAcc()));

  // Its slots must be its own, so that they too can be waited for later.
  llvm::SmallDenseSet<Value> rings;
  for (Value operand : {Value(late.getLhs()), Value(late.getRhs())}) {
    auto tile = operand.getDefiningOp<TileOp>();
    if (!tile)
      continue;
    if (tile->getBlock() != body)
      continue; // outside of the loop
    auto wait = tile.getSlot().getDefiningOp<WaitOp>();
    if (!tile->hasOneUse() || !wait || !wait->hasOneUse() || wait->getBlock() != body)
      return giveUp(late, "reads a tile that comes in one slot with those of other dots, or that "
                          "others read, and the slot cannot be kept: load its tile apart");
    lateOps.insert(tile);
    lateOps.insert(wait);
    rings.insert(wait.getRing());
  }
  for (Operation &op : *body) {
    if (auto release = dyn_cast<ReleaseOp>(op); release && rings.contains(release.getRing())) {
      lateReleases.push_back(release);
      lateOps.insert(release);
    } else if (auto wait = dyn_cast<WaitOp>(op);
               wait && rings.contains(wait.getRing()) && !lateOps.contains(wait)) {
      return giveUp(late, "takes slots of a ring that others take slots of in the same iteration");
    }
  }
  return true;
}

bool Overlap::analyseRescaling() {
  Value arg = loop.getRegionIterArgs()[accumulator];
  for (Operation &op : body->without_terminator()) {
    bool depends = llvm::is_contained(op.getOperands(), arg) || dependsOn(&op, rescaling);
    if (!depends || lateOps.contains(&op))
      continue;
    if (!isPure(&op) || op.getNumRegions())
      return giveUp(&op, "takes the accumulator of the last dot and has effects or control flow, "
                         "so it cannot be put off with that");
    rescaling.insert(&op);
  }
  // What depends on it is put off with it, so nothing else sees it but the next iteration.
  for (Value value : body->getTerminator()->getOperands())
    if (value == arg || (value.getDefiningOp() && rescaling.contains(value.getDefiningOp())))
      return giveUp(late, "has an accumulator that the loop carries on in another place, too");
  return true;
}

bool Overlap::analyse() {
  SmallVector<MmaOp> dots(body->getOps<MmaOp>());
  if (dots.size() < 2)
    return false;
  if (getConstantIntValue(loop.getStep()) != 1)
    return giveUp(loop, "has dots in a loop whose step is not 1: count iterations");
  if (int64_t most = mk::getSm(loop).getMatrixUnit().getPending(); int64_t(dots.size()) > most)
    return giveUp(loop, ("has more dots than the " + llvm::Twine(most) +
                         " that can be waited for apart: use larger tiles")
                            .str());
  late = dots.pop_back_val();
  for (MmaOp dot : dots)
    if (!analyseEarly(dot))
      return false;
  if (!analyseLate() || !analyseRescaling())
    return false;
  // Early dots stand behind nothing but scalars and channels, so that they can be started first.
  bool fragments = false;
  for (Operation &op : body->without_terminator()) {
    if (isa<MmaOp>(op) && &op != late && fragments)
      return giveUp(&op, "stands behind work on tiles in registers: move it in front of that");
    if (!isa<MmaOp, MmaFenceOp, MmaWaitOp, TileOp, arith::ConstantOp>(op))
      fragments |= llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (op.getNumRegions())
      return giveUp(&op, "is control flow between dots: compute both ways and select");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

void Overlap::clone(OpBuilder &b, IRMapping &map, llvm::function_ref<bool(Operation *)> wanted) {
  for (Operation &op : body->without_terminator())
    if (wanted(&op))
      b.clone(op, map);
}

void Overlap::fenceLate(OpBuilder &b, IRMapping &map) {
  SmallVector<Value> operands;
  for (Value operand : lateOperands)
    operands.push_back(map.lookupOrDefault(operand));
  auto fence = MmaFenceOp::create(b, loc, operands);
  for (auto [operand, fenced] : llvm::zip(lateOperands, fence.getResults()))
    map.map(operand, fenced);
}

void Overlap::passFence(MmaFenceOp fence, IRMapping &map) {
  for (auto [from, to] : llvm::zip(fence.getResults(), fence.getFragments()))
    map.map(from, map.lookupOrDefault(to));
}

Value Overlap::startLate(OpBuilder &b, IRMapping &map) {
  clone(b, map, [&](Operation *op) { return lateOps.contains(op) && isa<WaitOp, TileOp>(op); });
  // Behind the wait, or ptxas makes a fence of its own there (C7520).
  fenceLate(b, map);
  for (Operation *op : lateOps)
    if (auto fence = dyn_cast<MmaFenceOp>(op))
      passFence(fence, map);
  b.clone(*late, map);
  return map.lookup(late.getResult());
}

SmallVector<Value> Overlap::completeLate(OpBuilder &b, Value inFlight) {
  auto wait = MmaWaitOp::create(b, loc, 0, ValueRange(inFlight));
  for (ReleaseOp release : lateReleases)
    ReleaseOp::create(b, loc, release.getRing(), ValueRange());
  return wait.getResults();
}

void Overlap::cloneSteady(OpBuilder &b, IRMapping &map, IRMapping &before) {
  // Early dots of this iteration, then the late one of the iteration before.
  llvm::SmallPtrSet<Operation *, 32> done;
  for (Operation &op : body->without_terminator()) {
    if (lateOps.contains(&op) || rescaling.contains(&op))
      continue;
    if (isa<MmaWaitOp>(op))
      continue;
    if (auto fence = dyn_cast<MmaFenceOp>(op)) {
      passFence(fence, map);
      done.insert(&op);
      continue;
    }
    if (isa<ReleaseOp>(op))
      continue;
    // Their operands are in shared memory.
    if (&op == early.front())
      MmaFenceOp::create(b, loc, ValueRange());
    b.clone(op, map);
    done.insert(&op);
    if (&op == early.back())
      break;
  }
  Value inFlight = startLate(b, before);
  Value complete;
  auto finish = [&] {
    if (!complete)
      complete = completeLate(b, inFlight).front();
  };
  unsigned waited = 0;
  for (Operation &op : body->without_terminator()) {
    if (lateOps.contains(&op) || rescaling.contains(&op) || done.contains(&op))
      continue;
    if (auto wait = dyn_cast<MmaWaitOp>(op)) {
      // Dots complete in order; the late one is the youngest.
      int64_t pending = early.size() - ++waited + 1;
      auto copy =
          MmaWaitOp::create(b, loc, pending, ValueRange(map.lookup(wait.getFragments()[0])));
      map.map(wait.getResult(0), copy.getResult(0));
      continue;
    }
    b.clone(op, map);
    // The first reduction over a whole tile is done under the late dot; what
    // follows is mostly on units that do not compete with it.
    if (isa<mk::ReduceOp, PartialSumOp>(op))
      finish();
  }
  finish();
  map.map(loop.getRegionIterArgs()[accumulator], complete);
  clone(b, map, [&](Operation *op) { return rescaling.contains(op); });
}

SmallVector<Value> Overlap::carriedBy(IRMapping &map) {
  SmallVector<Value> values;
  for (auto [i, value] : llvm::enumerate(body->getTerminator()->getOperands()))
    if (i != accumulator)
      values.push_back(map.lookupOrDefault(value));
  for (Value operand : lateOperands)
    values.push_back(map.lookupOrDefault(operand));
  return values;
}

void Overlap::transform() {
  passed(late, kOverlapDots) << remark::add("runs together with {0} dots of the next iteration",
                                            early.size());
  OpBuilder b(loop);
  scf::IfOp branch = branchOnIterations(b, loop);
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [arg, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    first.map(arg, init);
  // All of it but the late dot.
  clone(b, first, [&](Operation *op) { return !lateOps.contains(op); });

  Value second = arith::AddIOp::create(b, loc, loop.getLowerBound(), loop.getStep());
  auto steady =
      scf::ForOp::create(b, loc, second, loop.getUpperBound(), loop.getStep(), carriedBy(first));
  unsigned numOthers = loop.getNumResults() - 1;
  auto mapOthers = [&](IRMapping &map, ValueRange values) {
    unsigned next = 0;
    for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs()))
      if (i != accumulator)
        map.map(arg, values[next++]);
  };
  auto mapLate = [&](IRMapping &map, ValueRange values) {
    for (auto [operand, value] : llvm::zip(lateOperands, values.drop_front(numOthers)))
      map.map(operand, value);
  };
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(steady.getBody());
    IRMapping map, before;
    map.map(loop.getInductionVar(), steady.getInductionVar());
    mapOthers(map, steady.getRegionIterArgs());
    mapLate(before, steady.getRegionIterArgs());
    cloneSteady(b, map, before);
    scf::YieldOp::create(b, loc, carriedBy(map));
  }

  IRMapping last;
  mapLate(last, steady.getResults());
  Value complete = completeLate(b, startLate(b, last)).front();
  SmallVector<Value> results;
  unsigned next = 0;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    results.push_back(i == accumulator ? complete : steady.getResult(next++));
  scf::YieldOp::create(b, loc, results);
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
}

void mk_sm::overlapDots(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module)) {
    Overlap overlap(loop);
    if (overlap.analyse())
      overlap.transform();
  }
}
