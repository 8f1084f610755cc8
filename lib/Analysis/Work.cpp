//===- Work.cpp - What a launch of a kernel has to do ---------------------===//
#include "WorkCounter.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace mlir;
using namespace mlir::mk;

void Footprint::cover(const Footprint &other) {
  accumulators = std::max(accumulators, other.accumulators);
  slot = std::max(slot, other.slot);
  once = std::max(once, other.once);
  carried = std::max(carried, other.carried);
  largest = std::max(largest, other.largest);
  held = std::max(held, other.held);
  heldAtOnce = std::max(heldAtOnce, other.heldAtOnce);
  turn = std::max(turn, other.turn);
  rows = std::gcd(rows, other.rows);
  columns = std::max(columns, other.columns);
  storeParts = std::max(storeParts, other.storeParts);
  if (!storedChunks || (other.storedChunks && other.storedChunks < storedChunks))
    storedChunks = other.storedChunks;
  isTransposed |= other.isTransposed;
  overlaps |= other.overlaps;
}

void Work::add(const Work &other, double times) {
  products += times * other.products;
  operands += times * other.operands;
  copies += times * other.copies;
  asked += times * other.asked;
  fresh += times * other.fresh;
  turns += times * other.turns;
  loads += times * other.loads;
  direct += times * other.direct;
  stores += times * other.stores;
  shared += times * other.shared;
  sent += times * other.sent;
  announced += times * other.announced;
  elements += times * other.elements;
  functions += times * other.functions;
  reductions += times * other.reductions;
  sums += times * other.sums;
}

static bool hasTiles(Operation *op) {
  return holdsAny(op, [](Operation *inner) {
    return isa<mk::StoreOp>(inner) || llvm::any_of(inner->getResultTypes(), isTileType);
  });
}

