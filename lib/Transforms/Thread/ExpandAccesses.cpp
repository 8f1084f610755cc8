//===- ExpandAccesses.cpp - Elements of a thread in global memory ---------===//
//
// Elements that a thread holds one behind the other in a row are moved together where the op says
// so; else each by itself.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/Dialect/Thread/Places.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

namespace {
/// Where elements lie in memory, and which exist.
template <typename OpT> class Access {
public:
  Access(OpT op, Emitter &e) : op(op), e(e), tile(op.getTile()), places(e, tile, op.getThread()) {}

  RankedTensorType getTile() { return tile; }
  Value isOwner() { return places.isOwner(); }
  /// i1. A run exists as a whole, so that its index in the last dimension is not looked at.
  Value exists(const Place &place, bool run) {
    Value all;
    for (int64_t d = 0, n = tile.getRank() - run; d < n; ++d) {
      Value index = e.add(place.base[d], place.offset[d]);
      Value behind = e.add(index, op.getOffsets()[d]);
      Value inside = e.and_(e.cmp(Predicate::slt, index, op.getLimits()[d]),
                            e.cmp(Predicate::sge, behind, int64_t(0)));
      all = all ? e.and_(all, inside) : inside;
    }
    if (place.exists)
      all = all ? e.and_(all, place.exists) : place.exists;
    return all ? all : e.cbool(true);
  }
  Value address(const Place &place) {
    Value at = op.getStart();
    int64_t rank = tile.getRank();
    for (int64_t d = 0; d < rank; ++d)
      at = e.add(
          at, e.mul(e.add(place.base[d], d + 1 < rank ? place.offset[d] : 0), op.getStrides()[d]));
    // A tile of one element has no dimension.
    return rank ? e.add(at, e.mul(op.getStrides().back(), place.offset.back())) : at;
  }
  Place at(unsigned i) { return places.at(i); }

private:
  OpT op;
  Emitter &e;
  RankedTensorType tile;
  Places places;
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
    start[0] = e.resize(start[0], e.i16);
  SmallVector<Value> result =
      e.loadWords(TypeRange(ValueRange(start)), address, bytes, e.resize(exists, e.i32), start);
  if (bytes == 1)
    result[0] = e.resize(result[0], e.i8);
  return result;
}

static SmallVector<Value> load(LoadElementsOp op, Emitter &e) {
  Access<LoadElementsOp> access(op, e);
  Type element = getRegisterType(access.getTile().getElementType());
  int64_t size = getElementBytes(element);
  Type bits = e.b.getIntegerType(8 * size);
  bool isBit = element.isInteger(1);
  auto convert = [&](Value value, Type type) -> Value {
    if (isBit)
      return e.resize(value, type);
    return value.getType() == type ? value : Value(e.create<LLVM::BitcastOp>(type, value));
  };
  Value pad = op.getPad() ? convert(op.getPad(), bits) : e.cint(bits, 0);
  auto singly = [&] {
    SmallVector<Value> result;
    for (int32_t i : op.getWhich()) {
      Place where = access.at(i);
      Value exists = access.exists(where, /*run=*/false);
      result.push_back(convert(loadWhere(e, exists, access.address(where), size, pad)[0], element));
    }
    return result;
  };
  if (!op.getTogether())
    return singly();
  int64_t run = getRun(access.getTile());
  auto inRuns = [&] {
    SmallVector<Value> padWords = e.pack(SmallVector<Value>(run, pad));
    SmallVector<Value> result;
    for (size_t k = 0; k < op.getWhich().size(); k += run) {
      Place where = access.at(op.getWhich()[k]);
      Value exists = access.exists(where, /*run=*/true);
      SmallVector<Value> loaded = loadWhere(e, exists, access.address(where), run * size, padWords);
      if (size == 4)
        for (Value value : loaded)
          result.push_back(convert(value, element));
      else
        llvm::append_range(result, e.unpack(loaded, element, run));
    }
    return result;
  };
  SmallVector<Value> words = e.choose(
      op.getTogether(), [&] { return e.pack(inRuns()); }, [&] { return e.pack(singly()); });
  return size == 4 ? words : e.unpack(words, element, op.getNumResults());
}

static SmallVector<Value> reload(ReloadElementsOp op, Emitter &e) {
  constexpr int64_t kRun = 4; // the longest access of the PTX ISA (v4.b32)
  SmallVector<Value> zero(kRun, e.c32(0)), result;
  for (size_t k = 0; k < op.getWhich().size(); k += kRun)
    for (Value word : e.loadWords(TypeRange(ValueRange(zero)),
                                  e.add(op.getAddress(), op.getWhich()[k] / kRun * op.getStep()), 4 * kRun,
                                  op.getExists(), zero)) {
      Type type = op.getElements()[k].getType();
      result.push_back(type == e.i32 ? word : Value(e.create<LLVM::BitcastOp>(type, word)));
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static void store(StoreElementsOp op, Emitter &e) {
  Access<StoreElementsOp> access(op, e);
  Type element = access.getTile().getElementType();
  Addition addition;
  if (op.getAdd())
    addition = {element, *op.getAdd()};
  int64_t size = getElementBytes(element), run = getRun(access.getTile());
  Type bits = e.b.getIntegerType(8 * size);
  Value owner = access.isOwner();
  auto toBits = [&](Value value) -> Value {
    if (element.isInteger(1))
      return e.resize(value, bits);
    if (value.getType() == bits || (addition && isa<Float32Type, Float64Type>(value.getType())))
      return value;
    return e.create<LLVM::BitcastOp>(bits, value);
  };
  auto find = [&](size_t k, bool inRuns) {
    Place where = access.at(op.getWhich()[k]);
    Value exists = access.exists(where, inRuns);
    return std::pair(access.address(where), owner ? e.and_(exists, owner) : exists);
  };
  auto singly = [&] {
    for (size_t k = 0; k < op.getWhich().size(); ++k) {
      auto [address, exists] = find(k, /*inRuns=*/false);
      e.storeWhere(exists, address, size, toBits(op.getElements()[k]), addition);
    }
  };
  if (!op.getRuns() && !op.getTogether())
    return singly();
  SmallVector<std::pair<Value, Value>> places;
  for (size_t k = 0; k < op.getWhich().size(); k += run)
    places.push_back(find(k, /*inRuns=*/true));
  auto inRuns = [&] {
    for (auto [i, place] : llvm::enumerate(places)) {
      SmallVector<Value> words = e.pack(SmallVector<Value>(op.getElements().slice(i * run, run)));
      for (Value &word : words)
        if (!word.getType().isInteger(32))
          word = e.create<LLVM::BitcastOp>(e.i32, word);
      e.storeWhere(place.second, place.first, run * size, words, addition);
    }
  };
  op.getTogether() ? e.ifThenElse(op.getTogether(), inRuns, singly) : inRuns();
}

void mk_thread::expandAccesses(ModuleOp module) {
  replaceEach<LoadElementsOp>(module, load);
  replaceEach<ReloadElementsOp>(module, reload);
  expandEach<StoreElementsOp>(module, store);
}
