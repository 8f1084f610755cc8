//===- ChooseStores.cpp - Which tiles leave through shared memory ---------===//
#include "Rebuilder.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Whether threads fill whole sectors of the L2 when they store what they hold to this rank's
/// scratch, whose extents are known: shared memory and the copy engine would only be a detour
/// before a signal.
static bool fillsSectors(mk::StoreOp store, RankedTensorType type) {
  auto buffer = dyn_cast<BlockArgument>(store.getDest());
  auto kernel = buffer ? dyn_cast<mk::KernelOp>(buffer.getOwner()->getParentOp()) : mk::KernelOp();
  auto memory = cast<MemRefType>(store.getDest().getType());
  return kernel && isa<MmaAttr>(type.getEncoding()) && type.getElementTypeBitWidth() == 32 &&
         buffer.getArgNumber() >= kernel.getNumDims() &&
         kernel.getArgKind(buffer.getArgNumber() - kernel.getNumDims()) == mk::ArgKind::Scratch &&
         memory.hasStaticShape() && !mk::isSymmetric(memory);
}

/// Why the copy engine cannot store the tile; empty if it can.
static std::string findObstacle(mk::StoreOp store, RankedTensorType type) {
  Attribute layout = type.getEncoding();
  mk::SmAttr sm = mk::getSm(store);
  int64_t bits = type.getElementTypeBitWidth(), rank = sm.getTensorMaps().getRank();
  bool isMatrix = type.getRank() == 2 && isa<MmaAttr, TransposedAttr>(layout);
  bool adds = store.getReduction().has_value();
  bool inChunks = isMatrix && canStoreInChunks(type, adds, sm.getChunk());
  if (isa<TransposedAttr>(layout) && !inChunks)
    return "transposed tiles leave through shared memory where their elements have 16 bits, and "
           "their rows are at most 64 or a multiple of 64";
  if (!isMatrix)
    return "its tile has not the layout of accumulators";
  if (!isa<FloatType>(type.getElementType()) || (bits != 16 && bits != 32))
    return "its elements are no floating-point numbers of 16 or 32 bits, which shared memory takes "
           "in order";
  if (!inChunks)
    return llvm::formatv("its {0} columns {1} no multiple of {2}", type.getDimSize(1),
                         adds ? "are added and" : "are", sm.getChunk() * 8 / bits);
  if (cast<MemRefType>(store.getDest().getType()).getRank() > rank)
    return llvm::formatv("the copy engine takes buffers of at most {0} dimensions", rank);
  return {};
}

static RankedTensorType getFragment(RolePlan &plan, mk::StoreOp store) {
  return withLayout(cast<RankedTensorType>(store.getTile().getType()),
                    plan.getLayout(store.getTile()));
}

bool mk_sm::isStagedStore(RolePlan &plan, mk::StoreOp store) {
  RankedTensorType type = getFragment(plan, store);
  return !fillsSectors(store, type) && findObstacle(store, type).empty();
}

void mk_sm::explainStore(RolePlan &plan, mk::StoreOp store) {
  RankedTensorType type = getFragment(plan, store);
  if (isStagedStore(plan, store))
    passed(store, kSplitRoles) << "leaves through shared memory and the copy engine";
  else if (plan.sites.empty())
    return;
  else if (fillsSectors(store, type))
    passed(store, kSplitRoles)
        << "is stored from registers: to scratch of known extents, in whole sectors";
  else
    missed(store, kSplitRoles) << "is stored from registers: " << findObstacle(store, type);
}
