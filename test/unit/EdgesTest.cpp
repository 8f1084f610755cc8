//===- EdgesTest.cpp ------------------------------------------------------===//

#include "mkernel/Analysis/Edges.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mlir::mk {
namespace {

/// Whether element i of a tile exists, as mk.load says it.
bool exists(int64_t i, int64_t offset, int64_t whole, const int64_t *valid) {
  return offset + i >= 0 && offset + i < whole && (!valid || i < *valid);
}

TEST(Edges, AreThoseOfTheDefinition) {
  constexpr int64_t kTile = 4;
  for (int64_t offset = -7; offset <= 9; ++offset)
    for (int64_t whole = 0; whole <= 7; ++whole)
      for (int64_t end = -2; end <= 7; ++end) {
        int64_t last = end;
        const int64_t *valid = end == 7 ? nullptr : &last; // 7: there is none
        auto edge = clipTile<int64_t>(PlainMath(), offset, kTile, whole, valid);
        int64_t first = -1, size = 0;
        for (int64_t i = 0; i < kTile; ++i)
          if (exists(i, offset, whole, valid)) {
            first = size++ ? first : i;
          }
        ASSERT_EQ(edge.size, size) << offset << " " << whole << " " << end;
        if (size) {
          ASSERT_EQ(edge.skipped, first);
          ASSERT_EQ(edge.begin, offset + first);
        }
        // What is not there is in the buffer all the same: addresses are computed of it.
        ASSERT_TRUE(edge.begin >= 0 && edge.begin <= whole);
        ASSERT_TRUE(edge.skipped >= 0 && edge.skipped <= kTile);

        int64_t left = leftBehind<int64_t>(PlainMath(), offset, whole, valid);
        for (int64_t i = std::max<int64_t>(0, -offset); i < kTile; ++i)
          ASSERT_EQ(i < left, exists(i, offset, whole, valid));
        // `valid` that reaches so far changes nothing, and less does.
        int64_t needed = whatEdgesLeave<int64_t>(PlainMath(), offset, kTile, whole);
        auto alone = clipTile<int64_t>(PlainMath(), offset, kTile, whole, nullptr);
        if (valid && *valid >= needed) {
          ASSERT_EQ(edge.size, alone.size);
        } else if (valid && alone.size) {
          ASSERT_LT(edge.size, alone.size);
        }
      }
}

TEST(Edges, FarAwayIsNotThere) {
  for (int64_t whole : {int64_t(5), INT64_MAX})
    for (int64_t offset : {INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
      auto edge = clipTile<int64_t>(PlainMath(), offset, 128, whole, nullptr);
      EXPECT_EQ(edge.size, 0) << whole << " " << offset;
    }
  EXPECT_EQ(clipTile<int64_t>(PlainMath(), INT64_MAX - 3, 128, INT64_MAX, nullptr).size, 3);
}

} // namespace
} // namespace mlir::mk
