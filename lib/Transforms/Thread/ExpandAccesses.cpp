//===- ExpandAccesses.cpp - Elements of a thread in memory ----------------===//
//
// Adjacent elements that a thread holds of a row are moved together where the op says
// so; else each by itself.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mk_thread;

namespace {
/// Where elements lie in memory, and which exist.
template <typename OpT> class Access {
public:
  Access(OpT op, Emitter &e) : op(op), e(e), tile(op.getTile()), places(e, tile, op.getThread()) {}

  /// Which rows a list has for the thread's elements, by row.
  using Entries = llvm::SmallDenseMap<int64_t, Value>;

  /// Loads them, all together.
  Entries loadEntries() {
    Entries entries;
    for (int32_t i : op.getWhich()) {
      Value &entry = entries[getRowKey(i)];
      if (!entry)
        entry = loadEntry(places.at(i));
    }
    return entries;
  }
  void setEntries(Entries known) { entries = std::move(known); }

  RankedTensorType getTile() { return tile; }
  Value isOwner() { return places.isOwner(); }
  /// i1. A run exists as a whole or not at all; short ones do where their row does.
  Value exists(unsigned i, const Place &place, bool run) {
    int64_t rank = tile.getRank();
    Value all = existsIn(place, 0, rank - (run && !areRunsLong(tile)), run);
    if constexpr (isGathering)
      if (Value entry = getEntry(i)) {
        all = both(all, sge(e, entry, op.getEntriesFrom()));
        all = both(all, slt(e, entry, op.getEntriesBelow()));
      }
    all = both(all, place.exists);
    return all ? all : e.cbool(true);
  }
  /// i1. Whether all of the tile is inside, for whatever thread; null if that is not asked for each
  /// element anyway, or rows are looked up.
  Value isInside() {
    if (!entries.empty())
      return {};
    Value all;
    for (int64_t d = 0; d < tile.getRank(); ++d) {
      if (std::optional<int64_t> limit = getConstantIntValue(op.getLimits()[d]);
          !limit || *limit < tile.getDimSize(d))
        all = both(all, sge(e, op.getLimits()[d], tile.getDimSize(d)));
      if (std::optional<int64_t> offset = getConstantIntValue(op.getOffsets()[d]);
          !offset || *offset < 0)
        all = both(all, sge(e, op.getOffsets()[d], 0));
    }
    return all;
  }
  Value address(unsigned i, const Place &place) {
    Value at = op.getStart();
    int64_t rank = tile.getRank();
    Value entry = getEntry(i);
    for (int64_t d = 0; d < rank; ++d) {
      Value index = add(e, place.base[d], d + 1 < rank ? place.offset[d] : 0);
      if (!d && entry)
        index = resize(e, entry, e.i64, /*isSigned=*/true);
      at = add(e, at, mul(e, index, op.getStrides()[d]));
    }
    // A tile of one element has no dimension.
    return rank ? add(e, at, mul(e, op.getStrides().back(), place.offset.back())) : at;
  }
  Place at(unsigned i) { return places.at(i); }
  Place inQuad(unsigned i, unsigned first, int64_t blocks) {
    return places.inQuad(i, first, blocks);
  }

private:
  static constexpr bool isGathering = std::is_same_v<OpT, LoadElementsOp>;

  /// Of two conditions, of which null always holds.
  Value both(Value x, Value y) { return x && y ? and_(e, x, y) : x ? x : y; }

  /// i1. Whether the place is inside in these dimensions; null if there is none.
  Value existsIn(const Place &place, int64_t from, int64_t to, bool run) {
    Value all;
    for (int64_t d = from; d < to; ++d) {
      Value index = add(e, place.base[d], place.offset[d]);
      std::optional<int64_t> limit = getConstantIntValue(op.getLimits()[d]);
      Value inside =
          limit && *limit >= tile.getDimSize(d) ? e.cbool(true) : slt(e, index, op.getLimits()[d]);
      std::optional<int64_t> offset = getConstantIntValue(op.getOffsets()[d]);
      bool alongRun =
          run && d + 1 == tile.getRank(); // which are only moved at once from column 0 on
      if (!alongRun && (!offset || *offset < 0))
        inside = and_(e, inside, sge(e, add(e, index, op.getOffsets()[d]), 0));
      all = both(all, inside);
    }
    return all;
  }

  /// Which row the list has for an element's; null without a list.
  Value getEntry(unsigned i) { return entries.empty() ? Value() : entries.lookup(getRowKey(i)); }

  /// The same number for elements of one row.
  int64_t getRowKey(unsigned i) {
    return places.haveOneBase() ? places.at(i).offset[0] : i / getRun(tile);
  }

  Value loadEntry(const Place &place) {
    Value row = add(e, place.base[0], place.offset[0]);
    Value stride = resize(e, op.getListStride(), e.i64, /*isSigned=*/true);
    Value at = add(e, op.getList(), shl(e, mul(e, row, stride), 2));
    Value listed = both(existsIn(place, 0, 1, /*run=*/false), place.exists);
    return LoadOp::create(e, e.i32, at, 4, resize(e, listed, e.i32), e.c32(kNoRow)).getResult(0);
  }

  OpT op;
  Emitter &e;
  RankedTensorType tile;
  Places places;
  Entries entries;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Loads `bytes` as 32-bit words, or as one value of another width, where `exists` holds;
/// `pad` elsewhere.
static SmallVector<Value> loadWhere(Emitter &e, Value exists, Value address, int64_t bytes,
                                    ArrayRef<Value> pad) {
  SmallVector<Value> start(pad);
  if (bytes == 1)
    start[0] = resize(e, start[0], e.i16);
  Value condition = resize(e, exists, e.i32);
  SmallVector<Value> result =
      LoadOp::create(e, ValueRange(start).getTypes(), address, bytes, condition, start)
          .getResults();
  if (bytes == 1)
    result[0] = resize(e, result[0], e.i8);
  return result;
}

using Listed = Access<LoadElementsOp>::Entries;

/// From so many elements on it is worth a branch that none is asked for by itself.
static constexpr size_t kManySingly = 8;

static SmallVector<Value> loadElements(LoadElementsOp op, Emitter &e, Listed entries) {
  Access<LoadElementsOp> access(op, e);
  access.setEntries(std::move(entries));
  int64_t blocks = op.getQuads().value_or(0);
  auto find = [&](size_t k) {
    ArrayRef<int32_t> which = op.getWhich();
    return blocks ? access.inQuad(which[k], which[k - k % (4 * blocks)], blocks)
                  : access.at(which[k]);
  };
  Type element = getRegisterType(access.getTile().getElementType());
  int64_t size = getElementBytes(element);
  Type bits = e.getIntegerType(8 * size);
  bool isBit = element.isInteger(1);
  auto convert = [&](Value value, Type type) -> Value {
    if (isBit)
      return resize(e, value, type);
    return value.getType() == type ? value : Value(LLVM::BitcastOp::create(e, type, value));
  };
  Value pad = op.getPad() ? convert(op.getPad(), bits) : e.cint(bits, 0);
  auto loadSingly = [&](bool isInside) {
    SmallVector<Value> result;
    for (size_t k = 0; k < op.getWhich().size(); ++k) {
      Place where = find(k);
      int32_t i = op.getWhich()[k];
      Value exists = isInside ? where.exists : access.exists(i, where, /*run=*/false);
      result.push_back(convert(
          loadWhere(e, exists ? exists : e.cbool(true), access.address(i, where), size, pad)[0],
          element));
    }
    return result;
  };
  // In most tiles all elements exist.
  auto loadAlone = [&] {
    Value isInside = op.getWhich().size() >= kManySingly ? access.isInside() : Value();
    if (!isInside)
      return loadSingly(/*isInside=*/false);
    return unpack(e,
                  choose(
                      e, isInside, [&] { return pack(e, loadSingly(/*isInside=*/true)); },
                      [&] { return pack(e, loadSingly(/*isInside=*/false)); }),
                  element, op.getNumResults());
  };
  if (!op.getTogether())
    return loadAlone();
  int64_t run = getRun(access.getTile());
  auto inRuns = [&] {
    SmallVector<Value> padWords = pack(e, SmallVector<Value>(run, pad));
    SmallVector<Value> result;
    for (size_t k = 0; k < op.getWhich().size(); k += run) {
      Place where = find(k);
      int32_t i = op.getWhich()[k];
      Value exists = access.exists(i, where, /*run=*/true);
      SmallVector<Value> loaded =
          loadWhere(e, exists, access.address(i, where), run * size, padWords);
      if (size == 4)
        for (Value value : loaded)
          result.push_back(convert(value, element));
      else
        llvm::append_range(result, unpack(e, loaded, element, run));
    }
    return result;
  };
  // All words of a quad's row at once: that of a block lies where the thread has two columns of it.
  auto inQuads = [&] {
    SmallVector<Value> padWords = pack(e, SmallVector<Value>(2 * blocks, pad));
    SmallVector<Value> words(op.getWhich().size() / 2);
    for (size_t k = 0; k < op.getWhich().size(); k += 4 * blocks)
      for (int64_t half = 0; half < 2; ++half) {
        Place where = find(k + 2 * half);
        int32_t i = op.getWhich()[k];
        Value exists = access.exists(i, where, /*run=*/true);
        SmallVector<Value> loaded =
            loadWhere(e, exists, access.address(i, where), 2 * blocks * size, padWords);
        for (auto [block, word] : llvm::enumerate(loaded))
          words[k / 2 + 2 * block + half] = word;
      }
    return words;
  };
  auto narrowly = [&] {
    return choose(
        e, op.getTogether(), [&] { return pack(e, inRuns()); },
        [&] { return pack(e, loadSingly(/*isInside=*/false)); });
  };
  SmallVector<Value> words = blocks ? choose(e, op.getWide(), inQuads, narrowly) : narrowly();
  return size == 4 ? words : unpack(e, words, element, op.getNumResults());
}

/// Of two words, the second of threads without this bit in their number and the first of those with
/// it change places.
static void swapWords(Emitter &e, Value hasBit, int64_t bit, Value &first, Value &second) {
  Value received = shuffle(e, "bfly", select(e, hasBit, first, second), e.c32(bit));
  first = select(e, hasBit, received, first);
  second = select(e, hasBit, second, received);
}

static SmallVector<Value> exchangeQuads(ExchangeQuadsOp op, Emitter &e) {
  Type element = op.getElements().front().getType();
  int64_t blocks = op.getQuads(), perBlock = 2; // words: of two rows
  SmallVector<Value> words = pack(e, SmallVector<Value>(op.getElements()));
  Value thread = ThreadIdOp::create(e, /*pinned=*/true);
  // Of four blocks, thread q has words 0 to 3 of block q, and takes word q of each. Of two, a
  // place's bit becomes the lower one of the thread's number, which becomes the upper one, which
  // says the place.
  Value hasBit[2] = {ne(e, and_(e, thread, 1), 0), ne(e, and_(e, thread, 2), 0)};
  for (size_t first = 0; first < words.size(); first += blocks * perBlock)
    for (int64_t bit : {0, 1}) {
      int64_t apart = blocks == 4 ? 1 << bit : 1; // places that change
      for (int64_t place = 0; place < blocks; ++place)
        for (int64_t row = 0; row < perBlock && !(place & apart); ++row)
          swapWords(e, hasBit[bit], 1 << bit, words[first + place * perBlock + row],
                    words[first + (place + apart) * perBlock + row]);
    }
  return unpack(e, words, element, op.getNumResults());
}

//===----------------------------------------------------------------------===//
// Rows of lists
//===----------------------------------------------------------------------===//

/// Whether the op gives the same wherever in a thread's code it stands.
static bool isSameAnywhere(Operation *op) {
  return isMemoryEffectFree(op) || isa<ParamOp, ThreadIdOp>(op);
}

/// Whether what is read behind the op may be read in front of it as well.
static bool mayBePassed(Operation *op) {
  return isSameAnywhere(op) || isa<LoadElementsOp, ReadElementsOp, ReloadElementsOp, LoadOp>(op);
}

/// What the values follow from in the block, from `first` on, into `needed`. False if that may not
/// be moved to there.
static bool collect(ValueRange values, Operation *first, llvm::SetVector<Operation *> &needed) {
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    op = op ? first->getBlock()->findAncestorOpInBlock(*op) : nullptr;
    if (!op || op->isBeforeInBlock(first) || needed.contains(op))
      continue;
    if (op->getNumRegions() || !isSameAnywhere(op) || !collect(op->getOperands(), first, needed))
      return false;
    needed.insert(op);
  }
  return true;
}

/// Loads entries of lists: those of several loads that follow each other together, in front of the
/// first one, since a row is waited for twice, until its entry is there and until itself is.
static void lookUpRows(Block &block, Emitter &e, DenseMap<Operation *, Listed> &entries) {
  Operation *first = nullptr;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto load = dyn_cast<LoadElementsOp>(op);
    if (!load || !load.getList()) {
      first = mayBePassed(&op) ? first : nullptr;
      continue;
    }
    SmallVector<Value> needs{load.getList(), load.getListStride(), load.getOffsets()[0],
                             load.getLimits()[0], load.getThread()};
    llvm::SetVector<Operation *> needed;
    if (first && collect(needs, first, needed))
      for (Operation *need : needed)
        need->moveBefore(first);
    else
      first = load;
    e.setLoc(load.getLoc());
    e.setInsertionPoint(first);
    e.beginSharing();
    entries[load] = Access<LoadElementsOp>(load, e).loadEntries();
  }
}

