//===- PairDots.cpp - A dot runs while the result of another is used ------===//
//
// Turns
//   for j: slot = wait; p = mma_wait 0 (mma x, y, 0); release; acc = f(p, acc)
// into the same for what is left of a multiple of some iterations, here 4, and
//   for 4 iterations at a time (a turn):
//     p = mma x, y, 0; q = mma x, y, 0
//     p = mma_wait 1 p; release; acc = f(p, acc); p = mma x, y, 0
//     q = mma_wait 1 q; release; acc = f(q, acc); q = mma x, y, 0
//     p = mma_wait 1 p; release; acc = f(p, acc)
//     q = mma_wait 0 q; release; acc = f(q, acc)
// None is under way from one turn to the next: ptxas would wait for each (C7514). Where it is known
// how many iterations there are, turns are longer, and the last one is as long as what is left
// (a single iteration is done before).
// What f loads from places known before goes with the mma, and so does what it reads from the slot.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kPairDots = "mk-sm-pair-dots";

namespace {
/// A dot that was started for an iteration, and what had been carried on before.
struct InFlightDot {
  Value product;
  SmallVector<Value> carried;
  SmallVector<Value> read; // of its slot
};

class Pairing : mk::IndexMath {
public:
  explicit Pairing(scf::ForOp loop)
      : mk::IndexMath{OpBuilder(loop), loop.getLoc()}, loop(loop), body(loop.getBody()) {}

  /// Whether the loop has the form; fills the members below. Says why not, where results are
  /// worked on.
  bool analyse();
  void transform();

private:
  static bool giveUp(Operation *op, StringRef why) {
    missed(op, kPairDots) << why;
    return false;
  }
  bool analyseOps();
  bool fitsRegisters();
  int64_t chooseTurns();

  /// Starts the dot of iteration `number`, behind what `carried` is computed from.
  InFlightDot start(Value number, ArrayRef<Value> carried = {});
  /// Does the rest of the iteration with what was started and `loaded`; gives what it carries on.
  SmallVector<Value> finish(Value number, ArrayRef<Value> carried, const InFlightDot &started,
                            ValueRange loaded, int64_t pending);
  /// `length` iterations from `number` on, at least 2, for which `loaded` has been loaded; gives
  /// what the last one carries on, and what has been loaded for the next turn, if there `isNext`.
  SmallVector<Value> emitTurn(int64_t length, Value number, SmallVector<Value> carried,
                              ValueRange loaded, bool isNext);

  /// `number` + `more`.
  Value after(Value number, int64_t more) { return more ? add(number, index(more)) : number; }

  scf::ForOp loop;
  Block *body;
  std::optional<int64_t> count; // of iterations, where it is known
  int64_t turns = 0;            // iterations that go together, at least 2
  Value upper;                  // of all iterations
  MmaOp dot;
  MmaWaitOp wait;
  llvm::SetVector<Operation *> starting; // slots, tiles, fence, dot, reads
  SmallVector<ReadOp> reads;
  SmallVector<Operation *> loads;        // that go with the dot
};
} // namespace

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

bool Pairing::analyseOps() {
  llvm::SmallDenseSet<Value> rings;
  for (Value operand : {Value(dot.getLhs()), Value(dot.getRhs())}) {
    auto tile = operand.getDefiningOp<TileOp>();
    if (!tile)
      return giveUp(
          dot, "has a left operand in registers, which is computed first: load it from memory");
    auto slot = tile.getSlot().getDefiningOp<mk_sm::WaitOp>();
    if (tile->getBlock() != body)
      continue; // the same in all iterations
    if (!slot || slot->getBlock() != body)
      return giveUp(dot, "reads a tile of a slot that is waited for outside of the loop: load it "
                         "in the loop, or keep its slot outside");
    starting.insert(slot);
    starting.insert(tile);
    rings.insert(slot.getRing());
  }
  reads = llvm::to_vector(body->getOps<ReadOp>());
  for (ReadOp read : reads) {
    for (Value value : read.getTiles())
      if (Operation *tile = value.getDefiningOp(); tile && tile->getBlock() == body)
        starting.insert(tile);
    starting.insert(read);
  }
  if (auto fence = dot->getPrevNode(); fence && isa<MmaFenceOp>(fence))
    starting.insert(fence);
  starting.insert(dot);
  for (Operation &op : body->without_terminator()) {
    if (op.getNumRegions())
      return giveUp(&op, "is control flow in a loop of dots: compute both ways and select");
    if (!onlyReads(&op))
      return giveUp(
          &op, "acts on what others see between dots, which are waited for: do it behind the loop");
    auto slot = dyn_cast<mk_sm::WaitOp>(op);
    auto release = dyn_cast<ReleaseOp>(op);
    if ((slot && !starting.contains(slot)) || (release && !rings.contains(release.getRing())))
      return giveUp(&op, "is about slots of another ring than the dot's");
  }
  return true;
}

