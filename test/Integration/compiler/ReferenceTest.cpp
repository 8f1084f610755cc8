//===- ReferenceTest.cpp - References as compiled code --------------------===//
//
// Compiles files with a reference, loads the package and compares what
// mk_reference computes with the same sums written out here.
//
//===----------------------------------------------------------------------===//
#include "mkernel/JIT/CompileC.h"
#include "mkernel/Runtime/Package.h"
#include "mkernel/Runtime/Payload.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <unistd.h>

using namespace mk::rt;
using ::testing::HasSubstr;

namespace {

/// A row-major tensor and the descriptor that compiled code sees it by.
template <typename T> struct Tensor {
  std::vector<int64_t> shape;
  int64_t pitch; // elements between rows, >= the last extent
  std::vector<T> data;
  std::vector<int64_t> descriptor;

  explicit Tensor(std::vector<int64_t> extents, T fill = T(), int64_t pad = 0)
      : shape(std::move(extents)) {
    pitch = shape.empty() ? 1 : shape.back() + (shape.size() > 1 ? pad : 0);
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < shape.size(); ++d)
      rows *= shape[d];
    data.assign(rows * pitch, fill);
  }
  T &at(int64_t i, int64_t j = 0) {
    return shape.size() < 2 ? data[i] : data[i * pitch + j];
  }
  void count(T step) {
    T value = T();
    for (T &x : data)
      x = value, value = std::fmod(double(value) + double(step), 3.0);
  }
  void *describe() {
    descriptor = {reinterpret_cast<intptr_t>(data.data()),
                  reinterpret_cast<intptr_t>(data.data()), 0};
    descriptor.insert(descriptor.end(), shape.begin(), shape.end());
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      strides[d] = stride;
      stride = d + 1 == shape.size() ? pitch : stride * shape[d];
    }
    descriptor.insert(descriptor.end(), strides.begin(), strides.end());
    return descriptor.data();
  }
};

/// A kernel that does nothing, with the arguments that the reference needs.
std::string file(const std::string &args, const std::string &reference) {
  return "mk.mesh @mesh (gpu = 1 via link)\n"
         "mk.kernel @k on @mesh dims(uniform M, uniform N, uniform K) (" +
         args + ") {\n  mk.role @r ctas(rest) {}\n}\n" + reference;
}

/// Compiles; empty with `error` set if that fails.
std::vector<std::byte> compile(const std::string &text, std::string &error) {
  char path[] = "/tmp/mkernel-reference-XXXXXX";
  int fd = mkstemp(path);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(write(fd, text.data(), text.size()), ssize_t(text.size()));
  close(fd);
  void *bytes = nullptr;
  size_t size = 0;
  char *message = nullptr;
  int status = mk_jit_compile(path, "{}", &bytes, &size, &message);
  unlink(path);
  std::vector<std::byte> package;
  if (status == 0)
    package.assign(static_cast<std::byte *>(bytes),
                   static_cast<std::byte *>(bytes) + size);
  else
    error = message ? message : "no message";
  mk_jit_free(bytes);
  mk_jit_free(message);
  return package;
}

struct Loaded {
  std::unique_ptr<Payload> payload;

  explicit Loaded(const std::string &text) {
    std::string error;
    std::vector<std::byte> bytes = compile(text, error);
    EXPECT_EQ(error, "");
    if (bytes.empty())
      return;
    auto package = Package::parse(std::move(bytes), "test");
    EXPECT_TRUE(package.isOk()) << package.status().toString();
    if (!package.isOk())
      return;
    auto loaded = Payload::load(*package);
    EXPECT_TRUE(loaded.isOk()) << loaded.status().toString();
    if (loaded.isOk())
      payload = std::move(*loaded);
  }
  void run(std::vector<void *> descriptors, int64_t row = 0,
           int64_t rows = -1) {
    ASSERT_TRUE(payload && payload->reference);
    payload->reference(descriptors.data(), row, rows);
  }
};

