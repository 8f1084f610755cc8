//===- SliceEpilogue.cpp - Parts of a fold, and of what follows -----------===//
#include "SliceEpilogue.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;

RankedTensorType mk::cutTile(Type type, int64_t axis, int64_t extent) {
  auto tile = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tile.getShape());
  shape[axis] = extent;
  return RankedTensorType::get(shape, tile.getElementType(), tile.getEncoding());
}

FoldOp mk::cloneSteps(OpBuilder &b, FoldOp fold, IRMapping &mapping, Value from, Value to) {
  IndexMath m{b, fold.getLoc()};
  Value count = m.sub(to, from);
  auto part = cast<FoldOp>(m.b.clone(*fold, mapping));
  part.getCountMutable().assign(count);
  m.b.setInsertionPointToStart(&part.getBody().front());
  BlockArgument step = part.getBody().getArgument(0);
  Value shifted = m.add(from, step);
  step.replaceAllUsesExcept(shifted, shifted.getDefiningOp());
  return part;
}

/// A tile of one value, with other extents.
static Value remake(OpBuilder &b, Location loc, Value tile, const IRMapping &mapping, int64_t axis,
                    int64_t extent) {
  RankedTensorType type = cutTile(tile.getType(), axis, extent);
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(b, loc, mapping.lookupOrDefault(splat.getInput()), type);
  SplatElementsAttr value;
  matchPattern(tile, m_Constant(&value));
  return arith::ConstantOp::create(b, loc, value.resizeSplat(type));
}

/// The tile begins `row` elements further along `axis`.
template <typename Op>
static void advance(OpBuilder &b, Op access, Value row, int64_t rank, int64_t axis) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(access);
  MutableOperandRange offsets = access.getOffsetsMutable();
  int64_t at = static_cast<int64_t>(offsets.size()) - rank + axis;
  Value moved = arith::AddIOp::create(b, access.getLoc(), access.getOffsets()[at], row);
  offsets[at].set(moved);
}

void mk::cloneSlice(OpBuilder &b, FoldOp fold, const FoldSlices &slices, IRMapping mapping,
                    ValueRange sums, Value row, int64_t extent) {
  mapping.map(fold.getResults(), sums);
  for (Operation *op = fold->getNextNode(); op; op = op->getNextNode()) {
    auto axis = op->getNumResults() == 1 ? slices.getAxis(op->getResult(0)) : std::nullopt;
    IRMapping operands = mapping;
    if (axis)
      if (auto before = FoldSlices::getAxisBefore(op, *axis))
        for (Value operand : op->getOperands())
          if (isTile(operand.getType()) && FoldSlices::isUniform(operand))
            operands.map(operand, remake(b, op->getLoc(), operand, mapping, *before, extent));
    Operation *cloned = b.clone(*op, operands);
    mapping.map(op->getResults(), cloned->getResults());
    if (axis)
      cloned->getResult(0).setType(cutTile(op->getResult(0).getType(), *axis, extent));
    if (auto load = dyn_cast<LoadOp>(cloned); load && axis && load.getRows() && *axis == 0) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(load);
      load.getRowsAtMutable().assign(
          arith::AddIOp::create(b, op->getLoc(), load.getRowsAt(), row).getResult());
    } else if (load && axis)
      advance(b, load, row, cast<RankedTensorType>(load.getType()).getRank(), *axis);
    if (auto store = dyn_cast<StoreOp>(cloned)) {
      Value tile = cast<StoreOp>(op).getTile();
      advance(b, store, row, cast<RankedTensorType>(tile.getType()).getRank(),
              *slices.getAxis(tile));
    }
  }
}
