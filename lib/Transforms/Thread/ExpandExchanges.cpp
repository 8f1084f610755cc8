//===- ExpandExchanges.cpp - Elements that change threads -----------------===//
//
// Threads write the elements that they hold to shared memory, and read those that they are to have.
// What does not fit at once goes in parts.
//
//===----------------------------------------------------------------------===//
#include "Exchange.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Support/Banks.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

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

namespace {
/// How elements that change threads lie in shared memory: as in a tile that is dense, or, where
/// columns are read, in rows that banks keep apart.
class Placement {
public:
  explicit Placement(ExchangeElementsOp op);

  /// The number in shared memory of an element that is written, or read.
  Value findWritten(Emitter &e, Places &places, const Place &place) const;
  Value findRead(Emitter &e, Places &places, const Place &place) const;

  int64_t perPart; // elements that have room at once
  int64_t parts;
  int64_t word; // bytes that are written at once, at most

private:
  void turn(ExchangeElementsOp op, int64_t size);
  Value skip(Emitter &e, Value number, const Place &place, size_t rows, bool isWhole) const;

  SmallVector<int64_t> from, to; // strides of what is written and read, in elements
  int64_t run = 0, apart = 0;    // rows in front of which are so many more elements
  int64_t round = 0;             // rows that threads write in a round
};
} // namespace

Placement::Placement(ExchangeElementsOp op) : word(mkernel::kBankBytes), to(op.getStrides()) {
  RankedTensorType tile = op.getFrom();
  ArrayRef<int64_t> shape = tile.getShape();
  int64_t size = getElementBytes(getRegisterType(tile.getElementType())),
          columns = shape.empty() ? 1 : shape.back();
  from = computeStrides(shape);
  perPart = op.getRoom().getBytes() / size;
  parts = llvm::divideCeil(tile.getNumElements(), perPart);
  bool isMatrix = shape.size() == 2 && columns > 1 && llvm::all_of(to, [&](int64_t stride) {
                    return stride <= 1 || stride == columns;
                  });
  if (isMatrix && to.back() > 1 && size <= mkernel::kBankBytes)
    turn(op, size);
}

/// Columns are read.
void Placement::turn(ExchangeElementsOp op, int64_t size) {
  RankedTensorType tile = op.getFrom();
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1), room = perPart;
  int64_t block = mk_sm::getTurnedRun(tile, op.getTo());
  int64_t each = block ? mkernel::spreadRun(columns * size, block) / size
                       : mkernel::spreadRow(columns * size) / size;
  if (each > room)
    return;
  int64_t pitch = each;
  if (block) {
    auto blocked = cast<mk_sm::BlockedAttr>(tile.getEncoding());
    run = block;
    apart = mkernel::kPairBytes / size;
    pitch = (each - apart) / block;
    round = blocked.getThreads() * blocked.getVector() / columns;
    word = mkernel::kPairBytes;
  }
  perPart = room / each * each;
  parts = llvm::divideCeil(rows / std::max<int64_t>(run, 1) * each, perPart);
  from = {pitch, 1};
  for (int64_t &stride : to)
    stride = stride == columns ? pitch : stride;
}

/// `isWhole`: what depends on the thread is whole runs.
Value Placement::skip(Emitter &e, Value number, const Place &place, size_t rows,
                      bool isWhole) const {
  if (!run)
    return number;
  Value base = place.base[rows];
  int64_t offset = place.offset[rows];
  Value runs;
  if (isWhole || offset % run == 0)
    runs = add(e, divU(e, base, run), offset / run);
  else if (round && run % round == 0 && offset % round == 0)
    runs = e.c64(offset / run); // threads differ by less than is left
  else
    runs = divU(e, add(e, base, offset), run);
  return add(e, number, resize(e, mul(e, runs, apart), e.i32));
}

Value Placement::findWritten(Emitter &e, Places &places, const Place &place) const {
  return skip(e, places.number(place, from), place, /*rows=*/0, /*isWhole=*/false);
}

Value Placement::findRead(Emitter &e, Places &places, const Place &place) const {
  return skip(e, places.number(place, to), place, /*rows=*/1, /*isWhole=*/true);
}

/// How many elements that lie side by side a thread writes at once: those of one word or of two.
static int64_t getWritten(RankedTensorType tile, const Placement &placement) {
  int64_t size = getElementBytes(getRegisterType(tile.getElementType()));
  for (int64_t bytes = placement.word; bytes > size; bytes /= 2) {
    int64_t elements = bytes / size;
    if (tile.getRank() && !tile.getElementType().isInteger(1) && getRun(tile) % elements == 0 &&
        tile.getShape().back() % elements == 0 && placement.perPart % elements == 0)
      return elements;
    if (bytes <= mkernel::kBankBytes)
      break;
  }
  return 1;
}

static SmallVector<Value> exchange(ExchangeElementsOp op, Emitter &e) {
  RankedTensorType from = op.getFrom(), to = op.getTo();
  Type type = getRegisterType(from.getElementType());
  int64_t n = op.getNumResults(), size = getElementBytes(type);
  Exchange room(e, op.getRoom(), op.getBarrier());
  Places places(e, from, op.getThread()), resultPlaces(e, to, op.getThread());
  const Placement placement(op);
  int64_t written = getWritten(from, placement);
  SmallVector<SmallVector<Value>> words;
  SmallVector<std::pair<Value, Value>> sources,
      results; // numbers of elements, and whether they exist
  for (int64_t i = 0, all = op.getElements().size(); i < all; i += written) {
    Place place = places.at(i);
    sources.emplace_back(placement.findWritten(e, places, place), place.exists);
    SmallVector<Value> elements(op.getElements().slice(i, written));
    words.push_back(written == 1 ? elements : pack(e, elements));
  }
  for (unsigned i = 0; i != n; ++i) {
    Place place = resultPlaces.at(i);
    results.emplace_back(placement.findRead(e, resultPlaces, place), place.exists);
  }
  SmallVector<Value> loaded(n);
  for (int64_t part = 0; part < placement.parts; ++part) {
    // Where in this part, and whether it is.
    auto inPart = [&](std::pair<Value, Value> where) {
      auto [number, exists] = where;
      Value at = sub(e, number, part * placement.perPart);
      if (placement.parts > 1) {
        Value inside = ult(e, at, placement.perPart);
        exists = exists ? and_(e, exists, inside) : inside;
      }
      return std::pair(add(e, room.start(), mul(e, at, size)), exists);
    };
    room.meet();
    for (auto [word, where] : llvm::zip_equal(words, sources)) {
      auto [address, exists] = inPart(where);
      room.store(exists, address, word, written * size);
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
