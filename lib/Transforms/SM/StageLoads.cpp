//===- StageLoads.cpp - Tiles that threads work on come as those of products do ---===//
//
// What is added to a product when it is there, as a residual or the sums of other ranks, is loaded
// by the threads that add it, who have nothing else to do while they wait for memory. The copy
// engine can bring it ahead, through slots that the products leave free. So it can what each
// iteration of a loop works on, as rows that are normalized in front of a product.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Multiples.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kStageLoads = "mk-sm-stage-loads";

static bool multiplies(Operation *op) { return mk::holds<mk::DotOp>(op); }

/// Whether products come in front of the load in its item, and no other loop holds both.
static bool isBehindProducts(mk::LoadOp load) {
  bool behind = false;
  for (Operation *op = load; !isa<mk::RoleOp>(op->getParentOp()); op = op->getParentOp()) {
    if (isa<mk::PrepareOp>(op) || (isa<LoopLikeOpInterface>(op) && multiplies(op)))
      return false;
    for (Operation *before = op->getPrevNode(); before && !behind; before = before->getPrevNode())
      behind = multiplies(before);
  }
  return behind;
}

/// Whether each iteration of a loop loads a tile of its own, in a role that multiplies.
static bool isLoadedInTurn(mk::LoadOp load) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  auto isFixed = [&](Value offset) { return loop.isDefinedOutsideOfLoop(offset); };
  return loop && !llvm::all_of(load.getOffsets(), isFixed) &&
         multiplies(load->getParentOfType<mk::RoleOp>());
}

/// Whether the copy engine can bring the tile: rows in chunks, from columns that it takes.
static bool isCopied(mk::LoadOp load) {
  mk::SmAttr sm = mk::getSm(load);
  auto tile = cast<RankedTensorType>(load.getType());
  auto source = cast<MemRefType>(load.getSource().getType());
  int64_t bits = tile.getElementTypeBitWidth();
  return (bits == 8 || bits == 16 || bits == 32) && !load.getPad() && !load.getRows() &&
         tile.getDimSize(0) % sm.getMatrixUnit().getRows() == 0 &&
         fillsChunks(tile, sm.getChunk()) && source.getRank() >= 2 &&
         source.getRank() <= int64_t(sm.getTensorMaps().getRank()) &&
         mk::isEngineColumn(load.getOffsets().back(), bits / 8);
}

/// Whether the op writes at other ranks alone, as far as is known, and the role of the load waits
/// in front of it for the signal behind what is written.
static bool isAnnounced(Operation *op, mk::LoadOp load) {
  auto store = dyn_cast<mk::StoreOp>(op);
  auto put = dyn_cast<mk::PutOp>(op);
  Value signal = put ? put.getSignal() : store && store.getPeer() ? store.getSignal() : Value();
  bool isBefore = true;
  return signal && mk::holdsAny(load->getParentOfType<mk::RoleOp>(), [&](Operation *other) {
           isBefore &= other != load;
           auto wait = dyn_cast<mk::WaitOp>(other);
           return wait && isBefore && wait.getSignal() == signal;
         });
}

/// Whether what the producer reads ahead is what the item would read. What other roles and ranks
/// write an item waits for, and so does the producer; what its own CTA has written, in this role or
/// one that the CTA had before, it just reads.
static bool mayBeRead(mk::LoadOp load, const mk::KernelResources &resources) {
  auto kernel = load->getParentOfType<mk::KernelOp>();
  if (mk::getPossibleArgs(kernel, load.getSource()).empty())
    return false;
  auto writes = [&](Operation *op) {
    Value written = mk::getWritten(op);
    return written && mk::mayBeSame(kernel, load.getSource(), written) && !isAnnounced(op, load);
  };
  unsigned own = *resources.indexOf(load->getParentOfType<mk::RoleOp>());
  return llvm::none_of(resources.roles, [&](mk::RoleOp role) {
    unsigned number = *resources.indexOf(role);
    return (number == own || llvm::is_contained(resources.getChain(number), own)) &&
           mk::holdsAny(role, writes);
  });
}

/// Marks the load if the producer may bring its tile.
static void stageLoad(mk::LoadOp load, const mk::KernelResources &resources) {
  auto isElementwise = [](Operation *op) {
    return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1;
  };
  auto isMultiplied = [](OpOperand &use) {
    return isa<mk::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
  };
  auto tile = cast<RankedTensorType>(load.getType());
  if (!load->getParentOfType<mk::RoleOp>() || load.getStaged() || load->use_empty() ||
      tile.getRank() != 2 || !tile.getElementType().isIntOrFloat() ||
      llvm::all_of(load->getUses(), isMultiplied))
    return;
  bool isBehind = isBehindProducts(load);
  if (!isBehind && !isLoadedInTurn(load))
    return;
  bool isTaken = llvm::all_of(load->getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    return isElementwise(op) || (!isBehind && (isa<mk::ReduceOp>(op) || isMultiplied(use)));
  });
  if (!isTaken) {
    missed(load, kStageLoads) << "is loaded by those who use it, since an op takes more of it than "
                                 "the elements that each thread has";
    return;
  }
  if (!isCopied(load)) {
    mk::SmAttr sm = mk::getSm(load);
    missed(load, kStageLoads) << remark::add(
        "is loaded by those who use it, since the copy engine does not take it: it brings tiles of "
        "{0} rows and {1} bytes, or multiples of them (or rows of {3} to {1} bytes), from columns "
        "that are multiples of {2} bytes",
        sm.getMatrixUnit().getRows(), sm.getChunk(), mk::kEngineBytes, sm.getChunk() / 2);
    return;
  }
  if (!load.getOwn() && !mayBeRead(load, resources)) {
    missed(load, kStageLoads) << "is loaded by those who use it, since this rank writes where it "
                                 "is, and the producer would read it ahead";
    return;
  }
  load.setStaged(true);
  passed(load, kStageLoads) << "may come ahead, by the copy engine";
}

void mk_sm::stageLoads(mk::KernelOp kernel, const mk::KernelResources &resources) {
  kernel.walk([&](mk::LoadOp load) { stageLoad(load, resources); });
}
