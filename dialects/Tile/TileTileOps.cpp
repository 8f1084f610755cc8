//===- TileTileOps.cpp - Syntax and effects of tile ops -------------------===//
#include "TileDirectives.h"
#include "mkernel/Dialect/Tile/Buffers.h"

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

/// The least and the largest value of an expression over all elements of a tile; null if that is
/// not known.
static std::pair<std::optional<int64_t>, std::optional<int64_t>>
getBounds(AffineExpr expr, ArrayRef<int64_t> shape, ArrayRef<Attribute> symbols) {
  SmallVector<std::optional<int64_t>> least(shape.size(), 0), most;
  for (int64_t extent : shape)
    most.push_back(extent - 1);
  for (Attribute symbol : symbols) {
    auto number = dyn_cast_or_null<IntegerAttr>(symbol);
    if (!number)
      return {};
    least.push_back(number.getInt());
    most.push_back(number.getInt());
  }
  auto bound = [&](bool isUpper) {
    return getBoundForAffineExpr(expr, shape.size(), symbols.size(), least, most, isUpper);
  };
  return {bound(false), bound(true)};
}

OpFoldResult MaskOp::fold(FoldAdaptor adaptor) {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return {};
  IntegerSet set = getSet();
  for (unsigned i = 0; i != set.getNumConstraints(); ++i) {
    auto [least, most] = getBounds(set.getConstraint(i), type.getShape(), adaptor.getSymbols());
    if (!least || *least < 0 || (set.isEq(i) && most != 0))
      return {};
  }
  return getSource();
}

bool mk::hasVisibleEffect(Operation *op) {
  return op->hasTrait<VisibleEffect>() || isa<memref::StoreOp>(op);
}

bool mk::isNeverWritten(Value buffer) {
  if (auto choice = buffer.getDefiningOp<SelectOp>())
    return isNeverWritten(choice.getTrueValue()) && isNeverWritten(choice.getFalseValue());
  auto arg = dyn_cast<BlockArgument>(buffer);
  auto kernel = arg ? dyn_cast<KernelOp>(arg.getOwner()->getParentOp()) : KernelOp();
  return kernel && arg.getArgNumber() >= kernel.getNumDims() &&
         kernel.getArgKind(arg.getArgNumber() - kernel.getNumDims()) == ArgKind::In;
}

bool mk::readsNeverWritten(LoadOp load) {
  return isNeverWritten(load.getSource()) && (!load.getRows() || isNeverWritten(load.getRows()));
}