static void expandLoads(ModuleOp module) {
  DenseMap<Operation *, Listed> entries;
  for (auto kernel : module.getOps<KernelOp>()) {
    Emitter emitter(module.getContext(), kernel.getLoc());
    emitter.enter(kernel);
    kernel.walk([&](Block *block) { lookUpRows(*block, emitter, entries); });
  }
  replaceEach<LoadElementsOp>(module, [&](LoadElementsOp op, Emitter &e) {
    return loadElements(op, e, entries.lookup(op));
  });
}

//===----------------------------------------------------------------------===//
// Through shared memory
//===----------------------------------------------------------------------===//

/// An element each at a time.
static void copyInElements(CopyElementsOp op, Emitter &e) {
  constexpr int64_t kLanes = mk::kWarpThreads;
  int64_t size = getElementBytes(op.getTile().getElementType()), count = op.getTile().getDimSize(0);
  auto fetch = [&](int64_t first) {
    Value index = add(e, resize(e, op.getLane(), e.i64), first);
    Value exists = and_(e, slt(e, index, op.getLimit()), sge(e, add(e, index, op.getOffset()), 0));
    Value from = add(e, op.getStart(), mul(e, index, op.getStride()));
    Value to = add(e, op.getDest(), resize(e, mul(e, index, size), e.i32));
    NVVM::CpAsyncOp::create(e, toPointer(e, to), toPointer(e, from), size,
                            NVVM::LoadCacheModifierKind::CA,
                            select(e, exists, e.c32(size), e.c32(0)));
  };
  for (int64_t first = 0; first < count; first += kLanes)
    if (count - first >= kLanes)
      fetch(first);
    else
      ifThen(e, slt(e, op.getLane(), count - first), [&] { fetch(first); });
  NVVM::CpAsyncMBarrierArriveOp::create(e, toPointer(e, op.getBarrier()));
  // Before one of them says that nothing more will be copied.
  SyncWarpOp::create(e);
}

