//===- Packing.cpp - Arguments that may be copied in front of a launch ----===//
#include "mkernel/Analysis/Packing.h"

#include "SMChannels.h"
#include "mkernel/Analysis/Resources.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::mk;

/// Whether a number may follow from what memory holds.
static bool followsFromMemory(ValueRange numbers) {
  SmallVector<Value> open(numbers);
  llvm::SmallPtrSet<Value, 16> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op)
      op = cast<BlockArgument>(value).getOwner()->getParentOp();
    if (isa<KernelOp>(op))
      continue;
    bool reads = op->getNumRegions() == 0 && hasEffect<MemoryEffects::Read>(op) &&
                 llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
    if (reads || isa<CallOpInterface>(op))
      return true;
    llvm::append_range(open, op->getOperands());
    // What a loop carries may come from the end of the turn before: not the tiles beside its
    // indices.
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
          llvm::append_range(open,
                             llvm::make_filter_range(block.back().getOperands(), [&](Value end) {
                               return end.getType() == value.getType();
                             }));
  }
  return false;
}

bool mk::mayPack(KernelOp kernel, unsigned arg) {
  BlockArgument buffer = kernel.getKernelArg(arg);
  return isNeverWritten(buffer) && !isSymmetric(buffer.getType()) &&
         llvm::all_of(buffer.getUsers(), [&](Operation *user) {
           if (auto load = dyn_cast<LoadOp>(user))
             return !load.getRows() && !followsFromMemory(load.getOffsets());
           if (auto copy = dyn_cast<mk_sm::CopyOp>(user))
             return !copy.getRows() && !followsFromMemory(copy.getOffsets());
           return isa<memref::DimOp>(user);
         });
}
