//===- ExpandExchanges.cpp - Elements that change threads -----------------===//
//
// Threads write the elements that they hold to shared memory, and read those that they are to have. What
// does not fit at once goes in parts.
//
//===----------------------------------------------------------------------===//
#include "Exchange.h"
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// The first element of a thread that, in all dimensions with a stride, has the place of element `i`: runs
/// lie in a row, and where a round of all threads is whole rows, or a part of one, they repeat columns.
static unsigned findFirstAlike(RankedTensorType tile, ArrayRef<int64_t> strides, unsigned i) {
  auto blocked = dyn_cast<mk_sm::BlockedAttr>(tile.getEncoding());
  if (!blocked || tile.getRank() != 2 || llvm::count(strides, 0) != 1)
    return i;
  int64_t columns = tile.getDimSize(1), vector = blocked.getVector();
  int64_t round = blocked.getThreads() * vector;
  if (columns % vector)
    return i;
  // Along a row: the run, or those of a thread in one row.
  if (strides[1] == 0)
    return i - i % (columns % round == 0 ? columns / blocked.getThreads() : vector);
  if (columns % round == 0)
    return i % (columns / blocked.getThreads());
  return round % columns == 0 ? i % vector : i;
}

static SmallVector<Value> exchange(ExchangeElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom(), to = op.getTo();
  Type type = getRegisterType(from.getElementType());
  int64_t n = op.getNumResults(), size = getElementBytes(type);
  Exchange room(e, op.getRoom(), op.getBarrier());
  Places places(e, from, op.getThread()), resultPlaces(e, to, op.getThread());
  SmallVector<std::pair<Value, Value>> sources, results; // numbers of elements, and whether they exist
  for (unsigned i = 0; i != op.getElements().size(); ++i) {
    Place place = places.at(i);
    sources.emplace_back(places.number(place), place.exists);
  }
  for (unsigned i = 0; i != n; ++i) {
    Place place = resultPlaces.at(i);
    results.emplace_back(resultPlaces.number(place, op.getStrides()), place.exists);
  }
  int64_t perPart = op.getRoom().getBytes() / size;
  int64_t parts = llvm::divideCeil(from.getNumElements(), perPart);
  SmallVector<Value> loaded(n);
  for (int64_t part = 0; part < parts; ++part) {
    // Where in this part, and whether it is.
    auto inPart = [&](std::pair<Value, Value> where) {
      auto [number, exists] = where;
      Value at = e.sub(number, part * perPart);
      if (parts > 1) {
        Value inside = e.cmp(arith::CmpIPredicate::ult, at, perPart);
        exists = exists ? e.and_(exists, inside) : inside;
      }
      return std::pair(e.add(room.start(), e.mul(at, size)), exists);
    };
    room.meet();
    for (auto [value, where] : llvm::zip_equal(op.getElements(), sources)) {
      auto [address, exists] = inPart(where);
      room.store(exists, address, value);
    }
    room.meet();
    for (unsigned i = 0; i != n; ++i) {
      if (unsigned first = findFirstAlike(to, op.getStrides(), i); first != i) {
        loaded[i] = loaded[first];
        continue;
      }
      auto [address, exists] = inPart(results[i]);
      loaded[i] = room.load(exists, address, type, loaded[i]);
    }
  }
  return loaded;
}

void mk_thread::expandExchanges(ModuleOp module) { replaceEach<ExchangeElementsOp>(module, exchange); }
