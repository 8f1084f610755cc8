//===- LowerTiles.cpp - Tile ops on the host target -----------------------===//
//
// Tiles stay tensors here; only loads and stores touch memory.
//
//===----------------------------------------------------------------------===//
#include "HostLowering.h"
#include "mkernel/Transforms/Reductions.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

/// Where a part begins. What begins in front of the buffer is never copied as it is, and upstream
/// takes no offset below zero, also where it becomes a constant later.
static OpFoldResult getStart(OpBuilder &b, Location loc, Value offset) {
  if (std::optional<int64_t> constant = getConstantIntValue(offset))
    return b.getIndexAttr(std::max<int64_t>(*constant, 0));
  return IndexMath{b, loc}.max(offset, arith::ConstantIndexOp::create(b, loc, 0));
}

/// The part of `buffer`, which may be a tile, that a tile with these sizes covers.
static Value subview(OpBuilder &b, Location loc, Value buffer, ValueRange offsets,
                     ArrayRef<OpFoldResult> sizes) {
  auto type = cast<ShapedType>(buffer.getType());
  SmallVector<OpFoldResult> starts, extents, steps;
  int64_t lead = type.getRank() - static_cast<int64_t>(sizes.size());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    starts.push_back(offsets.empty() ? OpFoldResult(b.getIndexAttr(0))
                                     : getStart(b, loc, offsets[d]));
    extents.push_back(d < lead ? OpFoldResult(b.getIndexAttr(1)) : sizes[d - lead]);
    steps.push_back(b.getIndexAttr(1));
  }
  if (isa<TensorType>(type))
    return tensor::ExtractSliceOp::create(b, loc, buffer, starts, extents, steps);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant ? *constant : ShapedType::kDynamic);
  }
  auto view = memref::SubViewOp::inferRankReducedResultType(shape, cast<MemRefType>(type), starts,
                                                            extents, steps);
  return memref::SubViewOp::create(b, loc, cast<MemRefType>(view), buffer, starts, extents, steps);
}

/// What of a tile may lie in a buffer, as far as constants say: upstream takes no slice that is
/// known to reach out of its source, be it of a branch that is never taken.
struct Coverage {
  bool whole = true, part = true;
};

static Coverage getCoverage(MemRefType buffer, ValueRange offsets, ArrayRef<int64_t> tile) {
  Coverage coverage;
  int64_t lead = buffer.getRank() - static_cast<int64_t>(tile.size());
  for (int64_t d = 0; d < buffer.getRank(); ++d) {
    if (buffer.isDynamicDim(d))
      continue;
    int64_t extent = buffer.getDimSize(d), size = d < lead ? 1 : tile[d - lead];
    std::optional<int64_t> at = getConstantIntValue(offsets[d]);
    coverage.whole &= at ? *at >= 0 && *at <= extent - size : size <= extent;
    coverage.part &= at ? *at > -size && *at < extent : extent > 0;
  }
  return coverage;
}

using CopyFn = function_ref<void(OpBuilder &, Value outer, Value inner)>;

/// Copies between a tile, a tensor or a buffer, and the part of `buffer` that it covers; the
/// case of a whole tile has constant sizes, and begins at its offsets.
static void copyTile(HostLowering &lowering, Value buffer, ValueRange offsets, Value tile,
                     const HostLowering::TilePart &part, CopyFn copy, Value pad = {}) {
  OpBuilder &b = lowering.b;
  Location loc = lowering.loc;
  auto type = cast<ShapedType>(tile.getType());
  Coverage coverage = getCoverage(cast<MemRefType>(buffer.getType()), offsets, type.getShape());
  Value whole = part.inside;
  if (!whole)
    whole = arith::ConstantIntOp::create(b, loc, 1, 1);
  SmallVector<OpFoldResult> fixed, valid;
  for (auto [size, extent] : llvm::zip(part.sizes, type.getShape())) {
    Value all = lowering.equal(size, lowering.index(extent));
    whole = arith::AndIOp::create(b, loc, whole, all);
    fixed.push_back(b.getIndexAttr(extent));
    valid.push_back(size);
  }
  auto copyPart = [&](OpBuilder &b, Location loc) {
    if (pad)
      linalg::FillOp::create(b, loc, pad, tile);
    // A tile of one element is there, or it is not.
    if (coverage.part && type.getRank())
      copy(b, subview(b, loc, buffer, part.offsets, valid),
           subview(b, loc, tile, part.skipped, valid));
  };
  if (!coverage.whole)
    return copyPart(b, loc);
  scf::IfOp::create(
      b, loc, whole,
      [&](OpBuilder &b, Location loc) {
        copy(b, subview(b, loc, buffer, offsets, fixed), tile);
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &b, Location loc) {
        copyPart(b, loc);
        scf::YieldOp::create(b, loc);
      });
}

