//===- ExpandExchanges.cpp - Elements that change threads -----------------===//
//
// Threads write the elements that they hold to shared memory, and read those that they are to have.
// What does not fit at once goes in parts.
//
//===----------------------------------------------------------------------===//
#include "Exchange.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Support/Banks.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// The first element of a thread that, in all dimensions with a stride, has the place of element
/// `i`: runs lie in a row, and where a round of all threads is whole rows, or a part of one, they
/// repeat columns.
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
  SmallVector<std::pair<Value, Value>> sources,
      results; // numbers of elements, and whether they exist
  for (unsigned i = 0; i != op.getElements().size(); ++i) {
    Place place = places.at(i);
    sources.emplace_back(places.number(place), place.exists);
  }
  for (unsigned i = 0; i != n; ++i) {
    Place place = resultPlaces.at(i);
    results.emplace_back(resultPlaces.number(place, op.getStrides()), place.exists);
  }
  // Where columns are read rows lie so that these are in other banks.
  int64_t roomBytes = op.getRoom().getBytes();
  bool isSpread = op.getStrides().back() > 1 && mkernel::isSpreadOverBanks(size) &&
                  mkernel::fitSpread(roomBytes) > 0;
  auto spread = [&](Value at) {
    if (!isSpread)
      return at;
    Value padding = add(e, divU(e, at, mkernel::kBanksBytes), divU(e, at, mkernel::kGroupBytes));
    return add(e, at, mul(e, padding, mkernel::kBankBytes));
  };
  int64_t perPart = (isSpread ? mkernel::fitSpread(roomBytes) : roomBytes) / size;
  int64_t parts = llvm::divideCeil(from.getNumElements(), perPart);
  SmallVector<Value> loaded(n);
  for (int64_t part = 0; part < parts; ++part) {
    // Where in this part, and whether it is.
    auto inPart = [&](std::pair<Value, Value> where) {
      auto [number, exists] = where;
      Value at = sub(e, number, part * perPart);
      if (parts > 1) {
        Value inside = ult(e, at, perPart);
        exists = exists ? and_(e, exists, inside) : inside;
      }
      return std::pair(add(e, room.start(), spread(mul(e, at, size))), exists);
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

/// Bytes of four registers of a thread: the longest access of the PTX ISA.
static constexpr int64_t kRun = 4, kRunBytes = 4 * kRun;

/// Register k of a thread's part for CTA `cta`, among all that it holds: blocks of rows follow each
/// other, in each of which columns do.
static int64_t findInParts(SwapElementsOp op, int64_t cta, int64_t k) {
  int64_t inBlock = op.getTile().getDimSize(1) / 2, part = inBlock / int64_t(op.getCtas());
  return k / part * inBlock + cta * part + k % part;
}

static SmallVector<Value> swap(SwapElementsOp op, Emitter &e) {
  int64_t ctas = op.getCtas(), perPart = op.getElements().size() / ctas;
  int64_t step = kRunBytes * op.getRoom().getThreads(), partBytes = perPart / kRun * step;
  Value full = e.shared(op.getBarriers()), read = add(e, full, 8);
  Value place = add(e, e.shared(op.getRoom().getOffset()), mul(e, op.getThread(), kRunBytes));
  Value own = add(e, place, mul(e, op.getCta(), partBytes));
  auto wait = [&](Value barrier, Value parity) {
    BarrierWaitOp::create(e, barrier, parity, e.c32(0), op.getReport(), /*doubleDeadline=*/true);
  };
  // All have read what came before.
  wait(read, xor_(e, op.getParity(), 1));
  ifThen(e, eq(e, op.getThread(), 0), [&] {
    BarrierArriveOp::create(e, full, /*cta=*/Value(), /*bytes=*/e.c32((ctas - 1) * partBytes));
  });
  for (int64_t cta = 0; cta < ctas; ++cta) {
    auto forRuns = [&](function_ref<void(ArrayRef<Value>, int64_t)> body) {
      for (int64_t k = 0; k < perPart; k += kRun) {
        SmallVector<Value> words;
        for (int64_t i = 0; i < kRun; ++i) {
          Value element = op.getElements()[findInParts(op, cta, k + i)];
          words.push_back(element.getType() == e.i32
                              ? element
                              : Value(LLVM::BitcastOp::create(e, e.i32, element)));
        }
        body(words, k / kRun * step);
      }
    };
    // What stays goes the same way, but not through the network of the cluster: the thread itself
    // reads it.
    ifThenElse(
        e, eq(e, op.getCta(), cta),
        [&] {
          forRuns([&](ArrayRef<Value> words, int64_t at) {
            StoreOp::create(e, words, add(e, own, at), kRunBytes);
          });
        },
        [&] {
          Value to = MapSharedOp::create(e, own, e.c32(cta)),
                told = MapSharedOp::create(e, full, e.c32(cta));
          forRuns([&](ArrayRef<Value> words, int64_t at) {
            SendSharedOp::create(e, words[0], words[1], words[2], words[3], to, at, told);
          });
        });
  }
  wait(full, op.getParity());
  SmallVector<Value> results;
  SmallVector<Type> types(kRun, e.i32);
  for (int64_t cta = 0; cta < ctas; ++cta)
    for (int64_t k = 0; k < perPart; k += kRun)
      for (Value word :
           LoadOp::create(e, types, add(e, place, cta * partBytes + k / kRun * step), kRunBytes)
               .getResults()) {
        Type type = op.getResultTypes().front();
        results.push_back(type == e.i32 ? word : Value(LLVM::BitcastOp::create(e, type, word)));
      }
  // Nothing written is handed over (see mk-thread-expand-channels).
  SyncWarpOp::create(e);
  Value lane = laneOf(e, op.getThread());
  ifThen(e, ult(e, lane, ctas),
         [&] { BarrierArriveOp::create(e, read, /*cta=*/lane, /*bytes=*/Value()); });
  return results;
}

void mk_thread::expandExchanges(ModuleOp module) {
  replaceEach<SwapElementsOp>(module, swap);
  replaceEach<ExchangeElementsOp>(module, exchange);
}