bool Pairing::fitsRegisters() {
  mk::SmAttr sm = mk::getSm(loop);
  int64_t has = loop->getParentOfType<PartitionOp>().getRegisters() -
                sm.getRegisters().getReserve().getScalars();
  int64_t needed = 2 * countRegisters(dot.getResult().getType());
  // Scalars have registers of their own.
  for (Operation *load : loads)
    if (isa<mk::LoadOp>(load))
      needed += turns * countRegisters(load->getResult(0).getType());
  for (ReadOp read : reads)
    needed += 2 * countRegisters(read.getFragment().getType());
  for (Value arg : loop.getRegionIterArgs())
    needed += countRegisters(arg.getType());
  llvm::SmallDenseSet<Value> outside;
  for (Operation &op : *body)
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType>(operand.getType()) &&
          !loop->isAncestor(operand.getParentBlock()->getParentOp()) &&
          !isa_and_nonnull<arith::ConstantOp, tensor::SplatOp, mk::BroadcastOp>(
              operand.getDefiningOp()) &&
          outside.insert(operand).second)
        needed += countRegisters(operand.getType());
  if (needed <= has)
    return true;
  missed(dot, kPairDots) << remark::add(
      "is waited for before its result is used: to have another one under way takes {0} registers "
      "of {1}; use smaller tiles, or more warpgroups",
      needed, has);
  return false;
}

/// How many iterations go together. At the end of each turn this warpgroup has no dot under way.
int64_t Pairing::chooseTurns() {
  mk::ThresholdsAttr thresholds = mk::getSm(loop).getThresholds();
  int64_t paired = thresholds.getPairedTurns(), known = thresholds.getKnownTurns(),
          most = thresholds.getFewTurns(), read = 0;
  for (ReadOp op : reads)
    read += countRegisters(op.getFragment().getType());
  // What is loaded for the next turn is in registers; tiles take many. So is what is read, which
  // leaves none for more if it takes more than the scalars of a turn of `paired`.
  if (!loads.empty())
    most = (read > paired ? known : most) / static_cast<int64_t>(loads.size());
  if (!count || most < known || llvm::any_of(loads, llvm::IsaPred<mk::LoadOp>))
    return paired;
  for (int64_t number : {1, 2})
    if (*count % number == 0 && *count / number <= most)
      return std::max<int64_t>(*count / number, 2);
  // The shorter turn behind the others is code of its own, which takes as long to compile.
  for (int64_t turns = known; turns > paired; --turns)
    if (turns + *count % turns <= thresholds.getFewTurns())
      return turns;
  return known;
}

/// Whether a dot starts from zero and is waited for, and ops of the same iteration take its result.
static bool isWorkedOn(MmaOp dot) {
  unsigned result;
  MmaWaitOp wait = getFullWait(dot.getResult(), result);
  return wait && wait.getFragments().size() == 1 && isZero(skipFence(dot.getAcc())) &&
         !dot.getAccumulate() && llvm::any_of(wait.getResult(0).getUsers(), [&](Operation *user) {
           return user != dot->getBlock()->getTerminator();
         });
}

