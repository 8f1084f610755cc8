//===- PackKernel.cpp - Copies an argument's rows to other strides --------===//

#include "device/cuda/PackKernel.h"

#include "device/cuda/Kernels.h"

#include <algorithm>
#include <cstddef>

using namespace mk::rt;
using namespace mk::rt::cuda;

static_assert(offsetof(PackCopy, rowBytes) == 32 && offsetof(PackCopy, units) == 48 &&
              offsetof(PackCopy, segments) == 52 && offsetof(PackCopy, logLanes) == 56 &&
              offsetof(PackCopy, numDims) == 60 && offsetof(PackCopy, dims) == 64 &&
              offsetof(PackCopy, firstCta) == 128 && offsetof(PackCopy, ctas) == 132 &&
              sizeof(PackCopy) == 136 && sizeof(PackParams) == 2176 && OwnKernel::kThreads == 256);

const char *PackKernel::ptx() { return kPackPtx; }

Result<std::unique_ptr<PackKernel>> PackKernel::load(std::shared_ptr<Gpu> device) {
  MK_ASSIGN(std::unique_ptr<OwnKernel> kernel,
            OwnKernel::load(std::move(device), ptx(), "mk_pack",
                            "the kernel that copies arguments to where rows are aligned"));
  return std::unique_ptr<PackKernel>(new PackKernel(std::move(kernel)));
}

int PackKernel::launch(std::span<const PackCopy> copies, StreamHandle stream) const {
  uint64_t bytes = 0;
  for (const PackCopy &copy : copies)
    bytes += copy.units * copy.unitBytes();
  while (!copies.empty()) {
    PackParams params;
    uint32_t ctas = 0;
    size_t count = std::min(copies.size(), size_t(PackParams::kMaxCopies));
    for (size_t i = 0; i < count; ++i) {
      PackCopy &copy = params.copies[i] = copies[i];
      // As large a share of the GPU as of the bytes.
      double share = double(copy.units * copy.unitBytes()) / double(bytes);
      copy.firstCta = ctas;
      copy.ctas = kernel_->countCtas(uint64_t(copy.units) << copy.logLanes, share);
      ctas += copy.ctas;
    }
    if (int code = kernel_->launch(&params, ctas, stream); code != kSuccess)
      return code;
    copies = copies.subspan(count);
  }
  return kSuccess;
}
