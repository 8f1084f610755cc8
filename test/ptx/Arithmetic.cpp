//===- Arithmetic.cpp - Integers, bits, moves, and who decodes an opcode --===//

#include "Lanes.h"

#include <limits>

using namespace mk::ptx;

namespace {

#define OP(name, ...)                                                          \
  struct name {                                                                \
    template <typename... T> auto operator()(T... v) const {                   \
      return apply(v...);                                                      \
    }                                                                          \
    __VA_ARGS__                                                                \
  };
template <typename T> using Unsigned = std::make_unsigned_t<T>;

OP(
    Add, template <typename T> static T apply(T a, T b) { return T(uint64_t(a) + uint64_t(b)); })
OP(
    Sub, template <typename T> static T apply(T a, T b) { return T(uint64_t(a) - uint64_t(b)); })
OP(
    Mul, template <typename T> static T apply(T a, T b) { return T(uint64_t(a) * uint64_t(b)); })
OP(
    MulHigh, template <typename T> static T apply(T a, T b) {
      using Wide =
          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return T((Wide(a) * Wide(b)) >> (8 * sizeof(T)));
    })
template <typename R> struct MulWide {
  template <typename T> R operator()(T a, T b) const { return R(a) * R(b); }
};
template <typename R> struct MadWide {
  template <typename T> R operator()(T a, T b, R c) const { return Add()(MulWide<R>()(a, b), c); }
};
OP(
    Mad, template <typename T>
         static T apply(T a, T b, T c) { return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); })
// The least number divided by -1 is itself. By 0 a GPU does not stop either.
template <typename T> bool isMinusOne(T a) { return std::is_signed_v<T> && a == T(-1); }
OP(
    Div, template <typename T> static T apply(T a, T b) {
      if (isMinusOne(b))
        return T(-uint64_t(a));
      return b ? T(a / b) : T(~T(0));
    })
OP(
    Rem, template <typename T> static T apply(T a, T b) {
      if (isMinusOne(b))
        return T(0);
      return b ? T(a % b) : a;
    })
OP(
    Min, template <typename T> static T apply(T a, T b) { return std::min(a, b); })
OP(
    Max, template <typename T> static T apply(T a, T b) { return std::max(a, b); })
OP(
    And, template <typename T> static T apply(T a, T b) { return a & b; })
OP(
    Or, template <typename T> static T apply(T a, T b) { return a | b; })
OP(
    Xor, template <typename T> static T apply(T a, T b) { return a ^ b; })
OP(
    Not, template <typename T> static T apply(T a) { return T(~a); })
OP(
    Neg, template <typename T> static T apply(T a) { return T(-uint64_t(a)); })
OP(
    Abs, template <typename T> static T apply(T a) { return a < 0 ? T(-uint64_t(a)) : a; })
OP(
    Shl, template <typename T> static T apply(T a, uint32_t by) {
      return by >= 8 * sizeof(T) ? T(0) : T(a << by);
    })
OP(
    Shr, template <typename T> static T apply(T a, uint32_t by) {
      if (by >= 8 * sizeof(T))
        return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
      return T(a >> by);
    })
OP(
    FunnelRight,
    static uint32_t apply(uint32_t low, uint32_t high, uint32_t by) {
      uint64_t both = uint64_t(high) << 32 | low;
      return uint32_t(both >> (by & 31));
    })
OP(
    FunnelLeft, static uint32_t apply(uint32_t low, uint32_t high, uint32_t by) {
      uint64_t both = uint64_t(high) << 32 | low;
      return uint32_t(both << (by & 31) >> 32);
    })
OP(
    Extract,
    template <typename T> static T apply(T a, uint32_t from, uint32_t count) {
      if (from >= 8 * sizeof(T) || count == 0)
        return 0;
      T value = T(a >> from);
      return count >= 8 * sizeof(T) ? value : T(value & ((T(1) << count) - 1));
    })
// PTX counts positions and lengths by their lowest 8 bits.
OP(
    Insert, template <typename T> static T apply(T a, T b, uint32_t from, uint32_t count) {
      from &= 255;
      count &= 255;
      if (from >= 8 * sizeof(T) || count == 0)
        return b;
      T field = T((count >= 8 * sizeof(T) ? ~T(0) : (T(1) << count) - 1) << from);
      return T((b & ~field) | (T(a << from) & field));
    })
