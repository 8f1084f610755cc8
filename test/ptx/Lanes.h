//===- Lanes.h - Instructions of registers, lane by lane --------*- C++ -*-===//
//
// What an instruction does to one lane is a function object; these here apply it to all of them.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_PTX_LANES_H
#define MKERNEL_TEST_PTX_LANES_H

#include "Table.h"

#include <type_traits>

namespace mk::ptx {

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

template <typename T> void store(Warp &warp, const Operand &o, uint32_t lanes, const T *results) {
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

template <typename R, typename A, typename B, typename C, typename D, typename Op>
void quaternary(Warp &warp, const Instr &instr, uint32_t lanes) {
  Source<A> a(warp, instr.ops[instr.b]);
  Source<B> b(warp, instr.ops[instr.b + 1]);
  Source<C> c(warp, instr.ops[instr.b + 2]);
  Source<D> d(warp, instr.ops[instr.b + 3]);
  R results[32];
  for (uint32_t lane = 0; lane < 32; ++lane)
    results[lane] = Op()(a[lane], b[lane], c[lane], d[lane]);
  store(warp, instr.ops[instr.b - 1], lanes, results);
}

//===--- Predicates -------------------------------------------------------===//

inline uint32_t bitsOf(Warp &warp, const Operand &o) {
  if (o.kind == Operand::Imm)
    return o.imm ? ~0u : 0;
  return warp.words[o.index];
}
inline void setBits(Warp &warp, const Operand &o, uint32_t lanes, uint32_t value) {
  if (o.kind == Operand::None)
    return;
  uint32_t &word = warp.words[o.index];
  word = (word & ~lanes) | (value & lanes);
}

template <typename T, typename Op> void test(Warp &warp, const Instr &instr, uint32_t lanes) {
  Source<T> a(warp, instr.ops[instr.b]);
  uint32_t result = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    result |= uint32_t(Op()(a[lane])) << lane;
  setBits(warp, instr.ops[instr.b - 1], lanes, result);
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
template <typename T, typename Op>
void addCompare(Table &t, const std::string &how, const std::string &type) {
  t["setp." + how + "." + type] = compare<T, Op, false>;
  t["setp." + how + ".and." + type] = compare<T, Op, true>;
}

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_LANES_H
