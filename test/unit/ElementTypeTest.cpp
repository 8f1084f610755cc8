//===- ElementTypeTest.cpp ------------------------------------------------===//

#include "mkernel/Runtime/ElementType.h"

#include "Support.h"

#include <cmath>
#include <limits>

namespace mk::rt::test {
namespace {

TEST(ElementType, NamesAndAliases) {
  EXPECT_EQ(parseElementType("bf16"), ElementType::bf16);
  EXPECT_EQ(parseElementType("f8E4M3FN"), ElementType::f8e4m3);
  EXPECT_EQ(parseElementType("f8e5m2"), ElementType::f8e5m2);
  EXPECT_FALSE(parseElementType("f7"));
  EXPECT_FALSE(isElementType(0));
  EXPECT_FALSE(isElementType(12));
  EXPECT_EQ(byteSize(ElementType::i1), 1u);
}

/// Every bit pattern that is a number must survive load and store.
template <typename Bits> void roundTrips(ElementType type) {
  for (uint32_t i = 0; i <= std::numeric_limits<Bits>::max(); ++i) {
    Bits bits = static_cast<Bits>(i), back = 0;
    double value = loadElement(type, &bits, 0);
    storeElement(type, &back, 0, value);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(loadElement(type, &back, 0))) << i;
    else
      EXPECT_EQ(bits, back) << i << " is " << value;
  }
}

TEST(ElementType, EveryPatternRoundTrips) {
  roundTrips<uint8_t>(ElementType::f8e4m3);
  roundTrips<uint8_t>(ElementType::f8e5m2);
  roundTrips<uint16_t>(ElementType::f16);
  roundTrips<uint16_t>(ElementType::bf16);
}

TEST(ElementType, RoundsToNearestEven) {
  // Half a unit in the last place above 1: even stays, odd goes up.
  EXPECT_EQ(roundTo(ElementType::bf16, 1 + 0x1p-8), 1);
  EXPECT_EQ(roundTo(ElementType::bf16, 1 + 0x1p-7 + 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(roundTo(ElementType::f16, 1 + 0x1p-11), 1);
  EXPECT_EQ(roundTo(ElementType::f16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  // Subnormals, and the carry into the smallest normal number.
  EXPECT_EQ(roundTo(ElementType::f16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(roundTo(ElementType::f16, 0x1p-25), 0);
  EXPECT_EQ(roundTo(ElementType::f16, 0x1p-14 - 0x1p-26), 0x1p-14);
  EXPECT_EQ(roundTo(ElementType::f8e4m3, 448), 448);
  EXPECT_TRUE(std::isnan(roundTo(ElementType::f8e4m3, 500)));
  EXPECT_EQ(roundTo(ElementType::f16, 65519), 65504);
  EXPECT_TRUE(std::isinf(roundTo(ElementType::f16, 65520)));
}

TEST(ElementType, PoisonIsNan) {
  uint64_t bits = ~uint64_t(0);
  for (auto type :
       {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16,
        ElementType::f8e4m3, ElementType::f8e5m2})
    EXPECT_TRUE(std::isnan(loadElement(type, &bits, 0))) << name(type);
}

TEST(ElementType, IntegersSaturate) {
  EXPECT_EQ(roundTo(ElementType::i8, 300), 127);
  EXPECT_EQ(roundTo(ElementType::i8, -300), -128);
  EXPECT_EQ(roundTo(ElementType::i32, -1.9), -1);
  EXPECT_EQ(roundTo(ElementType::i1, 7), 1);
}

TEST(ElementType, AtomicAddsDoNotGetLost) {
  for (auto type : {ElementType::f64, ElementType::f32, ElementType::i32,
                    ElementType::i64}) {
    uint64_t sum[2] = {}, one[2] = {};
    storeElement(type, one, 0, 1);
    storeElement(type, one, 1, 2);
    auto add = [&] {
      for (int i = 0; i < 2000; ++i)
        atomicAdd(type, sum, one, 2);
    };
    std::thread other(add);
    add();
    other.join();
    EXPECT_EQ(loadElement(type, sum, 0), 4000) << name(type);
    EXPECT_EQ(loadElement(type, sum, 1), 8000) << name(type);
  }
  EXPECT_FALSE(hasAtomicAdd(ElementType::f8e4m3));
}

} // namespace
} // namespace mk::rt::test
