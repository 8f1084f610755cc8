//===- SlowCopies.cpp - Copies without the copy engine --------------------===//
//
// The producer is one warp with few registers. What the copy engine cannot do,
// three more warps of its warpgroup do, which otherwise sleep at a barrier: the producer
// leaves a request in shared memory, has the slot wait for them, and goes on when they
// have come for it. They have up to kDepth requests in flight, and finish them in turn.
//
//===----------------------------------------------------------------------===//
#include "SlowCopies.h"
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

static constexpr int64_t kRequestBarrier = 12, kReadyBarrier = 13;
static constexpr int64_t kHelpers = 32 * kHelperWarps;
/// Requests that are fetched at the same time.
static constexpr int64_t kDepth = 3;
// The producer writes a request before the helpers come for it, when those fetched may be
// kDepth.
static_assert(kRequests == kDepth + 1 && llvm::isPowerOf2_64(kRequests));
static_assert(kHelperWarps < kRequests && kState + 4 <= kRequestBytes);

/// Where the argument lies in the parameters.
static Value getArgOffset(Emitter &e, const Buffer &buffer,
                          const ParamLayout &params) {
  if (buffer.arg >= 0)
    return e.c32(params.args[buffer.arg]);
  return e.select(buffer.condition, getArgOffset(e, *buffer.whenTrue, params),
                  getArgOffset(e, *buffer.whenFalse, params));
}

/// One by one: LLVM would gather words in registers that are not there.
static void put(Emitter &e, Value request, int64_t offset, Value value) {
  e.storeSharedHere(value, request, offset);
}

/// A number of rows or columns in 32 bits: a tile has few.
static Value narrow(Emitter &e, Value value) {
  return e.resize(e.minS(e.maxS(value, e.c64(0)), e.c64(1 << 20)), e.i32);
}

// By name: LLVM would have one value for the address of shared memory, everywhere in the
// kernel, and ptxas keep it where the consumer wants its registers.
Value Lowering::getRequests() {
  return create<mk_thread::SharedBaseOp>(i32, offsetOf("requests"), /*pinned=*/true);
}

Value Lowering::requestAt(Value number) {
  return add(getRequests(), mul(and_(number, kRequests - 1), kRequestBytes));
}

Value Lowering::countRequests() {
  return loadSharedHere(i32, add(getRequests(), kPosted));
}

/// Lane 0 writes a request, `write` all of it but the count; then the helpers have come.
void Lowering::post(function_ref<void(Value)> write) {
  ifThen(eq(lane, 0), [&] {
    Value number = countRequests();
    write(requestAt(number));
    put(*this, getRequests(), kPosted, add(number, 1));
  });
  barrier(c32(kRequestBarrier), kHelpers + 32);
}

LogicalResult Lowering::requestCopy(CopyOp op, const Buffer &from, Value dest,
                                    Value full, ArrayRef<Value> offsets) {
  RankedTensorType tile = op.getTileType();
  int64_t size = getElementBytes(tile.getElementType());
  int64_t rows = tile.getShape().end()[-2], columns = tile.getShape().back();
  int64_t rank = offsets.size();
  if (rank > 7)
    return op.emitOpError() << "copies from a buffer of rank " << rank
                            << "; " << getSmTarget(op).getName() << " takes up to 7";
  post([&](Value request) {
    auto put = [&](int64_t offset, Value value) {
      ::put(*this, request, offset, value);
    };
    put(kSize, c32(size));
    put(kArg, getArgOffset(*this, from, params));
    put(kRank, c32(rank));
    put(kRows, c32(rows));
    put(kChunks, c32(llvm::divideCeil(columns * size, kChunkBytes)));
    // Without a limit what is left of the argument counts: helpers know its last row by that.
    Value rowsValid = c32(1 << 20), columnsValid = c32(columns);
    if (!op.getValid().empty()) {
      SmallVector<Value> valid = scalars(op.getValid());
      rowsValid = narrow(*this, valid.end()[-2]);
      columnsValid = narrow(*this, valid.back());
      // Leading dimensions of the tile are 1.
      for (Value limit : ArrayRef(valid).drop_back(2))
        rowsValid = select(cmp(Predicate::sge, limit, 1), rowsValid, c32(0));
    }
    put(kValid, rowsValid);
    put(kValid + 4, columnsValid);
    put(kDest, dest);
    put(kFull, full);
    Value pad = c32(0);
    if (op.getPad()) {
      pad = scalar(op.getPad());
      if (!pad.getType().isInteger())
        pad = LLVM::BitcastOp::create(b, loc, b.getIntegerType(8 * size), pad);
      pad = resize(pad, i32);
    }
    put(kPad, pad);
    for (auto [d, offset] : llvm::enumerate(offsets))
      put(kOffsets + 4 * d, resize(offset, i32));
    // Each warp of the helpers counts as a byte.
    create<mk_thread::BarrierExpectOp>(full, kHelperWarps);
  });
  return success();
}

void Lowering::dismissHelpers() {
  post([&](Value request) { put(*this, request, kSize, c32(0)); });
}