static void copyList(CopyElementsOp op, Emitter &e) {
  constexpr int64_t kBulk = 16; // alignment of addresses and bytes (PTX ISA, "cp.async.bulk")
  int64_t size = getElementBytes(op.getTile().getElementType()), count = op.getTile().getDimSize(0);
  if (size * count % kBulk)
    return copyInElements(op, e);
  Value whole = and_(e, sge(e, op.getLimit(), count), sge(e, op.getOffset(), 0));
  whole = and_(e, whole, eq(e, op.getStride(), size));
  whole = and_(e, whole, eq(e, and_(e, op.getStart(), kBulk - 1), 0));
  ifThenElse(
      e, whole,
      [&] {
        ifElected(e, [&] {
          BarrierExpectOp::create(e, op.getBarrier(), size * count, /*times=*/Value());
          CopyBulkOp::create(e, op.getStart(), op.getDest(), e.c32(size * count), op.getBarrier());
        });
      },
      [&] { copyInElements(op, e); });
}

static SmallVector<Value> readList(ReadElementsOp op, Emitter &e) {
  RankedTensorType tile = op.getTile();
  Places places(e, tile, op.getThread());
  int64_t size = getElementBytes(tile.getElementType());
  SmallVector<Value> result;
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    Place where = places.at(i);
    Value at = add(e, op.getSources().front(), mul(e, resize(e, where.base[0], e.i32), size));
    result.push_back(load(e, element.getType(), at, size * where.offset[0]));
  }
  // Before one of them gives the slot back.
  SyncWarpOp::create(e);
  return result;
}

