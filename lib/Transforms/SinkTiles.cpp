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

/// Vectors, and what all threads compute together, stand once at the start of a role; matrices take
/// registers, and stand where they are used.
static bool isOfRole(Operation &op) {
  return cast<RankedTensorType>(op.getResult(0).getType()).getRank() <= 1 || isa<ReduceOp>(op);
}

void mk::sinkTiles(KernelOp kernel) {
  // Users first: what they are computed from is used in the role then.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front()))) {
    if (!isSunk(op))
      continue;
    llvm::SmallDenseMap<Operation *, Operation *> clones; // by role or user
    for (OpOperand &use : llvm::make_early_inc_range(op.getUses())) {
      Operation *user = use.getOwner();
      Operation *role = kernel.getBody().front().findAncestorOpInBlock(*user);
      if (!isa<RoleOp, PrepareOp>(role))
        continue;
      Operation *&clone = clones[isOfRole(op) ? role : user];
      if (!clone) {
        OpBuilder b(user);
        if (isOfRole(op))
          b.setInsertionPointToStart(&role->getRegion(0).front());
        clone = b.clone(op);
      }
      use.set(clone->getResult(0));
    }
    if (op.use_empty())
      op.erase();
  }
}
