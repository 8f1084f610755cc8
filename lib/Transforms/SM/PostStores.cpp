//===- PostStores.cpp - Tiles for peers are left to a warp of their own ----===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kPostStores = "mk-sm-post-stores";

/// Bytes of the tile in the staging area, of all warpgroups.
static int64_t getPostedBytes(StoreOp store, int64_t chunk) {
  auto layout = cast<MmaAttr>(store.getTile().getType().getEncoding());
  return countStoreParts(store.getTile().getType(), chunk) * getStagingBytes(chunk) *
         layout.getWarpgroups();
}

/// What is left for a staging area, if rings have the slots that they need.
static int64_t getRoom(Operation *role) {
  mk::SmAttr sm = mk::getSm(role);
  int64_t room = getSharedRoom(role);
  for (auto ring : role->getRegion(0).getOps<CreateRingOp>())
    if (RingType type = ring.getResult().getType(); !type.hasDepth())
      room -= sm.getThresholds().getBusySlots() * type.getSlotBytes(sm.getChunk());
  return room;
}

/// Why the consumer sends the tile itself; null if it need not.
static const char *findObstacle(StoreOp store) {
  auto partition = store->getParentOfType<PartitionOp>();
  Operation *role = partition->getParentOp();
  if (!findPartition(role, PartitionKind::Producer))
    return "its role stages no tiles, so nothing is held up";
  if (partition.getTeams() > 1)
    return "teams have one staging area each, and a CTA one sender: leave alternate out";
  if (!isa<MmaAttr>(store.getTile().getType().getEncoding()))
    return "its tile is transposed";
  if (getPostedBytes(store, mk::getSm(store).getChunk()) > getRoom(role))
    return "there is no room for all of its tile beside the slots that each ring needs: use "
           "smaller tiles";
  return nullptr;
}

/// Puts the stores that a loop over known ranks does of one tile into one store; null if it does
/// anything else.
static StoreOp mergeRanks(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!from || !to || !step || *to <= *from || loop.getNumResults())
    return {};
  int64_t count = llvm::divideCeil(*to - *from, *step);
  StoreOp store;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto found = dyn_cast<StoreOp>(op); found && !store)
      store = found;
    else if (!isPure(&op))
      return {};
  }
  if (!store || !store.getPeer() || count > kMostPeers)
    return {};
  OpOperand *peer = &*store.getPeerMutable().begin();
  for (OpOperand &operand : store->getOpOperands())
    if (&operand != peer && !loop.isDefinedOutsideOfLoop(operand.get()))
      return {};
  OpBuilder b(loop);
  SmallVector<Value> peers;
  for (int64_t i = 0; i != count; ++i) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(),
                arith::ConstantIndexOp::create(b, loop.getLoc(), *from + i * *step).getResult());
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op != store)
        b.clone(op, mapping);
    peers.push_back(mapping.lookupOrDefault(store.getPeer()));
  }
  store->moveBefore(loop);
  store.getPeerMutable().assign(peers.front());
  store.getOthersMutable().assign(ArrayRef(peers).drop_front());
  loop.erase();
  return store;
}

/// Whether an item stores several tiles in sequence, of which the sender has room for one:
/// in a loop that does nothing for products.
static bool isRepeated(StoreOp store) {
  for (Operation *op = store->getParentOp(); !isa<PartitionOp>(op); op = op->getParentOp())
    if (isa<scf::ForOp>(op) && !holds<WaitOp, MmaOp>(op))
      return true;
  return false;
}

/// Why the signal behind a store does not go with it; null if it does, or is none of it.
static const char *findObstacle(StoreOp store, mk::SignalOp signal) {
  if (!signal || signal.getPeer() != store.getPeer())
    return nullptr;
  if (!store.getOthers().empty())
    return "it is for one of several ranks";
  if (signal.getStrong())
    return "it is strong";
  return signal.getAmount() == 1 ? nullptr : "it counts more than one arrival";
}

static void post(StoreOp store) {
  if (!store.getPeer())
    return;
  if (auto loop = dyn_cast<scf::ForOp>(store->getParentOp()))
    mergeRanks(loop);
  if (const char *obstacle = findObstacle(store)) {
    missed(store, kPostStores) << "is sent by the consumer, which waits for the link: " << obstacle;
    return;
  }
  if (isRepeated(store)) {
    missed(store, kPostStores)
        << "is sent by the consumer, which waits for the link: an item stores several tiles in "
           "sequence, of which the sender takes one: store one at known ranks in a loop "
           "that does nothing else";
    return;
  }
  int64_t chunk = mk::getSm(store).getChunk();
  auto staging = cast<CreateStagingOp>(store.getStaging().getDefiningOp());
  int64_t buffers = std::max<int64_t>(staging.getResult().getType().getBuffers(),
                                      countStoreParts(store.getTile().getType(), chunk));
  staging.getResult().setType(StagingType::get(store.getContext(), buffers));
  store.setPosted(true);
  auto signal = dyn_cast_or_null<mk::SignalOp>(store->getNextNode());
  if (const char *obstacle = findObstacle(store, signal)) {
    missed(signal, kPostStores)
        << "waits until the tile has crossed the link, and the consumer with it: " << obstacle;
  } else if (signal && signal.getPeer() == store.getPeer()) {
    store.getSignalMutable().assign(signal.getSignal());
    store.getSignalIndexMutable().assign(signal.getIndex());
    signal.erase();
  }
  passed(store, kPostStores) << remark::add(
      "is left to the CTA's sender, for {0} rank(s), through {1} buffers", store.getPeers().size(),
      buffers);
}

void mk_sm::postStores(ModuleOp module) {
  SmallVector<StoreOp> stores;
  module.walk([&](StoreOp store) { stores.push_back(store); });
  llvm::for_each(stores, [&](StoreOp store) { post(store); });
}