// A lane for each dimension. Dimension d of the argument at `arg` has its size at
// arg + 8 + 8 * d and its stride at arg + 8 + 8 * (rank + d). What is known is read again rather
// than kept.
void Lowering::completeRequest(Helper h) {
  auto word = [&](Value offset) -> Value { return create<mk_thread::ParamAtOp>(i64, offset); };
  auto getDim = [&] { return minS(h.lane, sub(h.get(kRank), 1)); };
  auto isOne = [&] { return cmp(Predicate::slt, h.lane, h.get(kRank)); };
  auto offset = [&] {
    Value at = add(add(h.request, kOffsets), shl(getDim(), 2));
    return resize(loadSharedHere(i32, at), i64, /*isSigned=*/true);
  };
  auto extent = [&] { return word(add(add(h.get(kArg), shl(getDim(), 3)), 8)); };
  auto stride = [&] {
    Value at = add(h.get(kArg), shl(add(getDim(), h.get(kRank)), 3));
    return mul(word(add(at, 8)), resize(h.get(kSize), i64));
  };
  // 0 and 1 for rows and columns, less for the dimensions in front of them.
  auto tileDim = [&] { return sub(getDim(), sub(h.get(kRank), 2)); };

  Value sum = select(isOne(), mul(offset(), stride()), c64(0));
  for (int64_t mask : {1, 2, 4})
    sum = add(sum, shuffleXor(sum, mask));
  ifThen(eq(h.lane, 0), [&] {
    Value start = word(h.get(kArg));
    store(start, h.request, kStart);
    store(add(start, sum), h.request, kBase);
  });
  Value outside = and_(cmp(Predicate::slt, tileDim(), 0),
                       cmp(Predicate::uge, offset(), extent()));
  outside = create<mk_thread::AnyOp>(resize(outside, i32));
  ifThen(and_(isOne(), cmp(Predicate::sge, tileDim(), 0)), [&] {
    Value dim = add(add(h.request, kRowDim), shl(tileDim(), 4));
    store(stride(), dim, kStride);
    // Offsets in front of the buffer are outside as well.
    store(narrow(*this, sub(c64(0), offset())), dim, kFrom);
    Value valid = loadSharedHere(i32, add(add(h.request, kValid), shl(tileDim(), 2)));
    Value left = minS(narrow(*this, sub(extent(), offset())), valid);
    store(select(eq(outside, 0), left, c32(0)), dim, kLeft);
  });
}

// Warps work each by itself but where all of them come for a request; which they do at
// once unless they have kDepth already. Nobody waits for a request while
// there is one to finish: the consumer may wait for that.
void Lowering::emitHelpers() {
  SmallVector<int64_t> sizes;
  kernel.walk([&](CopyOp op) {
    int64_t size = getElementBytes(op.getTileType().getElementType());
    if (!llvm::is_contained(sizes, size))
      sizes.push_back(size);
  });
  // Bit 0 of a warp's state: there will be more requests; then, how many have been fetched and
  // not finished; from kCount on, how many there were. It lies in shared memory, for
  // want of a register.
  constexpr int64_t kPending = 1, kCount = 3;
  static_assert(kDepth < 1 << (kCount - kPending));
  auto stateAt = [&] {
    Helper helper(*this, getRequests(), sizes, producerRegisters);
    return add(helper.request, mul(helper.warp, kRequestBytes));
  };
  auto loadState = [&] { return loadSharedHere(i32, add(stateAt(), kState)); };
  // By lane 0 when all have read what there was; then all see the new one.
  auto changeState = [&](function_ref<Value()> getNext) {
    syncWarp();
    Helper helper(*this, getRequests(), sizes, producerRegisters);
    ifThen(eq(helper.lane, 0), [&] { put(*this, stateAt(), kState, getNext()); });
    syncWarp();
  };
  changeState([&] { return c32(1); });
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value state = loadState();
  scf::ConditionOp::create(b, loc, cmp(Predicate::ne, and_(state, (1 << kCount) - 1), 0),
                           ValueRange());
  b.createBlock(&loop.getAfter());
  state = loadState();
  auto pending = [&] { return and_(shr(state, kPending), (1 << (kCount - kPending)) - 1); };
  // All lanes decide alike.
  Value posted = fromLane0(countRequests());
  Value isNew = cmp(Predicate::ne, shl(posted, kCount), and_(state, -(1 << kCount)));
  Value takes = or_(eq(pending(), 0),
                    and_(isNew, cmp(Predicate::slt, pending(), kDepth)));
  takes = and_(takes, cmp(Predicate::ne, and_(state, 1), 0));
  auto fetch = [&] {
    barrier(c32(kRequestBarrier), kHelpers + 32);
    Value request = requestAt(shr(state, kCount));
    Value more = cmp(Predicate::ne, loadSharedHere(i32, add(request, kSize)), 0);
    ifThen(more, [&] {
      Helper helper(*this, request, sizes, producerRegisters);
      ifThen(eq(helper.warp, 0), [&] { completeRequest(helper); });
      barrier(c32(kReadyBarrier), kHelpers);
      helper.enter();
      fetchRows(helper);
    });
    Value change = select(more, c32((1 << kCount) + (1 << kPending)), c32(-1));
    changeState([&] { return add(loadState(), change); });
  };
  auto finish = [&] {
    Value request = requestAt(sub(shr(state, kCount), pending()));
    Helper helper(*this, request, sizes, producerRegisters);
    finishRows(helper, pending());
    // The matrix engine reads what was written here.
    fenceAsyncShared();
    syncWarp();
    helper.enter();
    ifThen(eq(helper.lane, 0), [&] {
      fence(MemScope::Cta);
      create<mk_thread::BarrierCompleteOp>(helper.get(kFull), 1);
    });
    changeState([&] { return sub(loadState(), 1 << kPending); });
  };
  ifThenElse(takes, fetch, finish);
  scf::YieldOp::create(b, loc);
}