bool Pairing::analyse() {
  SmallVector<MmaOp> dots(body->getOps<MmaOp>());
  auto found = llvm::find_if(dots, isWorkedOn);
  if (found == dots.end())
    return false;
  if (getConstantIntValue(loop.getStep()) != 1)
    return giveUp(*found, "is waited for before its result is used: its loop does not count by "
                          "one; count by one, and multiply");
  if (dots.size() > 1)
    return giveUp(*found, "is waited for before its result is used: its loop has several dots, "
                          "of which none runs beside another one; use a loop for each");
  dot = *found;
  unsigned result;
  wait = getFullWait(dot.getResult(), result);
  if (!analyseOps())
    return false;
  SmallVector<std::pair<Operation *, std::string>> late;
  loads = getEarlyLoads(loop, mk::getSm(loop).getRegisters().getReserve().getEarly(),
                        /*nothingIsWritten=*/false,
                        [&](Operation *load, StringRef why) { late.emplace_back(load, why); });
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    count = trips->getSExtValue();
  turns = chooseTurns();
  if (!fitsRegisters())
    return false;
  for (auto &[load, why] : late)
    missed(load, kPairDots) << "does not go with the dot, and is waited for: " << why;
  return true;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

InFlightDot Pairing::start(Value number, ArrayRef<Value> carried) {
  IRMapping map;
  map.map(loop.getInductionVar(), number);
  for (Operation *op : starting)
    if (op != dot && !isa<MmaFenceOp>(op))
      b.clone(*op, map);
  // Behind the wait, or ptxas makes a fence of its own there (C7519). The registers of the product
  // before the last are free when all that is carried has been computed.
  SmallVector<Value> touched;
  for (Value value : carried)
    if (auto tile = dyn_cast<RankedTensorType>(value.getType());
        tile && isa_and_nonnull<MmaAttr>(tile.getEncoding()))
      touched.push_back(value);
  auto fence = MmaFenceOp::create(b, loc, touched);
  for (auto [value, fenced] : llvm::zip(touched, fence.getResults()))
    map.map(value, fenced);
  InFlightDot started{cast<MmaOp>(b.clone(*dot, map)).getResult(), {}, {}};
  for (ReadOp read : reads)
    started.read.push_back(map.lookup(read.getFragment()));
  for (Value value : carried)
    started.carried.push_back(map.lookupOrDefault(value));
  return started;
}

SmallVector<Value> Pairing::finish(Value number, ArrayRef<Value> carried,
                                   const InFlightDot &started, ValueRange loaded, int64_t pending) {
  IRMapping map;
  map.map(loop.getInductionVar(), number);
  map.map(loop.getRegionIterArgs(), carried);
  auto done = MmaWaitOp::create(b, loc, pending, started.product);
  map.map(wait.getResult(0), done.getResult(0));
  for (auto [load, value] : llvm::zip(loads, loaded))
    map.map(load->getResult(0), value);
  for (auto [read, value] : llvm::zip(reads, started.read))
    map.map(read.getFragment(), value);
  // Slots first: the producer waits for them.
  for (auto release : body->getOps<ReleaseOp>())
    b.clone(*release, map);
  for (Operation &op : body->without_terminator())
    if (!starting.contains(&op) && !llvm::is_contained(loads, &op) && &op != wait &&
        !isa<ReleaseOp>(op))
      b.clone(op, map);
  SmallVector<Value> next;
  for (Value value : body->getTerminator()->getOperands())
    next.push_back(map.lookupOrDefault(value));
  return next;
}

SmallVector<Value> Pairing::emitTurn(int64_t length, Value number, SmallVector<Value> carried,
                                     ValueRange loaded, bool isNext) {
  SmallVector<Value> numbers, next;
  for (int64_t i = 0; i != length; ++i)
    numbers.push_back(after(number, i));
  // The last turn loads the last iterations' once more, which exist.
  Value following;
  if (isNext && !loads.empty()) {
    Value turn = index(turns), last = sub(upper, turn);
    following = min(after(number, turns), last);
  }
  InFlightDot started[] = {start(numbers[0]), start(numbers[1])};
  for (int64_t i = 0; i != length; ++i) {
    carried = finish(numbers[i], carried, started[i % 2],
                     loaded.slice(i * loads.size(), loads.size()), i + 1 == length ? 0 : 1);
    // All in front of the last start: where loads stand between the last two waits, ptxas moves
    // what is done with the first result behind the second wait, when no dot is under way any more.
    int64_t loading = std::max<int64_t>(length - 2, 1);
    if (i < loading && following)
      for (int64_t of = i * turns / loading, end = (i + 1) * turns / loading; of != end; ++of)
        llvm::append_range(next, loadEarly(b, loop, loads, after(following, of)));
    if (i + 2 >= length)
      continue;
    started[i % 2] = start(numbers[i + 2], carried);
    carried = started[i % 2].carried;
  }
  llvm::append_range(carried, next);
  return carried;
}

void Pairing::transform() {
  passed(dot, kPairDots) << remark::add(
      "is under way while the result of the one before is used, but for one of {0} iterations",
      turns);
  // What is left of the turns is a shorter one behind them, where it is known how long, else (and
  // if it is a single iteration) it stays a loop in front of them.
  int64_t left = count && *count > turns ? *count % turns : 0, shorter = left == 1 ? 0 : left;
  Value lower = loop.getLowerBound();
  upper = loop.getUpperBound();
  Value turn = index(turns), middle = lower, end = upper;
  if (shorter) {
    end = sub(upper, index(shorter));
  } else {
    Value none = index(0), all = max(sub(upper, lower), none);
    middle = add(lower, arith::RemUIOp::create(b, loc, all, turn));
  }
  b.setInsertionPointAfter(loop);
  SmallVector<Value> inits(loop.getResults());
  if (!loads.empty()) {
    Value hasTurns = less(middle, end);
    SmallVector<Value> first;
    for (int64_t i = 0; i != turns; ++i)
      first.push_back(after(middle, i));
    llvm::append_range(inits, loadEarlyIf(b, hasTurns, loop, loads, first));
  }
  auto rounds = scf::ForOp::create(b, loc, middle, end, turn, inits);
  size_t results = loop.getNumResults();
  auto emit = [&](int64_t length, Value number, ValueRange from, bool isNext) {
    return emitTurn(length, number, llvm::to_vector_of<Value>(from.take_front(results)),
                    from.take_back(length * loads.size()), isNext);
  };
  b.setInsertionPointToStart(rounds.getBody());
  scf::YieldOp::create(
      b, loc, emit(turns, rounds.getInductionVar(), rounds.getRegionIterArgs(), /*isNext=*/true));
  SmallVector<Value> sums(rounds.getResults().take_front(results));
  b.setInsertionPointAfter(rounds);
  if (shorter)
    sums = emit(shorter, end, rounds.getResults(), /*isNext=*/false);
  for (auto [sum, part] : llvm::zip(sums, loop.getResults()))
    part.replaceAllUsesExcept(sum, rounds);
  loop.setUpperBound(middle);
}

void mk_sm::pairDots(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module)) {
    Pairing pairing(loop);
    if (pairing.analyse())
      pairing.transform();
  }
}