/// Runs of elements that are dealt out, out of chunks in the copy engine's swizzle.
static SmallVector<Value> readRuns(ReadElementsOp op, Emitter &e) {
  RankedTensorType tile = op.getTile();
  Places places(e, tile, op.getThread());
  Type element = getRegisterType(tile.getElementType());
  int64_t size = getElementBytes(element), chunk = e.sm.getChunk(), run = getReadRun(tile);
  SmallVector<Value> result;
  for (size_t k = 0; k < op.getWhich().size(); k += run) {
    Place where = places.at(op.getWhich()[k]);
    Value row = add(e, resize(e, where.base[0], e.i32), where.offset[0]);
    Value at = mul(e, add(e, resize(e, where.base[1], e.i32), where.offset[1]), size);
    Value inChunk = xor_(e, and_(e, at, chunk - 1), swizzle(e, row));
    Value before = mul(e, sub(e, at, and_(e, at, chunk - 1)), tile.getDimSize(0));
    Value from = add(e, add(e, op.getSources().front(), before), mul(e, row, chunk));
    Value loaded = load(e, VectorType::get(run, element), add(e, from, inChunk));
    for (int64_t i = 0; i < run; ++i)
      result.push_back(LLVM::ExtractElementOp::create(e, loaded, e.c32(i)));
  }
  return result;
}