const char *const matmulArgs =
    "in %a : memref<?x?xf32> [M, K], in %b : memref<?x?xf32> [K, N],"
    " out %c : memref<?x?xf32> [M, N]";
const char *const matmul = R"(
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c1 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
      outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
})";

void checkMatmul(Tensor<double> &a, Tensor<double> &b, Tensor<double> &c,
                 int64_t from, int64_t to) {
  for (int64_t i = 0; i < c.shape[0]; ++i)
    for (int64_t j = 0; j < c.shape[1]; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < a.shape[1]; ++k)
        sum += a.at(i, k) * b.at(k, j);
      double expected = i >= from && i < to ? sum : -7;
      ASSERT_NEAR(c.at(i, j), expected, 1e-9) << i << ", " << j;
    }
}

TEST(Reference, MatmulWholeAndRows) {
  Loaded code(file(matmulArgs, matmul));
  // Rows may be padded.
  Tensor<double> a({13, 7}, 0, 3), b({7, 5}, 0, 1);
  a.count(0.7);
  b.count(1.1);
  for (auto [row, rows, from, to] :
       {std::tuple(0, -1, 0, 13), {4, 3, 4, 7}, {12, 1, 12, 13},
        {11, 9, 11, 13}, {0, 0, 0, 0}, {13, 1, 13, 13}}) {
    Tensor<double> c({13, 5}, -7, 2);
    code.run({a.describe(), b.describe(), c.describe()}, row, rows);
    checkMatmul(a, b, c, from, to);
  }
}

TEST(Reference, EmptyDimensions) {
  Loaded code(file(matmulArgs, matmul));
  Tensor<double> a({4, 0}), b({0, 5}), c({4, 5}, -7);
  code.run({a.describe(), b.describe(), c.describe()});
  EXPECT_EQ(c.at(3, 4), 0);
  Tensor<double> none({0, 3}), some({3, 5}), out({0, 5});
  code.run({none.describe(), some.describe(), out.describe()});
}

TEST(Reference, LargeMatmulIsFastEnough) {
  Loaded code(file(matmulArgs, matmul));
  Tensor<double> a({512, 512}), b({512, 512}), c({512, 512});
  a.count(0.7);
  b.count(1.1);
  auto start = std::chrono::steady_clock::now();
  code.run({a.describe(), b.describe(), c.describe()});
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::printf("512^3 in f64: %.3f s\n", time.count());
  // Generous: other tests run beside this one.
  EXPECT_LT(time.count(), 5);
}

// A chain with two results of different rank, through a helper function.
const char *const softmaxArgs =
    "in %a : memref<?x?xf32> [M, N], out %s : memref<?x?xf32> [M, N],"
    " out %m : memref<?xf32> [M]";
const char *const softmax = R"(
func.func @scale(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %half = arith.constant 0.5 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%v: f64, %o: f64):
    %s = arith.mulf %v, %half : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}
func.func @reference(%x: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFFF0000000000000 : f64
  %a = func.call @scale(%x) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %s = linalg.softmax dimension(1) ins(%a : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %me = tensor.empty(%m) : tensor<?xf64>
  %mi = linalg.fill ins(%low : f64) outs(%me : tensor<?xf64>) -> tensor<?xf64>
  %max = linalg.reduce { arith.maximumf } ins(%a : tensor<?x?xf64>) outs(%mi : tensor<?xf64>) dimensions = [1]
  return %s, %max : tensor<?x?xf64>, tensor<?xf64>
})";

