//===- Arithmetic.cpp - Instructions of registers alone -------------------===//

#include "Numbers.h"
#include "Table.h"

#include <cmath>
#include <limits>

using namespace mk::ptx;

namespace {

/// The values of an operand in all lanes, as T.
template <typename T> struct Source {
  Source(Warp &warp, const Operand &o) {
    if (o.kind == Operand::Reg && o.bytes == sizeof(T)) {
      if constexpr (sizeof(T) >= 4) {
        values = warp.registerOf<T>(o);
        return;
      }
    }
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint64_t raw = warp.value(o, lane);
      std::memcpy(&copy[lane], &raw, sizeof(T));
    }
    values = copy;
  }
  T operator[](uint32_t lane) const { return values[lane]; }
  const T *values;
  T copy[32];
};

template <typename T>
void store(Warp &warp, const Operand &o, uint32_t lanes, const T *results) {
  if (o.kind == Operand::Reg && o.bytes == sizeof(T) && sizeof(T) >= 4) {
    T *to = warp.registerOf<T>(o);
    if (lanes == ~0u)
      std::memcpy(to, results, 32 * sizeof(T));
    else
      forLanes(lanes, [&](uint32_t lane) { to[lane] = results[lane]; });
    return;
  }
  forLanes(lanes, [&](uint32_t lane) {
    // Wider registers take signed values sign-extended.
    uint64_t raw = 0;
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      raw = uint64_t(int64_t(results[lane]));
    else
      std::memcpy(&raw, &results[lane], sizeof(T));
    warp.set(o, lane, raw);
  });
}

template <typename R, typename A, typename Op>
void unary(Warp &warp, const Instr &instr, uint32_t lanes) {
  Source<A> a(warp, instr.ops[instr.b]);
  R results[32];
  for (uint32_t lane = 0; lane < 32; ++lane)
    results[lane] = Op()(a[lane]);
  store(warp, instr.ops[instr.b - 1], lanes, results);
}
template <typename R, typename A, typename B, typename Op>
void binary(Warp &warp, const Instr &instr, uint32_t lanes) {
  Source<A> a(warp, instr.ops[instr.b]);
  Source<B> b(warp, instr.ops[instr.b + 1]);
  R results[32];
  for (uint32_t lane = 0; lane < 32; ++lane)
    results[lane] = Op()(a[lane], b[lane]);
  store(warp, instr.ops[instr.b - 1], lanes, results);
}
template <typename R, typename A, typename B, typename C, typename Op>
void ternary(Warp &warp, const Instr &instr, uint32_t lanes) {
  Source<A> a(warp, instr.ops[instr.b]);
  Source<B> b(warp, instr.ops[instr.b + 1]);
  Source<C> c(warp, instr.ops[instr.b + 2]);
  R results[32];
  for (uint32_t lane = 0; lane < 32; ++lane)
    results[lane] = Op()(a[lane], b[lane], c[lane]);
  store(warp, instr.ops[instr.b - 1], lanes, results);
}

#define OP(name, ...)                                                          \
  struct name {                                                                \
    template <typename... T> auto operator()(T... v) const {                   \
      return apply(v...);                                                      \
    }                                                                          \
    __VA_ARGS__                                                                \
  };
template <typename T> using Unsigned = std::make_unsigned_t<T>;

OP(
    Add, template <typename T> static T apply(T a, T b) {
      if constexpr (std::is_integral_v<T>)
        return T(Unsigned<T>(a) + Unsigned<T>(b));
      else
        return a + b;
    })
OP(
    Sub, template <typename T> static T apply(T a, T b) {
      if constexpr (std::is_integral_v<T>)
        return T(Unsigned<T>(a) - Unsigned<T>(b));
      else
        return a - b;
    })
OP(
    Mul, template <typename T> static T apply(T a, T b) {
      if constexpr (std::is_integral_v<T>)
        return T(Unsigned<T>(a) * Unsigned<T>(b));
      else
        return a * b;
    })
