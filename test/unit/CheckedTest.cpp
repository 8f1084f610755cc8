//===- CheckedTest.cpp ----------------------------------------------------===//

#include "mkernel/Support/Checked.h"

#include <gtest/gtest.h>
#include <vector>

namespace mkernel::checked {
namespace {

constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;

TEST(Checked, SumsAndProductsThatDoNotFit) {
  EXPECT_EQ(add(kMax - 1, 1), kMax);
  EXPECT_EQ(add(kMax, 1), std::nullopt);
  EXPECT_EQ(sub(kMin, 1), std::nullopt);
  EXPECT_EQ(sub(0, kMax), -kMax);
  EXPECT_EQ(mul(int64_t(1) << 32, int64_t(1) << 31), std::nullopt);
  EXPECT_EQ(mul(int64_t(1) << 32, -(int64_t(1) << 31)), kMin);
}

TEST(Checked, QuotientsThatAreNotDefined) {
  EXPECT_EQ(div(7, 0), std::nullopt);
  EXPECT_EQ(div(kMin, -1), std::nullopt);
  EXPECT_EQ(rem(kMin, -1), std::nullopt);
  EXPECT_EQ(ceilDiv(7, 0), std::nullopt);
  EXPECT_EQ(ceilDiv(kMax, 2), kMax / 2 + 1); // (a + b - 1) / b would wrap
  EXPECT_EQ(ceilDiv(-7, 2), -3);
  EXPECT_EQ(ceilDiv(7, -2), -3);
  EXPECT_EQ(ceilDiv(-7, -2), 4);
  EXPECT_EQ(ceilDiv(8, 2), 4);
}

TEST(Checked, ProductsOfExtents) {
  std::vector<int64_t> none, big = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_EQ(product(none), 1);
  EXPECT_EQ(product(big), std::nullopt);
  big.push_back(0);
  EXPECT_EQ(product(big), 0);
  big.push_back(-1);
  EXPECT_EQ(product(big), std::nullopt);
}

} // namespace
} // namespace mkernel::checked
