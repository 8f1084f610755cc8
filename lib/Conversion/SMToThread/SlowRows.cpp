//===- SlowRows.cpp - Rows that a helper brings ---------------------------===//
//
// A line is 128 bytes of a row, what lies in one chunk; its piece p (of 16 bytes) lies at
// p ^ (row % 8). Four lines are an item; the three warps take items in turn, and nobody else
// touches their bytes. Lines are fetched by cp.async, which needs no registers and leaves
// many in flight, in pieces of 16 or 8 bytes where all addresses are aligned so, else of 4.
// It writes zeros where a row ends. A row that begins within a word is fetched from that word
// on; when it is there, lanes shift it to its place, and what the last word of a line
// lacks is read by itself. What is rare (a pad that is not zero, offsets in front of the
// argument, an innermost stride, the end of the last row) goes element by element.
//
// Loops are PTX, since a producer may have 24 registers, and LLVM computes ahead of loops what
// it can. A tile has a multiple of 8 rows, so that what depends on a row modulo 8 follows
// from the number of the line.
//
//===----------------------------------------------------------------------===//
#include "../ThreadToLLVM/Ptx.h"
#include "SlowCopies.h"
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using mk_sm::kChunkBytes;
using Predicate = arith::CmpIPredicate;

static constexpr int64_t kItemLines = 4;
/// Lines from one item of a warp to its next.
static constexpr int64_t kStepLines = kItemLines * kHelperWarps;

/// PTX in which <name> stands for a number: the offset of a word of the request, or
/// one of `numbers`.
static std::string
fillIn(StringRef text,
       std::initializer_list<std::pair<StringRef, int64_t>> numbers = {}) {
  SmallVector<std::pair<StringRef, int64_t>> all = {
      {"size", kSize}, {"rows", kRows}, {"chunks", kChunks}, {"dest", kDest},
      {"start", kStart}, {"base", kBase}, {"stride", kRowDim + kStride},
      {"row_from", kRowDim + kFrom}, {"row_left", kRowDim + kLeft},
      {"column_left", kColumnDim + kLeft}};
  all.append(numbers.begin(), numbers.end());
  std::string result = text.str();
  for (auto [name, number] : all) {
    std::string key = ("<" + name + ">").str();
    for (size_t at = 0; (at = result.find(key)) != std::string::npos;)
      result.replace(at, key.size(), std::to_string(number));
  }
  assert(result.find('<') == std::string::npos && "a number is missing");
  return result;
}

static thread::Ptx ptxOf(Emitter &e) { return {e.b, e.loc}; }

/// i1: elements of a row lie side by side.
static Value isDense(const Helper &h) {
  Value stride = h.get(kColumnDim + kStride, h.e.i64);
  return h.e.cmp(Predicate::eq, stride, h.e.resize(h.get(kSize), h.e.i64));
}

/// The start of the word in which an address lies.
static Value toWord(Emitter &e, Value address) { return e.and_(address, -4); }

/// Bytes of a row that exist, up to its end.
static Value getBytes(const Helper &h) {
  return h.e.mul(h.get(kColumnDim + kLeft), h.get(kSize));
}

/// i1: every byte of every chunk exists.
static Value isWhole(const Helper &h) {
  Emitter &e = h.e;
  Value rows = e.and_(e.eq(h.get(kRowDim + kFrom), 0),
                      e.cmp(Predicate::sge, h.get(kRowDim + kLeft), h.get(kRows)));
  return e.and_(rows, e.cmp(Predicate::sge, getBytes(h),
                            e.mul(h.get(kChunks), kChunkBytes)));
}

static Value addressOf(const Helper &h, Value row) {
  Emitter &e = h.e;
  return e.add(h.get(kBase, e.i64),
               e.mul(e.resize(row, e.i64), h.get(kRowDim + kStride, e.i64)));
}

/// i1: no byte from the address on lies in front of the argument.
static Value isInArgument(const Helper &h, Value address) {
  return h.e.cmp(Predicate::uge, address, h.get(kStart, h.e.i64));
}

//===----------------------------------------------------------------------===//
// Fetching
//===----------------------------------------------------------------------===//