bool WorkCounter::giveUp(Operation *op, const Twine &reason) {
  if (why.empty()) {
    llvm::raw_string_ostream os(why);
    os << '\'' << op->getName() << '\'';
    if (auto at = dyn_cast<FileLineColLoc>(op->getLoc()))
      os << " in line " << at.getLine();
    os << ' ' << reason;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Where it is not known which branch is taken, the one with more to do.
bool WorkCounter::countBranch(scf::IfOp op, double times, bool inner) {
  std::optional<int64_t> taken = numbers.getIndex(op.getCondition());
  auto branch = [&](Region &region, ItemWork &result) {
    ItemWork before = item;
    item = {};
    bool ok = region.empty() || count(region.front(), times, inner);
    result = std::exchange(item, before);
    return ok;
  };
  ItemWork then, otherwise;
  if ((taken.value_or(1) != 0 && !branch(op.getThenRegion(), then)) ||
      (taken.value_or(0) == 0 && !branch(op.getElseRegion(), otherwise)))
    return false;
  auto weigh = [](const ItemWork &work) {
    auto sum = [](const Work &w) {
      return w.products + w.copies + w.loads + w.stores + w.elements;
    };
    return sum(work.inner) + sum(work.outer);
  };
  // Items that wait or not, send or not, or may have nothing else to do are looked at one by one.
  bool isAllOrNothing =
      (weigh(then) > 0) != (weigh(otherwise) > 0) && (holds<DotOp>(op) || weigh(item) == 0);
  if (!taken && !isSampled && (isAllOrNothing || !then.meetsPeersAs(otherwise)))
    return false;
  const ItemWork &chosen = weigh(then) >= weigh(otherwise) ? then : otherwise;
  item.inner.add(chosen.inner, 1);
  item.outer.add(chosen.outer, 1);
  item.waits += std::max(then.waits, otherwise.waits);
  item.gathers += std::max(then.gathers, otherwise.gathers);
  item.storeParts = std::max(item.storeParts, chosen.storeParts);
  return true;
}

/// Registers for the tiles that a loop carries. One that an outer loop carries, and only hands on
/// to this one, is counted there.
bool WorkCounter::countCarried(Operation *loop) {
  auto inner = dyn_cast<scf::ForOp>(loop);
  auto fold = dyn_cast<FoldOp>(loop);
  if (!inner && !fold)
    return true;
  ValueRange inits = inner ? inner.getInitArgs() : fold.getInits();
  for (auto [carried, init] : llvm::zip(loop->getResults(), inits)) {
    if (!isTileType(carried.getType()) || !counted.insert(carried).second)
      continue;
    if (isa<BlockArgument>(init) && isCarried(init) && init.hasOneUse())
      continue;
    auto shape = numbers.getShape(carried.getType());
    if (!shape)
      return giveUp(loop, kUnknownExtents);
    if (shape->size() <= 1) {
      current->accumulators += 4 * countElements(*shape); // each row is four threads'
      continue;
    }
    current->accumulators += countElements(*shape);
    current->carried += countElements(*shape);
  }
  return true;
}

/// Where peers may get different things they are looked at one by one, or some of them evenly.
bool WorkCounter::countPeers(ForeachPeerOp loop, double times, bool inner) {
  MeshOp mesh = kernel.getMeshOp();
  int place = mesh.findAxis(cast<StringAttr>(loop.getAxes()[0]).getValue());
  BlockArgument peer = loop.getBody().getArgument(0);
  // The own rank is the first.
  int64_t first = loop.getIncludingSelf() ? 0 : 1, peers = mesh.getAxis(place).getSize() - first;
  int64_t looks = std::min(peers, kMostPeers), slot = current->slot, once = current->once;
  int64_t largestSlot = slot, mostOnce = once;
  for (int64_t i = 0; i != looks; ++i) {
    IndexEvaluator before = numbers.getState();
    int64_t at = first + i * peers / looks;
    numbers.assume(peer, at * mesh.getStride(place));
    loop.walk([&](CoordOp coord) {
      if (coord.getRank() == peer && mesh.findAxis(coord.getAxis()) == place)
        numbers.assume(coord, at);
    });
    // Slots of a ring are there once.
    current->slot = slot, current->once = once;
    bool ok = count(loop.getBody().front(), times * peers / looks, inner || holds<DotOp>(loop));
    numbers.setState(std::move(before));
    if (!ok)
      return false;
    largestSlot = std::max(largestSlot, current->slot);
    mostOnce = std::max(mostOnce, current->once);
  }
  current->slot = largestSlot, current->once = mostOnce;
  return true;
}

bool WorkCounter::countNested(Operation *op, double times, bool inner) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return countBranch(branch, times, inner);
  std::optional<double> trips = numbers.countTrips(op);
  if (!hasTiles(op) && !(trips && awaits(op))) {
    op->walk([&](Operation *nested) { alone &= !isCommunication(nested); });
    return true;
  }
  if (!trips)
    return giveUp(op, "makes a number of turns that is not known before the launch");
  if (auto peers = dyn_cast<ForeachPeerOp>(op);
      peers && holds<scf::IfOp>(op) && peers.getAxes().size() == 1 &&
      !ShapedType::isDynamic(kernel.getMeshOp().getNumRanks()))
    return countPeers(peers, times, inner);
  // The first turn stands for all.
  if (auto range = dyn_cast<scf::ForOp>(op))
    if (std::optional<int64_t> from = numbers.getIndex(range.getLowerBound()))
      numbers.assume(range.getInductionVar(), *from);
  bool isInner = inner || holds<DotOp>(op);
  return (!isInner || countCarried(op)) && count(op->getRegion(0).front(), times * *trips, isInner);
}

/// Of a loop without products: what its turns load of matrices.
void WorkCounter::countLoadTurns(Block &block, double times) {
  int64_t bytes = 0;
  for (auto load : block.getOps<LoadOp>())
    if (load.getType().getRank() == 2)
      bytes += static_cast<int64_t>(numbers.getBytes(load.getType(), Value()).value_or(0));
  current->turn = std::max(current->turn, bytes);
  item.loadTurns += bytes ? times : 0;
}

bool WorkCounter::count(Block &block, double times, bool inner) {
  bool copies = llvm::any_of(block.getOps<LoadOp>(), [](LoadOp load) {
    return llvm::all_of(load->getUsers(), llvm::IsaPred<DotOp>);
  });
  if (copies)
    (inner ? item.inner : item.outer).turns += times;
  else if (isa<FoldOp, LoopLikeOpInterface>(block.getParentOp()))
    countLoadTurns(block, times);
  for (Operation &op : block) {
    bool isLoop =
        isa<LoopLikeOpInterface, FoldOp, ForeachOp, ForeachPeerOp, ForeachItemOp, scf::IfOp>(op);
    if (isLoop ? !countNested(&op, times, inner) : !countOp(&op, times, inner))
      return false;
  }
  return true;
}

double WorkCounter::countBytes(unsigned arg) {
  auto type = cast<MemRefType>(kernel.getKernelArg(arg).getType());
  double elements = 1;
  for (unsigned d = 0; d != type.getRank(); ++d)
    elements *= numbers.getShard(arg, d).value_or(0);
  return elements * std::max(8u, type.getElementTypeBitWidth()) / 8;
}

/// Bytes of arguments that roles read tiles from, or write them to.
void WorkCounter::countArguments(KernelWork &work) {
  llvm::SmallDenseSet<Value> read, written;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      read.insert(load.getSource());
    else if (auto store = dyn_cast<mk::StoreOp>(op))
      written.insert(store.getDest());
  });
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    Value argument = kernel.getKernelArg(i);
    bool isRead = read.contains(argument), isWritten = written.contains(argument);
    if (!(isRead || isWritten) ||
        !cast<MemRefType>(argument.getType()).getElementType().isIntOrFloat())
      continue;
    double bytes = countBytes(i);
    work.memory += isRead ? bytes : 0;
    work.written += isWritten ? bytes : 0;
    work.packed += packable.lookup(i) ? bytes : 0;
  }
}