static void copyBuffer(OpBuilder &b, Value outer, Value inner) {
  memref::CopyOp::create(b, inner.getLoc(), outer, inner);
}

/// Row by row: that of the offsets and what the list says further.
void HostLowering::gatherRows(LoadOp op, Value buffer, Value zero) {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  Value list = op.getRows(), entries = memref::DimOp::create(b, loc, list, index(0));
  auto loop = scf::ForOp::create(b, loc, index(0), index(shape[0]), index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Value at = arith::AddIOp::create(b, loc, op.getRowsAt(), row);
  Value exists = cmp(arith::CmpIPredicate::ult, at, entries);
  if (!op.getValid().empty())
    exists = arith::AndIOp::create(b, loc, exists,
                                   cmp(arith::CmpIPredicate::slt, row, op.getValid()[0]));
  auto entry = scf::IfOp::create(b, loc, b.getIndexType(), exists, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry.thenBlock());
    recordAccess(list, at, {}, /*write=*/false);
    Value number = memref::LoadOp::create(b, loc, list, at);
    scf::YieldOp::create(b, loc,
                         arith::IndexCastOp::create(b, loc, b.getIndexType(), number).getResult());
    b.setInsertionPointToStart(entry.elseBlock());
    scf::YieldOp::create(b, loc, index(0));
  }
  SmallVector<Value> offsets(op.getOffsets());
  Value &from = offsets[offsets.size() - 2];
  from = arith::AddIOp::create(b, loc, from, entry.getResult(0));
  SmallVector<Value> valid{select(exists, index(1), index(0)),
                           op.getValid().empty() ? index(shape[1]) : op.getValid()[1]};
  TilePart part = existingPart(op.getSource(), offsets, {1, shape[1]}, valid);
  recordAccess(op.getSource(), part.offsets, part.sizes, /*write=*/false);
  Value line =
      subview(b, loc, buffer, {row, index(0)}, {b.getIndexAttr(1), b.getIndexAttr(shape[1])});
  copyTile(*this, op.getSource(), offsets, line, part, copyBuffer, zero);
}

LogicalResult HostLowering::lower(LoadOp op) {
  auto tileType = cast<RankedTensorType>(op.getTile().getType());
  Value pad = op.getPad();
  if (!pad)
    pad = arith::ConstantOp::create(b, loc, b.getZeroAttr(tileType.getElementType()));
  auto bufferType = MemRefType::get(tileType.getShape(), tileType.getElementType());
  // A private copy: the tile is a snapshot, whatever is written later.
  Value buffer = memref::AllocOp::create(b, loc, bufferType);
  if (op.getRows()) {
    gatherRows(op, buffer, pad);
  } else {
    TilePart part =
        existingPart(op.getSource(), op.getOffsets(), tileType.getShape(), op.getValid());
    recordAccess(op.getSource(), part.offsets, part.sizes, /*write=*/false);
    copyTile(*this, op.getSource(), op.getOffsets(), buffer, part, copyBuffer, pad);
  }
  return replace(op, bufferization::ToTensorOp::create(b, loc, tileType, buffer, /*restrict=*/true,
                                                       /*writable=*/true)
                         .getResult());
}

