//===- SlowCopies.cpp - Copies without the copy engine --------------------===//
//
// The producer is one warp with few registers. What the copy engine cannot do,
// three more warps of its warpgroup do, which otherwise sleep: the producer
// leaves a request in shared memory and meets them at one barrier, then, when
// the tile is there, at another. They take 16 bytes of a row at a time, in the largest
// pieces that the addresses allow; where some are not there, element by element.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

static constexpr int64_t kRequestBarrier = 12, kDoneBarrier = 13, kReadyBarrier = 15;
static constexpr int64_t kHelpers = 96;

namespace {
/// Offsets of the words of a request, 32-bit but where said. Addresses and extents
/// are not among what the producer writes: one of the helpers finds them in the
/// kernel's parameters.
enum Request {
  kSize = 0,        // bytes of an element; 0 ends the helpers' work
  kArg = 4,         // offset of the argument in the parameters
  kRank = 8,
  kRows = 12,       // of the tile
  kChunks = 16,     // of 128 bytes in a row of it
  kRowsValid = 20,
  kColumnsValid = 24,
  kDest = 28,
  kPad = 32,
  kOffsets = 36,    // up to 7, one for each dimension, innermost last
  // What the first helper adds.
  kBase = 64,       // 64-bit: address of the tile
  kRowBytes = 72,   // 64-bit
  kColumnBytes = 80, // 64-bit
  kRowsFrom = 88,   // [from, left): what exists
  kRowsLeft = 92,
  kColumnsFrom = 96,
  kColumnsLeft = 100,
};
} // namespace
static_assert(kColumnsLeft + 4 <= kRequestBytes);

/// Where the argument lies in the parameters.
static Value getArgOffset(Emitter &e, const Buffer &buffer,
                          const ParamLayout &params) {
  if (buffer.arg >= 0)
    return e.c32(params.args[buffer.arg]);
  return e.select(buffer.condition, getArgOffset(e, *buffer.whenTrue, params),
                  getArgOffset(e, *buffer.whenFalse, params));
}

LogicalResult Lowering::requestCopy(CopyOp op, const Buffer &from, Value dest,
                                    ArrayRef<Value> offsets) {
  RankedTensorType tile = op.getTileType();
  int64_t size = getElementBytes(tile.getElementType());
  int64_t rows = tile.getShape().end()[-2], columns = tile.getShape().back();
  int64_t rank = offsets.size();
  if (rank > 7)
    return op.emitOpError() << "copies from a buffer of rank " << rank
                            << "; sm_90a takes up to 7";
  Value request = add(sharedBase, shared.request);
  // One by one: LLVM would gather them in registers that are not there.
  auto put = [&](int64_t offset, Value value) {
    ptx("st.volatile.shared.b32 [$0+" + std::to_string(offset) + "], $1;", {},
        {request, value});
  };
  // In 32 bits: a tile has few elements.
  auto narrow = [&](Value value) {
    return resize(minS(maxS(value, c64(0)), c64(1 << 20)), i32);
  };
  ifThen(eq(lane, 0), [&] {
    put(kSize, c32(size));
    put(kArg, getArgOffset(*this, from, params));
    put(kRank, c32(rank));
    put(kRows, c32(rows));
    put(kChunks, c32(llvm::divideCeil(columns * size, kChunkBytes)));
    Value rowsValid = c32(rows), columnsValid = c32(columns);
    if (!op.getValid().empty()) {
      SmallVector<Value> valid = scalars(op.getValid());
      rowsValid = narrow(valid.end()[-2]);
      columnsValid = narrow(valid.back());
      // Leading dimensions of the tile are 1.
      for (Value limit : ArrayRef(valid).drop_back(2))
        rowsValid = select(cmp(Predicate::sge, limit, 1), rowsValid, c32(0));
    }
    put(kRowsValid, rowsValid);
    put(kColumnsValid, columnsValid);
    put(kDest, dest);
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
  });
  barrier(c32(kRequestBarrier), kHelpers + 32);
  barrier(c32(kDoneBarrier), kHelpers + 32);
  return success();
}

void Lowering::dismissHelpers() {
  ifThen(eq(lane, 0),
         [&] { store(c32(0), add(sharedBase, shared.request), kSize); });
  barrier(c32(kRequestBarrier), kHelpers + 32);
}

/// `low` <= value < `high`.
static Value isWithin(Emitter &e, Value value, Value low, Value high) {
  return e.and_(e.cmp(Predicate::sge, value, low),
                e.cmp(Predicate::slt, value, high));
}

