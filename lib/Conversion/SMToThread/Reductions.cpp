//===- Reductions.cpp - Along an axis of a tile ---------------------------===//
#include "Lowering.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

SmallVector<Value> Lowering::reduceInThread(Reduction kind, ArrayRef<Value> source,
                                            ArrayRef<unsigned> map,
                                            int64_t numResults, unsigned numChains) {
  SmallVector<SmallVector<Value>> chains(numResults);
  SmallVector<unsigned> seen(numResults, 0);
  for (auto [r, value] : llvm::zip_equal(map, source)) {
    SmallVector<Value> &chain = chains[r];
    unsigned k = seen[r]++ % numChains;
    if (chain.size() <= k)
      chain.push_back(value);
    else
      chain[k] = reduceOp(kind, chain[k], value);
  }
  SmallVector<Value> result;
  for (SmallVector<Value> &chain : chains) {
    while (chain.size() > 1) {
      SmallVector<Value> half;
      for (size_t i = 0; i < chain.size(); i += 2)
        half.push_back(i + 1 < chain.size() ? reduceOp(kind, chain[i], chain[i + 1])
                                            : chain[i]);
      chain = half;
    }
    result.push_back(chain.front());
  }
  return result;
}

LogicalResult Lowering::emitReduce(ReduceOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  int64_t axis = op.getAxis();
  // They are bits here, which would be reduced as integers.
  if (isa<FloatType>(from.getElementType()) && from.getElementTypeBitWidth() <= 8)
    return refuse(op);
  if (!isa_and_nonnull<MmaAttr>(from.getEncoding()))
    return reduceThroughShared(op);
  if (axis == 0)
    return reduceRows(op);
  if (to.getEncoding() != SliceAttr::get(op.getContext(), axis, from.getEncoding()))
    return op.emitOpError() << "of " << from << " gives " << to
                            << "; its layout must be the slice of the source's";
  SmallVector<Value> result = reduceInThread(op.getKind(), elements(op.getSource()),
                                             sliceElements(from, axis), count(to),
                                             getThresholds().getReduceChains());
  // The four lanes of a row.
  for (Value &value : result)
    for (int64_t mask : {1, 2})
      value = reduceOp(op.getKind(), value, shuffleXor(value, mask));
  set(op, result);
  return success();
}

LogicalResult Lowering::emitPartialSum(PartialSumOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  SmallVector<Value> source(elements(op.getSource()));
  // Groups of 8 columns lie behind each other, in blocks of 64 rows.
  unsigned perBlock = from.getDimSize(1) / 2, perGroup = MmaAttr::kColumns / 2;
  SmallVector<unsigned> map;
  for (unsigned i = 0; i != source.size(); ++i)
    map.push_back(i / perBlock * perGroup + i % perGroup);
  // A thread has two results a row here, so half as many chains of each are as much under way.
  int64_t chains = std::max<int64_t>(getThresholds().getReduceChains() / 2, 1);
  set(op, reduceInThread(Reduction::Add, source, map, count(to), chains));
  return success();
}

//===----------------------------------------------------------------------===//
// Through shared memory
//===----------------------------------------------------------------------===//

// The rows of accumulators: those of a thread, of the lanes of a warp, then of the
// warps, in this order.
LogicalResult Lowering::reduceRows(ReduceOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  if (to.getEncoding() != SliceAttr::get(op.getContext(), 0, from.getEncoding()))
    return op.emitOpError() << "of " << from << " gives " << to
                            << "; its layout must be the slice of the source's";
  SmallVector<unsigned> map = sliceElements(from, 0);
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
    Value &sum = result[map[i]];
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
  SmallVector<int64_t> strides = computeStrides(to.getShape());
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
    own.push_back({value, linearize(*this, where, strides),
                   perRow ? placeThread : divU(along, together), where.exists});
  }

  Value partialsAt = add(exchangeAddress(), numResults * size);
  for (int64_t first = 0; first < numResults; first += perPart) {
    int64_t rows = std::min(perPart, numResults - first);
    barrierPartition();
    for (const Partial &partial : own) {
      Value row = sub(partial.row, first), exists = partial.exists;
      if (rows < numResults) {
        Value inside = cmp(Predicate::ult, row, rows);
        exists = exists ? and_(exists, inside) : inside;
      }
      Value at = add(mul(row, pitch), partial.place);
      storeShared(exists, add(partialsAt, mul(at, size)), partial.value);
    }
    barrierPartition();
    int64_t lanes = 1;
    while (2 * lanes <= 32 && 2 * lanes <= partials && 2 * lanes * rows <= threads)
      lanes *= 2;
    int64_t turns = llvm::divideCeil(rows * lanes, threads);
    forRange(c32(0), c32(turns), c32(1), [&](Value turn) {
      Value number = add(placeThread, mul(turn, threads));
      Value row = divU(number, lanes), lane = remU(number, lanes);
      Value exists = cmp(Predicate::ult, row, rows);
      // Threads too many repeat the last row: all lanes shuffle.
      Value start = mul(select(exists, row, c32(rows - 1)), pitch);
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
      storeShared(and_(exists, eq(lane, 0)),
                  add(exchangeAddress(), mul(add(row, first), size)), value);
    });
  }
  barrierPartition();
  SmallVector<Value> result;
  for (int64_t i = 0, e = count(to); i != e; ++i) {
    auto [linear, exists] = linearPlace(to, i);
    result.push_back(
        loadShared(exists, add(exchangeAddress(), mul(linear, size)), type));
  }
  set(op, result);
  return success();
}
