//===- Driver.h - What the files of the driver share ------------*- C++ -*-===//
//
// Driver.cpp has devices, modules and launches, and the table of all functions,
// DriverMemory.cpp memory and copies, DriverLink.cpp the sockets to the machine.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_PTX_DRIVER_H
#define MKERNEL_TEST_PTX_DRIVER_H

#include "Protocol.h"

#include "device/cuda/Driver.h"

#include <mutex>
#include <vector>

namespace mk::ptx::driver {

using namespace mk::rt::cuda;

constexpr int kInvalid = 1, kNoMemory = 2, kUnsupported = 801, kLost = 719;

extern std::mutex guard; // one call at a time
extern int gpus, device; // how many the machine has, which one is this process's

/// To the machine, once a process.
bool connect();
/// Asks the machine; kLost if it is gone.
int ask(const Request &request, int file = -1, Answer *out = nullptr);
int ask(Request::Kind kind, uint64_t a, uint64_t b, int file = -1);
/// What a proxy asks for; done when this returns. `data`, `bytes`: of the file that goes
/// along.
int askAsProxy(Request::Kind kind, uint64_t a, uint64_t b, uint64_t c,
               const void *data = nullptr, void *result = nullptr);
int waitForAll();
/// By a copy engine, beside the next launch of the stream where it comes from.
int copyBeside(uint64_t to, uint64_t from, uint64_t bytes, StreamHandle stream);

struct PendingLaunch {
  Request request;
  std::vector<char> params;
};
struct Stream {
  bool capturing = false;
  std::vector<PendingLaunch> launches;
  bool isProxys = false;
  Stream *origin = nullptr; // whose event it has waited for: its copies are of copy engines
};
Stream &streamOf(StreamHandle stream);

template <typename T, typename H> T *from(H handle) {
  return reinterpret_cast<T *>(handle);
}

#define DECLARE(member, name, since, parameters) int member parameters;
MK_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

} // namespace mk::ptx::driver

#endif // MKERNEL_TEST_PTX_DRIVER_H
