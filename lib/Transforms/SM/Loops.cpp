//===- Loops.cpp - What the SM level's passes ask of loops ----------------===//
#include "Loops.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_sm;

SmallVector<scf::ForOp> mk_sm::getDotLoops(ModuleOp module) {
  SmallVector<scf::ForOp> loops;
  module.walk([&](scf::ForOp loop) {
    auto partition = loop->getParentOfType<PartitionOp>();
    if (!partition || partition.getKind() != PartitionKind::Consumer)
      return;
    bool dots = false, nested = false;
    for (Operation &op : *loop.getBody()) {
      dots |= isa<MmaOp>(op);
      op.walk([&](Operation *inner) {
        nested |= isa<LoopLikeOpInterface>(inner) ||
                  (isa<MmaOp>(inner) && inner != &op);
      });
    }
    if (dots && !nested)
      loops.push_back(loop);
  });
  return loops;
}

bool mk_sm::isZero(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         isa<FloatType>(elements.getElementType()) &&
         elements.getSplatValue<APFloat>().isPosZero();
}

Value mk_sm::skipFence(Value value) {
  if (auto fence = value.getDefiningOp<MmaFenceOp>())
    return fence.getFragments()[cast<OpResult>(value).getResultNumber()];
  return value;
}

MmaWaitOp mk_sm::getFullWait(Value value, unsigned &result) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  auto wait = dyn_cast<MmaWaitOp>(use.getOwner());
  if (!wait || wait.getPending() != 0 ||
      wait->getBlock() != value.getParentBlock())
    return {};
  result = use.getOperandNumber();
  return wait;
}