/// In pieces of `unit` bytes, as many rows at once as the lanes suffice for. `whole`: there
/// is nothing to test.
static void fetchIn(int64_t unit, bool whole, const Helper &h) {
  int64_t lanes = kChunkBytes / unit, together = 32 / lanes;
  // `row` is 16 times the row, for the place of a piece; `left` bytes exist from the lane's
  // own on.
  std::string text = fillIn(
      "{ .reg .pred p; .reg .b32 at, row, rows, to, end, place, left, bytes, part; "
      ".reg .b64 from, step, wide; "
      "ld.shared.b32 rows, [$0+<rows>]; ld.shared.b32 end, [$0+<chunks>]; "
      "mul.lo.s32 end, end, rows; shl.b32 rows, rows, 4; "
      "ld.shared.b32 to, [$0+<dest>]; mad.lo.s32 end, end, 128, to; "
      "shr.u32 row, $1, <log_lanes>; mad.lo.s32 row, $2, 4, row; mad.lo.s32 to, row, 128, to; "
      "ld.shared.b64 step, [$0+<stride>]; ld.shared.b64 from, [$0+<base>]; "
      "cvt.u64.u32 wide, row; mad.lo.s64 from, wide, step, from; shl.b32 row, row, 4; "
      "and.b32 at, $1, <last_lane>; shl.b32 at, at, <log_unit>; "
      "cvt.u64.u32 wide, at; add.s64 from, from, wide; ",
      {{"log_lanes", llvm::Log2_64(lanes)}, {"last_lane", lanes - 1},
       {"log_unit", llvm::Log2_64(unit)}});
  if (!whole)
    text += fillIn("ld.shared.b32 left, [$0+<column_left>]; ld.shared.b32 bytes, [$0+<size>]; "
                   "mul.lo.s32 left, left, bytes; "
                   // Of a row without any not even the rest of a word.
                   "setp.le.s32 p, left, 0; selp.b32 left, <none>, left, p; "
                   "sub.s32 left, left, at; ",
                   {{"none", -(1 << 30)}});
  text += "ITEM: setp.ge.u32 p, to, end; @p bra DONE; "
          // Behind the last row comes the first one's line in the next chunk.
          "ROW: setp.lt.u32 p, row, rows; @p bra COPY; sub.s32 row, row, rows; "
          "shr.u32 part, rows, 4; cvt.u64.u32 wide, part; mul.lo.s64 wide, wide, step; "
          "sub.s64 from, from, wide; add.s64 from, from, 128; ";
  if (!whole)
    text += "sub.s32 left, left, 128; ";
  text += "bra ROW; COPY: and.b32 place, row, 112; xor.b32 place, place, at; "
          "add.s32 place, place, to; ";
  for (int64_t k = 0; k < kItemLines; k += together) {
    text += unit == 4 ? "and.b64 wide, from, -4; " : "mov.b64 wide, from; ";
    if (!whole) {
      text += "mov.b32 bytes, left; ";
      if (unit == 4)
        text += "cvt.u32.u64 part, from; and.b32 part, part, 3; add.s32 bytes, bytes, part; ";
      text += fillIn("max.s32 bytes, bytes, 0; min.s32 bytes, bytes, <unit>; "
                     "shr.u32 part, row, 4; add.s32 part, part, <k>; "
                     "{ .reg .pred q; .reg .b32 limit; .reg .b64 start; "
                     "ld.shared.b32 limit, [$0+<row_from>]; setp.ge.s32 p, part, limit; "
                     "ld.shared.b32 limit, [$0+<row_left>]; setp.lt.and.s32 p, part, limit, p; "
                     // Part of a piece counts as an access to all of it: not behind the last row.
                     "add.s32 limit, limit, -1; setp.eq.s32 q, part, limit; "
                     "setp.lt.and.s32 q, bytes, <unit>, q; @q mov.b32 bytes, 0; "
                     "ld.shared.b64 start, [$0+<start>]; setp.ge.and.u64 p, wide, start, p; "
                     "selp.b32 bytes, bytes, 0, p; } ",
                     {{"unit", unit}, {"k", k}});
    }
    // Rows of an item differ in bits of the place that are 0 in its first.
    text += fillIn("xor.b32 part, place, <piece>; cp.async.", {{"piece", 16 * k}});
    text += unit == 16 ? "cg" : "ca";
    text += fillIn(".shared.global [part+<line>], [wide], <unit>",
                   {{"line", kChunkBytes * k}, {"unit", unit}});
    text += whole ? "; " : ", bytes; ";
    text += fillIn("mad.lo.s64 from, step, <together>, from; ", {{"together", together}});
  }
  ptxOf(h.e).run(text + fillIn("mad.lo.s64 from, step, <lines>, from; add.s32 row, row, <row>; "
                        "add.s32 to, to, <line>; bra ITEM; DONE: }",
                        {{"lines", kStepLines - kItemLines}, {"row", 16 * kStepLines},
                         {"line", kChunkBytes * kStepLines}}),
          {}, {h.request, h.lane, h.warp});
}