OP(
    MulHigh, template <typename T> static T apply(T a, T b) {
      using Wide =
          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return T((Wide(a) * Wide(b)) >> (8 * sizeof(T)));
    })
template <typename R> struct MulWide {
  template <typename T> R operator()(T a, T b) const { return R(a) * R(b); }
};
OP(
    Mad, template <typename T> static T apply(T a, T b, T c) {
      return T(Unsigned<T>(a) * Unsigned<T>(b) + Unsigned<T>(c));
    })
OP(
    Fma,
    static float apply(float a, float b, float c) { return std::fma(a, b, c); })
OP(
    Div, template <typename T> static T apply(T a, T b) {
      if constexpr (std::is_integral_v<T>)
        return b ? T(a / b) : T(~T(0));
      else
        return a / b;
    })
/// Of a number and none, floats take the number.
template <bool least, typename T> T extremeOf(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return least ? std::min(a, b) : std::max(a, b);
  else
    return least ? std::fmin(a, b) : std::fmax(a, b);
}
OP(
    Min, template <typename T> static T apply(T a, T b) { return extremeOf<true>(a, b); })
OP(
    Max, template <typename T> static T apply(T a, T b) { return extremeOf<false>(a, b); })
OP(
    MaxNan, static float apply(float a, float b) {
      return std::isnan(a) || std::isnan(b) ? std::nanf("") : std::fmax(a, b);
    })
OP(
    And, template <typename T> static T apply(T a, T b) { return a & b; })
OP(
    Or, template <typename T> static T apply(T a, T b) { return a | b; })
OP(
    Xor, template <typename T> static T apply(T a, T b) { return a ^ b; })
OP(
    Not, template <typename T> static T apply(T a) { return T(~a); })
OP(
    Neg, template <typename T> static T apply(T a) {
      if constexpr (std::is_integral_v<T>)
        return T(Unsigned<T>(0) - Unsigned<T>(a));
      else
        return -a;
    })
OP(
    Abs, template <typename T> static T apply(T a) {
      if constexpr (std::is_integral_v<T>)
        return a < 0 ? T(Unsigned<T>(0) - Unsigned<T>(a)) : a;
      else
        return std::fabs(a);
    })
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
template <typename R> struct Convert {
  template <typename T> R operator()(T a) const { return R(a); }
};
OP(
    Exp2, static float apply(float a) { return std::exp2(a); })
OP(
    Log2, static float apply(float a) { return std::log2(a); })
OP(
    Reciprocal, static float apply(float a) { return 1.0f / a; })
OP(
    ReciprocalRoot, static float apply(float a) { return 1.0f / std::sqrt(a); })
OP(
    FromBf16, static float apply(uint16_t a) { return fromBf16(a); })
OP(
    ToBf16, static uint16_t apply(float a) { return toBf16(a); })
OP(
    ToBf16x2, static uint32_t apply(float high, float low) {
      return uint32_t(toBf16(high)) << 16 | toBf16(low);
    })
OP(
    FromF16, static float apply(uint16_t a) { return fromF16(a); })
OP(
    ToF16, static uint16_t apply(float a) { return toF16(a); })
OP(
    ToF16x2, static uint32_t apply(float high, float low) {
      return uint32_t(toF16(high)) << 16 | toF16(low);
    })

//===--- Predicates -------------------------------------------------------===//

struct Eq {
  template <typename T> bool operator()(T a, T b) const { return a == b; }
};
struct Ne {
  template <typename T> bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a > b; // false with a NaN
    else
      return a != b;
  }
};
struct Neu {
  template <typename T> bool operator()(T a, T b) const { return a != b; }
};
struct Lt {
  template <typename T> bool operator()(T a, T b) const { return a < b; }
};
struct Le {
  template <typename T> bool operator()(T a, T b) const { return a <= b; }
};
struct Gt {
  template <typename T> bool operator()(T a, T b) const { return a > b; }
};
struct Ge {
  template <typename T> bool operator()(T a, T b) const { return a >= b; }
};

