//===- Exchange.cpp - Elements that change threads ------------------------===//
//
// Layouts of accumulators reduce and broadcast along their rows within four lanes.
// Whatever else moves elements between threads goes through shared memory of the
// role: conversions of layouts, reductions of columns and of tiles dealt out in
// runs, their broadcasts. What does not fit at once goes in parts.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

Value Lowering::exchangeAddress() { return add(sharedBase, memory.exchange); }

/// Row-major strides of a shape.
static SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = shape.size() - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/// The sum of what depends on the thread, then of constants.
static Value getLinear(Emitter &e, const Place &place, ArrayRef<int64_t> strides) {
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
  return {getLinear(*this, where, getStrides(type.getShape())), where.exists};
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

void Lowering::storeShared(Value there, Value address, Value value) {
  storeWords(toBits(*this, value), address, getElementBytes(value.getType()),
             there ? resize(there, i32) : Value());
}

Value Lowering::loadShared(Value there, Value address, Type type, Value otherwise) {
  Type wide = b.getIntegerType(std::max<unsigned>(type.getIntOrFloatBitWidth(), 16));
  int64_t bytes = getElementBytes(type);
  if (!there)
    return fromBits(*this, loadWords(wide, address, bytes)[0], type);
  Value start = otherwise ? toBits(*this, otherwise) : cint(wide, 0);
  return fromBits(*this, loadWords(wide, address, bytes, resize(there, i32), start)[0], type);
}

//===----------------------------------------------------------------------===//
// Conversions and broadcasts
//===----------------------------------------------------------------------===//

LogicalResult Lowering::exchange(Operation *op, Value from, Value to,
                                 ArrayRef<int64_t> dims) {
  auto source = cast<RankedTensorType>(from.getType());
  auto result = cast<RankedTensorType>(to.getType());
  Type type = scalarType(source.getElementType());
  int64_t n = count(result), size = getElementBytes(type);
  if (n < 0 || count(source) < 0)
    return op->emitOpError() << "from " << source << " to " << result
                             << " has a layout that does not fit its tile";
  // Dimensions that the source does not have do not count.
  SmallVector<int64_t> strides(result.getRank(), 0);
  ArrayRef<int64_t> left = result.getShape();
  SmallVector<int64_t> sourceStrides = getStrides(source.getShape());
  for (int64_t d = 0, s = 0; d < static_cast<int64_t>(left.size()); ++d)
    if (!llvm::is_contained(dims, d))
      strides[d] = sourceStrides[s++];

  SmallVector<Value> values(elements(from));
  values.resize(count(source), values.front());
  enterPlaces();
  SmallVector<std::pair<Value, Value>> places, results;
  for (unsigned i = 0; i != values.size(); ++i)
    places.push_back(linearPlace(source, i));
  for (unsigned i = 0; i != n; ++i) {
    Place where = place(result, i);
    results.emplace_back(getLinear(*this, where, strides), where.exists);
  }
  int64_t perPart = memory.exchangeBytes / size;
  int64_t parts = llvm::divideCeil(source.getNumElements(), perPart);
  SmallVector<Value> loaded(n);
  for (int64_t part = 0; part < parts; ++part) {
    // Where in this part, and whether it is.
    auto inPart = [&](std::pair<Value, Value> where) {
      auto [linear, there] = where;
      Value at = sub(linear, part * perPart);
      if (parts > 1) {
        Value inside = cmp(Predicate::ult, at, perPart);
        there = there ? and_(there, inside) : inside;
      }
      return std::pair(add(exchangeAddress(), mul(at, size)), there);
    };
    barrierPartition();
    for (auto [value, where] : llvm::zip(values, places)) {
      auto [address, there] = inPart(where);
      storeShared(there, address, value);
    }
    barrierPartition();
    for (unsigned i = 0; i != n; ++i) {
      auto [address, there] = inPart(results[i]);
      loaded[i] = loadShared(there, address, type, loaded[i]);
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

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

// The rows of accumulators: those of a thread, of the lanes of a warp, then of the
// warps, in this order.
LogicalResult Lowering::reduceRows(ReduceOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  if (to.getEncoding() != SliceAttr::get(op.getContext(), 0, from.getEncoding()))
    return op.emitOpError() << "of " << from << " gives " << to
                            << "; its layout must be the slice of the source's";
  FailureOr<SmallVector<unsigned>> map = sliceElements(op, from, 0);
  if (failed(map))
    return failure();
  Type type = scalarType(from.getElementType());
  int64_t columns = from.getDimSize(1), size = getElementBytes(type);
  int64_t warps = 4 * cast<MmaAttr>(from.getEncoding()).getWarpgroups();
  if (warps * columns * size > memory.exchangeBytes)
    return op.emitOpError() << "along axis 0 of " << from << " exchanges "
                            << warps * columns * size << " bytes; there are "
                            << memory.exchangeBytes << ": use fewer columns";
  SmallVector<Value> result(count(to));
  SmallVector<Value> source(elements(op.getSource()));
  for (auto [i, value] : llvm::enumerate(source)) {
    Value &sum = result[(*map)[i]];
    sum = sum ? reduceOp(op.getKind(), sum, value) : value;
  }
  for (Value &value : result)
    for (int64_t mask : {4, 8, 16})
      value = reduceOp(op.getKind(), value, shuffleXor(value, mask));
  enterPlaces();
  barrierPartition();
  Value mine = cmp(Predicate::ult, placeLane, 4);
  Value ownWarp = sub(placeWarp, 4);
  SmallVector<Value> addresses;
  for (auto [i, value] : llvm::enumerate(result)) {
    Value column = linearPlace(to, i).first;
    addresses.push_back(add(exchangeAddress(), mul(column, size)));
    storeShared(mine, add(addresses.back(), mul(ownWarp, columns * size)), value);
  }
  barrierPartition();
  for (auto [value, address] : llvm::zip(result, addresses)) {
    value = loadShared({}, address, type);
    for (int64_t warp = 1; warp < warps; ++warp)
      value = reduceOp(op.getKind(), value,
                       loadShared({}, add(address, warp * columns * size), type));
  }
  set(op, result);
  return success();
}

// Each thread leaves what it has of a result, groups of lanes take what was left,
// all read results.
LogicalResult Lowering::reduceThroughShared(ReduceOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  auto blocked = dyn_cast_or_null<BlockedAttr>(from.getEncoding());
  if (!blocked || count(to) < 0)
    return op.emitOpError() << "of " << from << " to " << to
                            << " cannot be lowered for " << getSmTarget(op).getName()
                            << " yet: it takes tiles "
                               "with the layout of accumulators, or dealt out";
  Type type = scalarType(from.getElementType());
  int64_t size = getElementBytes(type), axis = op.getAxis(), rank = from.getRank();
  int64_t extent = from.getDimSize(axis), threads = blocked.getThreads();
  int64_t numResults = from.getNumElements() / extent;
  // Parts of a row that a thread holds, it reduces.
  int64_t vector = blocked.getVector(), round = threads * vector;
  bool inRow = axis == rank - 1 && extent % vector == 0;
  bool perRow = inRow && extent % round == 0;
  int64_t together = inRow ? vector : 1;
  int64_t partials = perRow ? threads : extent / together;
  // An odd stride keeps neighbours in different banks.
  int64_t pitch = partials | 1;
  int64_t room = memory.exchangeBytes / size - numResults;
  int64_t perPart = std::min(numResults, room < 0 ? 0 : room / pitch);
  if (!perPart)
    return op.emitOpError() << "along axis " << axis << " of " << from
                            << " exchanges more than " << memory.exchangeBytes
                            << " bytes: use smaller tiles";

  struct Partial {
    Value value, row, place, exists; // of the result, in it
  };
  SmallVector<Partial> own;
  SmallVector<Value> source(elements(op.getSource()));
  source.resize(count(from), source.front());
  SmallVector<int64_t> strides = getStrides(to.getShape());
  strides.insert(strides.begin() + axis, 0);
  enterPlaces();
  for (size_t i = 0; i < source.size(); i += together) {
    Value value = source[i];
    for (int64_t k = 1; k < together; ++k)
      value = reduceOp(op.getKind(), value, source[i + k]);
    int64_t rounds = extent / round, number = i / together;
    if (perRow && number % rounds) {
      own.back().value = reduceOp(op.getKind(), own.back().value, value);
      continue;
    }
    Place where = place(from, i);
    Value along = resize(add(where.base[axis], where.offset[axis]), i32);
    own.push_back({value, getLinear(*this, where, strides),
                   perRow ? placeThread : divU(along, together), where.exists});
  }

  Value partialsAt = add(exchangeAddress(), numResults * size);
  for (int64_t first = 0; first < numResults; first += perPart) {
    int64_t rows = std::min(perPart, numResults - first);
    barrierPartition();
    for (const Partial &partial : own) {
      Value row = sub(partial.row, first), there = partial.exists;
      if (rows < numResults) {
        Value inside = cmp(Predicate::ult, row, rows);
        there = there ? and_(there, inside) : inside;
      }
      Value at = add(mul(row, pitch), partial.place);
      storeShared(there, add(partialsAt, mul(at, size)), partial.value);
    }
    barrierPartition();
    int64_t lanes = 1;
    while (2 * lanes <= 32 && 2 * lanes <= partials && 2 * lanes * rows <= threads)
      lanes *= 2;
    int64_t turns = llvm::divideCeil(rows * lanes, threads);
    forRange(c32(0), c32(turns), c32(1), [&](Value turn) {
      Value number = add(placeThread, mul(turn, threads));
      Value row = divU(number, lanes), lane = remU(number, lanes);
      Value there = cmp(Predicate::ult, row, rows);
      // Threads too many repeat the last row: all lanes shuffle.
      Value start = mul(select(there, row, c32(rows - 1)), pitch);
      auto at = [&](Value k) {
        return loadShared({}, add(partialsAt, mul(add(start, k), size)), type);
      };
      auto loop = scf::ForOp::create(b, loc, add(lane, lanes), c32(partials),
                                     c32(lanes), at(lane));
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value next = reduceOp(op.getKind(), loop.getRegionIterArgs()[0],
                              at(loop.getInductionVar()));
        scf::YieldOp::create(b, loc, next);
      }
      Value value = loop.getResult(0);
      for (int64_t mask = 1; mask < lanes; mask *= 2)
        value = reduceOp(op.getKind(), value, shuffleXor(value, mask));
      storeShared(and_(there, eq(lane, 0)),
                  add(exchangeAddress(), mul(add(row, first), size)), value);
    });
  }
  barrierPartition();
  SmallVector<Value> result;
  for (int64_t i = 0, e = count(to); i != e; ++i) {
    auto [linear, there] = linearPlace(to, i);
    result.push_back(
        loadShared(there, add(exchangeAddress(), mul(linear, size)), type));
  }
  set(op, result);
  return success();
}
