//===- SinkTiles.cpp - Tiles that roles have in common --------------------===//
#include "Functions.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk;

/// Tiles whose elements are all alike no thread has to hold, wherever they stand.
static bool isSunk(Operation &op) {
  return !op.getNumRegions() && op.getNumResults() == 1 &&
         isa<RankedTensorType>(op.getResult(0).getType()) && isMemoryEffectFree(&op) &&
         !op.hasTrait<OpTrait::ConstantLike>() && !isa<tensor::SplatOp, tensor::EmptyOp>(op);
}

/// Vectors, and what all threads compute together, once, at the start of a role; matrices where
/// they are used, since they take registers until then.
static Operation *findPlace(Operation *op, RoleOp role, Operation *user) {
  bool isLarge = cast<RankedTensorType>(op->getResult(0).getType()).getRank() > 1;
  return isLarge && !isa<ReduceOp>(op) ? user : &role.getBody().front().front();
}

void mk::sinkTiles(KernelOp kernel) {
  // Users first: what they are computed from is used in the role then.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front()))) {
    if (!isSunk(op))
      continue;
    llvm::SmallMapVector<Operation *, Operation *, 4>
        clones; // by the op in front of which they stand
    for (OpOperand &use : llvm::make_early_inc_range(op.getUses())) {
      auto role = use.getOwner()->getParentOfType<RoleOp>();
      if (!role)
        continue;
      Operation *place = findPlace(&op, role, use.getOwner());
      Operation *&clone = clones[place];
      if (!clone) {
        OpBuilder b(place);
        clone = b.clone(op);
      }
      use.set(clone->getResult(0));
    }
    if (op.use_empty())
      op.erase();
  }
}
