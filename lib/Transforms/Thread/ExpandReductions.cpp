//===- ExpandReductions.cpp - Along an axis of a tile ---------------------===//
#include "Exchange.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::mk_thread;
using mk_sm::MmaAttr;
using Predicate = arith::CmpIPredicate;

static Value combine(Emitter &e, Combination kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  auto contract = arith::FastMathFlagsAttr::get(e.b.getContext(), arith::FastMathFlags::contract);
  switch (kind) {
  case Combination::Add:
    return isFloat ? Value(e.create<arith::AddFOp>(x, y, contract)) : e.add(x, y);
  case Combination::Mul:
    return isFloat ? Value(e.create<arith::MulFOp>(x, y, contract)) : e.mul(x, y);
  case Combination::Max:
    return isFloat ? Value(e.create<arith::MaximumFOp>(x, y)) : e.maxS(x, y);
  case Combination::Min:
    return isFloat ? Value(e.create<arith::MinimumFOp>(x, y)) : e.minS(x, y);
  }
  llvm_unreachable("unknown reduction");
}

/// What the lanes have whose numbers differ in these bits.
static Value combineLanes(Emitter &e, Combination kind, Value value, int64_t from, int64_t to) {
  for (int64_t mask = from; mask < to; mask *= 2)
    value = combine(e, kind, value, e.shuffleXor(value, mask));
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
        half.push_back(i + 1 < chain.size() ? combine(e, op.getKind(), chain[i], chain[i + 1]) : chain[i]);
      chain = half;
    }
    result.push_back(chain.front());
  }
  return result;
}

/// Columns of accumulators: those of a thread, of the lanes of a warp, then of the warps, in this order.
static SmallVector<Value> reduceColumns(ReduceElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom();
  Type type = getRegisterType(from.getElementType());
  int64_t columns = from.getDimSize(1), size = getElementBytes(type);
  int64_t warps = op.getRoom()->getThreads() / 32;
  SmallVector<Value> result = reduceInThread(op, e, getSliceElements(from, 0));
  for (Value &value : result)
    value = combineLanes(e, op.getKind(), value, 4, 32);
  Exchange room(e, *op.getRoom(), op.getBarrier());
  Places places(e, op.getTo(), op.getThread());
  room.meet();
  Value mine = e.cmp(Predicate::ult, e.and_(op.getThread(), 31), 4);
  Value warp = e.shr(op.getThread(), 5);
  SmallVector<Value> addresses;
  for (auto [i, value] : llvm::enumerate(result)) {
    Value column = places.number(places.at(i));
    addresses.push_back(e.add(room.start(), e.mul(column, size)));
    room.store(mine, e.add(addresses.back(), e.mul(warp, columns * size)), value);
  }
  room.meet();
  for (auto [value, address] : llvm::zip(result, addresses)) {
    value = room.load({}, address, type);
    for (int64_t warp = 1; warp < warps; ++warp)
      value = combine(e, op.getKind(), value, room.load({}, e.add(address, warp * columns * size), type));
  }
  return result;
}

