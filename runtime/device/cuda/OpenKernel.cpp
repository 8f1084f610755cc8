//===- OpenKernel.cpp - Opens a launch in front of its kernel -------------===//

#include "device/cuda/OpenKernel.h"

#include "device/cuda/Kernels.h"

#include <cstddef>

using namespace mk::rt;
using namespace mk::rt::cuda;

static_assert(offsetof(OpenParams, ready) == 40 && offsetof(OpenParams, words) == 48 &&
              offsetof(OpenParams, values) == 56 && offsetof(OpenParams, count) == 64 &&
              offsetof(OpenParams, rank) == 68 && offsetof(OpenParams, world) == 72 &&
              sizeof(OpenParams) == 80);
static_assert(offsetof(mk_gpu_control, epoch) == 0 && offsetof(mk_gpu_control, abort) == 8 &&
              offsetof(mk_gpu_control, claimed) == 12 && offsetof(mk_gpu_control, opened) == 28);
static_assert(offsetof(mk_gpu_report, written) == 0 && offsetof(mk_gpu_report, kind) == 4 &&
              offsetof(mk_gpu_report, role) == 12 && offsetof(mk_gpu_report, wanted) == 32 &&
              offsetof(mk_gpu_report, rank) == 48 && MK_WAIT_READY == 4);

Result<std::unique_ptr<OpenKernel>> OpenKernel::load(std::shared_ptr<Gpu> device) {
  MK_ASSIGN(auto kernel, OwnKernel::load(std::move(device), kOpenPtx, "mk_open",
                                         "the kernel that opens a launch"));
  return std::unique_ptr<OpenKernel>(new OpenKernel(std::move(kernel)));
}
