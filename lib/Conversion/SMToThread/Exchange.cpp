//===- Exchange.cpp - Elements that change threads ------------------------===//
//
// Layouts of accumulators reduce and broadcast along their rows within four lanes.
// Whatever else moves elements between threads goes through shared memory of the
// role: conversions of layouts, reductions of columns and of tiles dealt out in
// runs (Reductions.cpp), their broadcasts. What does not fit at once goes in parts.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

Value Lowering::exchangeAddress() { return add(sharedBase, memory.exchange); }

// The sum of what depends on the thread, then of constants.
Value sm::linearize(Emitter &e, const Place &place, ArrayRef<int64_t> strides) {
  Value sum = e.c64(0);
  int64_t constant = 0;
  for (auto [base, offset, stride] :
       llvm::zip(place.base, place.offset, strides)) {
    sum = e.add(sum, e.mul(base, stride));
    constant += offset * stride;
  }
  return e.resize(e.add(sum, constant), e.i32);
}

std::pair<Value, Value> Lowering::linearPlace(RankedTensorType type, unsigned i) {
  Place where = place(type, i);
  return {linearize(*this, where, computeStrides(type.getShape())), where.exists};
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// A value as bits of at least 16, as registers have them.
static Value toBits(Emitter &e, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type bits = e.b.getIntegerType(width);
  if (value.getType() != bits)
    value = LLVM::BitcastOp::create(e.b, e.loc, bits, value);
  return width < 16 ? e.resize(value, e.i16) : value;
}

static Value fromBits(Emitter &e, Value bits, Type type) {
  Type narrow = e.b.getIntegerType(type.getIntOrFloatBitWidth());
  Value value = e.resize(bits, narrow);
  return type == narrow ? value
                        : Value(LLVM::BitcastOp::create(e.b, e.loc, type, value));
}

void Lowering::storeShared(Value exists, Value address, Value value) {
  storeWords(toBits(*this, value), address, getElementBytes(value.getType()),
             exists ? resize(exists, i32) : Value());
}

Value Lowering::loadShared(Value exists, Value address, Type type, Value otherwise) {
  Type wide = b.getIntegerType(std::max<unsigned>(type.getIntOrFloatBitWidth(), 16));
  int64_t bytes = getElementBytes(type);
  if (!exists)
    return fromBits(*this, loadWords(wide, address, bytes)[0], type);
  Value start = otherwise ? toBits(*this, otherwise) : cint(wide, 0);
  return fromBits(*this, loadWords(wide, address, bytes, resize(exists, i32), start)[0], type);
}

//===----------------------------------------------------------------------===//
// Conversions and broadcasts
//===----------------------------------------------------------------------===//

/// The first element of a thread that, in all dimensions but `dims`, has the place of element `i`: runs
/// lie in a row, and where a round of all threads is whole rows, or a part of one, they repeat columns.
static unsigned findFirstAlike(RankedTensorType tile, ArrayRef<int64_t> dims, unsigned i) {
  auto blocked = dyn_cast_or_null<BlockedAttr>(tile.getEncoding());
  if (!blocked || tile.getRank() != 2 || dims.size() != 1)
    return i;
  int64_t columns = tile.getDimSize(1), vector = blocked.getVector();
  int64_t round = blocked.getThreads() * vector;
  if (columns % vector)
    return i;
  // Along a row: the run, or those of a thread in one row.
  if (dims[0] == 1)
    return i - i % (columns % round == 0 ? columns / blocked.getThreads() : vector);
  if (columns % round == 0)
    return i % (columns / blocked.getThreads());
  return round % columns == 0 ? i % vector : i;
}

LogicalResult Lowering::exchange(Operation *op, Value from, Value to,
                                 ArrayRef<int64_t> dims, bool transposes) {
  auto source = cast<RankedTensorType>(from.getType());
  auto result = cast<RankedTensorType>(to.getType());
  Type type = scalarType(source.getElementType());
  int64_t n = count(result), size = getElementBytes(type);
  // Dimensions that the source does not have do not count.
  SmallVector<int64_t> strides(result.getRank(), 0);
  ArrayRef<int64_t> left = result.getShape();
  SmallVector<int64_t> sourceStrides = computeStrides(source.getShape());
  for (int64_t d = 0, s = 0; d < static_cast<int64_t>(left.size()); ++d)
    if (!llvm::is_contained(dims, d))
      strides[d] = sourceStrides[s++];
  if (transposes)
    std::reverse(strides.begin(), strides.end());

  SmallVector<Value> values(elements(from));
  values.resize(count(source), values.front());
  enterPlaces();
  SmallVector<std::pair<Value, Value>> places, results;
  for (unsigned i = 0; i != values.size(); ++i)
    places.push_back(linearPlace(source, i));
  for (unsigned i = 0; i != n; ++i) {
    Place where = place(result, i);
    results.emplace_back(linearize(*this, where, strides), where.exists);
  }
  int64_t perPart = memory.exchangeBytes / size;
  int64_t parts = llvm::divideCeil(source.getNumElements(), perPart);
  SmallVector<Value> loaded(n);
  for (int64_t part = 0; part < parts; ++part) {
    // Where in this part, and whether it is.
    auto inPart = [&](std::pair<Value, Value> where) {
      auto [linear, exists] = where;
      Value at = sub(linear, part * perPart);
      if (parts > 1) {
        Value inside = cmp(Predicate::ult, at, perPart);
        exists = exists ? and_(exists, inside) : inside;
      }
      return std::pair(add(exchangeAddress(), mul(at, size)), exists);
    };
    barrierPartition();
    for (auto [value, where] : llvm::zip(values, places)) {
      auto [address, exists] = inPart(where);
      storeShared(exists, address, value);
    }
    barrierPartition();
    for (unsigned i = 0; i != n; ++i) {
      if (unsigned first = findFirstAlike(result, dims, i); first != i) {
        loaded[i] = loaded[first];
        continue;
      }
      auto [address, exists] = inPart(results[i]);
      loaded[i] = loadShared(exists, address, type, loaded[i]);
    }
  }
  set(to, loaded);
  return success();
}

LogicalResult Lowering::emitConvertLayout(ConvertLayoutOp op) {
  if (op.getSource().getType() != op.getType())
    return exchange(op, op.getSource(), op.getResult(), {});
  SmallVector<Value> same(elements(op.getSource()));
  set(op, same);
  return success();
}

LogicalResult Lowering::emitTranspose(TransposeOp op) {
  if (!movesNothing(op))
    return exchange(op, op.getSource(), op.getResult(), {}, /*transposes=*/true);
  if (op->hasAttr(kDeferredAttr)) {
    values[op.getResult()].assign(count(op.getType()), Value());
    putOff.insert(op.getResult());
    return success();
  }
  SmallVector<Value> same(elements(op.getSource()));
  set(op, same);
  return success();
}
