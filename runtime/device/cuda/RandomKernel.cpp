//===- RandomKernel.cpp - Random values made by a GPU ---------------------===//

#include "device/cuda/RandomKernel.h"

#include "device/cuda/Kernels.h"

#include <algorithm>
#include <cstddef>

using namespace mk::rt;
using namespace mk::rt::cuda;

static_assert(offsetof(RandomParams, low) == 32 && offsetof(RandomParams, type) == 48 &&
              offsetof(RandomParams, dims) == 56 && sizeof(RandomParams) == 184);
static_assert(MK_F64 == 1 && MK_F32 == 2 && MK_F16 == 3 && MK_BF16 == 4 &&
              MK_F8E4M3 == 5 && MK_F8E5M2 == 6 && MK_I64 == 7 && MK_I32 == 8 &&
              MK_I16 == 9 && MK_I8 == 10 && MK_I1 == 11);

Result<std::unique_ptr<RandomKernel>>
RandomKernel::load(std::shared_ptr<Gpu> device) {
  MK_ASSIGN(std::unique_ptr<OwnKernel> kernel,
            OwnKernel::load(std::move(device), kRandomPtx, "mk_random",
                            "the kernel that makes random values"));
  return std::unique_ptr<RandomKernel>(new RandomKernel(std::move(kernel)));
}

int RandomKernel::launch(const RandomValues &values, const ShardLayout &layout,
                         uint64_t to, StreamHandle stream) const {
  if (layout.elements == 0)
    return kSuccess;
  RandomParams params;
  params.to = to;
  params.elements = layout.elements;
  params.first = layout.first;
  params.key = values.key();
  params.low = values.low();
  params.count = values.count();
  params.type = uint32_t(values.type());
  params.numDims = uint32_t(layout.dims.size());
  std::copy(layout.dims.begin(), layout.dims.end(), params.dims);
  return kernel_->launch(&params, kernel_->countCtas(layout.elements), stream);
}