TEST(Reference, SoftmaxWithTwoResults) {
  Loaded code(file(softmaxArgs, softmax));
  Tensor<double> a({6, 9});
  a.count(0.77);
  for (auto [from, to] : {std::pair(0, 6), {2, 4}, {5, 6}}) {
    Tensor<double> s({6, 9}, -7), m({6}, -7);
    code.run({a.describe(), s.describe(), m.describe()}, from, to - from);
    for (int64_t i = 0; i < 6; ++i) {
      double max = -INFINITY, sum = 0;
      for (int64_t j = 0; j < 9; ++j)
        max = std::max(max, a.at(i, j) * 0.5);
      for (int64_t j = 0; j < 9; ++j)
        sum += std::exp(a.at(i, j) * 0.5 - max);
      bool in = i >= from && i < to;
      EXPECT_NEAR(m.at(i), in ? max : -7, 1e-12);
      for (int64_t j = 0; j < 9; ++j)
        EXPECT_NEAR(s.at(i, j),
                    in ? std::exp(a.at(i, j) * 0.5 - max) / sum : -7, 1e-12);
    }
  }
}

// A prefix sum carries a tensor through a loop, which cannot be tiled; what
// follows it can.
const char *const prefix = R"(
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %sums = scf.for %i = %c1 to %m step %c1 iter_args(%t = %a) -> (tensor<?x?xf64>) {
    %p = arith.subi %i, %c1 : index
    %u = scf.for %j = %c0 to %n step %c1 iter_args(%v = %t) -> (tensor<?x?xf64>) {
      %x = tensor.extract %v[%p, %j] : tensor<?x?xf64>
      %y = tensor.extract %v[%i, %j] : tensor<?x?xf64>
      %z = arith.addf %x, %y : f64
      %w = tensor.insert %z into %v[%i, %j] : tensor<?x?xf64>
      scf.yield %w : tensor<?x?xf64>
    }
    scf.yield %u : tensor<?x?xf64>
  }
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.addf %x, %one : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
})";

TEST(Reference, LoopsAreComputedWhole) {
  Loaded code(file("in %a : memref<?x?xf32> [M, N],"
                   " out %c : memref<?x?xf32> [M, N]",
                   prefix));
  Tensor<double> a({5, 3}), c({5, 3}, -7);
  a.count(0.4);
  Tensor<double> before = a;
  code.run({a.describe(), c.describe()}, 3, 2);
  EXPECT_EQ(a.data, before.data) << "inputs are not written";
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      double sum = 1;
      for (int64_t k = 0; k <= i; ++k)
        sum += before.at(k, j);
      EXPECT_NEAR(c.at(i, j), i >= 3 ? sum : -7, 1e-12);
    }
}

// Rows picked by an integer table.
const char *const gather = R"(
func.func @reference(%a: tensor<?x?xf64>, %t: tensor<?xi32>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %t, %c0 : tensor<?xi32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?xi32>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%x: i32, %o: f64):
    %row = arith.index_cast %x : i32 to index
    %j = linalg.index 1 : index
    %y = tensor.extract %a[%row, %j] : tensor<?x?xf64>
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
})";

TEST(Reference, IntegerInputs) {
  Loaded code(file("in %a : memref<?x?xbf16> [M, N], in %t : memref<?xi32> [K],"
                   " out %c : memref<?x?xbf16> [K, N]",
                   gather));
  Tensor<double> a({4, 3}), c({5, 3}, -7);
  a.count(0.4);
  Tensor<int32_t> table({5});
  table.data = {3, 0, 2, 2, 1};
  code.run({a.describe(), table.describe(), c.describe()}, 1, 3);
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_EQ(c.at(i, j),
                i >= 1 && i < 4 ? a.at(table.data[i], j) : -7);
}

TEST(Reference, WhatItCannotDoIsNamed) {
  std::string error;
  compile(file(matmulArgs, R"(
func.func private @elsewhere(tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c = func.call @elsewhere(%a, %b) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
})"),
          error);
  EXPECT_THAT(error, HasSubstr("elsewhere"));
  compile(file(matmulArgs, R"(
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  return %a : tensor<?x?xf64>
})"),
          error);
  EXPECT_THAT(error, HasSubstr("has 1 arguments but kernel 'k' has 2"));
}

} // namespace