// Each thread leaves what it has of a result, groups of lanes take what was left,
// all read results.
static SmallVector<Value> reduceDealt(ReduceElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom(), to = op.getTo();
  Type type = getRegisterType(from.getElementType());
  Partials partials(from, op.getAxis());
  int64_t size = getElementBytes(type), axis = op.getAxis(), extent = from.getDimSize(axis);
  int64_t threads = op.getRoom()->getThreads(), numResults = from.getNumElements() / extent;
  int64_t perPart = std::min(numResults, (op.getRoom()->getBytes() / size - numResults) / partials.pitch);
  Exchange room(e, *op.getRoom(), op.getBarrier());
  Places places(e, from, op.getThread()), resultPlaces(e, to, op.getThread());

  struct Partial {
    Value value, row, place, exists; // of the result, in it
  };
  SmallVector<Partial> own;
  SmallVector<int64_t> strides = computeStrides(to.getShape());
  strides.insert(strides.begin() + axis, 0);
  int64_t together = partials.together;
  for (size_t i = 0; i < op.getElements().size(); i += together) {
    Value value = op.getElements()[i];
    for (int64_t k = 1; k < together; ++k)
      value = combine(e, op.getKind(), value, op.getElements()[i + k]);
    if (partials.rounds && i / together % partials.rounds) {
      own.back().value = combine(e, op.getKind(), own.back().value, value);
      continue;
    }
    Place where = places.at(i);
    Value along = e.resize(e.add(where.base[axis], where.offset[axis]), e.i32);
    own.push_back({value, places.number(where, strides),
                   partials.rounds ? op.getThread() : e.divU(along, together), where.exists});
  }

  Value partialsAt = e.add(room.start(), numResults * size);
  for (int64_t first = 0; first < numResults; first += perPart) {
    int64_t rows = std::min(perPart, numResults - first);
    room.meet();
    for (const Partial &partial : own) {
      Value row = e.sub(partial.row, first), exists = partial.exists;
      if (rows < numResults) {
        Value inside = e.cmp(Predicate::ult, row, rows);
        exists = exists ? e.and_(exists, inside) : inside;
      }
      Value at = e.add(e.mul(row, partials.pitch), partial.place);
      room.store(exists, e.add(partialsAt, e.mul(at, size)), partial.value);
    }
    room.meet();
    int64_t lanes = 1;
    while (2 * lanes <= 32 && 2 * lanes <= partials.count && 2 * lanes * rows <= threads)
      lanes *= 2;
    int64_t turns = llvm::divideCeil(rows * lanes, threads);
    e.forRange(e.c32(0), e.c32(turns), e.c32(1), [&](Value turn) {
      Value number = e.add(op.getThread(), e.mul(turn, threads));
      Value row = e.divU(number, lanes), lane = e.remU(number, lanes);
      Value exists = e.cmp(Predicate::ult, row, rows);
      // Threads too many repeat the last row: all lanes shuffle.
      Value start = e.mul(e.select(exists, row, e.c32(rows - 1)), partials.pitch);
      auto at = [&](Value k) {
        return room.load({}, e.add(partialsAt, e.mul(e.add(start, k), size)), type);
      };
      auto loop = e.create<scf::ForOp>(e.add(lane, lanes), e.c32(partials.count), e.c32(lanes), at(lane));
      {
        OpBuilder::InsertionGuard guard(e.b);
        e.b.setInsertionPointToStart(loop.getBody());
        Value next = combine(e, op.getKind(), loop.getRegionIterArgs()[0], at(loop.getInductionVar()));
        e.create<scf::YieldOp>(next);
      }
      Value value = combineLanes(e, op.getKind(), loop.getResult(0), 1, lanes);
      room.store(e.and_(exists, e.eq(lane, 0)), e.add(room.start(), e.mul(e.add(row, first), size)), value);
    });
  }
  room.meet();
  SmallVector<Value> result;
  for (unsigned i = 0; i != op.getNumResults(); ++i) {
    Place where = resultPlaces.at(i);
    Value address = e.add(room.start(), e.mul(resultPlaces.number(where), size));
    result.push_back(room.load(where.exists, address, type));
  }
  return result;
}

static SmallVector<Value> reduce(ReduceElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom(), to = op.getTo();
  if (!isa<MmaAttr>(from.getEncoding()))
    return reduceDealt(op, e);
  if (isa<MmaAttr>(to.getEncoding())) {
    // Groups of 8 columns lie behind each other, in blocks of 64 rows.
    unsigned perBlock = from.getDimSize(1) / 2, perGroup = MmaAttr::kColumns / 2;
    SmallVector<unsigned> map;
    for (unsigned i = 0; i != op.getElements().size(); ++i)
      map.push_back(i / perBlock * perGroup + i % perGroup);
    return reduceInThread(op, e, map);
  }
  if (op.getAxis() == 0)
    return reduceColumns(op, e);
  SmallVector<Value> result = reduceInThread(op, e, getSliceElements(from, 1));
  // The four lanes of a row.
  for (Value &value : result)
    value = combineLanes(e, op.getKind(), value, 1, 4);
  return result;
}

void mk_thread::expandReductions(ModuleOp module) { replaceEach<ReduceElementsOp>(module, reduce); }
