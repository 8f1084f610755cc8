//===- TileVerifyTiles.cpp - Verifiers of tile ops ------------------------===//
#include "TileVerify.h"

using namespace mlir;
using namespace mlir::mk;

static RankedTensorType tileType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// An extent of a tile: an integer, or the name of the parameter it is.
using Extent = Attribute;

static SmallVector<Extent> getExtents(RankedTensorType tile) {
  SmallVector<Extent> extents;
  unsigned open = 0;
  for (int64_t size : tile.getShape()) {
    if (ShapedType::isDynamic(size))
      extents.push_back(cast<ExtentsAttr>(tile.getEncoding()).getNames()[open++]);
    else
      extents.push_back(Builder(tile.getContext()).getIndexAttr(size));
  }
  return extents;
}

static RankedTensorType getTile(ArrayRef<Extent> extents, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> names;
  for (Extent extent : extents) {
    auto name = dyn_cast<StringAttr>(extent);
    if (name)
      names.push_back(name);
    shape.push_back(name ? ShapedType::kDynamic : cast<IntegerAttr>(extent).getInt());
  }
  Attribute encoding;
  if (!names.empty())
    encoding = ExtentsAttr::get(element.getContext(), names);
  return RankedTensorType::get(shape, element, encoding);
}

static std::string describe(Extent extent) {
  if (auto name = dyn_cast<StringAttr>(extent))
    return name.str();
  return std::to_string(cast<IntegerAttr>(extent).getInt());
}

LogicalResult mk::verifyAccess(Operation *op, Value buffer, ValueRange offsets, ValueRange valid,
                               RankedTensorType tile) {
  auto memref = cast<MemRefType>(buffer.getType());
  if (static_cast<int64_t>(offsets.size()) != memref.getRank())
    return op->emitOpError() << "has " << offsets.size() << " offsets into a buffer of rank "
                             << memref.getRank() << ": give one, in elements, for each dimension";
  if (tile.getRank() > memref.getRank())
    return op->emitOpError() << "has a tile of rank " << tile.getRank() << " and a buffer of rank "
                             << memref.getRank() << ": a tile covers the buffer's last dimensions";
  if (tile.getElementType() != memref.getElementType())
    return op->emitOpError() << "has a tile of " << tile.getElementType() << " and a buffer of "
                             << memref.getElementType() << ": convert the tile with arith";
  if (!valid.empty() && static_cast<int64_t>(valid.size()) != tile.getRank())
    return op->emitOpError() << "has " << valid.size() << " valid extents for a tile of rank "
                             << tile.getRank() << ": give one for each dimension";
  return success();
}

LogicalResult mk::verifyGather(Operation *op, Value rows, bool pads, RankedTensorType tile) {
  if (!rows)
    return success();
  if (tile.getRank() != 2)
    return op->emitOpError() << "gathers the rows of a tile of rank " << tile.getRank()
                             << ": a list names rows of tiles of two dimensions";
  if (pads)
    return op->emitOpError() << "has a pad, but gathered rows that do not exist are zero: leave "
                                "it out, and mask the tile";
  return success();
}

LogicalResult mk::verifyUnseen(Operation *op, std::optional<ArrayRef<int64_t>> unseen,
                               OperandRange offsets, RankedTensorType tile) {
  if (!unseen)
    return success();
  for (auto [i, d] : llvm::enumerate(*unseen))
    if (d < 0 || d >= tile.getRank() || (i && (*unseen)[i - 1] >= d))
      return op->emitOpError() << "has unseen [" << *unseen << "] for a tile of rank "
                               << tile.getRank()
                               << ": name dimensions of the tile, each once, in ascending order";
  for (int64_t d : *unseen)
    if (std::optional<int64_t> at =
            getConstantIntValue(offsets[offsets.size() - tile.getRank() + d]);
        at && *at < 0)
      return op->emitOpError() << "begins at " << *at << " along dimension " << d
                               << ", which is unseen: such a tile begins at 0 or behind it";
  return success();
}

Value LoadOp::getTileOffset(int64_t d) {
  return getOffsets()[getOffsets().size() - tileType(getTile()).getRank() + d];
}