/// One unit of a row element by element, four bytes at a time.
static void copyUnit(Emitter &e, int64_t size, Value address, Value first,
                     Value rowThere, Value request, Value to) {
  auto get = [&](Type type, int64_t offset) {
    return e.loadSharedHere(type, e.add(request, offset));
  };
  for (int64_t w = 0; w < 4; ++w) {
    Value word;
    for (int64_t k = 0; k < 4 / size; ++k) {
      Value column = e.add(first, w * 4 / size + k);
      Value there = e.and_(rowThere, isWithin(e, column, get(e.i32, kColumnsFrom),
                                              get(e.i32, kColumnsLeft)));
      std::string type = size == 1 ? "u8" : size == 2 ? "u16" : "b32";
      Value value = e.tied("{ .reg .pred p; setp.ne.b32 p, $3, 0; @p ld.global." +
                               type + " $0, [$2]; }",
                           get(e.i32, kPad), {address, e.resize(there, e.i32)})[0];
      address = e.add(address, get(e.i64, kColumnBytes));
      value = e.shl(size == 4 ? value : e.and_(value, (1 << (8 * size)) - 1),
                    8 * size * k);
      word = word ? e.or_(word, value) : value;
    }
    e.store(word, to, 4 * w);
  }
}

/// One unit of which every byte is there, in pieces as large as its address allows.
/// What the hardware copies by itself (4 bytes at least) needs no register and no
/// waiting; helpers have few of the former and would do little else.
static void copyWhole(Emitter &e, int64_t size, Value address, Value to) {
  auto pieces = [&](int64_t bytes) {
    std::string text;
    for (int64_t at = 0; at < 16; at += bytes) {
      std::string plus = "+" + std::to_string(at) + "]";
      text += std::string("cp.async.") + (bytes == 16 ? "cg" : "ca") +
              ".shared.global [$1" + plus + ", [$0" + plus + ", " +
              std::to_string(bytes) + "; ";
    }
    e.ptx(text, {}, {address, to});
  };
  Value low = e.resize(address, e.i32);
  auto isAligned = [&](int64_t bytes) { return e.eq(e.and_(low, bytes - 1), 0); };
  // Elements of 2 bytes from the middle of a word on: the words between the first and the last
  // one, and each two halves put together.
  auto byHalves = [&] {
    e.ptx("{ .reg .b32 a, b, c, d, e; ld.global.u16 a, [$0]; ld.global.b32 b, [$0+2]; "
          "ld.global.b32 c, [$0+6]; ld.global.b32 d, [$0+10]; ld.global.u16 e, [$0+14]; "
          "prmt.b32 a, a, b, 0x5410; prmt.b32 b, b, c, 0x5432; prmt.b32 c, c, d, 0x5432; "
          "prmt.b32 d, d, e, 0x5432; st.shared.v4.b32 [$1], {a, b, c, d}; }",
          {}, {address, to});
  };
  // Elements of one byte, the upper ones of a word shifted to their place.
  auto singly = [&] {
    std::string text = "{ .reg .b32 word, part; ";
    for (int64_t w = 0; w < 16; w += 4) {
      for (int64_t k = 0; k < 4; ++k) {
        text += std::string("ld.global.u8") + (k ? " part" : " word") + ", [$0+" +
                std::to_string(w + k) + "]; ";
        if (k)
          text += "shl.b32 part, part, " + std::to_string(8 * k) +
                  "; or.b32 word, word, part; ";
      }
      text += "st.shared.b32 [$1+" + std::to_string(w) + "], word; ";
    }
    e.ptx(text + "}", {}, {address, to});
  };
  e.ifThenElse(isAligned(16), [&] { pieces(16); }, [&] {
    e.ifThenElse(isAligned(8), [&] { pieces(8); }, [&] {
      if (size >= 4)
        pieces(4);
      else
        e.ifThenElse(isAligned(4), [&] { pieces(4); }, [&] {
          size == 2 ? byHalves() : singly();
        });
    });
  });
}

