//===- FakeCuda.h - A GPU driver for tests on any machine -------*- C++ -*-===//
//
// A library with the entry point of libcuda.so.1. "Device" memory is malloc'ed,
// memory that is mapped (cuMemCreate) a memory file, so that it can be shared,
// streams execute at once, and a kernel is one of a few that are written here,
// named in its PTX: "// fake: NAME params=BYTES maps=COUNT dims=COUNT".
//
//   affine  c = 2 * a + 1 on two matrices of f32, then ends the launch
//   hang    a wait fails: writes the report and ends
//   fault   an illegal access
//
// The n-th launch takes n / 4 ms by events. PTX without such a line is executed as it is
// written, if it is as simple as the runtime's own kernels (FakePtx.h).
//
// Tests reach its state by dlsym("fakeCuda").
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_UNIT_CUDA_FAKECUDA_H
#define MKERNEL_TEST_UNIT_CUDA_FAKECUDA_H

#include "device/cuda/Driver.h"
#include "mkernel/ABI/Gpu.h"

#include <map>
#include <string>
#include <vector>

namespace mk::rt::test {

struct FakeCuda {
  // What it pretends to be.
  int driverVersion = 13000, initCode = 0, gpus = 1;
  int major = 9, minor = 0, sms = 132, blocksPerSm = 1;
  int maxShared = 232448, pageable = 0, localBytes = 0;
  uint64_t memoryBytes = uint64_t(1) << 40; // what can be allocated
  bool current = false; // the caller has a context
  int loadCode = 0, encodeCode = 0;
  bool refusesCubins = false; // as made by a ptxas that is newer than the driver
  std::string missing; // a function that it does not have
  bool peerAccess = true; // a GPU reaches the memory of others
  int virtualMemory = 1;
  int dmaBuf = 0, dmaBufPcieCode = 0;       // an attribute; what asking for PCIe gives
  int writesOrdering = 0, flushOptions = 0; // attributes
  int rdma = 0;     // an attribute: memory may be given to NICs
  int notReady = 0; // queries of events that say so, from now on
  int fullDevice = -1; // handle of a GPU that has no memory left
  mk_gpu_report report = {}; // what `hang` says

  // What happened.
  std::vector<std::string> calls;
  /// Calls between the begin and the end of a capture that a real driver
  /// refuses there.
  std::vector<std::string> unsafe;
  std::vector<cuda::StreamHandle> copiedIn; // of each copy, in their order
  std::map<uint64_t, uint64_t> blocks; // live device memory: address, bytes
  std::map<uint64_t, uint64_t> pinned;
  std::map<uint64_t, uint64_t> registered; // memory of the host
  int streams = 0;                         // live, that were made with a priority
  std::map<uint64_t, uint64_t> reserved; // addresses, bytes
  std::map<uint64_t, uint64_t> mapped;   // the same of what is mapped there
  struct File {
    int fd, device; // a memory file, and whose memory it stands for
    uint64_t bytes;
  };
  std::map<uint64_t, File> files; // by handle
  uint64_t lastFile = 0;
  int rdmaSegments = 0; // memory that was made for NICs
  std::map<uint64_t, int> ownerOf; // of what is mapped: handle of the GPU
  int launched = 0, pushed = 0, retained = 0, events = 0;
  int sticky = 0; // what every call returns since a kernel failed
  struct Launch {
    cuda::LaunchConfig config;
    bool cooperative = false, overlaps = false;
    std::vector<std::byte> params;
  } last;
  struct Map {
    cuda::TensorMapType type;
    uint64_t address;
    std::vector<uint64_t> extents, strides;
    std::vector<uint32_t> box;
    cuda::TensorMapSwizzle swizzle;
    cuda::TensorMapL2 l2;
  };
  std::vector<Map> maps;

  size_t count(const std::string &name) const {
    size_t n = 0;
    for (const std::string &call : calls)
      n += call == name;
    return n;
  }
};

} // namespace mk::rt::test

/// The state of the library, one a process.
extern "C" mk::rt::test::FakeCuda *fakeCuda();

#endif // MKERNEL_TEST_UNIT_CUDA_FAKECUDA_H