LogicalResult LoadOp::verify() {
  RankedTensorType tile = tileType(getTile()), accessed = tile;
  if (getSpread() && (tile.getRank() != 2 || getRows() || getUnseen()))
    return emitOpError() << "is 'spread', which makes a tile of two dimensions of one row, but its "
                            "tile has rank "
                         << tile.getRank() << " or it has 'rows' or 'unseen': leave it out";
  if (getSpread())
    accessed = RankedTensorType::get(tile.getShape().drop_front(), tile.getElementType());
  if (failed(verifyAccess(*this, getSource(), getOffsets(), getValid(), accessed)) ||
      failed(verifyGather(*this, getRows(), bool(getPad()), tile)) ||
      failed(verifyUnseen(*this, getUnseen(), getOffsets(), tile)))
    return failure();
  if (getPad() && getPad().getType() != tile.getElementType())
    return emitOpError() << "pads a tile of " << tile.getElementType() << " with a value of type "
                         << getPad().getType();
  return success();
}

LogicalResult StoreOp::verify() {
  RankedTensorType tile = tileType(getTile());
  if (failed(verifyAccess(*this, getDest(), getOffsets(), getValid(), tile)) ||
      failed(verifyWritable(*this, getDest())) ||
      failed(verifyRemoteReduction(*this, getReduction(), tile.getElementType())) ||
      failed(verifyAttachedSignal(*this, getSignal(), getSignalIndex(), getStrong(),
                                  /*crosses=*/static_cast<bool>(getPeer()))))
    return failure();
  if (getPeer() && failed(verifySymmetric(*this, getDest().getType())))
    return failure();
  if (getInside() && int64_t(getOffsets().size()) == tile.getRank())
    return emitOpError() << "is 'inside', which is about indices in front of the tile's "
                            "dimensions, but has none: leave it out";
  // Without a peer it may stand in mk.prepare too.
  return getPeer() || getSignal() ? verifyInRole(*this) : success();
}

LogicalResult SelectOp::verify() {
  auto lhs = cast<MemRefType>(getTrueValue().getType());
  auto rhs = cast<MemRefType>(getFalseValue().getType());
  auto result = cast<MemRefType>(getType());
  for (MemRefType other : {rhs, result})
    if (lhs.getShape() != other.getShape() || lhs.getElementType() != other.getElementType() ||
        lhs.getLayout() != other.getLayout())
      return emitOpError() << "chooses between " << lhs << " and " << rhs << " for " << result
                           << ": only their memory space may differ";
  if (result.getMemorySpace())
    return emitOpError() << "gives a buffer in the default space, not " << result.getMemorySpace()
                         << ": which space it is depends on the condition";
  return success();
}

//===----------------------------------------------------------------------===//
// Dot
//===----------------------------------------------------------------------===//

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

static LogicalResult verifyOperandTypes(DotOp op, Type lhs, Type rhs) {
  for (auto [name, type] : {std::pair<StringRef, Type>("lhs", lhs), {"rhs", rhs}})
    if (!isa<FloatType>(type))
      return op.emitOpError()
             << "has an operand '" << name << "' of " << type
             << ", but products are of floats: convert it by arith.sitofp (a GPU takes no "
                "right operand that is computed: convert that one in memory, by "
                "another role)";
  bool known =
      isFloat8(lhs) ? isFloat8(rhs) : lhs == rhs && (lhs.isBF16() || lhs.isF16() || lhs.isF32());
  if (!known)
    return op.emitOpError()
           << "multiplies " << lhs << " by " << rhs
           << ": operands are both bf16, both f16, both f32 or both f8E4M3FN or f8E5M2";
  if (op.getPrecision() == Precision::TF32 && !lhs.isF32())
    return op.emitOpError() << "has precision tf32, which rounds f32 operands; these are " << lhs
                            << ": drop it";
  return success();
}