/// Writes a tile to memory. As one op that reads a tensor: bufferisation does not see who reads
/// what bufferization.to_buffer gives, and would update tiles in place that are stored later.
static void write(OpBuilder &b, Location loc, Value tile, Value dest) {
  bufferization::MaterializeInDestinationOp::create(b, loc, /*result=*/Type(), tile, dest,
                                                    /*restrict=*/true, /*writable=*/true);
}

Value HostLowering::copyToBuffer(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  Value buffer =
      memref::AllocOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()));
  write(b, loc, tile, buffer);
  return buffer;
}

Value HostLowering::emptyTile(RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
}

LogicalResult HostLowering::lower(StoreOp op) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  if (op.getPeer() || op.getSignal() || op.getReduction())
    return lowerRemoteStore(op);
  TilePart part = existingPart(op.getDest(), op.getOffsets(), type.getShape(), op.getValid());
  checkStore(op, part);
  recordAccess(op.getDest(), part.offsets, part.sizes, /*write=*/true);
  auto copy = [&](OpBuilder &b, Value outer, Value inner) { write(b, loc, inner, outer); };
  copyTile(*this, op.getDest(), op.getOffsets(), op.getTile(), part, copy);
  return replace(op);
}

LogicalResult HostLowering::lowerRemoteStore(StoreOp op) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  FailureOr<Value> element = elementType(op, type.getElementType());
  if (failed(element))
    return failure();
  Value dest = op.getDest();
  int64_t lead = cast<MemRefType>(dest.getType()).getRank() - type.getRank();
  // At a peer the first dimension may be of another extent.
  Value rows;
  if (op.getPeer() && cast<MemRefType>(dest.getType()).getRank() &&
      cast<MemRefType>(dest.getType()).isDynamicDim(0))
    // What is written is an argument.
    rows =
        toIndex(call("mkrt_rows", {getCta(), argumentOf(dest), toI64(op.getPeer())}, b.getI64Type())
                    .front());
  TilePart part = existingPart(dest, op.getOffsets(), type.getShape(), op.getValid(), rows);
  checkStore(op, part, rows);
  SmallVector<Value> destStrides = strides(dest);
  destStrides.erase(destStrides.begin(), destStrides.begin() + lead);
  SmallVector<Value> tileStrides(type.getRank());
  int64_t stride = 1;
  for (int64_t d = type.getRank(); d-- > 0; stride *= type.getDimSize(d))
    tileStrides[d] = index(stride);
  Value tile = copyToBuffer(op.getTile());
  Value from = address(tile, part.skipped);
  if (type.getRank() == 0) {
    part.sizes.push_back(index(1));
    if (part.inside)
      part.sizes[0] = select(part.inside, index(1), index(0));
    destStrides.push_back(index(1));
    tileStrides.push_back(index(1));
  }
  auto [signal, element_index] = signalOperands(op, op.getSignal(), op.getSignalIndex());
  int32_t flags = (op.getStrong() ? MK_PUT_STRONG : 0) | (op.getReduction() ? MK_PUT_ADD : 0) |
                  (op.getPeer() ? MK_PUT_REMOTE : 0);
  call("mkrt_store", {getCta(), address(dest, part.offsets), from, *element, i32(part.sizes.size()),
                      stackArray(part.sizes), stackArray(destStrides), stackArray(tileStrides),
                      peerOrSelf(op.getPeer()), signal, element_index, i32(flags)});
  return replace(op);
}