/// CTAs of each role.
FailureOr<SmallVector<int64_t>> WorkCounter::divide(int64_t grid) {
  SmallVector<CtasAttr> shares;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    CtasAttr ctas = role.getCtas();
    if (StringAttr name = ctas.getFixedParam()) {
      std::optional<int64_t> fixed = numbers.getParam(name);
      if (!fixed)
        return failure();
      ctas = resolveCtas(ctas, *fixed);
    }
    shares.push_back(ctas);
  }
  return assignCtas(kernel, shares, grid);
}

/// CTAs of each role with those that come from others (`then`), where these are more than it has
/// itself, as in `@down ctas(1)` behind `@up ctas(rest) then @down`. Fewer are late, and do not
/// count.
SmallVector<int64_t> WorkCounter::followChains(ArrayRef<int64_t> ctas, KernelWork &work) {
  KernelResources resources(kernel);
  SmallVector<int64_t> all(ctas);
  for (auto [i, chain] : llvm::enumerate(resources.getChains()))
    for (unsigned next : chain)
      all[next] += ctas[i];
  SmallVector<std::optional<unsigned>> last(ctas.size());
  for (auto [i, role] : llvm::enumerate(resources.roles))
    if (role.getThen()) {
      std::optional<unsigned> &from = last[*resources.roleIndex(*role.getThen())];
      if (!from || all[i] > all[*from])
        from = i;
    }
  for (auto [i, role] : llvm::enumerate(resources.roles)) {
    if (all[i] > 2 * ctas[i])
      work.after[role.getSymNameAttr()] = resources.roles[*last[i]].getSymNameAttr();
    else
      all[i] = ctas[i];
  }
  return all;
}

bool WorkCounter::run(int64_t grid, KernelWork &work) {
  for (RequireOp require : kernel.getBody().getOps<RequireOp>())
    if (numbers.getIndex(require.getCondition()) == 0)
      return giveUp(require, "does not hold: " + require.getMessage());
  FailureOr<SmallVector<int64_t>> ctas = divide(grid);
  if (failed(ctas))
    return giveUp(
        kernel, "needs more CTAs than there are, or a number that is not known before the launch");
  numbers.assumeCtas(*ctas);
  if (hasLinks)
    findArrivals(*ctas);
  SmallVector<int64_t> all = followChains(*ctas, work);
  for (auto [i, role] : llvm::enumerate(kernel.getBody().getOps<RoleOp>()))
    for (Operation &op : role.getBody().front()) {
      if (isa<ForeachItemOp>(op))
        return giveUp(&op, "visits records of a queue");
      auto loop = dyn_cast<ForeachOp>(op);
      if (!loop)
        continue;
      numbers.reset();
      LoopWork &part = work.loops.emplace_back();
      part.role = role.getSymNameAttr();
      part.ctas = all[i];
      part.own = (*ctas)[i];
      if (!countLoop(loop, part))
        return false;
    }
  countArguments(work);
  work.isAlone = alone;
  return true;
}

bool mk::mayHold(RequireOp require, const NamedNumbers &sizes, const NamedNumbers &params) {
  auto kernel = require->getParentOfType<KernelOp>();
  return WorkNumbers(kernel, sizes, params).getIndex(require.getCondition()) != 0;
}

bool mk::mayMultiply(DotOp dot, const NamedNumbers &params) {
  NamedNumbers none;
  auto shape = WorkNumbers(dot->getParentOfType<KernelOp>(), none, params).getShape(dot.getType());
  MatrixUnitAttr unit = getSm(dot).getMatrixUnit();
  if (!shape)
    return true;
  bool turned = isTransposed(unit, (*shape)[0], (*shape)[1]);
  int64_t rows = (*shape)[turned], columns = (*shape)[!turned];
  // Wider ones are several instructions side by side.
  int64_t step = columns > unit.getColumns() ? unit.getRows() : unit.getColumnStep();
  return rows % unit.getRows() == 0 && columns % step == 0;
}

std::optional<KernelWork> mk::countWork(KernelOp kernel, int64_t grid, const NamedNumbers &sizes,
                                        const NamedNumbers &params, std::string &why) {
  KernelWork work;
  why.clear();
  // Numbers that do not fit together are somebody else's error.
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  if (!WorkCounter(kernel, sizes, params, why).run(grid, work))
    return std::nullopt;
  return work;
}