// Dimension d of the argument at `arg` has its size at arg + 8 + 8 * d and its
// stride at arg + 8 + 8 * (rank + d).
void Lowering::completeRequest(Value request) {
  auto get = [&](int64_t offset) { return load(i32, request, offset); };
  Value rank = get(kRank), arg = get(kArg), wide = resize(get(kSize), i64);
  auto word = [&](Value offset) -> Value {
    Value address = LLVM::GEPOp::create(b, loc, pointerType(), i8, block,
                                        ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, loc, i64, address);
  };
  auto sizeOf = [&](Value d) { return word(add(add(arg, shl(d, 3)), 8)); };
  auto strideOf = [&](Value d) { return sizeOf(add(rank, d)); };
  auto offsetOf = [&](Value d) {
    Value offset = load(i32, add(add(request, kOffsets), shl(d, 2)));
    return resize(offset, i64, /*isSigned=*/true);
  };
  Value rows = sub(rank, 2), columns = sub(rank, 1);
  auto sums = scf::ForOp::create(b, loc, c32(0), rank, c32(1),
                                 ValueRange{c64(0), cbool(true)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(sums.getBody());
    Value d = sums.getInductionVar(), offset = offsetOf(d);
    Value sum = add(sums.getRegionIterArgs()[0], mul(offset, strideOf(d)));
    Value inside = or_(cmp(Predicate::sge, d, rows),
                       cmp(Predicate::ult, offset, sizeOf(d)));
    scf::YieldOp::create(
        b, loc, ValueRange{sum, and_(sums.getRegionIterArgs()[1], inside)});
  }
  store(add(word(arg), mul(sums.getResult(0), wide)), request, kBase);
  store(mul(strideOf(rows), wide), request, kRowBytes);
  store(mul(strideOf(columns), wide), request, kColumnBytes);
  auto narrow = [&](Value value) {
    return resize(minS(maxS(value, c64(0)), c64(1 << 20)), i32);
  };
  // Offsets in front of the buffer are outside as well.
  store(narrow(sub(c64(0), offsetOf(rows))), request, kRowsFrom);
  store(narrow(sub(c64(0), offsetOf(columns))), request, kColumnsFrom);
  Value left = minS(narrow(sub(sizeOf(rows), offsetOf(rows))), get(kRowsValid));
  store(select(sums.getResult(1), left, c32(0)), request, kRowsLeft);
  store(minS(narrow(sub(sizeOf(columns), offsetOf(columns))), get(kColumnsValid)),
        request, kColumnsLeft);
}

// What a request says is read again for each unit, from shared memory: the
// helpers have as few registers as the producer.
void Lowering::emitHelpers() {
  readThread();
  SmallVector<int64_t> sizes;
  kernel.walk([&](CopyOp op) {
    int64_t size = getElementBytes(op.getTileType().getElementType());
    if (!llvm::is_contained(sizes, size))
      sizes.push_back(size);
  });
  Value request = add(sharedBase, shared.request);
  auto get = [&](int64_t offset, Type type = {}) {
    return loadSharedHere(type ? type : i32, add(request, offset));
  };
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  barrier(c32(kRequestBarrier), kHelpers + 32);
  scf::ConditionOp::create(b, loc, cmp(Predicate::ne, get(kSize), 0), ValueRange());
  b.createBlock(&loop.getAfter());
  ifThen(eq(thread, 32), [&] { completeRequest(request); });
  barrier(c32(kReadyBarrier), kHelpers);
  // Piece p (16 bytes) of row r of a chunk lies at p ^ (r % 8) of its row there.
  forRange(c32(0), get(kChunks), c32(1), [&](Value chunk) {
    forRange(sub(thread, 32), shl(get(kRows), 3), c32(kHelpers), [&](Value unit) {
      Value row = shr(unit, 3), piece = and_(unit, 7);
      Value rowThere = isWithin(*this, row, get(kRowsFrom), get(kRowsLeft));
      Value to = add(get(kDest), mul(add(mul(chunk, get(kRows)), row), kChunkBytes));
      to = add(to, shl(and_(xor_(piece, row), 7), 4));
      for (int64_t s : sizes) {
        auto copy = [&] {
          int64_t count = 16 / s;
          Value first = mul(add(shl(chunk, 3), piece), count);
          Value address = add(get(kBase, i64), mul(resize(row, i64), get(kRowBytes, i64)));
          address = add(address, mul(resize(first, i64), get(kColumnBytes, i64)));
          Value whole = and_(isWithin(*this, first, get(kColumnsFrom),
                                      sub(get(kColumnsLeft), count - 1)),
                             and_(rowThere, eq(get(kColumnBytes, i64), s)));
          ifThenElse(
              whole, [&] { copyWhole(*this, s, address, to); },
              [&] { copyUnit(*this, s, address, first, rowThere, request, to); });
        };
        if (sizes.size() == 1)
          copy();
        else
          ifThen(eq(get(kSize), s), copy);
      }
    });
  });
  ptx("cp.async.wait_all;", {}, {});
  // The matrix engine reads what was written here.
  fenceAsyncShared();
  barrier(c32(kDoneBarrier), kHelpers + 32);
  scf::YieldOp::create(b, loc);
}
