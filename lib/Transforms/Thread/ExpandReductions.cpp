//===- ExpandReductions.cpp - Along an axis of a tile ---------------------===//
#include "Exchange.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::mk_thread;
using mk_sm::MmaAttr;

static Value combine(Emitter &e, Combination kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  auto contract = arith::FastMathFlagsAttr::get(e.getContext(), arith::FastMathFlags::contract);
  switch (kind) {
  case Combination::Add:
    return isFloat ? Value(arith::AddFOp::create(e, x, y, contract)) : add(e, x, y);
  case Combination::Mul:
    return isFloat ? Value(arith::MulFOp::create(e, x, y, contract)) : mul(e, x, y);
  case Combination::Max:
    return isFloat ? Value(arith::MaximumFOp::create(e, x, y)) : maxS(e, x, y);
  case Combination::Min:
    return isFloat ? Value(arith::MinimumFOp::create(e, x, y)) : minS(e, x, y);
  }
  llvm_unreachable("unknown reduction");
}

/// What the lanes have whose numbers differ in these bits.
static Value combineLanes(Emitter &e, Combination kind, Value value, int64_t from, int64_t to) {
  for (int64_t mask = from; mask < to; mask *= 2)
    value = combine(e, kind, value, shuffle(e, "bfly", value, e.c32(mask)));
  return value;
}

/// Reduces elements of a thread: the i-th goes to result map[i].
static SmallVector<Value> reduceInThread(ReduceElementsOp op, Emitter &e, ArrayRef<unsigned> map) {
  SmallVector<SmallVector<Value>> chains(op.getNumResults());
  SmallVector<unsigned> seen(op.getNumResults(), 0);
  for (auto [r, value] : llvm::zip_equal(map, op.getElements())) {
    SmallVector<Value> &chain = chains[r];
    unsigned k = seen[r]++ % op.getChains();
    if (chain.size() <= k)
      chain.push_back(value);
    else
      chain[k] = combine(e, op.getKind(), chain[k], value);
  }
  SmallVector<Value> result;
  for (SmallVector<Value> &chain : chains) {
    while (chain.size() > 1) {
      SmallVector<Value> half;
      for (size_t i = 0; i < chain.size(); i += 2)
        half.push_back(i + 1 < chain.size() ? combine(e, op.getKind(), chain[i], chain[i + 1])
                                            : chain[i]);
      chain = half;
    }
    result.push_back(chain.front());
  }
  return result;
}

/// Columns of accumulators: those of a thread, of the lanes of a warp, then of the warps, in this
/// order.
static SmallVector<Value> reduceColumns(ReduceElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom();
  Type type = getRegisterType(from.getElementType());
  int64_t columns = from.getDimSize(1), size = getElementBytes(type);
  int64_t warps = op.getRoom()->getThreads() / mk::kWarpThreads;
  SmallVector<Value> result = reduceInThread(op, e, getSliceElements(from, 0));
  for (Value &value : result)
    value = combineLanes(e, op.getKind(), value, 4, mk::kWarpThreads);
  Exchange room(e, *op.getRoom(), op.getBarrier());
  Places places(e, op.getTo(), op.getThread());
  room.meet();
  Value isWriter = ult(e, laneOf(e, op.getThread()), 4);
  Value warp = warpOf(e, op.getThread());
  SmallVector<Value> addresses;
  for (auto [i, value] : llvm::enumerate(result)) {
    Value column = places.number(places.at(i));
    addresses.push_back(add(e, room.start(), mul(e, column, size)));
    room.store(isWriter, add(e, addresses.back(), mul(e, warp, columns * size)), value);
  }
  room.meet();
  for (auto [value, address] : llvm::zip(result, addresses)) {
    value = room.load({}, address, type);
    for (int64_t warp = 1; warp < warps; ++warp)
      value = combine(e, op.getKind(), value,
                      room.load({}, add(e, address, warp * columns * size), type));
  }
  return result;
}

namespace {
/// What a thread has of a result: its number, and the place in it.
struct Partial {
  Value value, row, place, exists;
};
} // namespace

/// What a thread has of each result, several of its elements in one where they can be.
static SmallVector<Partial> findPartials(ReduceElementsOp op, Emitter &e,
                                         const Partials &partials) {
  int64_t axis = op.getAxis(), together = partials.together;
  Places places(e, op.getFrom(), op.getThread());
  SmallVector<int64_t> strides = computeStrides(op.getTo().getShape());
  strides.insert(strides.begin() + axis, 0);
  SmallVector<Partial> own;
  for (size_t i = 0; i < op.getElements().size(); i += together) {
    Value value = op.getElements()[i];
    for (int64_t k = 1; k < together; ++k)
      value = combine(e, op.getKind(), value, op.getElements()[i + k]);
    if (partials.rounds && i / together % partials.rounds) {
      own.back().value = combine(e, op.getKind(), own.back().value, value);
      continue;
    }
    Place where = places.at(i);
    Value along = resize(e, add(e, where.base[axis], where.offset[axis]), e.i32);
    own.push_back({value, places.number(where, strides),
                   partials.rounds ? op.getThread() : divU(e, along, together), where.exists});
  }
  return own;
}