void sm::fetchRows(Helper h) {
  Emitter &e = h.e;
  e.ifThen(isDense(h), [&] {
    Value low = e.or_(h.get(kBase), h.get(kRowDim + kStride));
    auto isAligned = [&](int64_t bytes) { return e.eq(e.and_(low, bytes - 1), 0); };
    auto fetchWords = [&] {
      Value whole = e.and_(isWhole(h), isInArgument(h, toWord(e, h.get(kBase, e.i64))));
      e.ifThenElse(whole, [&] { fetchIn(4, true, h); }, [&] { fetchIn(4, false, h); });
    };
    e.ifThenElse(isAligned(16), [&] { fetchIn(16, false, h); }, [&] {
      e.ifThenElse(isAligned(8), [&] { fetchIn(8, false, h); }, fetchWords);
    });
  });
  ptxOf(e).run("cp.async.commit_group;", {}, {});
}

//===----------------------------------------------------------------------===//
// Rows that begin within a word
//===----------------------------------------------------------------------===//

namespace {
/// What the last word of each line lacks once it is shifted, up to `count` elements of `unit`
/// bytes. A lane looks after the lines numbered lineAt(0), lineAt(1) and so on.
struct Ends {
  const Helper &h;
  Emitter &e;
  int64_t unit, count;

  explicit Ends(const Helper &h)
      : h(h), e(h.e), unit(llvm::is_contained(h.sizes, 1) ? 1 : 2),
        count(4 / unit - 1) {}

  Value lineAt(Value n) const {
    Value item = e.add(e.mul(e.add(e.shl(n, 3), e.shr(h.lane, 2)), kHelperWarps), h.warp);
    return e.add(e.shl(item, 2), e.and_(h.lane, 3));
  }
  SmallVector<Value> load(Value line) const;
  void store(Value line, ArrayRef<Value> values) const;
};
} // namespace

static std::string elementType(int64_t size) { return "u" + std::to_string(8 * size); }

SmallVector<Value> Ends::load(Value line) const {
  // `from` is the end of the line, and `column` that of its bytes in the row.
  std::string text = fillIn(
      "{ .reg .pred p, q; .reg .b32 row, rows, part, column, bytes, shift; "
      ".reg .b64 from, wide; "
      "ld.volatile.shared.b32 rows, [$<request>+<rows>]; ld.volatile.shared.b32 part, [$<request>+<chunks>]; "
      "mul.lo.s32 part, part, rows; setp.lt.u32 p, $<line>, part; "
      "div.u32 column, $<line>, rows; mul.lo.s32 row, column, rows; sub.s32 row, $<line>, row; "
      "mad.lo.s32 column, column, 128, 128; "
      "ld.volatile.shared.b32 part, [$<request>+<row_from>]; setp.ge.and.s32 p, row, part, p; "
      "ld.volatile.shared.b32 part, [$<request>+<row_left>]; setp.lt.and.s32 p, row, part, p; "
      "ld.volatile.shared.b32 bytes, [$<request>+<column_left>]; ld.volatile.shared.b32 part, [$<request>+<size>]; "
      "mul.lo.s32 bytes, bytes, part; "
      "ld.volatile.shared.b64 wide, [$<request>+<stride>]; ld.volatile.shared.b64 from, [$<request>+<base>]; "
      "{ .reg .b64 number; cvt.u64.u32 number, row; mad.lo.s64 from, number, wide, from; "
      "cvt.u64.u32 number, column; add.s64 from, from, number; } "
      "cvt.u32.u64 shift, from; and.b32 shift, shift, 3; ",
      {{"request", 2 * count}, {"line", 2 * count + 1}});
  for (int64_t k = 1; k <= count; ++k) {
    text += fillIn("setp.ge.and.u32 q, shift, <bytes>, p; "
                   "add.s32 column, column, -<unit>; setp.lt.and.s32 q, column, bytes, q; "
                   "add.s64 from, from, -<unit>; ld.volatile.shared.b64 wide, [$<request>+<start>]; "
                   "setp.ge.and.u64 q, from, wide, q; ",
                   {{"bytes", k * unit}, {"unit", unit}, {"request", 2 * count}});
    text += "@q ld.global." + elementType(unit) + " $" + std::to_string(k - 1) + ", [from]; ";
  }
  SmallVector<Value> zeros(count, e.c32(0));
  return ptxOf(e).tied(text + "}", zeros, {h.request, line});
}

