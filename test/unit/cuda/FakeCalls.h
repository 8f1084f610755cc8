//===- FakeCalls.h - The functions of the fake driver -----------*- C++ -*-===//
//
// What its files share: FakeMemory.cpp has the functions that concern memory and copies,
// FakeCuda.cpp the others and the table of all.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_UNIT_CUDA_FAKECALLS_H
#define MKERNEL_TEST_UNIT_CUDA_FAKECALLS_H

#include <functional>

#include "FakeCuda.h"
#include "FakeKernels.h"

#include <cstring>
#include <mutex>

namespace mk::rt::test::driver {

using namespace mk::rt::cuda;

extern FakeCuda fake;
extern std::mutex calls; // guards the lists of them and what is counted

struct FakeGraph {
  FakeKernel kernel;
  std::vector<std::byte> params;
  std::vector<std::function<void()>> before; // kernels in front that are executed as they are written
};
struct FakeStream {
  bool capturing = false, prioritized = false;
  FakeGraph graph;
};
FakeStream &streamOf(StreamHandle stream);

template <typename T, typename H> T *from(H handle) {
  return reinterpret_cast<T *>(handle);
}

/// Notes the call. Not 0: what it has to return at once.
int enter(const char *name, bool refusedInCapture = false);
#define ENTER(name, ...)                                                       \
  if (int code = enter(name __VA_OPT__(, ) __VA_ARGS__))                       \
  return code

#define DECLARE(member, name, since, parameters) int member parameters;
MK_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

} // namespace mk::rt::test::driver

#endif // MKERNEL_TEST_UNIT_CUDA_FAKECALLS_H