/// Pairs of elements out of chunks, each in the copy engine's swizzle: rows are a multiple of its
/// period apart, so that only the thread's row in that counts.
static SmallVector<Value> readChunks(ReadElementsOp op, Emitter &e) {
  RankedTensorType tile = op.getTile();
  if (tile.getRank() != 2)
    return readList(op, e);
  if (isa<mk_sm::BlockedAttr>(tile.getEncoding()))
    return readRuns(op, e);
  Places places(e, tile, op.getThread());
  Type element = getRegisterType(tile.getElementType());
  int64_t size = getElementBytes(element), chunk = e.sm.getChunk(), columns = op.getColumns();
  SmallVector<Value> result;
  for (size_t k = 0; k < op.getWhich().size(); k += 2) {
    Place where = places.at(op.getWhich()[k]);
    Value row = resize(e, where.base[0], e.i32), column = resize(e, where.base[1], e.i32);
    int64_t source = where.offset[1] / columns, inSource = where.offset[1] % columns * size;
    Value start = add(e, op.getSources()[source], mul(e, row, chunk));
    Value inRow = xor_(e, xor_(e, mul(e, column, size), swizzle(e, row)), inSource % chunk);
    int64_t offset = inSource / chunk * chunk * tile.getDimSize(0) + where.offset[0] * chunk;
    Value pair = load(e, VectorType::get(2, element), add(e, start, inRow), offset);
    for (int64_t i = 0; i < 2; ++i)
      result.push_back(LLVM::ExtractElementOp::create(e, pair, e.c32(i)));
  }
  return result;
}