void Ends::store(Value line, ArrayRef<Value> values) const {
  std::string text = fillIn(
      "{ .reg .pred p, q; .reg .b32 rows, part, to, shift; "
      "ld.shared.b32 rows, [$0+<rows>]; ld.shared.b32 part, [$0+<chunks>]; "
      "mul.lo.s32 part, part, rows; setp.lt.u32 p, $1, part; "
      "ld.shared.b32 shift, [$0+<base>]; ld.shared.b32 part, [$0+<stride>]; "
      "mad.lo.s32 shift, $1, part, shift; and.b32 shift, shift, 3; "
      "ld.shared.b32 to, [$0+<dest>]; mad.lo.s32 to, $1, 128, to; "
      "shl.b32 part, $1, 4; and.b32 part, part, 112; xor.b32 part, part, 112; "
      "add.s32 to, to, part; ");
  for (int64_t k = 1; k <= count; ++k) {
    text += fillIn("setp.ge.and.u32 q, shift, <bytes>, p; @q st.shared.",
                   {{"bytes", k * unit}});
    text += elementType(unit) + fillIn(" [to+<at>], $<value>; ",
                                       {{"at", 16 - k * unit}, {"value", 1 + k}});
  }
  SmallVector<Value> operands{h.request, line};
  llvm::append_range(operands, values);
  ptxOf(e).run(text + "}", {}, operands);
}

/// Moves each line to its place. A lane reads and writes one piece of a line, its own; the
/// word behind that comes from the next lane, and has no meaning at the end of a line. Two
/// items at a time.
static void shiftLines(const Helper &h) {
  ptxOf(h.e).run(
      fillIn("{ .reg .pred p, q; .reg .b32 x0, x1, x2, x3, x4, y0, y1, y2, y3, y4, "
             "at, second, shift, later, step, left; "
             "ld.shared.b32 left, [$0+<rows>]; ld.shared.b32 at, [$0+<chunks>]; "
             "mul.lo.s32 left, left, at; "
             "shr.u32 shift, $1, 3; mad.lo.s32 shift, $2, 4, shift; "
             "sub.s32 left, left, shift; "
             "ld.shared.b32 at, [$0+<dest>]; mad.lo.s32 at, shift, 128, at; "
             "xor.b32 second, shift, $1; and.b32 second, second, 7; "
             "mad.lo.s32 at, second, 16, at; "
             // In bits.
             "ld.shared.b32 second, [$0+<base>]; ld.shared.b32 step, [$0+<stride>]; "
             "mad.lo.s32 shift, shift, step, second; shl.b32 shift, shift, 3; "
             "mul.lo.s32 step, step, <bits>; "
             "PAIR: setp.le.s32 p, left, 0; @p bra DONE; setp.gt.s32 q, left, <lines>; "
             // 12 lines on the place of a piece differs in one bit.
             "xor.b32 second, at, 64; "
             "ld.shared.v4.b32 {x0, x1, x2, x3}, [at]; "
             "@q ld.shared.v4.b32 {y0, y1, y2, y3}, [second+<bytes>]; "
             "add.s32 later, shift, step; and.b32 later, later, 24; and.b32 shift, shift, 24; "
             "shfl.sync.down.b32 x4, x0, 1, 0x1f, 0xffffffff; "
             "shfl.sync.down.b32 y4, y0, 1, 0x1f, 0xffffffff; "
             "shf.r.wrap.b32 x0, x0, x1, shift; shf.r.wrap.b32 x1, x1, x2, shift; "
             "shf.r.wrap.b32 x2, x2, x3, shift; shf.r.wrap.b32 x3, x3, x4, shift; "
             "st.shared.v4.b32 [at], {x0, x1, x2, x3}; "
             "shf.r.wrap.b32 y0, y0, y1, later; shf.r.wrap.b32 y1, y1, y2, later; "
             "shf.r.wrap.b32 y2, y2, y3, later; shf.r.wrap.b32 y3, y3, y4, later; "
             "@q st.shared.v4.b32 [second+<bytes>], {y0, y1, y2, y3}; "
             "add.s32 shift, later, step; add.s32 at, at, <both_bytes>; "
             "sub.s32 left, left, <both>; bra PAIR; DONE: }",
             {{"bits", 8 * kStepLines}, {"lines", kStepLines},
              {"bytes", kStepLines * kChunkBytes}, {"both", 2 * kStepLines},
              {"both_bytes", 2 * kStepLines * kChunkBytes}}),
      {}, {h.request, h.lane, h.warp});
}