LogicalResult HostLowering::lower(DotOp op) {
  // tf32 rounds operands; the host multiplies in full precision, which is what
  // the rounding approximates.
  AffineExpr m, n, k;
  bindDims(b.getContext(), m, n, k);
  auto map = [&](AffineExpr row, AffineExpr column, bool transposed) {
    SmallVector<AffineExpr> results = {row, column};
    if (transposed)
      std::swap(results[0], results[1]);
    return AffineMap::get(3, 0, results, b.getContext());
  };
  SmallVector<AffineMap> maps = {map(m, k, op.getTransposeA()), map(k, n, op.getTransposeB()),
                                 map(m, n, false)};
  SmallVector<utils::IteratorType> iterators = {
      utils::IteratorType::parallel, utils::IteratorType::parallel, utils::IteratorType::reduction};
  auto product = linalg::GenericOp::create(
      b, loc, op.getAcc().getType(), ValueRange{op.getLhs(), op.getRhs()}, ValueRange{op.getAcc()},
      maps, iterators, [](OpBuilder &b, Location loc, ValueRange args) {
        auto wide = [&](Value value) -> Value {
          if (value.getType() == args[2].getType())
            return value;
          return arith::ExtFOp::create(b, loc, args[2].getType(), value);
        };
        Value product = arith::MulFOp::create(b, loc, wide(args[0]), wide(args[1]));
        Value sum = arith::AddFOp::create(b, loc, args[2], product);
        linalg::YieldOp::create(b, loc, sum);
      });
  return replace(op, product.getResult(0));
}

LogicalResult HostLowering::lower(ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Type element = type.getElementType();
  arith::AtomicRMWKind kind = getReductionKind(op.getKind(), element);
  Value neutral = arith::getIdentityValue(kind, element, b, loc);
  Value empty = emptyTile(type);
  Value init = linalg::FillOp::create(b, loc, neutral, empty).getResult(0);
  auto reduce = linalg::ReduceOp::create(
      b, loc, ValueRange{op.getSource()}, ValueRange{init},
      ArrayRef<int64_t>{static_cast<int64_t>(op.getAxis())},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, arith::getReductionOp(kind, b, loc, args[0], args[1]));
      });
  return replace(op, reduce.getResult(0));
}

LogicalResult HostLowering::lower(BroadcastOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Value empty = emptyTile(type);
  auto broadcast = linalg::BroadcastOp::create(b, loc, op.getSource(), empty, op.getDims());
  return replace(op, broadcast.getResult()[0]);
}

LogicalResult HostLowering::lower(TransposeOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Value empty = emptyTile(type);
  auto transposed =
      linalg::TransposeOp::create(b, loc, op.getSource(), empty, ArrayRef<int64_t>{1, 0});
  return replace(op, transposed.getResult()[0]);
}

LogicalResult HostLowering::lower(IotaOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto numbers = linalg::GenericOp::create(
      b, loc, type, ValueRange{}, ValueRange{emptyTile(type)},
      b.getMultiDimIdentityMap(type.getRank()), iterators,
      [&](OpBuilder &b, Location loc, ValueRange) {
        Value index = linalg::IndexOp::create(b, loc, op.getAxis());
        Value number = arith::IndexCastOp::create(b, loc, type.getElementType(), index);
        linalg::YieldOp::create(b, loc, number);
      });
  return replace(op, numbers.getResult(0));
}

LogicalResult HostLowering::lower(MaskOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  IntegerSet set = op.getSet();
  Value empty = emptyTile(type);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  SmallVector<Value> symbols(op.getSymbols());
  Value otherwise = op.getOtherwise();
  auto masked = linalg::GenericOp::create(
      b, loc, type, ValueRange{op.getSource()}, ValueRange{empty},
      ArrayRef<AffineMap>{identity, identity}, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        SmallVector<Value> operands;
        for (int64_t d = 0; d < type.getRank(); ++d)
          operands.push_back(linalg::IndexOp::create(b, loc, d));
        operands.append(symbols);
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value inside = arith::ConstantIntOp::create(b, loc, 1, 1);
        for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
          AffineMap map =
              AffineMap::get(set.getNumDims(), set.getNumSymbols(), set.getConstraint(i));
          // Plain arithmetic: operands need not be affine symbols.
          Value value = affine::expandAffineMap(b, loc, map, operands)->front();
          Value holds = arith::CmpIOp::create(
              b, loc, set.isEq(i) ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge, value,
              zero);
          inside = arith::AndIOp::create(b, loc, inside, holds);
        }
        linalg::YieldOp::create(
            b, loc, arith::SelectOp::create(b, loc, inside, args[0], otherwise).getResult());
      });
  return replace(op, masked.getResult(0));
}
