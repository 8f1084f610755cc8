//===- ReverseFolds.cpp - Every second item walks its folds backwards -----===//
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/SM/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::mk_sm {
#define GEN_PASS_DEF_REVERSEFOLDSPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

using namespace mlir;
using namespace mlir::mk_sm;

/// Whether an iteration of the loop does nothing but load and compute.
static bool onlyLoads(scf::ForOp loop) {
  return !loop
              .walk([&](Operation *op) {
                bool harmless = op == loop || isa<mk::LoadOp>(op) ||
                                op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                                isMemoryEffectFree(op);
                return harmless ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The loop over its CTA's items that `loop` stands in.
static scf::ForOp getItemLoop(scf::ForOp loop) {
  for (auto outer = loop->getParentOfType<scf::ForOp>(); outer;
       outer = outer->getParentOfType<scf::ForOp>())
    if (outer.getLowerBound().getDefiningOp<CtaIndexOp>())
      return outer;
  return {};
}

static void reverseInOddItems(scf::ForOp loop, scf::ForOp items) {
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // The first item's number is below the step.
  Value number =
      arith::DivUIOp::create(b, loc, items.getInductionVar(), items.getStep());
  Value odd = arith::AndIOp::create(b, loc, number, index(1));
  // k, or count - 1 - k.
  Value last = arith::SubIOp::create(b, loc, loop.getUpperBound(), index(1));
  Value first = arith::MulIOp::create(b, loc, odd, last);
  Value step =
      arith::SubIOp::create(b, loc, index(1), arith::MulIOp::create(b, loc, odd, index(2)));
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  auto scaled = arith::MulIOp::create(b, loc, k, step);
  Value walked = arith::AddIOp::create(b, loc, first, scaled);
  k.replaceAllUsesExcept(walked, scaled);
}

namespace {
struct ReverseFoldsPass : mk_sm::impl::ReverseFoldsPassBase<ReverseFoldsPass> {
  using ReverseFoldsPassBase::ReverseFoldsPassBase;

  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      if (!loop->removeAttr(kAnyOrderAttr))
        return;
      scf::ForOp items = getItemLoop(loop);
      if (items && onlyLoads(loop))
        reverseInOddItems(loop, items);
    });
  }
};
} // namespace
