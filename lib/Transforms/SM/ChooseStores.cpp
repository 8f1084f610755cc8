//===- ChooseStores.cpp - Which tiles leave through shared memory ---------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
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
  auto memory = cast<MemRefType>(store.getDest().getType());
  auto kernel = store->getParentOfType<mk::KernelOp>();
  SmallVector<unsigned> args = mk::getPossibleArgs(kernel, store.getDest());
  return args.size() == 1 && isa<MmaAttr>(type.getEncoding()) &&
         type.getElementTypeBitWidth() == 32 &&
         kernel.getArgKind(args.front()) == mk::ArgKind::Scratch && memory.hasStaticShape() &&
         !mk::isSymmetric(memory);
}

/// Whether rows of what is stored to are known to begin within a sector of the L2. Boxes side by
/// side share it there, and what is written of a sector apart is read before.
static bool beginsInSectors(mk::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getTile().getType());
  auto kernel = store->getParentOfType<mk::KernelOp>();
  SmallVector<unsigned> args = mk::getPossibleArgs(kernel, store.getDest());
  if (args.size() != 1)
    return false;
  unsigned last = cast<MemRefType>(store.getDest().getType()).getRank() - 1;
  std::optional<int64_t> columns = kernel.getArgExtent(args.front(), last);
  int64_t bytes = columns.value_or(0) * type.getElementTypeBitWidth() / 8;
  // Rows off the engine's unit it stores in no case.
  return bytes % mk::SmAttr::kPiece == 0 && bytes % mk::getSm(store).getSector();
}

/// Whether what a tile is computed from has only elements that are stored together with each
/// other: neither what belongs to whole columns, which would be kept for the rows that come next,
/// nor another tile, which would be loaded.
static bool isComputedInPlace(Value tile) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> reached{tile};
  while (!reached.empty()) {
    Operation *op = reached.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<mk::BroadcastOp, mk::LoadOp, ReadOp>(op))
      return false;
    if (op && op->hasTrait<OpTrait::Elementwise>() && seen.insert(op).second)
      llvm::append_range(reached, op->getOperands());
  }
  return true;
}

/// Why threads do not store whole rows where these begin within sectors; empty if they do.
static StringRef findRowsObstacle(mk::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getTile().getType());
  mk::SmAttr sm = mk::getSm(store);
  if (store.getPeer() || store.getReduction())
    return "it goes to another rank, or is added";
  if (!canStoreByRows(type, kLeastBuffers, sm.getChunk()))
    return "its rows are too long for a warp, or its tile is transposed";
  if (!isComputedInPlace(store.getTile()))
    return "values of columns, or another tile, would be kept in registers for it";
  // Behind others threads that store would only hold up what comes next.
  int64_t few = sm.getThresholds().getShortFolds();
  auto rings = store->getParentOfType<PartitionOp>()->getParentRegion()->getOps<CreateRingOp>();
  if (!llvm::all_of(rings, [&](CreateRingOp ring) { return isShort(ring, few); }))
    return "its products are long, or nobody knows how long";
  return {};
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

/// Whether threads store what is in the staging area, row by row.
static bool storesByRows(mk::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getTile().getType());
  mk::SmAttr sm = mk::getSm(store);
  // A box has all of a row that is a chunk.
  if (!beginsInSectors(store) ||
      type.getDimSize(1) * type.getElementTypeBitWidth() <= 8 * sm.getChunk())
    return false;
  StringRef obstacle = findRowsObstacle(store);
  if (obstacle.empty())
    passed(store, kChooseStores) << remark::add(
        "leaves through shared memory, by threads and row by row: rows of its buffer begin within "
        "sectors of {0} bytes, of which boxes would write parts",
        sm.getSector());
  else
    missed(store, kChooseStores) << remark::add(
        "is written in parts of sectors: rows of its buffer begin within these, and threads do not "
        "store whole ones, since {0}",
        obstacle);
  return obstacle.empty();
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
      bool byRows = storesByRows(store);
      if (!byRows)
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
