//===- ReverseFolds.cpp - Every second item walks its folds backwards -----===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kReverseFolds = "mk-sm-reverse-folds";

/// Whether an iteration of the loop does nothing but load and compute.
static bool onlyLoads(mk::FoldOp fold) {
  return !holdsAny(fold, [&](Operation *op) {
    return op != fold && !isa<mk::LoadOp>(op) &&
           !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(op);
  });
}

static void reverseInOddItems(mk::FoldOp fold, ItemsOp items) {
  mk::IndexMath m{OpBuilder(fold), fold.getLoc()};
  Value odd = m.make<arith::AndIOp>(items.getRound(), m.index(1));
  // k, or count - 1 - k.
  Value last = m.sub(fold.getCount(), m.index(1));
  Value first = m.mul(odd, last);
  Value step = m.sub(m.index(1), m.mul(odd, m.index(2)));
  m.b.setInsertionPointToStart(&fold.getBody().front());
  Value k = fold.getBody().getArgument(0);
  Value scaled = m.mul(k, step);
  Value walked = m.add(first, scaled);
  k.replaceAllUsesExcept(walked, scaled.getDefiningOp());
}

void mk_sm::reverseFolds(mk::FoldOp fold) {
  // A function puts a left part and a right one together, a reduction any two.
  auto items = fold->getParentOfType<ItemsOp>();
  if (!items) {
    missed(fold, kReverseFolds)
        << "stands in no loop over items in static order, so nobody knows which panels the item "
           "before left in the cache: schedule(static) has it, and suits items that take equally "
           "long";
  } else if (!isa_and_nonnull<mk::ReductionAttr>(fold.getCombineAttr())) {
    missed(fold, kReverseFolds)
        << "has parts in a fixed order: say by which reduction they combine (combine)";
  } else if (!onlyLoads(fold)) {
    missed(fold, kReverseFolds)
        << "does more in an iteration than load and compute: do the rest in "
           "front of it or behind";
  } else {
    passed(fold, kReverseFolds) << "is walked from its end in every second item";
    reverseInOddItems(fold, items);
  }
}