// The field's own sign, or that of the number where it ends behind it, fills the rest.
OP(
    ExtractSigned,
    template <typename T> static T apply(T a, uint32_t from, uint32_t count) {
      constexpr uint32_t bits = 8 * sizeof(T);
      if (count == 0)
        return 0;
      T value = T(a >> (from < bits ? from : bits - 1));
      if (count >= bits)
        return value;
      auto up = std::make_unsigned_t<T>(value) << (bits - count);
      return T(T(up) >> (bits - count));
    })
OP(
    CountOnes, template <typename T> static uint32_t apply(T a) {
      return uint32_t(__builtin_popcountll(uint64_t(a)));
    })
OP(
    LeadingZeroes, template <typename T> static uint32_t apply(T a) {
      return a ? uint32_t(__builtin_clzll(uint64_t(a))) -
                     (64 - 8 * uint32_t(sizeof(T)))
               : 8 * uint32_t(sizeof(T));
    })
OP(
    Move, template <typename T> static T apply(T a) { return a; })
// For each bit the entry of the table that the bits of a, b and c number.
OP(
    Table3, static uint32_t apply(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
      uint32_t result = 0;
      for (uint32_t entry = 0; entry < 8; ++entry)
        if (table >> entry & 1)
          result |= (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
      return result;
    })
// Each nibble takes a byte of eight, or its sign in all bits.
OP(
    Permute, static uint32_t apply(uint32_t a, uint32_t b, uint32_t which) {
      uint64_t both = uint64_t(b) << 32 | a;
      uint32_t result = 0;
      for (uint32_t i = 0; i < 4; ++i) {
        uint32_t nibble = which >> (4 * i) & 15;
        auto byte = uint8_t(both >> (8 * (nibble & 7)));
        if (nibble & 8)
          byte = byte & 0x80 ? 0xff : 0;
        result |= uint32_t(byte) << (8 * i);
      }
      return result;
    })
template <typename R> struct Convert {
  template <typename T> R operator()(T a) const { return R(a); }
};

//===--- Predicates -------------------------------------------------------===//

template <typename Op>
void logic(Warp &warp, const Instr &instr, uint32_t lanes) {
  setBits(warp, instr.ops[instr.b - 1], lanes,
          Op()(bitsOf(warp, instr.ops[instr.b]),
               bitsOf(warp, instr.ops[instr.b + 1])));
}
void notPred(Warp &warp, const Instr &instr, uint32_t lanes) {
  setBits(warp, instr.ops[instr.b - 1], lanes,
          ~bitsOf(warp, instr.ops[instr.b]));
}
void movePred(Warp &warp, const Instr &instr, uint32_t lanes) {
  setBits(warp, instr.ops[instr.b - 1], lanes,
          bitsOf(warp, instr.ops[instr.b]));
}
template <typename T>
void select(Warp &warp, const Instr &instr, uint32_t lanes) {
  Source<T> a(warp, instr.ops[instr.b]), b(warp, instr.ops[instr.b + 1]);
  uint32_t which = bitsOf(warp, instr.ops[instr.b + 2]);
  T results[32];
  for (uint32_t lane = 0; lane < 32; ++lane)
    results[lane] = which >> lane & 1 ? a[lane] : b[lane];
  store(warp, instr.ops[instr.b - 1], lanes, results);
}

/// mov between a register and the parts of it.
void moveVector(Warp &warp, const Instr &instr, uint32_t lanes) {
  size_t parts = instr.ops.size() - 1 - (instr.b - 1);
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t width = instr.a / uint32_t(parts); // bits
  uint64_t mask = width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  forLanes(lanes, [&](uint32_t lane) {
    // A vector of destinations comes first.
    bool unpacks = instr.target != 0;
    if (unpacks) {
      uint64_t whole = warp.value(ops[parts], lane);
      for (size_t i = 0; i < parts; ++i)
        warp.set(ops[i], lane, whole >> (width * i) & mask);
      return;
    }
    uint64_t whole = 0;
    for (size_t i = 0; i < parts; ++i)
      whole |= (warp.value(ops[i + 1], lane) & mask) << (width * i);
    warp.set(ops[0], lane, whole);
  });
}
/// mov.b128 from two registers.
void joinHalves(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  auto *words = reinterpret_cast<uint64_t *>(warp.words + ops[0].index);
  forLanes(lanes, [&](uint32_t lane) {
    words[2 * lane] = warp.value(ops[1], lane);
    words[2 * lane + 1] = warp.value(ops[2], lane);
  });
}
void noArithmetic(Warp &, const Instr &, uint32_t) {}

template <typename T> void addCompares(Table &t, const std::string &type) {
  addCompare<T, std::equal_to<>>(t, "eq", type);
  addCompare<T, std::not_equal_to<>>(t, "ne", type);
  addCompare<T, std::less<>>(t, "lt", type);
  addCompare<T, std::less_equal<>>(t, "le", type);
  addCompare<T, std::greater<>>(t, "gt", type);
  addCompare<T, std::greater_equal<>>(t, "ge", type);
}
template <typename T> void addIntegers(Table &t, const std::string &type) {
  t["add." + type] = binary<T, T, T, Add>;
  t["sub." + type] = binary<T, T, T, Sub>;
  t["mul.lo." + type] = binary<T, T, T, Mul>;
  t["mul.hi." + type] = binary<T, T, T, MulHigh>;
  t["mad.lo." + type] = ternary<T, T, T, T, Mad>;
  t["div." + type] = binary<T, T, T, Div>;
  t["rem." + type] = binary<T, T, T, Rem>;
  t["min." + type] = binary<T, T, T, Min>;
  t["max." + type] = binary<T, T, T, Max>;
  t["neg." + type] = unary<T, T, Neg>;
  t["abs." + type] = unary<T, T, Abs>;
  t["shr." + type] = binary<T, T, uint32_t, Shr>;
  addCompares<T>(t, type);
}
template <typename T> void addBits(Table &t, const std::string &type) {
  t["and." + type] = binary<T, T, T, And>;
  t["or." + type] = binary<T, T, T, Or>;
  t["xor." + type] = binary<T, T, T, Xor>;
  t["not." + type] = unary<T, T, Not>;
  t["shl." + type] = binary<T, T, uint32_t, Shl>;
  t["selp." + type] = select<T>;
  t["mov." + type] = unary<T, T, Move>;
  addCompare<T, std::equal_to<>>(t, "eq", type);
  addCompare<T, std::not_equal_to<>>(t, "ne", type);
}
template <typename R> void addConversions(Table &t, const std::string &type) {
  t["cvt." + type + ".s8"] = unary<R, int8_t, Convert<R>>;
  t["cvt." + type + ".u8"] = unary<R, uint8_t, Convert<R>>;
  t["cvt." + type + ".s16"] = unary<R, int16_t, Convert<R>>;
  t["cvt." + type + ".u16"] = unary<R, uint16_t, Convert<R>>;
  t["cvt." + type + ".s32"] = unary<R, int32_t, Convert<R>>;
  t["cvt." + type + ".u32"] = unary<R, uint32_t, Convert<R>>;
  t["cvt." + type + ".s64"] = unary<R, int64_t, Convert<R>>;
  t["cvt." + type + ".u64"] = unary<R, uint64_t, Convert<R>>;
}

} // namespace

