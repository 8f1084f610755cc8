//===- DropGuesses.cpp - What mk.likely guesses has been used -------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::mk {
#define GEN_PASS_DEF_DROPGUESSESPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct DropGuessesPass : mk::impl::DropGuessesPassBase<DropGuessesPass> {
  void runOnOperation() override {
    SmallVector<LikelyOp> guesses;
    getOperation().walk([&](LikelyOp op) { guesses.push_back(op); });
    SetVector<Operation *> unused;
    for (LikelyOp op : guesses) {
      if (op.getValue() == op.getResult())
        continue; // in a block that nothing reaches
      if (Operation *computed = op.getUsual().getDefiningOp())
        unused.insert(computed);
      op.replaceAllUsesWith(op.getValue());
      unused.remove(op);
      op.erase();
    }
    // What only guesses were computed from: it may wrap where nothing else does.
    while (!unused.empty()) {
      Operation *op = unused.pop_back_val();
      if (!isOpTriviallyDead(op))
        continue;
      for (Value operand : getInputs(op))
        if (Operation *computed = operand.getDefiningOp())
          unused.insert(computed);
      op->erase();
    }
  }
};
} // namespace