static SmallVector<Value> reload(ReloadElementsOp op, Emitter &e) {
  constexpr int64_t kRun = 4; // the longest access of the PTX ISA (v4.b32)
  SmallVector<Value> zero(kRun, e.c32(0)), result;
  SmallVector<Type> types(kRun, e.i32);
  for (size_t k = 0; k < op.getWhich().size(); k += kRun) {
    Value address = add(e, op.getAddress(), op.getWhich()[k] / kRun * op.getStep());
    auto words = LoadOp::create(e, types, address, 4 * kRun, op.getExists(), zero);
    Type type = op.getElements()[k].getType();
    for (Value word : words.getResults())
      result.push_back(type == e.i32 ? word : Value(LLVM::BitcastOp::create(e, type, word)));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static void storeElements(StoreElementsOp op, Emitter &e) {
  Access<StoreElementsOp> access(op, e);
  Type element = access.getTile().getElementType();
  Addition addition;
  if (op.getAdd())
    addition = {element, *op.getAdd()};
  int64_t size = getElementBytes(element), run = getRun(access.getTile());
  Type bits = e.getIntegerType(8 * size);
  Value owner = access.isOwner();
  auto toBits = [&](Value value) -> Value {
    if (element.isInteger(1))
      return resize(e, value, bits);
    if (value.getType() == bits || (op.getAdd() && isa<Float32Type, Float64Type>(value.getType())))
      return value;
    return LLVM::BitcastOp::create(e, bits, value);
  };
  auto storeSingly = [&](bool isInside) {
    for (size_t k = 0; k < op.getWhich().size(); ++k) {
      Place where = access.at(op.getWhich()[k]);
      Value exists = isInside ? where.exists : access.exists(op.getWhich()[k], where, false);
      if (owner)
        exists = exists ? and_(e, exists, owner) : owner;
      storeWhere(e, exists ? exists : e.cbool(true), access.address(op.getWhich()[k], where), size,
                 toBits(op.getElements()[k]), addition);
    }
  };
  // In most tiles all elements exist.
  auto storeAlone = [&] {
    Value isInside = op.getWhich().size() >= kManySingly ? access.isInside() : Value();
    if (!isInside)
      return storeSingly(/*isInside=*/false);
    ifThenElse(
        e, isInside, [&] { storeSingly(/*isInside=*/true); },
        [&] { storeSingly(/*isInside=*/false); });
  };
  if (!op.getRuns() && !op.getTogether())
    return storeAlone();
  SmallVector<std::pair<Value, Value>> places;
  for (size_t k = 0; k < op.getWhich().size(); k += run) {
    int32_t i = op.getWhich()[k];
    Place where = access.at(i);
    Value exists = access.exists(i, where, /*run=*/true);
    places.emplace_back(access.address(i, where), owner ? and_(e, exists, owner) : exists);
  }
  auto inRuns = [&] {
    for (auto [i, place] : llvm::enumerate(places)) {
      SmallVector<Value> words = pack(e, SmallVector<Value>(op.getElements().slice(i * run, run)));
      for (Value &word : words)
        if (!word.getType().isInteger(32))
          word = LLVM::BitcastOp::create(e, e.i32, word);
      storeWhere(e, place.second, place.first, run * size, words, addition);
    }
  };
  op.getTogether()
      ? ifThenElse(e, op.getTogether(), inRuns, [&] { storeSingly(/*isInside=*/false); })
      : inRuns();
}

void mk_thread::expandAccesses(ModuleOp module) {
  expandLoads(module);
  replaceEach<ExchangeQuadsOp>(module, exchangeQuads);
  replaceEach<ReloadElementsOp>(module, reload);
  replaceEach<ReadElementsOp>(module, readChunks);
  expandEach<CopyElementsOp>(module, copyList);
  expandEach<StoreElementsOp>(module, storeElements);
}
