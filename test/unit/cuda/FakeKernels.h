//===- FakeKernels.h - What the fake driver can execute ---------*- C++ -*-===//
#ifndef MKERNEL_TEST_UNIT_CUDA_FAKEKERNELS_H
#define MKERNEL_TEST_UNIT_CUDA_FAKEKERNELS_H

#include "FakeCuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mk::rt::test {

struct FakeKernel {
  char name[32] = {};
  unsigned params = 0, maps = 0, dims = 0;

  static bool parse(const char *text, FakeKernel &out) {
    const char *at = std::strstr(text, "// fake: ");
    return at && std::sscanf(at, "// fake: %31s params=%u maps=%u dims=%u",
                             out.name, &out.params, &out.maps,
                             &out.dims) == 4;
  }
};

struct FakeMatrix {
  uint64_t data;
  int64_t sizes[2], strides[2];
  float &at(int64_t i, int64_t j) const {
    return reinterpret_cast<float *>(data)[i * strides[0] + j * strides[1]];
  }
};

/// Runs a kernel; a CUresult.
inline int runFakeKernel(FakeCuda &fake, const FakeKernel &kernel,
                         const std::vector<std::byte> &params) {
  ++fake.launched;
  mk_gpu_launch launch;
  const std::byte *at = params.data() + kernel.maps * 128;
  std::memcpy(&launch, at, sizeof(launch));
  at += sizeof(launch) + kernel.dims * 8;
  auto *control = reinterpret_cast<mk_gpu_control *>(launch.control);
  std::string name = kernel.name;
  if (name == "hang") {
    auto *report = reinterpret_cast<mk_gpu_report *>(launch.report);
    control->abort = 1;
    *report = fake.report;
    __atomic_store_n(&report->written, 1, __ATOMIC_RELEASE);
    return 0;
  }
  if (name == "fault") {
    fake.sticky = 700;
    return 0;
  }
  FakeMatrix a, c;
  std::memcpy(&a, at, sizeof(a));
  std::memcpy(&c, at + sizeof(a), sizeof(c));
  // As a kernel must find them: zeroed by the launch before.
  auto *zero = reinterpret_cast<uint32_t *>(launch.zero);
  for (uint32_t i = 0; i < launch.zero_words; ++i)
    if (zero[i] != 0)
      std::abort();
  for (int64_t i = 0; i < c.sizes[0]; ++i)
    for (int64_t j = 0; j < c.sizes[1]; ++j)
      c.at(i, j) = 2 * a.at(i, j) + 1;
  ++control->epoch;
  return 0;
}

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_CUDA_FAKEKERNELS_H
