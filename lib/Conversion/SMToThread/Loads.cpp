//===- Loads.cpp - Fragments from memory -----------------------------------===//
//
// Elements that a thread holds one behind the other in a row are moved together
// where the buffer allows it; else each by itself. Both ways are in the code, and the
// addresses decide at run time. The same holds for stores (DirectStores.cpp).
//
//===----------------------------------------------------------------------===//
#include "Access.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

int64_t sm::getRun(RankedTensorType type, int64_t bytes) {
  Attribute layout = type.getEncoding();
  auto slice = dyn_cast<SliceAttr>(layout);
  int64_t run = 1;
  // A byte in memory each, a predicate in registers; or in as many rows.
  if (type.getElementType().isInteger(1) || isa<TransposedAttr>(layout))
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

/// Loads `bytes` as 32-bit words, or as one value of another width, where `exists` holds;
/// `pad` elsewhere.
static SmallVector<Value> loadWhere(Emitter &e, Value exists, Value address,
                                    int64_t bytes, ArrayRef<Value> pad) {
  SmallVector<Value> start(pad);
  if (bytes == 1)
    start[0] = e.resize(start[0], e.i16);
  SmallVector<Value> result = e.loadWords(TypeRange(ValueRange(start)), address, bytes,
                                          e.resize(exists, e.i32), start);
  if (bytes == 1)
    result[0] = e.resize(result[0], e.i8);
  return result;
}

LogicalResult Lowering::emitLoad(LoadOp op) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  int64_t n = count(type), size = getElementBytes(type.getElementType());
  if (failed(buffer(op, op.getSource())))
    return failure();
  if (!llvm::is_contained({1, 2, 4, 8}, size))
    return op.emitOpError() << "loads elements of " << size << " bytes";
  if (op->hasAttr(kDeferredAttr)) {
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
  Type element = scalarType(type.getElementType()), bits = b.getIntegerType(8 * size);
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
                offsets, limits(from, offsets, type.getRank(), op.getValid()), isAligned(from, offsets));
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
      Value exists = access.exists(where, 0, access.rank());
      Value at = access.address(where, access.rank() ? where.offset.back() : 0);
      result.push_back(toElement(
          loadWhere(*this, exists ? exists : cbool(true), at, size, pad)[0]));
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
      Value exists = access.exists(where, 0, access.rank() - 1);
      Value at = access.address(where, where.offset.back());
      SmallVector<Value> loaded =
          loadWhere(*this, exists ? exists : cbool(true), at, run * size, padWords);
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