LogicalResult DotOp::verify() {
  auto lhs = tileType(getLhs()), rhs = tileType(getRhs()), acc = tileType(getAcc());
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || acc.getRank() != 2)
    return emitOpError() << "multiplies matrices, got " << lhs << ", " << rhs << " and " << acc;
  if (failed(verifyOperandTypes(*this, lhs.getElementType(), rhs.getElementType())))
    return failure();
  if (!acc.getElementType().isF32())
    return emitOpError() << "accumulates in f32, not in " << acc.getElementType()
                         << ": convert the result with arith.truncf";
  bool ta = getTransposeA(), tb = getTransposeB();
  SmallVector<Extent> left = getExtents(lhs), right = getExtents(rhs);
  Extent m = left[ta], lk = left[!ta], rk = right[tb], n = right[!tb];
  if (lk != rk)
    return emitOpError() << "has " << (ta ? "transposed " : "") << lhs << " by "
                         << (tb ? "transposed " : "") << rhs << ": K is " << describe(lk)
                         << " on the left and " << describe(rk)
                         << " on the right; is transpose_a or transpose_b missing or too much?";
  if (getExtents(acc) != ArrayRef{m, n})
    return emitOpError() << "makes " << describe(m) << " x " << describe(n) << " of "
                         << (ta ? "transposed " : "") << lhs << " by " << (tb ? "transposed " : "")
                         << rhs << ", but adds it to " << acc;
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes and masks
//===----------------------------------------------------------------------===//

/// Whether two types are the same but for their layouts, which the level below gives to tiles.
static bool sameTile(RankedTensorType a, RankedTensorType b) {
  return getExtents(a) == getExtents(b) && a.getElementType() == b.getElementType();
}

LogicalResult ReduceOp::verify() {
  auto source = tileType(getSource()), result = tileType(getResult());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= source.getRank())
    return emitOpError() << "reduces along axis " << axis << " of a tile of rank "
                         << source.getRank() << ": axes count from 0";
  SmallVector<Extent> extents = getExtents(source);
  extents.erase(extents.begin() + axis);
  auto expected = getTile(extents, source.getElementType());
  if (!sameTile(result, expected))
    return emitOpError() << "of " << source << " along axis " << axis << " gives " << expected
                         << ", not " << result;
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto source = tileType(getSource()), result = tileType(getResult());
  SmallVector<bool> added(result.getRank(), false);
  for (int64_t dim : getDims()) {
    if (dim < 0 || dim >= result.getRank())
      return emitOpError() << "adds dimension " << dim << " of a result of rank "
                           << result.getRank() << ": dimensions count from 0";
    if (added[dim])
      return emitOpError() << "adds dimension " << dim << " twice";
    added[dim] = true;
  }
  SmallVector<Extent> kept;
  for (auto [extent, isNew] : llvm::zip(getExtents(result), added))
    if (!isNew)
      kept.push_back(extent);
  auto expected = getTile(kept, result.getElementType());
  if (!sameTile(source, expected))
    return emitOpError() << "to " << result << " along dims [" << getDims()
                         << "] needs a source of " << expected << ", got " << source;
  return success();
}

LogicalResult TransposeOp::verify() {
  auto source = tileType(getSource()), result = tileType(getResult());
  if (source.getRank() != 2)
    return emitOpError() << "of " << source << ", which has " << source.getRank()
                         << " dimensions: it exchanges the two of a matrix";
  SmallVector<Extent> extents = getExtents(source);
  std::swap(extents[0], extents[1]);
  auto expected = getTile(extents, source.getElementType());
  if (!sameTile(result, expected))
    return emitOpError() << "of " << source << " gives " << expected << ", not " << result;
  return success();
}

LogicalResult MaskOp::verify() {
  RankedTensorType tile = tileType(getSource());
  IntegerSet set = getSet();
  if (set.getNumDims() != tile.getRank())
    return emitOpError() << "has a set of " << set.getNumDims() << " dimensions for a tile of rank "
                         << tile.getRank() << ": they are the indices of the tile";
  if (set.getNumSymbols() != getSymbols().size())
    return emitOpError() << "has a set of " << set.getNumSymbols() << " symbols, but gives "
                         << getSymbols().size();
  return success();
}

LogicalResult IotaOp::verify() {
  RankedTensorType tile = tileType(getResult());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= tile.getRank())
    return emitOpError() << "counts along dimension " << axis << " of a tile of rank "
                         << tile.getRank();
  if (!tile.getElementType().isSignlessInteger(32) && !tile.getElementType().isSignlessInteger(64))
    return emitOpError() << "gives numbers of i32 or i64, not of " << tile.getElementType()
                         << ": convert them (arith.trunci, arith.sitofp)";
  return success();
}
