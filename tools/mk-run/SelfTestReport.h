//===- SelfTestReport.h - What --selftest says of pairs ---------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_SELFTESTREPORT_H
#define MKERNEL_TOOLS_MKRUN_SELFTESTREPORT_H

#include "mkernel/Runtime/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mk::run {

/// What one rank of a pair, or both together, have found out.
struct Measured {
  double latencyUs = 0;             // half a way there and back
  double forthGBs = 0, backGBs = 0; // puts of the lower rank, and of the other
  std::string wrong;                // data that was not there in time; empty: none
  std::string failed;               // why the test did not get through; empty: it did

  /// As bytes for the other ranks, and back.
  std::string encode() const;
  static Measured decode(const std::string &text);
};

/// A pair of ranks, a < b.
struct Pair {
  uint32_t a = 0, b = 0;
  bool link = false; // else across a net axis
  Measured measured;

  /// What both ranks say, as one. Of two failures the one that is no mere timeout is told.
  static Pair of(uint32_t a, uint32_t b, bool link, const Measured &there,
                 const Measured &back);
};

/// A line for each pair, with its verdict: "good", "SLOW: ...", "WRONG" or "FAILED". SLOW has less
/// than half the median bandwidth or more than three times the median latency (and 5 us) of
/// the pairs of its kind that got through.
std::vector<std::string> describe(std::span<const Pair> pairs);

/// What the whole test ends with: the first pair that failed, else that was wrong; empty: none.
std::string findFault(std::span<const Pair> pairs);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_SELFTESTREPORT_H
