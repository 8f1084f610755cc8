//===- Params.cpp - The parameter block and shared memory -----------------===//
#include "Params.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Conversion/Variants.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// A box of `rows` rows and a chunk's columns in a buffer.
static SmallVector<int64_t> makeBox(MemRefType buffer, int64_t rows, SmAttr sm) {
  if (buffer.getRank() < 2 || buffer.getRank() > sm.getTensorMaps().getRank())
    return {};
  SmallVector<int64_t> box(buffer.getRank(), 1);
  box.end()[-1] = sm.getChunk() / getElementBytes(buffer.getElementType());
  box.end()[-2] = rows;
  return box;
}

/// How many rows the source has, if nobody sees what a tile has behind them; none if it is not
/// known.
static std::optional<int64_t> getRowsBeforeEnd(CopyOp copy) {
  RankedTensorType tile = copy.getTileType();
  if (tile.getRank() < 2 || !copy.isUnseen(tile.getRank() - 2))
    return std::nullopt;
  auto kernel = copy->getParentOfType<KernelOp>();
  unsigned dim = cast<MemRefType>(copy.getSource().getType()).getRank() - 2;
  int64_t rows = 1;
  for (unsigned arg : getPossibleArgs(kernel, copy.getSource())) {
    std::optional<int64_t> extent = kernel.getArgExtent(arg, dim);
    if (!extent)
      return std::nullopt;
    rows = std::max(rows, *extent);
  }
  return rows;
}

std::optional<int64_t> sm::getRowsOfOneBox(CopyOp copy) {
  std::optional<int64_t> rows = getRowsBeforeEnd(copy);
  int64_t own = copy.getTileType().getShape().end()[-2] / copy.getShared();
  bool fits = rows && *rows < own && *rows <= getSm(copy).getTensorMaps().getBox();
  return fits ? rows : std::nullopt;
}

/// Of `rows` that a CTA brings, in this many boxes or more: in how many, so that the last tile
/// comes with few rows behind the end.
static int64_t countBoxes(CopyOp copy, int64_t rows, int64_t boxes) {
  std::optional<int64_t> end = getRowsBeforeEnd(copy);
  int64_t tile = copy.getTileType().getShape().end()[-2];
  int64_t left = end ? *end % tile % rows : 0;
  ThresholdsAttr thresholds = getSm(copy).getThresholds();
  if (!left || *end > thresholds.getEdgeTiles() * tile)
    return boxes;
  auto getCost = [&](int64_t number) {
    return llvm::alignTo(left, rows / number) + number * thresholds.getEdgeRows();
  };
  int64_t best = boxes;
  for (int64_t number = boxes + 1; number <= thresholds.getEdgeBoxes() * boxes; ++number)
    if (rows % number == 0 && rows / number % 8 == 0 && getCost(number) < getCost(best))
      best = number;
  return best;
}

SmallVector<int64_t> sm::getCopyBox(CopyOp copy) {
  auto source = cast<MemRefType>(copy.getSource().getType());
  if (std::optional<int64_t> rows = getRowsOfOneBox(copy))
    return makeBox(source, *rows, getSm(copy));
  int64_t rows = copy.getTileType().getShape().end()[-2] / copy.getShared();
  SmAttr sm = getSm(copy);
  int64_t parts = llvm::divideCeil(rows, sm.getTensorMaps().getBox());
  while (rows % parts || rows / parts % 8)
    if (++parts > rows)
      return {};
  return makeBox(source, rows / countBoxes(copy, rows, parts), sm);
}

int64_t sm::getStagedRows(mk_sm::StoreOp store) {
  return store.getPosted() ? getSm(store).getThresholds().getPostedRows()
                           : countStoreRows(store.getTile().getType());
}

SmallVector<int64_t> sm::getStoreBox(mk_sm::StoreOp store) {
  return makeBox(cast<MemRefType>(store.getDest().getType()), getStagedRows(store), getSm(store));
}

SmallVector<KernelVariant> mk::listVariants(KernelOp kernel) {
  bool copies = false, byMaps = true;
  kernel.walk([&](CopyOp copy) {
    if (copy.isByElements())
      return; // by threads
    copies = true;
    byMaps &= !copy.getRows() && !getCopyBox(copy).empty() &&
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
      add(copy.getSource(), getCopyBox(copy), /*copies=*/true, /*peers=*/false);
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
