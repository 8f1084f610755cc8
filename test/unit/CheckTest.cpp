//===- CheckTest.cpp ------------------------------------------------------===//

#include "Check.h"

#include "Support.h"

namespace mk::run {
namespace {

using rt::ElementType;
using rt::Range;

TEST(Check, SmallOutputsAreComparedWhole) {
  EXPECT_EQ(chooseRows(1000, 1 << 18, {}, 1), (std::vector<Range>{{0, 1000}}));
  EXPECT_EQ(chooseRows(256, 1 << 30, {}, 1), (std::vector<Range>{{0, 256}}));
  EXPECT_TRUE(chooseRows(0, 0, {}, 1).empty());
}

TEST(Check, LargeOutputsHaveBordersAndRandomRows) {
  auto ranges = chooseRows(1 << 20, 1 << 30, {0, 5000, 1 << 20}, 1);
  int64_t rows = 0, end = -1;
  auto has = [&](int64_t row) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](Range r) { return row >= r.begin && row < r.end; });
  };
  for (Range r : ranges) {
    EXPECT_GT(r.begin, end); // sorted, disjoint and not even adjacent
    end = r.end;
    rows += r.size();
  }
  EXPECT_GE(rows, 250);
  for (int64_t row : {0, 4999, 5000, (1 << 20) - 1})
    EXPECT_TRUE(has(row)) << row;
}

TEST(Check, TolerancesFollowTypeAndLength) {
  auto bf16 = Tolerance::of(ElementType::bf16, 0x1p-7, 1024, 1, 1);
  EXPECT_NEAR(bf16.relative, 0x1p-7, 1e-9);
  EXPECT_NEAR(bf16.base, 4 * (0x1p-7 + 32 * 0x1p-23), 1e-9);
  EXPECT_NEAR(bf16.rms, 0x1p-7 + 32 * 0x1p-23, 1e-9);
  auto f32 = Tolerance::of(ElementType::f32, 0x1p-23, 1024, 10, 2);
  EXPECT_NEAR(f32.base, 2 * 4 * 33 * 0x1p-23 * 10, 1e-9);
  EXPECT_EQ(Tolerance::of(ElementType::i32, 1, 1024, 1, 1).base, 0);
}

TEST(Check, SmallestNumbersAreAsFarApartAsTheSmallestNormal) {
  for (auto [type, normal] : {std::pair(ElementType::f8e4m3, 0x1p-6),
                              {ElementType::f8e5m2, 0x1p-14},
                              {ElementType::f16, 0x1p-14},
                              {ElementType::bf16, 0x1p-126},
                              {ElementType::f32, 0x1p-126}}) {
    auto t = Tolerance::of(type, 0, 1, 0, 1);
    EXPECT_EQ(t.of(0), rt::epsilon(type) * normal);
    EXPECT_EQ(t.of(-4 * normal), rt::epsilon(type) * 4 * normal);
    EXPECT_EQ(t.rms, rt::epsilon(type) * normal / 2);
  }
}

TEST(Check, WhatTheReferenceRoundsItselfIsAllowed) {
  auto t = Tolerance::of(ElementType::f32, 0x1p-23, 64, 1e-17, 2, 0.5);
  EXPECT_NEAR(t.of(0), 2 * 4 * 8 * 0x1p-52 * 0.5, 1e-20);
  EXPECT_NEAR(t.of(0, 100), t.of(0), 1e-20); // not more in large rows
  EXPECT_NEAR(t.rms, 2 * 8 * 0x1p-52 * 0.5, 1e-20);
}

TEST(Check, LargeRowsHaveLargeTolerances) {
  auto t = Tolerance::of(ElementType::f32, 0x1p-7, 1, 0.5, 1);
  EXPECT_NEAR(t.of(0, 8), 4 * 0x1p-7 * 0.5 * 8, 1e-5);
}

} // namespace
} // namespace mk::run
