//===- Params.cpp - The parameter block and shared memory -----------------===//
#include "Params.h"
#include "Boxes.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Conversion/Variants.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

SmallVector<KernelVariant> mk::listVariants(KernelOp kernel) {
  bool copies = false, byMaps = true;
  kernel.walk([&](CopyOp copy) {
    if (copy.isByElements())
      return; // by threads
    copies = true;
    byMaps &= !copy.getRows() && !getCopyBox(copy).extents.empty() &&
              isEngineColumn(copy.getOffsets().back(),
                             getElementBytes(copy.getTileType().getElementType()));
  });
  if (!copies || !byMaps)
    return {kAnyStrides};
  return {kTensorMaps, kAnyStrides};
}

static void collectMaps(KernelOp kernel, ParamLayout &layout) {
  bool hasPeers = kernel.getMeshOp().getNumRanks() != 1;
  auto add = [&](Value buffer, ArrayRef<int64_t> box, bool copies, bool peers) {
    if (box.empty())
      return;
    auto &maps = peers ? layout.peerMaps : layout.maps;
    for (unsigned arg : getPossibleArgs(kernel, buffer)) {
      TensorMap map{arg, SmallVector<int64_t>(box), peers};
      auto *known = llvm::find(maps, map);
      if (known == maps.end())
        known = &maps.emplace_back(map);
      known->copies |= copies;
    }
  };
  kernel.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op); copy && !copy.isByElements() && !copy.getRows())
      add(copy.getSource(), getCopyBox(copy).extents, /*copies=*/true, /*peers=*/false);
    else if (auto store = dyn_cast<mk_sm::StoreOp>(op))
      if (!store.getByRows())
        add(store.getDest(), getStoreBox(store), /*copies=*/false, store.getPeer() && hasPeers);
  });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

std::optional<unsigned> ParamLayout::findMap(unsigned arg, ArrayRef<int64_t> box,
                                             bool peers) const {
  for (auto [i, map] : llvm::enumerate(peers ? peerMaps : maps))
    if (map.arg == arg && ArrayRef(map.box) == box)
      return i;
  return std::nullopt;
}

FailureOr<ParamLayout> sm::layOutParams(KernelOp kernel, const KernelResources &resources,
                                        int64_t minLoops, bool timeline) {
  ParamLayout layout;
  FailureOr<int64_t> cluster = findClusterSize(kernel);
  if (failed(cluster))
    return failure();
  layout.cluster = *cluster;
  collectMaps(kernel, layout);
  int64_t maxMaps =
      std::min<int64_t>(MK_GPU_MAX_TENSOR_MAPS, getSm(kernel).getTensorMaps().getCount());
  if (int64_t(layout.maps.size()) > maxMaps)
    return kernel.emitOpError() << "copies in " << layout.maps.size()
                                << " ways that each need a tensor map; a kernel has " << maxMaps
                                << ": use fewer tile shapes or arguments";
  abi::GpuParamCounts counts;
  counts.tensorMaps = layout.maps.size();
  counts.dims = kernel.getNumDims();
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    counts.argRanks.push_back(cast<MemRefType>(kernel.getKernelArg(i).getType()).getRank());
  for (SignalsOp op : resources.signals)
    counts.signalRanks.push_back(op.getResult().getType().getShape().size());
  for (CountersOp op : resources.counters)
    counts.counterRanks.push_back(op.getResult().getType().getShape().size());
  counts.queues = resources.queues.size();
  counts.loops = std::max<size_t>(minLoops, resources.loops.size());
  kernel.walk(
      [&](TicketOp op) { counts.loops = std::max<size_t>(counts.loops, op.getLoop() + 1); });
  counts.peers = kernel.getMeshOp().getNumRanks() != 1;
  counts.timeline = timeline;
  static_cast<abi::GpuParamLayout &>(layout) = abi::layOutGpuParams(counts);
  if (layout.bytes > MK_GPU_MAX_PARAM_BYTES)
    return kernel.emitOpError() << "has " << layout.bytes << " bytes of parameters ("
                                << layout.maps.size() << " tensor maps of "
                                << MK_GPU_TENSOR_MAP_BYTES << "); a launch takes "
                                << MK_GPU_MAX_PARAM_BYTES << ": use fewer tile shapes or arguments";
  return layout;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The groups of CTAs that fill the slots of a ring together, each once.
static SmallVector<ShareGroup> getGroups(Operation *ring) {
  SmallVector<ShareGroup> groups;
  for (Operation *user : ring->getUsers()) {
    auto acquire = dyn_cast<AcquireOp>(user);
    if (!acquire)
      continue;
    for (Operation *use : acquire.getSlot().getUsers())
      if (auto copy = dyn_cast<CopyOp>(use); copy && copy.getShared() > 1)
        if (!llvm::is_contained(groups, copy.getGroup()))
          groups.push_back(copy.getGroup());
  }
  return groups;
}

Channel::Channel(Operation *create) : groups(getGroups(create)) {
  auto offset = [&](StringRef name) { return getSharedOffset(create, name); };
  for (const SharedPiece &piece : getSharedPieces(create))
    if (piece.name == "slots")
      place = mk_thread::ChannelAttr::get(create->getContext(), offset("full"), offset("empty"),
                                          offset("slots"), piece.count, piece.bytes);
  for (Operation &before : llvm::make_range(create->getBlock()->begin(), create->getIterator()))
    number += isa<CreateRingOp>(before);
  PartitionOp consumer = findPartition(create->getParentOp(), PartitionKind::Consumer);
  consumers = consumer ? consumer.getTeamWarps() : 4;
}

int64_t Channel::countWriters() const {
  int64_t mask = 1;
  for (ShareGroup group : groups)
    mask |= group.getMask();
  return llvm::popcount(uint64_t(mask));
}

ScopeMemory::ScopeMemory(Operation *scope) {
  for (const SharedPiece &piece : getSharedPieces(scope)) {
    int64_t offset = getSharedOffset(scope, piece.name);
    if (piece.name == "put_slots")
      puts = offset, putSlots = piece.count, putSlotBytes = piece.bytes;
    else if (piece.name == "put_barriers")
      putBarriers = offset;
    else if (piece.name == "parts")
      parts = offset;
    else if (piece.name == "swaps")
      swaps = offset;
    else if (piece.name == "padding")
      padding = offset;
    else if (piece.name == "sent")
      sent = offset;
    else
      exchange = offset, exchangeBytes = piece.bytes;
  }
}
