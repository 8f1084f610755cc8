//===- Spread.cpp - Tiles that are made of few values ---------------------===//
#include "mkernel/Analysis/Spread.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

bool mk::isSpread(Value tile, llvm::function_ref<bool(Value)> isKnown) {
  Operation *op = tile.getDefiningOp();
  auto areSpread = [&](ValueRange tiles) {
    return llvm::all_of(tiles, [&](Value tile) { return isSpread(tile, isKnown); });
  };
  if (isa_and_nonnull<arith::SelectOp>(op))
    return isa<RankedTensorType>(op->getOperand(0).getType()) && areSpread(op->getOperands());
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op))
    return areSpread(transpose.getSource());
  if (auto mask = dyn_cast_or_null<MaskOp>(op))
    return areSpread(mask.getSource()) && llvm::all_of(mask.getSymbols(), isKnown);
  DenseElementsAttr elements;
  return isa_and_nonnull<tensor::SplatOp, BroadcastOp>(op) ||
         (op && matchPattern(tile, m_Constant(&elements)) && elements.isSplat());
}

bool mk::isSpread(Value tile) {
  return isSpread(tile, [](Value value) { return matchPattern(value, m_Constant()); });
}