void mk::ptx::addArithmetic(Table &t) {
  addIntegers<int32_t>(t, "s32");
  addIntegers<uint32_t>(t, "u32");
  addIntegers<int64_t>(t, "s64");
  addIntegers<uint64_t>(t, "u64");
  addIntegers<int16_t>(t, "s16");
  addIntegers<uint16_t>(t, "u16");
  addBits<uint16_t>(t, "b16");
  addBits<uint32_t>(t, "b32");
  addBits<uint64_t>(t, "b64");
  t["selp.f32"] = select<uint32_t>;
  t["selp.f64"] = select<uint64_t>;
  for (const char *type : {"mov.u32", "mov.s32", "mov.f32"})
    t[type] = unary<uint32_t, uint32_t, Move>;
  for (const char *type : {"mov.u64", "mov.s64", "mov.f64", "cvta.param.u64"})
    t[type] = unary<uint64_t, uint64_t, Move>;
  t["mul.wide.u16"] = binary<uint32_t, uint16_t, uint16_t, MulWide<uint32_t>>;
  t["mul.wide.s16"] = binary<int32_t, int16_t, int16_t, MulWide<int32_t>>;
  t["mul.wide.u32"] = binary<uint64_t, uint32_t, uint32_t, MulWide<uint64_t>>;
  t["mul.wide.s32"] = binary<int64_t, int32_t, int32_t, MulWide<int64_t>>;
  t["mad.wide.u16"] = ternary<uint32_t, uint16_t, uint16_t, uint32_t, MadWide<uint32_t>>;
  t["mad.wide.s16"] = ternary<int32_t, int16_t, int16_t, int32_t, MadWide<int32_t>>;
  t["mad.wide.u32"] = ternary<uint64_t, uint32_t, uint32_t, uint64_t, MadWide<uint64_t>>;
  t["mad.wide.s32"] = ternary<int64_t, int32_t, int32_t, int64_t, MadWide<int64_t>>;
  t["prmt.b32"] = ternary<uint32_t, uint32_t, uint32_t, uint32_t, Permute>;
  t["bfe.u32"] = ternary<uint32_t, uint32_t, uint32_t, uint32_t, Extract>;
  t["bfe.u64"] = ternary<uint64_t, uint64_t, uint32_t, uint32_t, Extract>;
  t["bfi.b32"] = quaternary<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Insert>;
  t["bfi.b64"] = quaternary<uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, Insert>;
  t["bfe.s32"] = ternary<int32_t, int32_t, uint32_t, uint32_t, ExtractSigned>;
  t["bfe.s64"] = ternary<int64_t, int64_t, uint32_t, uint32_t, ExtractSigned>;
  t["lop3.b32"] = quaternary<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Table3>;
  t["popc.b32"] = unary<uint32_t, uint32_t, CountOnes>;
  t["popc.b64"] = unary<uint32_t, uint64_t, CountOnes>;
  t["clz.b32"] = unary<uint32_t, uint32_t, LeadingZeroes>;
  t["clz.b64"] = unary<uint32_t, uint64_t, LeadingZeroes>;
  t["shf.l.wrap.b32"] = ternary<uint32_t, uint32_t, uint32_t, uint32_t, FunnelLeft>;
  t["shf.r.wrap.b32"] =
      ternary<uint32_t, uint32_t, uint32_t, uint32_t, FunnelRight>;

  // A register has 16 bits at least, which the sign of fewer fills.
  addConversions<int8_t>(t, "s8");
  addConversions<uint8_t>(t, "u8");
  addConversions<int16_t>(t, "s16");
  addConversions<uint16_t>(t, "u16");
  addConversions<int32_t>(t, "s32");
  addConversions<uint32_t>(t, "u32");
  addConversions<int64_t>(t, "s64");
  addConversions<uint64_t>(t, "u64");

  t["and.pred"] = logic<And>;
  t["or.pred"] = logic<Or>;
  t["xor.pred"] = logic<Xor>;
  t["not.pred"] = notPred;
  t["mov.pred"] = movePred;
}