uint32_t &bits(Warp &warp, const Operand &o) { return warp.words[o.index]; }
uint32_t bitsOf(Warp &warp, const Operand &o) {
  if (o.kind == Operand::Imm)
    return o.imm ? ~0u : 0;
  return warp.words[o.index];
}
void setBits(Warp &warp, const Operand &o, uint32_t lanes, uint32_t value) {
  if (o.kind == Operand::None)
    return;
  uint32_t &word = bits(warp, o);
  word = (word & ~lanes) | (value & lanes);
}

template <typename T, typename Op, bool WithAnd>
void compare(Warp &warp, const Instr &instr, uint32_t lanes) {
  Source<T> a(warp, instr.ops[instr.b]), b(warp, instr.ops[instr.b + 1]);
  uint32_t result = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    result |= uint32_t(Op()(a[lane], b[lane])) << lane;
  if (WithAnd)
    result &= bitsOf(warp, instr.ops[instr.b + 2]);
  setBits(warp, instr.ops[instr.b - 1], lanes, result);
}
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
  t["setp.eq." + type] = compare<T, Eq, false>;
  t["setp.ne." + type] = compare<T, Ne, false>;
  t["setp.lt." + type] = compare<T, Lt, false>;
  t["setp.le." + type] = compare<T, Le, false>;
  t["setp.gt." + type] = compare<T, Gt, false>;
  t["setp.ge." + type] = compare<T, Ge, false>;
  t["setp.eq.and." + type] = compare<T, Eq, true>;
  t["setp.ne.and." + type] = compare<T, Ne, true>;
  t["setp.lt.and." + type] = compare<T, Lt, true>;
  t["setp.le.and." + type] = compare<T, Le, true>;
  t["setp.gt.and." + type] = compare<T, Gt, true>;
  t["setp.ge.and." + type] = compare<T, Ge, true>;
}
template <typename T> void addIntegers(Table &t, const std::string &type) {
  t["add." + type] = binary<T, T, T, Add>;
  t["sub." + type] = binary<T, T, T, Sub>;
  t["mul.lo." + type] = binary<T, T, T, Mul>;
  t["mul.hi." + type] = binary<T, T, T, MulHigh>;
  t["mad.lo." + type] = ternary<T, T, T, T, Mad>;
  t["div." + type] = binary<T, T, T, Div>;
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
  t["setp.eq." + type] = compare<T, Eq, false>;
  t["setp.ne." + type] = compare<T, Ne, false>;
}
template <typename R, typename A>
void addConvert(Table &t, const std::string &r, const std::string &a) {
  t["cvt." + r + "." + a] = unary<R, A, Convert<R>>;
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
  for (const char *type : {"mov.u32", "mov.s32", "mov.f32"})
    t[type] = unary<uint32_t, uint32_t, Move>;
  for (const char *type : {"mov.u64", "mov.s64", "mov.f64", "cvta.param.u64"})
    t[type] = unary<uint64_t, uint64_t, Move>;
  t["mul.wide.u16"] = binary<uint32_t, uint16_t, uint16_t, MulWide<uint32_t>>;
  t["mul.wide.s16"] = binary<int32_t, int16_t, int16_t, MulWide<int32_t>>;
  t["mul.wide.u32"] = binary<uint64_t, uint32_t, uint32_t, MulWide<uint64_t>>;
  t["mul.wide.s32"] = binary<int64_t, int32_t, int32_t, MulWide<int64_t>>;
  t["bfe.u32"] = ternary<uint32_t, uint32_t, uint32_t, uint32_t, Extract>;
  t["bfe.u64"] = ternary<uint64_t, uint64_t, uint32_t, uint32_t, Extract>;
  t["bfe.s32"] = ternary<int32_t, int32_t, uint32_t, uint32_t, ExtractSigned>;
  t["bfe.s64"] = ternary<int64_t, int64_t, uint32_t, uint32_t, ExtractSigned>;
  t["popc.b32"] = unary<uint32_t, uint32_t, CountOnes>;
  t["popc.b64"] = unary<uint32_t, uint64_t, CountOnes>;
  t["clz.b32"] = unary<uint32_t, uint32_t, LeadingZeroes>;
  t["clz.b64"] = unary<uint32_t, uint64_t, LeadingZeroes>;
  t["shf.l.wrap.b32"] = ternary<uint32_t, uint32_t, uint32_t, uint32_t, FunnelLeft>;
  t["shf.r.wrap.b32"] =
      ternary<uint32_t, uint32_t, uint32_t, uint32_t, FunnelRight>;

  addConvert<int64_t, int32_t>(t, "s64", "s32");
  addConvert<uint64_t, uint32_t>(t, "u64", "u32");
  addConvert<uint32_t, uint64_t>(t, "u32", "u64");
  addConvert<uint16_t, uint32_t>(t, "u16", "u32");
  addConvert<uint16_t, uint64_t>(t, "u16", "u64");
  addConvert<uint32_t, uint16_t>(t, "u32", "u16");
  addConvert<int32_t, int16_t>(t, "s32", "s16");
  addConvert<int64_t, int16_t>(t, "s64", "s16");
  addConvert<int16_t, int8_t>(t, "s16", "s8");
  addConvert<int32_t, int8_t>(t, "s32", "s8");
  addConvert<int64_t, int8_t>(t, "s64", "s8");
  addConvert<uint16_t, uint8_t>(t, "u16", "u8");
  addConvert<uint32_t, uint8_t>(t, "u32", "u8");
  addConvert<uint64_t, uint8_t>(t, "u64", "u8");
  // A register has 16 bits at least, which the sign fills.
  t["cvt.s8.s32"] = unary<int16_t, int32_t, Convert<int8_t>>;
  addConvert<uint64_t, uint16_t>(t, "u64", "u16");
  t["cvt.f32.bf16"] = unary<float, uint16_t, FromBf16>;
  t["cvt.f32.f16"] = unary<float, uint16_t, FromF16>;
  t["cvt.rn.bf16.f32"] = unary<uint16_t, float, ToBf16>;
  t["cvt.rn.f16.f32"] = unary<uint16_t, float, ToF16>;
  t["cvt.rn.bf16x2.f32"] = binary<uint32_t, float, float, ToBf16x2>;
  t["cvt.rn.f16x2.f32"] = binary<uint32_t, float, float, ToF16x2>;

  for (const char *rn : {"", ".rn"}) {
    t[std::string("add") + rn + ".f32"] = binary<float, float, float, Add>;
    t[std::string("sub") + rn + ".f32"] = binary<float, float, float, Sub>;
    t[std::string("mul") + rn + ".f32"] = binary<float, float, float, Mul>;
  }
  t["fma.rn.f32"] = ternary<float, float, float, float, Fma>;
  t["div.full.f32"] = binary<float, float, float, Div>;
  t["div.rn.f32"] = binary<float, float, float, Div>;
  t["min.f32"] = binary<float, float, float, Min>;
  t["max.f32"] = binary<float, float, float, Max>;
  t["max.NaN.f32"] = binary<float, float, float, MaxNan>;
  t["neg.f32"] = unary<float, float, Neg>;
  t["abs.f32"] = unary<float, float, Abs>;
  t["ex2.approx.ftz.f32"] = unary<float, float, Exp2>;
  t["lg2.approx.f32"] = unary<float, float, Log2>;
  t["rcp.approx.ftz.f32"] = unary<float, float, Reciprocal>;
  t["rsqrt.approx.f32"] = unary<float, float, ReciprocalRoot>;
  addCompares<float>(t, "f32");
  t["setp.neu.f32"] = compare<float, Neu, false>;

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
    throw Error("'" + op + "' is not known: add it to test/ptx");
  }
}
