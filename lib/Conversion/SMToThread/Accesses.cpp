//===- Accesses.cpp - Fragments from and to memory ------------------------===//
//
// Elements that a thread holds one behind the other in a row are moved together
// where the buffer allows it; else each by itself. Both ways are there, and the
// addresses decide at run time.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

namespace {
/// The elements of a fragment in memory: where each lies and whether it exists.
class Access {
public:
  Access(Emitter &e, int64_t size, Value start, SmallVector<Value> byteStrides,
         SmallVector<Value> offsets, SmallVector<Value> limits)
      : e(e), start(start), byteStrides(std::move(byteStrides)),
        offsets(std::move(offsets)), limits(std::move(limits)), size(size) {}

  int64_t rank() const { return limits.size(); }
  int64_t lead() const { return offsets.size() - limits.size(); }

  /// Address of the element, all but its constant offset in the last dimension.
  Value address(const Place &place, int64_t extra) {
    Value &row = rows[key(place)];
    if (!row) {
      row = start;
      for (int64_t d = 0; d < rank(); ++d) {
        int64_t constant = d + 1 < rank() ? place.offset[d] : 0;
        row = e.add(row, e.mul(e.add(place.base[d], constant), byteStride(d)));
      }
    }
    // A tile of one element has no dimension.
    return rank() ? e.add(row, e.mul(byteStride(rank() - 1), extra)) : row;
  }
  Value byteStride(int64_t d) { return byteStrides[lead() + d]; }

  /// Whether the dimensions [from, to) have the element; null: for certain.
  Value exists(const Place &place, int64_t from, int64_t to) {
    Value all;
    for (int64_t d = from; d < to; ++d) {
      Value &known = inside[{d, key(place), d + 1 < rank() ? 0 : place.offset[d]}];
      if (!known) {
        Value index = e.add(place.base[d], place.offset[d]);
        Value behind = e.add(index, offsets[lead() + d]);
        known = e.and_(e.cmp(Predicate::slt, index, limits[d]),
                       e.cmp(Predicate::sge, behind, int64_t(0)));
      }
      all = all ? e.and_(all, known) : known;
    }
    if (place.exists)
      all = all ? e.and_(all, place.exists) : place.exists;
    return all;
  }

  /// What holds for runs of `bytes` bytes to be accessed at once, each whole.
  Value allowsRuns(int64_t bytes, int64_t extent) {
    int64_t last = rank() - 1;
    Value bits = start;
    for (int64_t d = 0; d < last; ++d)
      bits = e.or_(bits, byteStride(d));
    Value ok = e.eq(e.and_(bits, bytes - 1), 0);
    ok = e.and_(ok, e.eq(byteStride(last), size));
    ok = e.and_(ok, e.cmp(Predicate::sge, limits[last], extent));
    return e.and_(ok, e.cmp(Predicate::sge, offsets[lead() + last], int64_t(0)));
  }
  void forget() {
    rows.clear();
    inside.clear();
  }

private:
  std::vector<const void *> key(const Place &place) {
    std::vector<const void *> result;
    for (int64_t d = 0; d < rank(); ++d) {
      result.push_back(place.base[d].getAsOpaquePointer());
      if (d + 1 < rank())
        result.push_back(reinterpret_cast<const void *>(place.offset[d]));
    }
    return result;
  }

  Emitter &e;
  Value start;
  SmallVector<Value> byteStrides, offsets, limits;
  int64_t size;
  std::map<std::vector<const void *>, Value> rows;
  std::map<std::tuple<int64_t, std::vector<const void *>, int64_t>, Value> inside;
};
} // namespace

/// How many elements from each even place on lie one behind the other.
static int64_t getRun(RankedTensorType type, int64_t bytes) {
  Attribute layout = type.getEncoding();
  auto slice = dyn_cast<SliceAttr>(layout);
  int64_t run = 1;
  // A byte in memory each, a predicate in registers.
  if (type.getElementType().isInteger(1))
    return run;
  if (auto blocked = dyn_cast<BlockedAttr>(layout))
    run = type.getRank() && type.getShape().back() % blocked.getVector() == 0
              ? blocked.getVector()
              : 1;
  else if (!slice || slice.getAxis() == 0)
    run = 2;
  while (run * bytes > 16)
    run /= 2;
  return run;
}

static Type bitsOf(Emitter &e, int64_t bytes) {
  return e.b.getIntegerType(8 * bytes);
}

/// Loads `bytes` as 32-bit words, or as one value of another width, where `there` holds;
/// `pad` elsewhere.
static SmallVector<Value> loadWhere(Emitter &e, Value there, Value address,
                                    int64_t bytes, ArrayRef<Value> pad) {
  SmallVector<Value> start(pad);
  if (bytes == 1)
    start[0] = e.resize(start[0], e.i16);
  SmallVector<Value> result = e.loadWords(TypeRange(ValueRange(start)), address, bytes,
                                          e.resize(there, e.i32), start);
  if (bytes == 1)
    result[0] = e.resize(result[0], e.i8);
  return result;
}

