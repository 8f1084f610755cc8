//===- NpyTest.cpp --------------------------------------------------------===//

#include "Npy.h"

#include "Support.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace mk::run {
namespace {

using rt::ElementType;
using rt::test::HasSubstr;

struct Npy : ::testing::Test {
  std::string path =
      ::testing::TempDir() + "npy-test-" + std::to_string(getpid());
  ~Npy() override { std::remove(path.c_str()); }

  /// A file of format version 1 with this header text.
  void write(const std::string &header, const std::string &data) {
    std::ofstream file(path, std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    file.put(static_cast<char>(header.size() & 255));
    file.put(static_cast<char>(header.size() >> 8));
    file << header << data;
  }
};

TEST_F(Npy, RoundTrips) {
  for (auto type : {ElementType::f64, ElementType::f32, ElementType::f16,
                    ElementType::bf16, ElementType::i64, ElementType::i32,
                    ElementType::i16, ElementType::i8, ElementType::i1}) {
    std::vector<std::byte> data(6 * byteSize(type)), back(data.size());
    for (int i = 0; i < 6; ++i)
      storeElement(type, data.data(), i, i);
    EXPECT_OK(writeNpy(path, type, {2, 3}, data.data()));
    auto array = readNpy(path);
    ASSERT_OK(array);
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_OK(convertNpy(*array, type, back.data()));
    EXPECT_EQ(data, back) << name(type);
  }
}

TEST_F(Npy, ShapesOfAnyRank) {
  double value = 3;
  for (auto shape : {std::vector<int64_t>{}, {1}, {0, 4}, {1, 1, 1, 1, 1}}) {
    EXPECT_OK(writeNpy(path, ElementType::f64, shape, &value));
    auto array = readNpy(path);
    ASSERT_OK(array);
    EXPECT_EQ(array->shape, shape);
  }
}

TEST_F(Npy, SmallFloatsAreWidened) {
  uint8_t bits[] = {0x38, 0x40};
  EXPECT_OK(writeNpy(path, ElementType::f8e4m3, {2}, bits));
  auto array = readNpy(path);
  ASSERT_OK(array);
  EXPECT_EQ(array->type, ElementType::f32);
  uint8_t back[2];
  EXPECT_OK(convertNpy(*array, ElementType::f8e4m3, back));
  EXPECT_EQ(std::memcmp(bits, back, 2), 0);
}

TEST_F(Npy, FortranOrder) {
  write("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n",
        std::string("\0\1\2\3\4\5", 6));
  auto array = readNpy(path);
  ASSERT_OK(array);
  const int8_t want[] = {0, 2, 4, 1, 3, 5};
  EXPECT_EQ(std::memcmp(array->data.data(), want, 6), 0);
}

TEST_F(Npy, Refusals) {
  EXPECT_ERROR(readNpy(path).status(), NotFound, "No such file");
  struct {
    std::string header, message;
  } cases[] = {
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "type '>f4'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9,)}",
       "is truncated: less than 36 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
       "impossible shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, "
       "99999999999)}",
       "impossible shape"},
      {"{'descr': '<f4', 'fortran_order': False}", "has no shape"},
      {"{'descr':", "elements of the type"},
  };
  using rt::StatusCode;
  for (auto &c : cases) {
    write(c.header, "data");
    EXPECT_ERROR(readNpy(path).status(), InvalidArgument, c.message);
  }
  std::ofstream(path) << "text";
  EXPECT_ERROR(readNpy(path).status(), InvalidArgument, "is not a .npy file");
  for (auto [bytes, message] :
       {std::pair{std::string("\x93NUMPY\x00\x00\x04\x00", 10),
                  "has version 0 of the format; 1 to 3 can be read"},
        {std::string("\x93NUMPY\x04\x00\x04\x00", 10),
         "has version 4 of the format; 1 to 3 can be read"},
        {std::string("\x93NUMPY\x02\x00\x04\x00", 10), "is truncated in its header"},
        {std::string("\x93NUMPY\x01\x00\x04\x00{", 11), "is truncated in its header"},
        {std::string("\x93NUMPY\x02\x00\x01\x00\x10\x00", 12),
         "has a header of more than 1 MiB"}}) {
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_ERROR(readNpy(path).status(), InvalidArgument, message);
  }
  write("{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}", "data");
  auto bits = readNpy(path);
  ASSERT_OK(bits);
  float out[2];
  EXPECT_ERROR(convertNpy(*bits, ElementType::f32, out), InvalidArgument,
               "are for bf16 arguments");
}

TEST_F(Npy, NumbersThatDoNotFitAreRefused) {
  const float values[] = {1, 300, 1.5f, -500, INFINITY, NAN};
  EXPECT_OK(writeNpy(path, ElementType::f32, {6}, values));
  auto all = readNpy(path);
  ASSERT_OK(all);
  auto one = [&](size_t i) {
    NpyArray array = *all;
    array.shape = {1};
    array.data.assign(all->data.begin() + 4 * i, all->data.begin() + 4 * (i + 1));
    return array;
  };
  uint8_t out[8];
  EXPECT_OK(convertNpy(one(0), ElementType::i8, out));
  EXPECT_ERROR(convertNpy(one(1), ElementType::i8, out), InvalidArgument,
               "element 0 of the array (row-major, from 0) is 300, which i8 cannot hold");
  EXPECT_ERROR(convertNpy(one(2), ElementType::i32, out), InvalidArgument, "is 1.5, which i32");
  EXPECT_ERROR(convertNpy(one(5), ElementType::i32, out), InvalidArgument, "is nan, which i32");
  EXPECT_ERROR(convertNpy(one(3), ElementType::f8e4m3, out), InvalidArgument,
               "is -500, which f8e4m3 cannot hold: clip the values to its range");
  EXPECT_ERROR(convertNpy(one(4), ElementType::f8e4m3, out), InvalidArgument, "is inf");
  // What is rounded is no error, nor is what the type has.
  EXPECT_OK(convertNpy(one(1), ElementType::f8e4m3, out));
  EXPECT_OK(convertNpy(one(4), ElementType::f16, out));
  EXPECT_OK(convertNpy(one(5), ElementType::f8e4m3, out));
}

} // namespace
} // namespace mk::run