void mk::ptx::decode(Instr &instr) {
  static const Table table = [] {
    Table t;
    addArithmetic(t);
    addFloats(t);
    return t;
  }();
  const std::string &op = instr.opcode;
  // Behind the guard and the destination.
  instr.b = instr.guard >= 0 ? 2 : 1;
  instr.a = ~0u;
  if (op == "bra" || op == "bra.uni") {
    instr.flow = Flow::Branch;
  } else if (op == "brx.idx") {
    instr.flow = Flow::Switch;
  } else if (op == "ret" || op == "exit") {
    instr.flow = Flow::Return;
  } else if (op == "trap") {
    instr.flow = Flow::Trap;
  } else if (op == "mov.b128") {
    if (instr.vecs != std::vector<uint8_t>{2} || instr.ops[instr.b - 1].bytes != 16)
      throw Error("mov.b128 from other than two registers");
    instr.exec = joinHalves;
  } else if (startsWith(op, "mov.") && !instr.vecs.empty()) {
    instr.moves = true;
    instr.exec = moveVector;
    instr.a = op == "mov.b64" ? 64 : 32;
    // Which side the vector is on: a register of the whole's width is the
    // other.
    const Operand &first = instr.ops[instr.b - 1];
    bool firstIsWhole = first.kind == Operand::Reg &&
                        first.bytes * 8u == instr.a &&
                        instr.ops.size() - instr.b == instr.vecs[0];
    const Operand &second = instr.ops[instr.b];
    if (firstIsWhole && second.kind == Operand::Reg &&
        second.bytes * 8u == instr.a)
      throw Error("mov of a vector of whole registers");
    instr.target = firstIsWhole ? 0 : 1;
  } else if (auto it = table.find(op); it != table.end()) {
    instr.exec = it->second;
    instr.moves = startsWith(op, "mov.");
  } else if (op == "prefetch.tensormap" || startsWith(op, "griddepcontrol.") ||
             startsWith(op, "setmaxnreg.") ||
             startsWith(op, "fence.mbarrier_init.")) {
    // Nothing that shows: launches are one after another, registers enough.
    instr.exec = noArithmetic;
  } else if (!decodeAccess(instr) && !decodeSync(instr) && !decodeCopy(instr) &&
             !decodeProduct(instr)) {
    throw Error("opcode '" + op + "' is not known: the interpreter lacks it: add it to test/ptx");
  }
}
