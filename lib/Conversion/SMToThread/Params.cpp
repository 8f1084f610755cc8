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

int64_t sm::getElementBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

std::string sm::describeScope(Operation *scope) {
  if (auto role = dyn_cast<RoleOp>(scope))
    return "role '" + role.getSymName().str() + "'";
  return "mk.prepare";
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// A box of `rows` rows and a chunk's columns in a buffer.
static SmallVector<int64_t> makeBox(MemRefType buffer, int64_t rows) {
  // cuTensorMapEncodeTiled: up to 5 dimensions, extents of a box up to 256.
  if (buffer.getRank() < 2 || buffer.getRank() > 5)
    return {};
  SmallVector<int64_t> box(buffer.getRank(), 1);
  box.end()[-1] = kChunkBytes / getElementBytes(buffer.getElementType());
  box.end()[-2] = rows;
  return box;
}

SmallVector<int64_t> sm::getCopyBox(CopyOp copy) {
  int64_t rows = copy.getTileType().getShape().end()[-2] / copy.getShared();
  int64_t parts = llvm::divideCeil(rows, 256);
  while (rows % parts || rows / parts % 8)
    if (++parts > rows)
      return {};
  return makeBox(cast<MemRefType>(copy.getSource().getType()), rows / parts);
}

SmallVector<int64_t> sm::getStoreBox(mk_sm::StoreOp store) {
  RankedTensorType tile = store.getTile().getType();
  int64_t bytes = getElementBytes(tile.getElementType());
  if (tile.getRank() != 2 || !isa_and_nonnull<MmaAttr>(tile.getEncoding()) ||
      !canStoreInChunks(tile, store.getAdd()) ||
      !llvm::is_contained({1, 2, 4}, bytes))
    return {};
  return makeBox(cast<MemRefType>(store.getDest().getType()), 64);
}

SmallVector<KernelVariant> mk::listVariants(KernelOp kernel) {
  bool copies = false, byMaps = true;
  kernel.walk([&](CopyOp copy) {
    copies = true;
    byMaps &= !getCopyBox(copy).empty();
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
    if (auto copy = dyn_cast<CopyOp>(op))
      add(copy.getSource(), getCopyBox(copy), /*copies=*/true, /*peers=*/false);
    else if (auto store = dyn_cast<mk_sm::StoreOp>(op))
      add(store.getDest(), getStoreBox(store), /*copies=*/false, store.getPeer() && hasPeers);
  });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

std::optional<unsigned> ParamLayout::findMap(unsigned arg,
                                             ArrayRef<int64_t> box,
                                             bool peers) const {
  for (auto [i, map] : llvm::enumerate(peers ? peerMaps : maps))
    if (map.arg == arg && ArrayRef(map.box) == box)
      return i;
  return std::nullopt;
}

FailureOr<ParamLayout> sm::layOutParams(KernelOp kernel,
                                        const KernelResources &resources,
                                        int64_t minLoops, bool timeline) {
  ParamLayout layout;
  FailureOr<int64_t> cluster = findClusterSize(kernel);
  if (failed(cluster))
    return failure();
  layout.cluster = *cluster;
  collectMaps(kernel, layout);
  if (layout.maps.size() > MK_GPU_MAX_TENSOR_MAPS)
    return kernel.emitOpError()
           << "copies in " << layout.maps.size()
           << " ways that each need a tensor map; a kernel has "
           << MK_GPU_MAX_TENSOR_MAPS << ": use fewer tile shapes or arguments";
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
  kernel.walk([&](TicketOp op) {
    counts.loops = std::max<size_t>(counts.loops, op.getLoop() + 1);
  });
  counts.peers = kernel.getMeshOp().getNumRanks() != 1;
  counts.timeline = timeline;
  static_cast<abi::GpuParamLayout &>(layout) = abi::layOutGpuParams(counts);
  if (layout.bytes > MK_GPU_MAX_PARAM_BYTES)
    return kernel.emitOpError()
           << "has " << layout.bytes << " bytes of parameters (" << layout.maps.size()
           << " tensor maps of " << MK_GPU_TENSOR_MAP_BYTES
           << "); a launch takes " << MK_GPU_MAX_PARAM_BYTES
           << ": use fewer tile shapes or arguments";
  return layout;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static PartitionOp getConsumer(Block &body) {
  for (auto partition : body.getOps<PartitionOp>())
    if (partition.getKind() == PartitionKind::Consumer)
      return partition;
  return {};
}

/// CTAs that fill the slots of a ring together.
static int64_t getShared(CreateRingOp ring) {
  int64_t shared = 1;
  for (Operation *user : ring->getUsers())
    if (auto acquire = dyn_cast<AcquireOp>(user))
      for (Operation *use : acquire.getSlot().getUsers())
        if (auto copy = dyn_cast<CopyOp>(use))
          shared = std::max<int64_t>(shared, copy.getShared());
  return shared;
}

/// Whether a tile of the role may end where neither its argument nor it ends.
static bool mayTrim(Operation &scope) {
  return scope
      .walk([](CopyOp copy) {
        return copy.getPad() || !copy.getValid().empty() ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<SharedLayout> sm::layOutShared(KernelOp kernel, bool byThreads, int64_t timeline) {
  SharedLayout layout;
  int64_t tiles = 0;
  SmallVector<Operation *> channels, putting;
  std::string largest;
  for (Operation &scope : kernel.getBody().front()) {
    if (!isa<RoleOp, PrepareOp>(scope))
      continue;
    Block &body = scope.getRegion(0).front();
    PartitionOp consumer = getConsumer(body);
    int64_t at = 0, number = 0, warps = consumer ? consumer.getWarps() : 4;
    std::string parts;
    llvm::raw_string_ostream os(parts);
    for (Operation &op : body) {
      Channel channel;
      channel.consumers = consumer ? consumer.getTeamWarps() : 4;
      channel.teams = consumer ? consumer.getTeams() : 1;
      if (auto create = dyn_cast<CreateRingOp>(op)) {
        RingType type = create.getResult().getType();
        if (!type.hasDepth())
          return create.emitOpError()
                 << "declares a ring of unknown depth; mk-sm-size-rings "
                    "chooses it, or write a number";
        for (Type tile : type.getTiles())
          if (cast<RankedTensorType>(tile).getShape().end()[-2] % 8)
            return create.emitOpError()
                   << "stages " << tile
                   << ", whose rows are no multiple of 8, the rows of the "
                      "128-byte swizzle; the next are "
                   << llvm::alignTo(
                          cast<RankedTensorType>(tile).getShape().end()[-2], 8);
        channel.number = number++;
        channel.shared = getShared(create);
        channel.depth = type.getDepth();
        channel.slotBytes = type.getSlotBytes();
        channel.data = at;
        at += channel.depth * channel.slotBytes;
        os << (parts.empty() ? "" : ", ") << "ring " << channel.number << " "
           << channel.depth << " x " << channel.slotBytes << " bytes";
      } else if (auto create = dyn_cast<CreateMailboxOp>(op)) {
        MailboxType type = create.getResult().getType();
        channel.depth = type.getDepth();
        channel.slotBytes = 8 * type.getWords();
      } else if (auto create = dyn_cast<CreateStagingOp>(op)) {
        int64_t bytes = create.getResult().getType().getBuffers() *
                        kStagingBytes * (warps / 4);
        layout.stagings[&op] = at;
        at += bytes;
        os << (parts.empty() ? "" : ", ") << "staging " << bytes << " bytes";
        continue;
      } else {
        continue;
      }
      layout.channels[&op] = channel;
      channels.push_back(&op);
    }
    auto take = [&](int64_t bytes, StringRef what) {
      int64_t offset = llvm::alignTo(at, kChunkBytes);
      at = offset + bytes;
      os << (parts.empty() ? "" : ", ") << what << " " << bytes << " bytes";
      return offset;
    };
    ScopeMemory &memory = layout.scopes[&scope];
    if (int64_t bytes = getPutSlotBytes(&scope)) {
      memory.putSlotBytes = bytes;
      memory.puts = take(kPutSlots * bytes, "puts");
      putting.push_back(&scope);
    }
    if (int64_t bytes = getExchangeBytes(&scope)) {
      memory.exchangeBytes = bytes;
      memory.exchange = take(bytes, "exchanges");
    }
    if (at > tiles) {
      tiles = at;
      largest = describeScope(&scope) + ": " + parts;
    }
  }
  int64_t at = tiles;
  for (Operation *op : channels) {
    Channel &channel = layout.channels[op];
    channel.full = at;
    channel.empty = at + 8 * channel.depth;
    at += 16 * channel.depth;
    if (channel.teams > 1) {
      channel.handover = at;
      at += 8;
    }
    if (isa<CreateMailboxOp>(op)) {
      channel.data = at;
      at += channel.depth * channel.slotBytes;
    }
  }
  at = llvm::alignTo(at, 8);
  for (Operation *scope : putting) {
    layout.scopes[scope].putBarriers = at;
    at += 8 * kPutSlots;
  }
  for (Operation &scope : kernel.getBody().front())
    if (isa<RoleOp, PrepareOp>(scope) && mayTrim(scope)) {
      layout.scopes[&scope].landing = at;
      at += 8;
    }
  layout.broadcast = llvm::alignTo(at, 16);
  layout.failed = layout.broadcast + 8;
  layout.request = layout.broadcast + 16;
  layout.bytes = layout.request + (byThreads ? kRequests * kRequestBytes + 8 : 0);
  if (timeline) {
    layout.tracks = layout.bytes;
    layout.bytes += timeline;
  }
  if (layout.bytes > kSharedBytes)
    return kernel.emitOpError()
           << "needs " << layout.bytes << " bytes of shared memory ("
           << layout.bytes - tiles << " of barriers, and of " << largest
           << "); sm_90a has " << kSharedBytes
           << ": use fewer slots or smaller tiles";
  return layout;
}