/// `arrive` waits for what was fetched.
static void shiftRows(Helper h, function_ref<void()> arrive) {
  Emitter &e = h.e;
  Ends ends(h);
  // These loads take as long as the shifting. What they bring takes registers.
  int64_t early = h.registers < 32 ? 0 : 3 / ends.count;
  SmallVector<SmallVector<Value>> ahead;
  for (int64_t n = 0; n < early; ++n) {
    h.enter();
    ahead.push_back(ends.load(ends.lineAt(e.c32(n))));
  }
  arrive();
  h.enter();
  shiftLines(h);
  e.syncWarp();
  int64_t perRound = 8 * kStepLines;
  for (auto [n, values] : llvm::enumerate(ahead)) {
    h.enter();
    ends.store(ends.lineAt(e.c32(n)), values);
  }
  Value lines = e.mul(h.get(kRows), h.get(kChunks));
  Value rounds = e.divU(e.add(lines, perRound - 1), perRound);
  e.forRange(e.c32(ahead.size()), rounds, e.c32(1), [&](Value n) {
    h.enter();
    Value line = ends.lineAt(n);
    ends.store(line, ends.load(line));
  });
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// 16 bytes of a row from byte `column` on, an element of `size` bytes at a time.
static void copyElements(const Helper &h, int64_t size, Value row, Value column, Value to) {
  std::string text = fillIn(
      "{ .reg .pred here, p; .reg .b32 column, word, value, part, to; "
      ".reg .b64 from, step, wide; "
      "ld.shared.b32 part, [$0+<row_from>]; setp.ge.s32 here, $1, part; "
      "ld.shared.b32 part, [$0+<row_left>]; setp.lt.and.s32 here, $1, part, here; "
      "ld.shared.b64 step, [$0+<stride>]; ld.shared.b64 from, [$0+<base>]; "
      "cvt.u64.u32 wide, $1; mad.lo.s64 from, wide, step, from; "
      "ld.shared.b64 step, [$0+<column_stride>]; shr.u32 column, $2, <log_size>; "
      "cvt.u64.u32 wide, column; mad.lo.s64 from, wide, step, from; "
      "mov.b32 to, $3; WORD: mov.b32 word, 0; ",
      {{"column_stride", kColumnDim + kStride}, {"log_size", llvm::Log2_64(size)}});
  for (int64_t k = 0; k < 4 / size; ++k) {
    text += fillIn("ld.shared.b32 part, [$0+<column_from>]; setp.ge.and.s32 p, column, part, here; "
                   "ld.shared.b32 part, [$0+<column_left>]; setp.lt.and.s32 p, column, part, p; "
                   "ld.shared.b32 value, [$0+<pad>]; @p ld.global.",
                   {{"column_from", kColumnDim + kFrom}, {"pad", kPad}});
    text += (size == 4 ? "b32" : elementType(size)) + " value, [from]; ";
    if (size < 4)
      text += fillIn("and.b32 value, value, <mask>; shl.b32 value, value, <bits>; ",
                     {{"mask", (int64_t(1) << (8 * size)) - 1}, {"bits", 8 * size * k}});
    text += "or.b32 word, word, value; add.s32 column, column, 1; add.s64 from, from, step; ";
  }
  ptxOf(h.e).run(text + "st.shared.b32 [to], word; add.s32 to, to, 4; and.b32 part, to, 15; "
                 "setp.ne.u32 p, part, 0; @p bra WORD; }",
          {}, {h.request, row, column, to});
}

/// i1: the piece at byte `column` of a row was not fetched, or not as it is to be.
static Value isWrong(const Helper &h, Value row, Value column) {
  Emitter &e = h.e;
  Value exists = e.and_(e.cmp(Predicate::sge, row, h.get(kRowDim + kFrom)),
                        e.cmp(Predicate::slt, row, h.get(kRowDim + kLeft)));
  // The word in which a row begins may begin in front of the argument.
  Value word = toWord(e, e.add(addressOf(h, row), e.resize(column, e.i64)));
  Value wrong = e.and_(exists, e.not_(isInArgument(h, word)));
  Value inside = e.and_(exists, e.cmp(Predicate::sle, e.add(column, 16), getBytes(h)));
  wrong = e.or_(wrong, e.and_(e.cmp(Predicate::ne, h.get(kPad), 0), e.not_(inside)));
  Value from = e.mul(h.get(kColumnDim + kFrom), h.get(kSize));
  wrong = e.or_(wrong, e.cmp(Predicate::slt, column, from));
  // The end of the last row: a word of it, when shifted, may be in two pieces.
  Value last = e.cmp(Predicate::eq, e.add(row, 1), h.get(kRowDim + kLeft));
  Value bytes = getBytes(h);
  last = e.and_(last, e.cmp(Predicate::slt, column, bytes));
  wrong = e.or_(wrong, e.and_(last, e.cmp(Predicate::sgt, e.add(column, 16 + 4), bytes)));
  return e.or_(wrong, e.not_(isDense(h)));
}

static void fillRest(Helper h) {
  Emitter &e = h.e;
  Value items = e.divU(e.mul(h.get(kRows), h.get(kChunks)), kItemLines);
  h.enter();
  e.forRange(h.warp, items, e.c32(kHelperWarps), [&](Value item) {
    h.enter();
    Value line = e.add(e.shl(item, 2), e.shr(h.lane, 3));
    Value rows = h.get(kRows);
    Value chunk = e.b.createOrFold<arith::DivUIOp>(e.loc, line, rows);
    Value row = e.sub(line, e.mul(chunk, rows));
    Value piece = e.and_(h.lane, 7);
    Value column = e.add(e.shl(chunk, 7), e.shl(piece, 4));
    e.ifThen(isWrong(h, row, column), [&] {
      Value to = e.add(e.add(h.get(kDest), e.shl(line, 7)),
                       e.shl(e.and_(e.xor_(piece, line), 7), 4));
      for (int64_t s : h.sizes) {
        auto copy = [&] { copyElements(h, s, row, column, to); };
        if (h.sizes.size() == 1)
          copy();
        else
          e.ifThen(e.eq(h.get(kSize), s), copy);
      }
    });
  });
}

/// i1: some piece may be wrong.
static Value hasRest(const Helper &h) {
  Emitter &e = h.e;
  Value padded = e.and_(e.cmp(Predicate::ne, h.get(kPad), 0), e.not_(isWhole(h)));
  Value before = e.cmp(Predicate::ne, h.get(kColumnDim + kFrom), 0);
  // No row comes before the first that exists.
  Value from = h.get(kRowDim + kFrom);
  Value cut = e.and_(e.cmp(Predicate::slt, from, h.get(kRowDim + kLeft)),
                     e.not_(isInArgument(h, toWord(e, addressOf(h, from)))));
  Value end = e.and_(e.cmp(Predicate::sle, h.get(kRowDim + kLeft), h.get(kRows)),
                     e.cmp(Predicate::slt, getBytes(h),
                           e.mul(h.get(kChunks), kChunkBytes)));
  return e.or_(e.or_(padded, before), e.or_(e.or_(cut, end), e.not_(isDense(h))));
}

void sm::finishRows(Helper h, Value pending) {
  Emitter &e = h.e;
  auto arrive = [&] {
    auto waitFor = [&](int64_t others) {
      ptxOf(e).run("cp.async.wait_group " + std::to_string(others) + ";", {}, {});
    };
    e.ifThenElse(e.eq(pending, 1), [&] { waitFor(0); }, [&] {
      e.ifThenElse(e.eq(pending, 2), [&] { waitFor(1); }, [&] { waitFor(2); });
    });
    // Lanes go on with what others have fetched.
    e.syncWarp();
  };
  if (llvm::any_of(h.sizes, [](int64_t size) { return size < 4; })) {
    Value low = e.or_(h.get(kBase), h.get(kRowDim + kStride));
    Value shifts = e.and_(isDense(h), e.cmp(Predicate::ne, e.and_(low, 3), 0));
    e.ifThenElse(shifts, [&] { shiftRows(h, arrive); }, arrive);
  } else {
    arrive();
  }
  e.ifThen(hasRest(h), [&] {
    e.syncWarp();
    fillRest(h);
  });
}
