//===- Dots.cpp - Which products are computed transposed ------------------===//
#include "mkernel/Analysis/Dots.h"

using namespace mlir;
using namespace mlir::mk;

RankedTensorType mk::getWrittenType(Operation *scope, RankedTensorType tile) {
  bool isSwapped = false, isAsWritten = false;
  scope->walk([&](DotOp dot) {
    if (cast<RankedTensorType>(dot.getType()).getShape() == tile.getShape())
      (dot.getSwapped() ? isSwapped : isAsWritten) = true;
  });
  if (!isSwapped || isAsWritten)
    return tile;
  return RankedTensorType::get({tile.getDimSize(1), tile.getDimSize(0)}, tile.getElementType());
}
