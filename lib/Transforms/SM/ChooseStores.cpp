//===- ChooseStores.cpp - Which tiles leave through shared memory ---------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Turns.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kChooseStores = "mk-sm-choose-stores";

/// Whether threads fill whole sectors of the L2 when they store what they hold to this rank's
/// scratch, whose extents are known: shared memory and the copy engine would only be a detour
/// before a signal.
static bool fillsSectors(mk::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getTile().getType());
  auto buffer = dyn_cast<BlockArgument>(store.getDest());
  auto kernel = buffer ? dyn_cast<mk::KernelOp>(buffer.getOwner()->getParentOp()) : mk::KernelOp();
  auto memory = cast<MemRefType>(store.getDest().getType());
  return kernel && isa<MmaAttr>(type.getEncoding()) && type.getElementTypeBitWidth() == 32 &&
         buffer.getArgNumber() >= kernel.getNumDims() &&
         kernel.getArgKind(buffer.getArgNumber() - kernel.getNumDims()) == mk::ArgKind::Scratch &&
         memory.hasStaticShape() && !mk::isSymmetric(memory);
}

/// Whether threads store whole rows: those of what is stored to begin within a sector of the L2.
/// Two boxes share it there, and what is written of a sector apart is read before. Not behind
/// products that take longer than that, which threads would only hold up.
static bool keepsRows(mk::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getTile().getType());
  auto argument = dyn_cast<BlockArgument>(store.getDest());
  auto kernel =
      argument ? dyn_cast<mk::KernelOp>(argument.getOwner()->getParentOp()) : mk::KernelOp();
  mk::SmAttr sm = mk::getSm(store);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto rings = store->getParentOfType<PartitionOp>()->getParentRegion()->getOps<CreateRingOp>();
  bool isQuick = llvm::all_of(
      rings, [&](CreateRingOp ring) { return isShort(ring, sm.getThresholds().getShortFolds()); });
  if (!isQuick || !kernel || argument.getArgNumber() < kernel.getNumDims() || store.getPeer() ||
      store.getReduction() || type.getDimSize(1) * bytes <= sm.getChunk() ||
      !canStoreByRows(type, kLeastBuffers, sm.getChunk()))
    return false;
  std::optional<int64_t> columns =
      kernel.getArgExtent(argument.getArgNumber() - kernel.getNumDims(),
                          cast<MemRefType>(store.getDest().getType()).getRank() - 1);
  // Rows off the engine's unit it stores in no case.
  return columns && *columns * bytes % mk::SmAttr::kPiece == 0 && *columns * bytes % sm.getSector();
}

/// Why the copy engine cannot store the tile; empty if it can.
static std::string findObstacle(mk::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getTile().getType());
  Attribute layout = type.getEncoding();
  mk::SmAttr sm = mk::getSm(store);
  int64_t bits = type.getElementTypeBitWidth(), rank = sm.getTensorMaps().getRank();
  bool isMatrix = type.getRank() == 2 && isa<MmaAttr, TransposedAttr>(layout);
  bool adds = store.getReduction().has_value();
  bool inChunks = isMatrix && canStoreInChunks(type, adds, sm.getChunk());
  if (isa<TransposedAttr>(layout) && !inChunks)
    return llvm::formatv(
        "transposed tiles leave through shared memory where their elements have 16 "
        "bits, and where they are added their rows are at most {0} or a multiple of it",
        MmaAttr::kRows);
  if (type.getRank() < 2)
    return "its tile is no matrix, and small: nothing need be changed";
  if (!isMatrix)
    return "its tile has not the layout of accumulators: compute it from what mk.dot gives, where "
           "it is large";
  if (!isa<FloatType>(type.getElementType()) || (bits != 16 && bits != 32))
    return "its elements are no floating-point numbers of 16 or 32 bits, which shared memory takes "
           "in order: store such numbers where the values allow it";
  if (!inChunks)
    return llvm::formatv("its {0} columns {1} no multiple of {2}: use tiles that have",
                         type.getDimSize(1), adds ? "are added and" : "are",
                         sm.getChunk() * 8 / bits);
  if (cast<MemRefType>(store.getDest().getType()).getRank() > rank)
    return llvm::formatv("the copy engine takes buffers of at most {0} dimensions: join some",
                         rank);
  return {};
}

static void stage(mk::StoreOp store, Value staging, bool byRows) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  auto staged =
      StoreOp::create(b, loc, store.getTile(), store.getDest(), store.getOffsets(),
                      store.getValid(), store.getPeer(), staging, store.getReduction().has_value());
  staged.setInside(store.getInside());
  staged.setByRows(byRows);
  // A signal releases what was stored before it.
  if (store.getSignal())
    mk::SignalOp::create(b, loc, store.getSignal(), store.getSignalIndex(), store.getPeer(),
                         /*amount=*/1, store.getStrong());
  store.erase();
}

void mk_sm::chooseStores(PartitionOp partition) {
  Operation *role = partition->getParentOp();
  Region &body = role->getRegion(0);
  if (partition.getKind() != PartitionKind::Consumer || !body.getOps<CreateStagingOp>().empty())
    return;
  bool hasDots = !body.getOps<CreateRingOp>().empty();
  Value staging;
  SmallVector<mk::StoreOp> stores;
  partition.walk([&](mk::StoreOp store) { stores.push_back(store); });
  for (mk::StoreOp store : stores) {
    std::string obstacle = findObstacle(store);
    if (obstacle.empty() && !fillsSectors(store)) {
      bool byRows = keepsRows(store);
      if (byRows)
        passed(store, kChooseStores) << remark::add(
            "leaves through shared memory, by threads and row by row: rows of its buffer begin "
            "within sectors of {0} bytes, of which boxes would write parts",
            mk::getSm(store).getSector());
      else
        passed(store, kChooseStores) << "leaves through shared memory and the copy engine";
      if (!staging) {
        // In front of the partitions.
        OpBuilder b(*body.op_begin<PartitionOp>());
        staging = CreateStagingOp::create(b, role->getLoc(),
                                          StagingType::get(role->getContext(), kLeastBuffers));
      }
      stage(store, staging, byRows);
    } else if (hasDots && fillsSectors(store)) {
      passed(store, kChooseStores)
          << "is stored from registers: to scratch of known extents, in whole sectors";
    } else if (hasDots) {
      missed(store, kChooseStores) << "is stored from registers: " << obstacle;
    }
  }
}
