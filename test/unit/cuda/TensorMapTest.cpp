//===- TensorMapTest.cpp - When there is a tensor map ---------------------===//

#include "FakeGpu.h"
#include "device/cuda/TensorMap.h"

namespace mk::rt::test {
namespace {

using cuda::Driver;
using cuda::Tensor;
using cuda::tensorMapObstacle;

struct CudaTensorMap : FakeGpu {
  bool encode(const Tensor &tensor, std::vector<uint32_t> box,
              uint32_t swizzle) {
    auto driver = Driver::get();
    EXPECT_OK(driver);
    cuda::TensorMapBytes map;
    bool valid = cuda::encodeTensorMap(**driver, {0, std::move(box), swizzle},
                                       tensor, "a", map);
    EXPECT_EQ(map.bytes[0], valid ? 0x5a : 0);
    return valid;
  }
};

constexpr ElementType bf16 = ElementType::bf16;

TEST_F(CudaTensorMap, TheDriverGetsInnermostFirst) {
  ASSERT_TRUE(encode({0x1000, bf16, {2, 100, 72}, {8000, 80, 1}}, {1, 128, 64},
                     128));
  const FakeCuda::Map &map = fake->maps.at(0);
  EXPECT_EQ(map.type, cuda::TensorMapType::BF16);
  EXPECT_EQ(map.address, 0x1000u);
  EXPECT_EQ(map.extents, (std::vector<uint64_t>{72, 100, 2}));
  EXPECT_EQ(map.strides, (std::vector<uint64_t>{160, 16000}));
  EXPECT_EQ(map.box, (std::vector<uint32_t>{64, 128, 1}));
  EXPECT_EQ(map.swizzle, cuda::TensorMapSwizzle::B128);
}

// Two lines of the cache at once, unless a row begins in the middle of them.
TEST_F(CudaTensorMap, RowsOffLinesAreFetchedByLines) {
  auto fetched = [&](const Tensor &tensor) {
    EXPECT_TRUE(encode(tensor, std::vector<uint32_t>(tensor.sizes.size(), 16), 0));
    return fake->maps.back().l2;
  };
  EXPECT_EQ(fetched({0x1000, bf16, {100, 128}, {128, 1}}), cuda::TensorMapL2::B256);
  EXPECT_EQ(fetched({0x1000, bf16, {100, 64}, {64, 1}}), cuda::TensorMapL2::B128);
  EXPECT_EQ(fetched({0x1080, bf16, {100, 128}, {128, 1}}), cuda::TensorMapL2::B128);
  EXPECT_EQ(fetched({0x1000, bf16, {3, 100, 128}, {12808, 128, 1}}), cuda::TensorMapL2::B128);
  EXPECT_EQ(fetched({0x1000, bf16, {1, 72}, {72, 1}}), cuda::TensorMapL2::B256)
      << "one row has no stride";
}

TEST_F(CudaTensorMap, ObstaclesOfTheAbi) {
  Tensor good = {0x1000, bf16, {100, 72}, {72, 1}};
  EXPECT_EQ(tensorMapObstacle(good), "");
  auto with = [&](auto change) {
    Tensor t = good;
    change(t);
    EXPECT_FALSE(encode(t, std::vector<uint32_t>(t.sizes.size(), 16), 0));
    return tensorMapObstacle(t);
  };
  EXPECT_EQ(with([](Tensor &t) { t.address += 8; }),
            "its base is not aligned to 16 bytes");
  EXPECT_EQ(with([](Tensor &t) { t.strides[0] = 73; }),
            "the stride of dimension 0, 146 bytes, is no multiple of 16 below "
            "2^40");
  EXPECT_EQ(with([](Tensor &t) { t.strides[0] = int64_t(1) << 39; }),
            "the stride of dimension 0, 1099511627776 bytes, is no multiple of "
            "16 below 2^40");
  EXPECT_EQ(with([](Tensor &t) { t.strides = {7200, 100}; }),
            "its innermost stride is 100 elements");
  EXPECT_EQ(with([](Tensor &t) { t.sizes[0] = 0; }), "it is empty");
  EXPECT_EQ(with([](Tensor &t) { t.sizes[0] = (int64_t(1) << 31) + 1; }),
            "dimension 0 has 2147483649 elements");
  EXPECT_EQ(with([](Tensor &t) {
              t.sizes = t.strides = {1, 1, 1, 1, 1, 1};
            }),
            "it has 6 dimensions");
  EXPECT_TRUE(fake->maps.empty());
}

TEST_F(CudaTensorMap, OneElementNeedsNoStride) {
  // 1 x 1023: the row stride is odd, and never used.
  ASSERT_TRUE(encode({0x1000, bf16, {1, 1023}, {1023, 1}}, {16, 64}, 128));
  EXPECT_EQ(fake->maps[0].strides, (std::vector<uint64_t>{2048}));
  ASSERT_TRUE(encode({0x1000, bf16, {8, 1}, {16, 5}}, {16, 64}, 128));
  ASSERT_TRUE(encode({0x1000, bf16, {4, 1, 64}, {64, 3, 1}}, {1, 1, 64}, 128));
  EXPECT_EQ(fake->maps[2].strides, (std::vector<uint64_t>{128, 128}));
  ASSERT_TRUE(encode({0x1000, bf16, {640}, {1}}, {64}, 0));
  EXPECT_TRUE(fake->maps[3].strides.empty());
}

TEST_F(CudaTensorMap, TypesWithoutOneOfTheirOwn) {
  for (ElementType type : {ElementType::f8e4m3, ElementType::f8e5m2,
                           ElementType::i8, ElementType::i1}) {
    ASSERT_TRUE(encode({0x1000, type, {8, 128}, {128, 1}}, {8, 128}, 128));
    EXPECT_EQ(fake->maps.back().type, cuda::TensorMapType::U8);
  }
}

TEST_F(CudaTensorMap, WhatTheDriverRefusesIsLogged) {
  static std::string said;
  log::setSink([](log::Level, std::string_view line) { said = line; });
  fake->encodeCode = 1;
  EXPECT_FALSE(encode({0x1000, bf16, {8, 64}, {64, 1}}, {8, 64}, 128));
  EXPECT_THAT(said, HasSubstr("argument 'a' (bf16, 8 by 64 in boxes of 8, 64 "
                              "by 1 in boxes of 64, swizzle 128) takes the "
                              "slower path: the driver makes no tensor map of "
                              "it: CUDA_ERROR_INVALID_VALUE"));
}

} // namespace
} // namespace mk::rt::test
