//===- Spills.cpp - Fragments in memory in the order of registers ---------===//
//
// Registers 4 i to 4 i + 3 of all threads lie behind those of 4 i - 4 to 4 i - 1, thread by thread:
// a warp moves 512 bytes by one instruction.
//
//===----------------------------------------------------------------------===//
#include "Taker.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// Registers of 32 bits that are moved together: the longest access of the PTX ISA (v4.b32).
static constexpr int64_t kRun = 4;

Lowering::SpillPlace Lowering::spillPlace(Operation *op, Value memory, ValueRange index,
                                          RankedTensorType tile) {
  Buffer where = *buffer(op, memory);
  SmallVector<Value> offsets = scalars(index);
  Value exists = cbool(true);
  for (auto [offset, extent] : llvm::zip(offsets, where.type.getShape()))
    exists = and_(exists, cmp(arith::CmpIPredicate::ult, offset, extent));
  offsets.append(tile.getRank(), c64(0));
  enterPlaces();
  Value own = mul(resize(placeThread, i64), 4 * kRun);
  return {add(elementAddress(where, offsets), own), resize(exists, i32),
          4 * kRun * partition.getNumThreads()};
}

LogicalResult Lowering::emitSpill(SpillOp op) {
  if (failed(buffer(op, op.getBuffer())))
    return failure();
  RankedTensorType type = op.getTile().getType();
  SpillPlace place = spillPlace(op, op.getBuffer(), op.getIndex(), type);
  int64_t n = count(type);
  Taker taker(*this);
  for (int64_t first = 0; first < n; first += kRun) {
    SmallVector<unsigned> which(kRun);
    std::iota(which.begin(), which.end(), first);
    taker.load(op.getTile(), which);
    SmallVector<Value> words;
    for (unsigned i : which) {
      Value value = taker.take(op.getTile(), i);
      words.push_back(value.getType().isInteger(32)
                          ? value
                          : Value(LLVM::BitcastOp::create(b, loc, i32, value)));
    }
    storeWords(words, add(place.address, first / kRun * place.step), 4 * kRun, place.exists);
  }
  return success();
}

LogicalResult Lowering::emitReload(ReloadOp op) {
  int64_t n = count(op.getTile().getType());
  if (failed(buffer(op, op.getBuffer())))
    return failure();
  if (op->hasAttr(kDeferredAttr))
    return defer(op.getTile());
  SmallVector<unsigned> all(n);
  std::iota(all.begin(), all.end(), 0);
  set(op.getTile(), llvm::map_to_vector(reloadElements(op, all), [](auto element) { return element.second; }));
  return success();
}

SmallVector<std::pair<unsigned, Value>> Lowering::reloadElements(ReloadOp op,
                                                                 ArrayRef<unsigned> which) {
  RankedTensorType type = op.getTile().getType();
  SpillPlace place = spillPlace(op, op.getBuffer(), op.getIndex(), type);
  Type element = scalarType(type.getElementType());
  SmallVector<Value> zero(kRun, c32(0));
  SmallVector<std::pair<unsigned, Value>> result;
  int64_t loaded = -1;
  for (unsigned i : which) {
    int64_t run = i / kRun;
    if (run == loaded)
      continue;
    loaded = run;
    SmallVector<Value> words =
        loadWords(TypeRange(ValueRange(zero)), add(place.address, run * place.step), 4 * kRun,
                  place.exists, zero);
    for (auto [k, word] : llvm::enumerate(words))
      result.emplace_back(run * kRun + k, element == i32 ? word
                                                         : Value(LLVM::BitcastOp::create(
                                                               b, loc, element, word)));
  }
  return result;
}
