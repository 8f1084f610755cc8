//===- Arrivals.cpp - What peers send a rank while it works ---------------===//
//
// All ranks run the same kernel, so what peers send this rank is what it sends them. Roles without
// products send what is there already, as fast as links let them, in an order that is taken to be
// the one in which items wait for it.
//
//===----------------------------------------------------------------------===//
#include "WorkCounter.h"

using namespace mlir;
using namespace mlir::mk;

/// Arrivals of one signal in a launch; nothing if that follows from the launch.
std::optional<int64_t> WorkCounter::countRaises(Value signal) {
  int64_t arrivals = cast<SignalType>(signal.getType()).getArrivals();
  if (arrivals > 0)
    return arrivals;
  auto declared = signal.getDefiningOp<SignalsOp>();
  return declared && declared.getArrivals() ? numbers.getIndex(declared.getArrivals())
                                            : std::nullopt;
}

/// Adds what a put sends in the first turn of the loops around it, as many times as these turn.
/// False where that is not known, or does not come by links.
bool WorkCounter::addArrivals(PutOp put, RoleOp role, int64_t ctas) {
  double times = 1, peers = 1;
  bool isToPeers = false;
  for (Operation *op = put->getParentOp(); op != role; op = op->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      std::optional<int64_t> taken = numbers.getIndex(branch.getCondition());
      bool isThen = branch.getThenRegion().isAncestor(put->getParentRegion());
      if (taken && (*taken != 0) != isThen)
        return numbers.isFixed(branch.getCondition()); // else a later turn may take it
      continue;
    }
    std::optional<double> trips = numbers.countTrips(op);
    if (!trips)
      return false;
    if (auto loop = dyn_cast<ForeachPeerOp>(op)) {
      // What a rank puts at itself does not come by a link.
      if (loop.getIncludingSelf())
        *trips -= 1;
      if (*trips > 0 && !loop.isAlong(kernel.getMeshOp(), LinkKind::Link))
        return false;
      peers *= *trips;
      isToPeers |= put.getPeer() == loop.getBody().getArgument(0);
    }
    times *= *trips;
  }
  if (times == 0)
    return true;
  if (!isToPeers || put.getRows())
    return false;
  double bytes = std::max(8u, put.getSource().getType().getElementTypeBitWidth()) / 8;
  for (Value size : put.getSizes()) {
    std::optional<int64_t> extent = numbers.getIndex(size);
    if (!extent || *extent < 0)
      return false;
    bytes *= *extent;
  }
  std::optional<int64_t> raises = countRaises(put.getSignal());
  if (!raises || *raises < 1)
    return false;
  double sent = bytes * times;
  // Later turns may have less: of an argument each peer gets all once at most.
  auto arg = dyn_cast<BlockArgument>(put.getSource());
  if (arg && arg.getOwner() == &kernel.getBody().front())
    sent = std::min(sent, peers * countBytes(arg.getArgNumber() - kernel.getNumDims()));
  Arrivals &arrivals = arriving[put.getSignal()];
  arrivals.bytes += sent;
  // CTAs send side by side.
  bool byEngines = role.getCtas().getEngines();
  arrivals.step = std::max({arrivals.step, bytes * *raises, byEngines ? 0 : bytes * ctas});
  arrivals.copies += byEngines ? times : 0;
  return true;
}

void WorkCounter::findArrivals(ArrayRef<int64_t> ctas) {
  llvm::SmallDenseSet<Value> unknown;
  for (auto [i, role] : llvm::enumerate(kernel.getBody().getOps<RoleOp>())) {
    bool multiplies = holds<DotOp>(role);
    numbers.reset();
    // Of any item.
    role.walk([&](mk::StoreOp store) {
      if (multiplies && store.getSignal() && getShareSent(store.getPeer()) > 0)
        announcing.insert(store.getSignal());
    });
    // Of loops the first turn.
    role.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto loop = dyn_cast<ForeachOp>(op))
        for (Value index : loop.getBody().getArguments())
          numbers.assume(index, 0);
      else if (auto range = dyn_cast<scf::ForOp>(op))
        if (std::optional<int64_t> from = numbers.getIndex(range.getLowerBound()))
          numbers.assume(range.getInductionVar(), *from);
    });
    role.walk([&](PutOp put) {
      if (put.getSignal() && (multiplies || !addArrivals(put, role, ctas[i])))
        unknown.insert(put.getSignal());
    });
    // Stores and signals that peers send besides say nothing of how much there is.
    role.walk([&](SignalOp signal) { unknown.insert(signal.getSignal()); });
    role.walk([&](mk::StoreOp store) {
      if (store.getSignal())
        unknown.insert(store.getSignal());
    });
  }
  for (Value signal : unknown)
    arriving.erase(signal);
}

/// Of what is stored at a rank in each turn of a loop over peers, or at one that the item names,
/// the share that goes by links.
double WorkCounter::getShareSent(Value peer) {
  if (!hasLinks || !peer)
    return 0;
  if (auto argument = dyn_cast<BlockArgument>(peer)) {
    auto loop = dyn_cast<ForeachPeerOp>(argument.getOwner()->getParentOp());
    if (!loop || !loop.isAlong(kernel.getMeshOp(), LinkKind::Link))
      return 0;
    if (std::optional<int64_t> rank = numbers.getIndex(peer))
      return *rank != 0;
    double turns = numbers.countTrips(loop).value_or(0);
    if (turns == 0)
      return 0;
    return loop.getIncludingSelf() ? (turns - 1) / turns : 1;
  }
  auto rank = peer.getDefiningOp<RankOp>();
  if (!rank || !rank.getAxes())
    return 0;
  // The first rank has no coordinate but 0.
  bool isOther = false;
  for (auto [name, coord] : llvm::zip(rank.getAxes()->getAsRange<StringAttr>(), rank.getCoords())) {
    AxisAttr axis = kernel.getMeshOp().getAxis(kernel.getMeshOp().findAxis(name.getValue()));
    if (axis.getSize() == 1 || numbers.getIndex(coord) == 0)
      continue;
    if (axis.getLink() != LinkKind::Link)
      return 0;
    isOther = true;
  }
  return isOther;
}

bool WorkCounter::awaits(Operation *op) {
  return holdsAny(op, [&](Operation *inner) {
    auto wait = dyn_cast<WaitOp>(inner);
    return wait && (arriving.contains(wait.getSignal()) || announcing.contains(wait.getSignal()));
  });
}
