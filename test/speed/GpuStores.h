//===- GpuStores.h - From a GPU's store to the proxy's post -----*- C++ -*-===//
#ifndef MKERNEL_TEST_SPEED_GPUSTORES_H
#define MKERNEL_TEST_SPEED_GPUSTORES_H

#include "NullNetwork.h"

#include <optional>

namespace mk::rt::speed {

/// Microseconds.
struct GpuTimes {
  std::string gpu;
  double median = 0, p99 = 0;   // from the store to the post
  double uncertainty = 0;       // of each, from relating the clocks
  double roundTrip = 0;         // median: store, post, a word written by the post, seen by the GPU
};

/// A kernel of one thread writes commands into the ring as compiled kernels do, one every 20 to
/// 70 us, and the null transport notes when each is posted. The GPU's clock is related to the
/// host's by words that go to the host and back between any two commands: the host's time of an
/// exchange lies between the GPU's two, so that of some hundred exchanges in a row the latest
/// beginning and the earliest end leave a few tenths of a microsecond. Nothing where there is no
/// GPU; `why` says so.
std::optional<GpuTimes> gpuStores(Rank &rank, std::string &why);

} // namespace mk::rt::speed

#endif // MKERNEL_TEST_SPEED_GPUSTORES_H
