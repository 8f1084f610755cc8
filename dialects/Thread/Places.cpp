//===- Places.cpp - Where a thread's elements lie in a tile ---------------===//
#include "mkernel/Dialect/Thread/Places.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::mk_thread;
using mk_sm::BlockedAttr, mk_sm::MmaAttr, mk_sm::SliceAttr, mk_sm::TransposedAttr;

/// Offsets of register `i` within what a thread holds of accumulators.
static std::pair<int64_t, int64_t> mmaOffset(int64_t columns, int64_t i) {
  int64_t rows = i / (columns / 2),
          r = i % (columns / 2); // which block of rows, and which register of them
  return {MmaAttr::kRows * rows + 8 * (r / 2 % 2), 8 * (r / 4) + r % 2};
}

SmallVector<unsigned> mk_thread::getSliceElements(RankedTensorType tile, int64_t axis) {
  SmallVector<unsigned> result;
  for (int64_t i = 0, e = mk_sm::getNumElements(tile); i != e; ++i) {
    auto [row, column] = mmaOffset(tile.getDimSize(1), i);
    result.push_back(axis == 1 ? row / MmaAttr::kRows * 2 + row / 8 % 2
                               : column / 8 * 2 + column % 2);
  }
  return result;
}

Place Places::find(RankedTensorType type, unsigned i) {
  Attribute layout = type.getEncoding();
  ArrayRef<int64_t> shape = type.getShape();
  if (auto transposed = dyn_cast<TransposedAttr>(layout)) {
    Place result = find(
        RankedTensorType::get({shape[1], shape[0]}, type.getElementType(), transposed.getOf()), i);
    std::swap(result.base[0], result.base[1]);
    std::swap(result.offset[0], result.offset[1]);
    return result;
  }
  auto slice = dyn_cast<SliceAttr>(layout);
  auto mma = dyn_cast<MmaAttr>(slice ? slice.getOf() : layout);
  if (!mma)
    return findDealt(type, i);
  Value lane = laneOf(e, thread);
  auto rowBase = [&](int64_t rows) {
    Value inGroup = add(e, shl(e, and_(e, warpOf(e, thread), 3), 4), shr(e, lane, 2));
    if (mma.getWarpgroups() > 1)
      // By the number in the CTA, as a rule, of which LLVM takes a warpgroup away behind the
      // product.
      inGroup = add(e, inGroup,
                    mul(e, sub(e, warpgroupOf(e, add(e, thread, mk::kWarpgroupThreads)), 1),
                        rows / mma.getWarpgroups()));
    return resize(e, inGroup, e.i64);
  };
  auto columnBase = [&] { return resize(e, shl(e, and_(e, lane, 3), 1), e.i64); };
  if (slice && slice.getAxis() == 1)
    return {{rowBase(shape[0])}, {MmaAttr::kRows * (i / 2) + 8 * (i % 2)}, {}};
  if (slice)
    return {{columnBase()}, {8 * (i / 2) + i % 2}, {}};
  auto [row, column] = mmaOffset(shape[1], i);
  return {{rowBase(shape[0]), columnBase()}, {row, column}, {}};
}

// Thread q has columns 2q and 2q + 1 of each block, and loads 2 * blocks columns from 2q * blocks
// on.
Place Places::inQuad(unsigned i, unsigned first, int64_t blocks) {
  Place result = find(tile, i);
  int64_t start = find(tile, first).offset.back();
  result.base.back() = mul(e, result.base.back(), blocks);
  result.offset.back() = start + 2 * ((i - first) / 4) + i % 2;
  return result;
}

/// Whether all of what a thread takes in a round lies in one row, or in whole ones.
static bool areRoundsWhole(ArrayRef<int64_t> shape, BlockedAttr blocked) {
  int64_t columns = shape.back(), vector = blocked.getVector(),
          round = blocked.getThreads() * vector;
  return columns % round == 0 ||
         (shape.size() == 2 && round % columns == 0 && columns % vector == 0);
}

bool Places::haveOneBase() {
  Attribute layout = tile.getEncoding();
  SmallVector<int64_t> shape(tile.getShape());
  if (auto transposed = dyn_cast<TransposedAttr>(layout)) {
    layout = transposed.getOf();
    std::swap(shape[0], shape[1]);
  }
  auto blocked = dyn_cast<BlockedAttr>(layout);
  return !blocked || shape.empty() || areRoundsWhole(shape, blocked);
}

// Runs of the tile in row-major order, dealt out to threads.
Place Places::findDealt(RankedTensorType type, unsigned i) {
  ArrayRef<int64_t> shape = type.getShape();
  Place result;
  // A tile of one element: all have it.
  if (shape.empty())
    return result;
  auto blocked = cast<BlockedAttr>(type.getEncoding());
  int64_t vector = blocked.getVector(), round = blocked.getThreads() * vector;
  int64_t start = i / vector * round, inRun = i % vector;
  Value first = mul(e, thread, vector);
  int64_t total = type.getNumElements(), columns = shape.back();
  if (start + round > total)
    result.exists = slt(e, add(e, first, start), total);
  result.base.assign(shape.size(), e.c64(0));
  result.offset.assign(shape.size(), 0);
  if (columns % round == 0) {
    // A round stays within a row.
    result.base.back() = resize(e, first, e.i64);
    result.offset.back() = start % columns + inRun;
    int64_t row = start / columns;
    for (int64_t d = shape.size() - 2; d >= 0; --d, row /= shape[d + 1])
      result.offset[d] = row % shape[d];
    return result;
  }
  // A round is whole rows: all of a thread's runs are in the same columns.
  if (shape.size() == 2 && round % columns == 0 && columns % vector == 0) {
    result.base = {divU(e, resize(e, first, e.i64), columns),
                   remU(e, resize(e, first, e.i64), columns)};
    result.offset = {start / columns, inRun};
    return result;
  }
  Value linear = resize(e, add(e, first, start + (columns % vector ? inRun : 0)), e.i64);
  result.base.back() = remU(e, linear, columns);
  result.offset.back() = columns % vector ? 0 : inRun;
  Value row = divU(e, linear, columns);
  for (int64_t d = shape.size() - 2; d >= 0; --d) {
    result.base[d] = d ? remU(e, row, shape[d]) : row;
    row = d ? divU(e, row, shape[d]) : row;
  }
  return result;
}

Value Places::number(const Place &place) { return number(place, computeStrides(tile.getShape())); }

// The sum of what depends on the thread, then of constants.
Value Places::number(const Place &place, ArrayRef<int64_t> strides) {
  Value sum = e.c64(0);
  int64_t constant = 0;
  for (auto [base, offset, stride] : llvm::zip(place.base, place.offset, strides)) {
    sum = add(e, sum, mul(e, base, stride));
    constant += offset * stride;
  }
  return resize(e, add(e, sum, constant), e.i32);
}

Value Places::isOwner() {
  if (tile.getRank() == 0)
    return eq(e, thread, 0);
  auto slice = dyn_cast<SliceAttr>(tile.getEncoding());
  if (!slice)
    return {};
  // Four lanes hold the same rows; 8 lanes of every warp the same columns.
  if (slice.getAxis() == 1)
    return eq(e, and_(e, thread, 3), 0);
  return ult(e, thread, 4);
}
