//===- TileTileOps.cpp - Syntax and effects of tile ops -------------------===//
#include "TileDirectives.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileTileOps.cpp.inc"

void MkDialect::registerTileOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileTileOps.cpp.inc"
      >();
}

void StoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDestMutable());
  if (getReduction())
    effects.emplace_back(MemoryEffects::Read::get(), &getDestMutable());
  // A signal publishes every earlier access of the CTA: nothing may move
  // across it, whatever buffer it touches.
  if (getSignal()) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  auto back = getSource().getDefiningOp<TransposeOp>();
  return back && back.getSource().getType() == getType() ? back.getSource() : Value();
}
