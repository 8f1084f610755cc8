//===- LayOutShared.cpp - Where everything lies in shared memory ----------===//
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/SM/Variants.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mkernel/Transforms/SM/Passes.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace mlir::mk_sm {
#define GEN_PASS_DEF_LAYOUTSHAREDPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

using namespace mlir;
using namespace mlir::mk_sm;

static LogicalResult verifyRing(CreateRingOp ring) {
  int64_t period = mk::getSm(ring).getSwizzleRows();
  RingType type = ring.getResult().getType();
  if (!type.hasDepth())
    return ring.emitOpError()
           << "declares a ring of unknown depth; mk-sm-size-rings chooses it, or write a number";
  for (Type tile : type.getTiles())
    if (int64_t rows = cast<RankedTensorType>(tile).getShape().end()[-2]; rows % period)
      return ring.emitOpError() << "stages " << tile << ", whose rows are no multiple of " << period
                                << ", the rows of the swizzle's period; the next are "
                                << llvm::alignTo(rows, period);
  return success();
}

/// "ring 0 " of its role, for one; empty for roles and kernels.
static std::string describe(Operation *owner) {
  if (isa<CreateStagingOp>(owner))
    return "staging ";
  if (!isa<CreateRingOp, CreateMailboxOp>(owner))
    return "";
  auto number = llvm::count_if(*owner->getBlock(), [&](Operation &op) {
    return op.getName() == owner->getName() && op.isBeforeInBlock(owner);
  });
  return (isa<CreateRingOp>(owner) ? "ring " : "mailbox ") + std::to_string(number) + " ";
}

static std::string describe(Operation *owner, const SharedPiece &piece) {
  return describe(owner) +
         llvm::formatv("{0} {1} x {2}", piece.name, piece.count, piece.bytes).str();
}

static Operation *getScope(Operation *owner) {
  return isa<mk::RoleOp, mk::PrepareOp>(owner) ? owner : owner->getParentOp();
}

/// Prints what lies where, in this order.
static void printMap(mk::KernelOp kernel, SharedMemoryOp memory) {
  llvm::errs() << llvm::formatv("kernel '{0}': {1} of {2} bytes of shared memory\n"
                                "  offset   bytes  align  what\n",
                                kernel.getSymName(), memory.getBytes(),
                                mk::getSm(kernel).getShared());
  std::multimap<int64_t, std::string> lines;
  for (Operation *owner : getSharedOwners(kernel))
    for (const SharedPiece &piece : getSharedPieces(owner)) {
      int64_t offset = getSharedOffset(owner, piece.name);
      std::string scope = owner == memory ? "" : describeScope(getScope(owner)) + ": ";
      lines.emplace(offset, llvm::formatv("{0,8}{1,8}{2,7}  {3}{4}\n", offset, piece.getBytes(),
                                          piece.alignment, scope, describe(owner, piece)));
    }
  for (auto &[offset, line] : lines)
    llvm::errs() << line;
}

/// Each role that has pieces of its own gets an op that owns them.
static void addScratch(mk::KernelOp kernel, OpBuilder &b) {
  for (Operation *owner : getSharedOwners(kernel)) {
    if (!isa<mk::RoleOp, mk::PrepareOp>(owner) || getSharedPieces(owner).empty())
      continue;
    Block &body = owner->getRegion(0).front();
    b.setInsertionPoint(&body, llvm::find_if(body, llvm::IsaPred<PartitionOp>));
    CreateScratchOp::create(b, owner->getLoc(), /*offsets=*/DictionaryAttr());
  }
}

namespace {
struct LayOutSharedPass : mk_sm::impl::LayOutSharedPassBase<LayOutSharedPass> {
  using LayOutSharedPassBase::LayOutSharedPassBase;

  LogicalResult refuse(mk::KernelOp kernel, Operation *largest, int64_t bytes, int64_t tiles) {
    InFlightDiagnostic diag = kernel.emitOpError();
    diag << "needs " << bytes << " bytes of shared memory (" << bytes - tiles
         << " of barriers, and of " << describeScope(largest) << ": ";
    bool isFirst = true;
    for (Operation *owner : getSharedOwners(kernel))
      for (const SharedPiece &piece : getSharedPieces(owner))
        if (piece.ofRole && getScope(owner) == largest) {
          diag << (isFirst ? "" : ", ") << describe(owner, piece);
          isFirst = false;
        }
    mk::TargetAttr target = mk::getSmTarget(kernel);
    return diag << "); " << target.getName() << " has " << target.getSm().getShared()
                << ": use fewer slots or smaller tiles";
  }

  LogicalResult layOut(mk::KernelOp kernel, SharedMemoryOp memory) {
    OpBuilder b(&getContext());
    addScratch(kernel, b);
    SmallVector<Operation *> owners = getSharedOwners(kernel);
    SmallVector<NamedAttrList> offsets(owners.size());
    DenseMap<Operation *, int64_t> ends; // of the tiles of a role
    Operation *largest = getScope(owners.front());
    int64_t tiles = 0, bytes = 0;
    for (bool ofRole : {true, false}) {
      for (auto [owner, placed] : llvm::zip_equal(owners, offsets))
        for (const SharedPiece &piece : getSharedPieces(owner)) {
          if (piece.ofRole != ofRole)
            continue;
          int64_t &end = ofRole ? ends[getScope(owner)] : bytes;
          int64_t begin = llvm::alignTo(end, piece.alignment);
          placed.set(piece.name, b.getI64IntegerAttr(begin));
          end = begin + piece.getBytes();
          if (ofRole && end > tiles)
            tiles = end, largest = getScope(owner);
        }
      bytes = std::max(bytes, tiles);
    }
    if (bytes > mk::getSm(kernel).getShared())
      return refuse(kernel, largest, bytes, tiles);
    for (auto [owner, placed] : llvm::zip_equal(owners, offsets))
      if (auto laidOut = dyn_cast<SharedOwner>(owner))
        laidOut.setOffsetsAttr(placed.getDictionary(&getContext()));
    memory.setBytes(bytes);
    return success();
  }

  LogicalResult visit(mk::KernelOp kernel) {
    uint64_t tracks = timeline ? mk_thread::kTrackBytes * (mk_thread::kMaxTracks + 1) : 0;
    auto laidOut = kernel.getBody().getOps<SharedMemoryOp>();
    SharedMemoryOp memory = laidOut.empty() ? SharedMemoryOp() : *laidOut.begin();
    bool byThreads = variant == mk::kAnyStrides.name;
    if (!byThreads && variant != mk::kTensorMaps.name)
      return kernel.emitError() << "there is no variant '" << variant << "'; use "
                                << mk::kTensorMaps.name << " or " << mk::kAnyStrides.name;
    if (!memory || memory.getTracks() != tracks || memory.getCopiers() != byThreads) {
      auto checkRing = [](CreateRingOp ring) -> WalkResult { return verifyRing(ring); };
      if (kernel.walk(checkRing).wasInterrupted())
        return failure();
      if (memory)
        memory.erase();
      auto b = OpBuilder::atBlockEnd(&kernel.getBody().front());
      memory = SharedMemoryOp::create(b, kernel.getLoc(), /*bytes=*/0, tracks, byThreads,
                                      /*offsets=*/DictionaryAttr());
      if (failed(layOut(kernel, memory)))
        return failure();
    }
    if (map)
      printMap(kernel, memory);
    return success();
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<mk::KernelOp>())
      if (failed(visit(kernel)))
        return signalPassFailure();
  }
};
} // namespace
