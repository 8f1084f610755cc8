//===- Floats.cpp - Arithmetic of floating-point numbers ------------------===//
//
// f64 and f32 are the host's own. Numbers of 16 bits are computed in f32, which rounds to them
// as if the result had been exact: of sums, products and quotients that holds, for fma it does not.
// What a GPU approximates is computed as well as f32 does.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Numbers.h"

#include <functional>
#include <limits>

namespace mk::ptx::floats {
namespace {

/// 16 bits in a register.
struct F16 {
  uint16_t bits;
  float wide() const { return fromF16(bits); }
  template <typename V> static F16 of(V v) { return {toF16(v)}; }
};
struct Bf16 {
  uint16_t bits;
  float wide() const { return fromBf16(bits); }
  template <typename V> static Bf16 of(V v) { return {toBf16(toOdd<float>(v))}; }
};
template <typename T> constexpr bool isSmall = std::is_same_v<T, F16> || std::is_same_v<T, Bf16>;

template <typename T> auto wide(T v) {
  if constexpr (isSmall<T>)
    return v.wide();
  else
    return v;
}
template <typename T, typename V> T narrow(V v) {
  if constexpr (isSmall<T>)
    return T::of(v);
  else
    return T(v);
}
/// An operation of floats for numbers of type T.
template <typename T, typename Op> struct In {
  template <typename... A> T operator()(A... a) const { return narrow<T>(Op()(wide(a)...)); }
};
/// The same for two of them in a word.
template <typename T, typename Op> struct Twice {
  template <typename... A> uint32_t operator()(A... a) const {
    T low = In<T, Op>()(T{uint16_t(a)}...), high = In<T, Op>()(T{uint16_t(a >> 16)}...);
    return uint32_t(high.bits) << 16 | low.bits;
  }
};

//===--- Operations -------------------------------------------------------===//

template <typename T> T notANumber() {
  if constexpr (std::is_same_v<T, float>)
    return bitsToFloat(0x7fffffff);
  else
    return std::numeric_limits<T>::quiet_NaN();
}
template <typename T> bool anyNan(T a, T b) { return std::isnan(a) || std::isnan(b); }

struct Add {
  template <typename T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <typename T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  template <typename T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  template <typename T> T operator()(T a, T b) const { return a / b; }
};
struct Fma {
  template <typename T> T operator()(T a, T b, T c) const { return std::fma(a, b, c); }
};
/// Of numbers of 16 bits, whose products are exact in f64: rounded once.
struct SmallFma {
  double operator()(float a, float b, float c) const { return addToOdd(double(a) * b, c); }
};
/// Of a number and none the number, -0 before +0.
template <bool least> struct Extreme {
  template <typename T> T operator()(T a, T b) const {
    if (std::isnan(a))
      return std::isnan(b) ? notANumber<T>() : b;
    if (std::isnan(b))
      return a;
    if (a == b)
      return std::signbit(a) == least ? a : b;
    return (a < b) == least ? a : b;
  }
};
template <bool least> struct ExtremeNan {
  template <typename T> T operator()(T a, T b) const {
    return anyNan(a, b) ? notANumber<T>() : Extreme<least>()(a, b);
  }
};
struct Neg {
  template <typename T> T operator()(T a) const { return -a; }
};
struct Abs {
  template <typename T> T operator()(T a) const { return std::fabs(a); }
};
struct CopySign {
  template <typename T> T operator()(T sign, T a) const { return std::copysign(a, sign); }
};
struct Sqrt {
  template <typename T> T operator()(T a) const { return std::sqrt(a); }
};
struct Reciprocal {
  template <typename T> T operator()(T a) const { return T(1) / a; }
};
struct ReciprocalRoot {
  template <typename T> T operator()(T a) const { return T(1) / std::sqrt(a); }
};
struct Exp2 {
  float operator()(float a) const { return std::exp2(a); }
};
struct Log2 {
  float operator()(float a) const { return std::log2(a); }
};
struct Sin {
  float operator()(float a) const { return std::sin(a); }
};
struct Cos {
  float operator()(float a) const { return std::cos(a); }
};
struct Tanh {
  float operator()(float a) const { return std::tanh(a); }
};
/// Subnormal numbers are zeroes, as operands and as results.
template <typename Op> struct Flushed {
  static float flush(float v) {
    return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
  }
  template <typename... A> float operator()(A... a) const { return flush(Op()(flush(a)...)); }
};

//===--- Comparisons ------------------------------------------------------===//

/// With a NaN `unordered`.
template <typename Op, bool unordered> struct Ordered {
  template <typename T> bool operator()(T a, T b) const {
    auto x = wide(a), y = wide(b);
    return anyNan(x, y) ? unordered : Op()(x, y);
  }
};
template <bool result> struct Always {
  template <typename T> bool operator()(T, T) const { return result; }
};
struct IsInfinite {
  template <typename T> bool operator()(T a) const { return std::isinf(a); }
};
struct IsFinite {
  template <typename T> bool operator()(T a) const { return std::isfinite(a); }
};
struct IsNan {
  template <typename T> bool operator()(T a) const { return std::isnan(a); }
};
struct IsNumber {
  template <typename T> bool operator()(T a) const { return !std::isnan(a); }
};

//===--- Conversions ------------------------------------------------------===//

template <typename R> struct Convert {
  template <typename A> R operator()(A a) const { return narrow<R>(wide(a)); }
};
// How a number becomes a whole one.
struct Nearest {
  template <typename T> T operator()(T a) const { return std::nearbyint(a); } // ties to even
};
struct Down {
  template <typename T> T operator()(T a) const { return std::floor(a); }
};
struct Up {
  template <typename T> T operator()(T a) const { return std::ceil(a); }
};
struct TowardsZero {
  template <typename T> T operator()(T a) const { return std::trunc(a); }
};
/// Into the range of R; what no number becomes depends on the types.
template <typename R, typename Round> struct ToInteger {
  template <typename A> R operator()(A a) const {
    auto value = Round()(wide(a));
    if (std::isnan(value))
      return std::is_same_v<A, double> || sizeof(R) == 8 ? R(uint64_t(1) << (8 * sizeof(R) - 1))
                                                         : R(0);
    // One above the largest is a power of two, which each type has.
    using Limits = std::numeric_limits<R>;
    auto above = std::ldexp(decltype(value)(1), Limits::digits);
    if (value >= above)
      return Limits::max();
    return value < decltype(value)(Limits::min()) ? Limits::min() : R(value);
  }
};
template <typename T> struct Pack {
  template <typename A> uint32_t operator()(A high, A low) const {
    return uint32_t(T::of(high).bits) << 16 | T::of(low).bits;
  }
};
template <bool e5m2> struct PackF8 {
  uint16_t operator()(float high, float low) const {
    return uint16_t(toF8(high, e5m2) << 8 | toF8(low, e5m2));
  }
};
template <typename T, bool e5m2> struct RepackF8 {
  uint16_t operator()(uint32_t a) const {
    return PackF8<e5m2>()(T{uint16_t(a >> 16)}.wide(), T{uint16_t(a)}.wide());
  }
};
template <bool e5m2> struct UnpackF8 {
  uint32_t operator()(uint16_t a) const {
    return Pack<F16>()(fromF8(uint8_t(a >> 8), e5m2), fromF8(uint8_t(a), e5m2));
  }
};

//===--- The table --------------------------------------------------------===//

template <typename Op, typename T>
void addOrder(Table &t, const std::string &how, const std::string &type) {
  addCompare<T, Ordered<Op, false>>(t, how, type);
  addCompare<T, Ordered<Op, true>>(t, how + "u", type);
}
template <typename T> void addFloat(Table &t, const std::string &type) {
  for (const char *rn : {"", ".rn"}) {
    auto name = [&](const char *op) { return op + (rn + ("." + type)); };
    t[name("add")] = binary<T, T, T, In<T, Add>>;
    t[name("sub")] = binary<T, T, T, In<T, Sub>>;
    t[name("mul")] = binary<T, T, T, In<T, Mul>>;
  }
  using OneRounding = std::conditional_t<isSmall<T>, SmallFma, Fma>;
  t["fma.rn." + type] = ternary<T, T, T, T, In<T, OneRounding>>;
  t["min." + type] = binary<T, T, T, In<T, Extreme<true>>>;
  t["max." + type] = binary<T, T, T, In<T, Extreme<false>>>;
  if constexpr (sizeof(T) <= 4) {
    t["min.NaN." + type] = binary<T, T, T, In<T, ExtremeNan<true>>>;
    t["max.NaN." + type] = binary<T, T, T, In<T, ExtremeNan<false>>>;
  }
  t["neg." + type] = unary<T, T, In<T, Neg>>;
  t["abs." + type] = unary<T, T, In<T, Abs>>;
  addOrder<std::equal_to<>, T>(t, "eq", type);
  addOrder<std::not_equal_to<>, T>(t, "ne", type);
  addOrder<std::less<>, T>(t, "lt", type);
  addOrder<std::less_equal<>, T>(t, "le", type);
  addOrder<std::greater<>, T>(t, "gt", type);
  addOrder<std::greater_equal<>, T>(t, "ge", type);
  addCompare<T, Ordered<Always<true>, false>>(t, "num", type);
  addCompare<T, Ordered<Always<false>, true>>(t, "nan", type);
}
template <typename T> void addTwice(Table &t, const std::string &type) {
  using W = uint32_t;
  for (const char *rn : {"", ".rn"}) {
    auto name = [&](const char *op) { return op + (rn + ("." + type)); };
    t[name("add")] = binary<W, W, W, Twice<T, Add>>;
    t[name("sub")] = binary<W, W, W, Twice<T, Sub>>;
    t[name("mul")] = binary<W, W, W, Twice<T, Mul>>;
  }
  t["fma.rn." + type] = ternary<W, W, W, W, Twice<T, SmallFma>>;
  t["min." + type] = binary<W, W, W, Twice<T, Extreme<true>>>;
  t["max." + type] = binary<W, W, W, Twice<T, Extreme<false>>>;
  t["min.NaN." + type] = binary<W, W, W, Twice<T, ExtremeNan<true>>>;
  t["max.NaN." + type] = binary<W, W, W, Twice<T, ExtremeNan<false>>>;
  t["neg." + type] = unary<W, W, Twice<T, Neg>>;
  t["abs." + type] = unary<W, W, Twice<T, Abs>>;
}
/// What f32 and f64 alone have.
template <typename T> void addWide(Table &t, const std::string &type) {
  t["div.rn." + type] = binary<T, T, T, Div>;
  t["rcp.rn." + type] = unary<T, T, Reciprocal>;
  t["sqrt.rn." + type] = unary<T, T, Sqrt>;
  t["copysign." + type] = binary<T, T, T, CopySign>;
  t["testp.infinite." + type] = test<T, IsInfinite>;
  t["testp.finite." + type] = test<T, IsFinite>;
  t["testp.notanumber." + type] = test<T, IsNan>;
  t["testp.number." + type] = test<T, IsNumber>;
}
template <typename Op> void addApproximate(Table &t, const std::string &op) {
  t[op + ".approx.f32"] = unary<float, float, Op>;
  t[op + ".approx.ftz.f32"] = unary<float, float, Flushed<Op>>;
}

template <typename R, typename A>
void addToInteger(Table &t, const std::string &r, const std::string &a) {
  t["cvt.rni." + r + "." + a] = unary<R, A, ToInteger<R, Nearest>>;
  t["cvt.rmi." + r + "." + a] = unary<R, A, ToInteger<R, Down>>;
  t["cvt.rpi." + r + "." + a] = unary<R, A, ToInteger<R, Up>>;
  t["cvt.rzi." + r + "." + a] = unary<R, A, ToInteger<R, TowardsZero>>;
}
template <typename T, typename I>
void addWithInteger(Table &t, const std::string &type, const std::string &integer) {
  addToInteger<I, T>(t, integer, type);
  t["cvt.rn." + type + "." + integer] = unary<T, I, Convert<T>>;
}
template <typename T> void addWholes(Table &t, const std::string &type) {
  addWithInteger<T, int8_t>(t, type, "s8");
  addWithInteger<T, uint8_t>(t, type, "u8");
  addWithInteger<T, int16_t>(t, type, "s16");
  addWithInteger<T, uint16_t>(t, type, "u16");
  addWithInteger<T, int32_t>(t, type, "s32");
  addWithInteger<T, uint32_t>(t, type, "u32");
  addWithInteger<T, int64_t>(t, type, "s64");
  addWithInteger<T, uint64_t>(t, type, "u64");
  std::string same = type + "." + type;
  t["cvt.rni." + same] = unary<T, T, In<T, Nearest>>;
  t["cvt.rmi." + same] = unary<T, T, In<T, Down>>;
  t["cvt.rpi." + same] = unary<T, T, In<T, Up>>;
  t["cvt.rzi." + same] = unary<T, T, In<T, TowardsZero>>;
}
template <bool e5m2> void addF8(Table &t, const std::string &type) {
  t["cvt.rn.satfinite." + type + ".f32"] = binary<uint16_t, float, float, PackF8<e5m2>>;
  t["cvt.rn.satfinite." + type + ".f16x2"] = unary<uint16_t, uint32_t, RepackF8<F16, e5m2>>;
  t["cvt.rn.f16x2." + type] = unary<uint32_t, uint16_t, UnpackF8<e5m2>>;
}

void addAll(Table &t) {
  addFloat<double>(t, "f64");
  addFloat<float>(t, "f32");
  addFloat<F16>(t, "f16");
  addFloat<Bf16>(t, "bf16");
  addTwice<F16>(t, "f16x2");
  addTwice<Bf16>(t, "bf16x2");
  addWide<double>(t, "f64");
  addWide<float>(t, "f32");
  addWholes<double>(t, "f64");
  addWholes<float>(t, "f32");
  addWholes<F16>(t, "f16");
  addWholes<Bf16>(t, "bf16");

  t["div.full.f32"] = binary<float, float, float, Div>;
  t["div.approx.f32"] = binary<float, float, float, Div>;
  addApproximate<Exp2>(t, "ex2");
  addApproximate<Log2>(t, "lg2");
  addApproximate<Reciprocal>(t, "rcp");
  addApproximate<ReciprocalRoot>(t, "rsqrt");
  addApproximate<Sqrt>(t, "sqrt");
  addApproximate<Sin>(t, "sin");
  addApproximate<Cos>(t, "cos");
  t["tanh.approx.f32"] = unary<float, float, Tanh>;

  t["cvt.f64.f32"] = unary<double, float, Convert<double>>;
  t["cvt.f64.f16"] = unary<double, F16, Convert<double>>;
  t["cvt.f64.bf16"] = unary<double, Bf16, Convert<double>>;
  t["cvt.f32.f16"] = unary<float, F16, Convert<float>>;
  t["cvt.f32.bf16"] = unary<float, Bf16, Convert<float>>;
  t["cvt.rn.f32.f64"] = unary<float, double, Convert<float>>;
  t["cvt.rn.f16.f64"] = unary<F16, double, Convert<F16>>;
  t["cvt.rn.bf16.f64"] = unary<Bf16, double, Convert<Bf16>>;
  t["cvt.rn.f16.f32"] = unary<F16, float, Convert<F16>>;
  t["cvt.rn.bf16.f32"] = unary<Bf16, float, Convert<Bf16>>;
  t["cvt.rn.f16x2.f32"] = binary<uint32_t, float, float, Pack<F16>>;
  t["cvt.rn.bf16x2.f32"] = binary<uint32_t, float, float, Pack<Bf16>>;
  addF8<false>(t, "e4m3x2");
  addF8<true>(t, "e5m2x2");
}

} // namespace
} // namespace mk::ptx::floats

void mk::ptx::addFloats(Table &t) { floats::addAll(t); }