// Each thread leaves what it has of a result, groups of lanes take what was left, all read results.
static SmallVector<Value> reduceDealt(ReduceElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom();
  Type type = getRegisterType(from.getElementType());
  Partials partials(from, op.getAxis());
  int64_t size = getElementBytes(type), extent = from.getDimSize(op.getAxis());
  int64_t threads = op.getRoom()->getThreads(), numResults = from.getNumElements() / extent;
  int64_t perPart =
      std::min(numResults, (op.getRoom()->getBytes() / size - numResults) / partials.pitch);
  Exchange room(e, *op.getRoom(), op.getBarrier());
  Places resultPlaces(e, op.getTo(), op.getThread());
  SmallVector<Partial> own = findPartials(op, e, partials);

  Value partialsAt = add(e, room.start(), numResults * size);
  for (int64_t first = 0; first < numResults; first += perPart) {
    int64_t rows = std::min(perPart, numResults - first);
    room.meet();
    for (const Partial &partial : own) {
      Value row = sub(e, partial.row, first), exists = partial.exists;
      if (rows < numResults) {
        Value inside = ult(e, row, rows);
        exists = exists ? and_(e, exists, inside) : inside;
      }
      Value at = add(e, mul(e, row, partials.pitch), partial.place);
      room.store(exists, add(e, partialsAt, mul(e, at, size)), partial.value);
    }
    room.meet();
    int64_t lanes = 1;
    while (2 * lanes <= mk::kWarpThreads && 2 * lanes <= partials.count &&
           2 * lanes * rows <= threads)
      lanes *= 2;
    int64_t turns = llvm::divideCeil(rows * lanes, threads);
    forRange(e, turns, [&](Value turn) {
      Value number = add(e, op.getThread(), mul(e, turn, threads));
      Value row = divU(e, number, lanes), lane = remU(e, number, lanes);
      Value exists = ult(e, row, rows);
      // Threads too many repeat the last row: all lanes shuffle.
      Value start = mul(e, select(e, exists, row, e.c32(rows - 1)), partials.pitch);
      auto at = [&](Value k) {
        return room.load({}, add(e, partialsAt, mul(e, add(e, start, k), size)), type);
      };
      auto loop =
          scf::ForOp::create(e, add(e, lane, lanes), e.c32(partials.count), e.c32(lanes), at(lane));
      {
        OpBuilder::InsertionGuard guard(e);
        e.setInsertionPointToStart(loop.getBody());
        Value next =
            combine(e, op.getKind(), loop.getRegionIterArgs()[0], at(loop.getInductionVar()));
        scf::YieldOp::create(e, next);
      }
      Value value = combineLanes(e, op.getKind(), loop.getResult(0), 1, lanes);
      room.store(and_(e, exists, eq(e, lane, 0)),
                 add(e, room.start(), mul(e, add(e, row, first), size)), value);
    });
  }
  room.meet();
  SmallVector<Value> result;
  for (unsigned i = 0; i != op.getNumResults(); ++i) {
    Place where = resultPlaces.at(i);
    Value address = add(e, room.start(), mul(e, resultPlaces.number(where), size));
    result.push_back(room.load(where.exists, address, type));
  }
  return result;
}

/// To which element of a partial sum each of the elements belongs.
static SmallVector<unsigned> mapPartial(ReduceElementsOp op) {
  RankedTensorType from = op.getFrom();
  SmallVector<unsigned> map;
  for (unsigned i = 0, results = op.getNumResults(); i != op.getElements().size(); ++i)
    if (isa<MmaAttr>(from.getEncoding())) {
      // Groups of 8 columns lie behind each other, in blocks of 64 rows.
      unsigned perBlock = from.getDimSize(1) / 2, perGroup = MmaAttr::kColumns / 2;
      map.push_back(i / perBlock * perGroup + i % perGroup);
    } else {
      // Runs are of a row each; after as many as there are results columns come again.
      unsigned vector = cast<mk_sm::BlockedAttr>(from.getEncoding()).getVector();
      map.push_back(op.getAxis() == 1 ? i / vector : i % results);
    }
  return map;
}

static SmallVector<Value> reduce(ReduceElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom();
  if (op.isPartial())
    return reduceInThread(op, e, mapPartial(op));
  if (!isa<MmaAttr>(from.getEncoding()))
    return reduceDealt(op, e);
  if (op.getAxis() == 0)
    return reduceColumns(op, e);
  SmallVector<Value> result = reduceInThread(op, e, getSliceElements(from, 1));
  // The four lanes of a row.
  for (Value &value : result)
    value = combineLanes(e, op.getKind(), value, 1, 4);
  return result;
}

void mk_thread::expandReductions(ModuleOp module) { replaceEach<ReduceElementsOp>(module, reduce); }
