//===- DirectStores.cpp - Fragments from registers to memory --------------===//
#include "Access.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

LogicalResult Lowering::storeDirectly(mk::StoreOp op, Value peer) {
  Value tile = op.getTile();
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t n = count(type);
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
                              << " to memory, which " << getSmTarget(op).getName()
                              << " has no atomic of; use "
                                 "f32, f64, bf16, f16, i32 or i64";
    addition = {element, peer ? MemScope::Sys : MemScope::Gpu};
  }
  SmallVector<Value> offsets = scalars(op.getOffsets());
  int64_t size = getElementBytes(element);
  Type bits = b.getIntegerType(8 * size);
  enterPlaces();
  Access access(*this, size, elementAddress(*to, offsets), byteStrides(*to),
                offsets, limits(*to, offsets, type.getRank(), op.getValid()), isAligned(*to, offsets));
  Value owner = isOwner(type);
  auto asBits = [&](Value value) -> Value {
    if (element.isInteger(1))
      return resize(value, bits);
    if (value.getType() == bits || (add && isa<Float32Type, Float64Type>(value.getType())))
      return value;
    return LLVM::BitcastOp::create(b, loc, bits, value);
  };
  auto both = [&](Value exists) {
    if (!exists)
      return owner ? owner : cbool(true);
    return owner ? and_(exists, owner) : exists;
  };
  auto storeOne = [&](int64_t i) {
    Place where = place(type, i);
    Value exists = both(access.exists(where, 0, access.rank()));
    Value at = access.address(where, access.rank() ? where.offset.back() : 0);
    storeWhere(exists, at, size, asBits(this->element(tile, i)), addition);
  };
  auto storeRun = [&](int64_t i, int64_t run) {
    Place where = place(type, i);
    SmallVector<Value> elements;
    for (int64_t k = 0; k < run; ++k)
      elements.push_back(this->element(tile, i + k));
    Value exists = both(access.exists(where, 0, access.rank() - 1));
    SmallVector<Value> words = pack(elements);
    for (Value &word : words)
      if (!word.getType().isInteger(32))
        word = LLVM::BitcastOp::create(b, loc, i32, word);
    storeWhere(exists, access.address(where, where.offset.back()),
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
    int64_t grouped = getThresholds().getGroupedElements();
    for (int64_t first = 0; first < n; first += grouped) {
      auto part =
          llvm::to_vector(llvm::seq<unsigned>(first, std::min(n, first + grouped)));
      prefetch(tile, part);
      body(part);
    }
  };
  if (!inRuns) {
    inParts([&](ArrayRef<unsigned> part) { storePart(part, false); });
    return success();
  }
  // Computed once in front of both ways, values live longer, which a loop of products
  // before them may pay for (ptxas): only what is expensive.
  if (!op->hasAttr(kOnceAttr)) {
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
