//===- ReverseFolds.cpp - Every second item walks its folds backwards -----===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kReverseFolds = "mk-sm-reverse-folds";

/// Whether an iteration of the loop does nothing but load and compute.
static bool onlyLoads(mk::FoldOp fold) {
  return !fold
              .walk([&](Operation *op) {
                bool harmless = op == fold || isa<mk::LoadOp>(op) ||
                                op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                                isMemoryEffectFree(op);
                return harmless ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

static void reverseInOddItems(mk::FoldOp fold, ItemsOp items) {
  Location loc = fold.getLoc();
  OpBuilder b(fold);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value odd = arith::AndIOp::create(b, loc, items.getRound(), index(1));
  // k, or count - 1 - k.
  Value last = arith::SubIOp::create(b, loc, fold.getCount(), index(1));
  Value first = arith::MulIOp::create(b, loc, odd, last);
  Value step =
      arith::SubIOp::create(b, loc, index(1), arith::MulIOp::create(b, loc, odd, index(2)));
  b.setInsertionPointToStart(&fold.getBody().front());
  Value k = fold.getBody().getArgument(0);
  auto scaled = arith::MulIOp::create(b, loc, k, step);
  Value walked = arith::AddIOp::create(b, loc, first, scaled);
  k.replaceAllUsesExcept(walked, scaled);
}

void mk_sm::reverseFolds(mk::FoldOp fold) {
  // A function puts a left part and a right one together, a reduction any two.
  auto items = fold->getParentOfType<ItemsOp>();
  if (!items) {
    missed(fold, kReverseFolds) << "stands in no loop over items in static order, so nobody "
                                   "knows which panels the item before left in the cache";
  } else if (!isa_and_nonnull<mk::ReductionAttr>(fold.getCombineAttr())) {
    missed(fold, kReverseFolds) << "has parts in a fixed order: say by which reduction they "
                                   "combine (combine)";
  } else if (!onlyLoads(fold)) {
    missed(fold, kReverseFolds) << "does more in an iteration than load and compute";
  } else {
    passed(fold, kReverseFolds) << "is walked from its end in every second item";
    reverseInOddItems(fold, items);
  }
}