void sm::storeWhere(Emitter &e, Value there, Value address, int64_t bytes,
                    ArrayRef<Value> words, Addition add) {
  SmallVector<Value> stored(words);
  Value condition = e.resize(there, e.i32);
  if (bytes == 1)
    stored[0] = e.resize(stored[0], e.i16);
  if (add)
    e.addToElement(stored[0], add.type, add.scope, address, bytes, condition);
  else
    e.storeWords(stored, address, bytes, condition);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

LogicalResult Lowering::emitLoad(LoadOp op) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  int64_t n = count(type), size = getElementBytes(type.getElementType());
  if (n < 0)
    return op.emitOpError() << "gives " << type
                            << ", which has no layout over threads";
  if (failed(buffer(op, op.getSource())))
    return failure();
  if (!llvm::is_contained({1, 2, 4, 8}, size))
    return op.emitOpError() << "loads elements of " << size << " bytes";
  if (deferral.isDeferred(op)) {
    values[op.getTile()].assign(n, Value());
    putOff.insert(op.getTile());
    return success();
  }
  SmallVector<unsigned> all(n);
  std::iota(all.begin(), all.end(), 0);
  set(op.getTile(), loadElements(op, all));
  return success();
}

SmallVector<Value> Lowering::loadElements(LoadOp op, ArrayRef<unsigned> which) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  Buffer from = *buffer(op, op.getSource());
  SmallVector<Value> offsets = scalars(op.getOffsets());
  int64_t size = getElementBytes(type.getElementType());
  Type element = scalarType(type.getElementType()), bits = bitsOf(*this, size);
  Value pad = op.getPad() ? scalar(op.getPad()) : Value();
  bool isBit = element.isInteger(1);
  if (!pad)
    pad = cint(bits, 0);
  else if (isBit)
    pad = resize(pad, bits);
  else if (pad.getType() != bits)
    pad = LLVM::BitcastOp::create(b, loc, bits, pad);
  enterPlaces();
  Access access(*this, size, elementAddress(from, offsets), byteStrides(from),
                offsets, limits(from, offsets, type.getRank(), op.getValid()));
  auto toElement = [&](Value value) -> Value {
    if (isBit)
      return resize(value, element);
    return value.getType() == element
               ? value
               : Value(LLVM::BitcastOp::create(b, loc, element, value));
  };
  auto singly = [&] {
    SmallVector<Value> result;
    for (unsigned i : which) {
      Place where = place(type, i);
      Value there = access.exists(where, 0, access.rank());
      Value at = access.address(where, access.rank() ? where.offset.back() : 0);
      result.push_back(toElement(
          loadWhere(*this, there ? there : cbool(true), at, size, pad)[0]));
    }
    return result;
  };
  int64_t run = type.getRank() ? getRun(type, size) : 1;
  bool whole = which.size() % run == 0;
  for (size_t k = 0; whole && k < which.size(); k += run)
    for (int64_t r = 0; r < run; ++r)
      whole &= which[k] % run == 0 && which[k + r] == which[k] + r;
  if (run * size < 4 || run == 1 || size == 8 || !whole)
    return singly();
  auto inRuns = [&] {
    SmallVector<Value> padWords = pack(SmallVector<Value>(run, pad));
    SmallVector<Value> result;
    for (size_t k = 0; k < which.size(); k += run) {
      Place where = place(type, which[k]);
      Value there = access.exists(where, 0, access.rank() - 1);
      Value at = access.address(where, where.offset.back());
      SmallVector<Value> loaded =
          loadWhere(*this, there ? there : cbool(true), at, run * size, padWords);
      if (size == 4)
        for (Value value : loaded)
          result.push_back(toElement(value));
      else
        llvm::append_range(result, unpack(loaded, element, run));
    }
    return result;
  };
  int64_t perWord = size == 4 ? 1 : 4 / size;
  SmallVector<Type> types(which.size() / perWord, size == 4 ? element : i32);
  Value together = access.allowsRuns(run * size, type.getShape().back());
  auto choice = scf::IfOp::create(b, loc, types, together, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loc, pack(inRuns()));
    access.forget();
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, pack(singly()));
  }
  SmallVector<Value> words(choice.getResults());
  return size == 4 ? words : unpack(words, element, which.size());
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult Lowering::storeDirectly(mk::StoreOp op, Value peer) {
  Value tile = op.getTile();
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t n = count(type);
  if (n < 0)
    return op.emitOpError() << "stores " << type << ", which has no layout over threads";
  FailureOr<Buffer> to = buffer(op, op.getDest());
  if (failed(to))
    return failure();
  if (peer)
    to = atPeer(*to, peer);
  Type element = type.getElementType();
  Addition addition;
  bool add = op.getReduction().has_value();
  if (add) {
    if (mk_thread::getAddition(element).empty())
      return op.emitOpError() << "adds " << element
                              << " to memory, which sm_90a has no atomic of; use "
                                 "f32, f64, bf16, f16, i32 or i64";
    addition = {element, peer ? MemScope::Sys : MemScope::Gpu};
  }
  SmallVector<Value> offsets = scalars(op.getOffsets());
  int64_t size = getElementBytes(element);
  Type bits = bitsOf(*this, size);
  enterPlaces();
  Access access(*this, size, elementAddress(*to, offsets), byteStrides(*to),
                offsets, limits(*to, offsets, type.getRank(), op.getValid()));
  Value owner = isOwner(type);
  auto asBits = [&](Value value) -> Value {
    if (element.isInteger(1))
      return resize(value, bits);
    if (value.getType() == bits || (add && isa<Float32Type, Float64Type>(value.getType())))
      return value;
    return LLVM::BitcastOp::create(b, loc, bits, value);
  };
  auto both = [&](Value there) {
    if (!there)
      return owner ? owner : cbool(true);
    return owner ? and_(there, owner) : there;
  };
  auto storeOne = [&](int64_t i) {
    Place where = place(type, i);
    Value there = both(access.exists(where, 0, access.rank()));
    Value at = access.address(where, access.rank() ? where.offset.back() : 0);
    storeWhere(*this, there, at, size, asBits(this->element(tile, i)), addition);
  };
  auto storeRun = [&](int64_t i, int64_t run) {
    Place where = place(type, i);
    SmallVector<Value> elements;
    for (int64_t k = 0; k < run; ++k)
      elements.push_back(this->element(tile, i + k));
    Value there = both(access.exists(where, 0, access.rank() - 1));
    SmallVector<Value> words = pack(elements);
    for (Value &word : words)
      if (!word.getType().isInteger(32))
        word = LLVM::BitcastOp::create(b, loc, i32, word);
    storeWhere(*this, there, access.address(where, where.offset.back()),
               run * size, words);
  };
  int64_t run = type.getRank() ? getRun(type, size) : 1;
  bool inRuns = !add && run * size >= 4 && run > 1 && size != 8;
  Value together;
  if (inRuns)
    together = access.allowsRuns(run * size, type.getShape().back());
  auto storePart = [&](ArrayRef<unsigned> part, bool runs) {
    for (size_t k = 0; k < part.size(); k += runs ? run : 1)
      runs ? storeRun(part[k], run) : storeOne(part[k]);
  };
  // Ops that have waited for the store, some at a time.
  auto inParts = [&](function_ref<void(ArrayRef<unsigned>)> body) {
    constexpr int64_t kPart = 32;
    for (int64_t first = 0; first < n; first += kPart) {
      auto part =
          llvm::to_vector(llvm::seq<unsigned>(first, std::min(n, first + kPart)));
      prefetch(tile, part);
      body(part);
    }
  };
  if (!inRuns) {
    inParts([&](ArrayRef<unsigned> part) { storePart(part, false); });
    return success();
  }
  // Computed once in front of both ways, values live longer, which a loop of products
  // before them may pay for (ptxas): only what is dear.
  if (!deferral.isExpensive(tile)) {
    size_t journal = computed.size();
    auto way = [&](bool runs) {
      inParts([&](ArrayRef<unsigned> part) { storePart(part, runs); });
      forgetComputed(journal);
    };
    ifThenElse(
        together,
        [&] {
          way(true);
          access.forget();
        },
        [&] { way(false); });
    return success();
  }
  inParts([&](ArrayRef<unsigned> part) {
    for (unsigned i : part) {
      (void)this->element(tile, i);
      if (i % run)
        continue;
      Place where = place(type, i);
      (void)access.address(where, 0);
      (void)access.exists(where, 0, access.rank() - 1);
    }
    ifThenElse(
        together, [&] { storePart(part, true); }, [&] { storePart(part, false); });
    access.forget();
  });
  return success();
}

LogicalResult Lowering::emitStore(mk::StoreOp op) {
  Value peer;
  if (op.getPeer() && hasPeers()) {
    peer = existingPeer(scalar(op.getPeer()));
    awaitReady(peer);
  }
  if (failed(storeDirectly(op, peer)))
    return failure();
  if (Value signal = op.getSignal()) {
    Value element = signalElement(op, signal, op.getSignalIndex());
    once([&] { raise(signalArray(signal), element, 1, peer, op.getStrong()); });
  }
  return success();
}
