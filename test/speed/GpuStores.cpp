//===- GpuStores.cpp - From a GPU's store to the proxy's post -------------===//

#include "GpuStores.h"

#include <dlfcn.h>

namespace mk::rt::speed {
namespace {

constexpr uint32_t kRounds = 8000; // every other one a command, between them exchanges
constexpr uint32_t kWindow = 200;  // rounds in which clocks do not drift apart
constexpr uint64_t kRing = 1024;

// Two halves of 16 bytes, as conversion to PTX writes them. A round that is not answered
// within a second ends the kernel.
constexpr char kKernel[] = R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry stores(.param .u64 ring, .param .u64 commands, .param .u64 words,
                       .param .u64 times, .param .u32 rounds) {
  .reg .u64 %ring, %commands, %words, %times, %at, %t0, %t1, %now, %until, %a, %b, %c, %d, %k;
  .reg .u32 %rounds, %i, %next, %seen, %odd, %pause;
  .reg .b128 %half;
  .reg .pred %p, %isCommand;
  ld.param.u64 %ring, [ring];
  ld.param.u64 %commands, [commands];
  ld.param.u64 %words, [words];
  ld.param.u64 %times, [times];
  ld.param.u32 %rounds, [rounds];
  mov.u32 %i, 0;
ROUND:
  setp.ge.u32 %p, %i, %rounds;
  @%p bra END;
  rem.u32 %pause, %i, 51;
  mad.lo.u32 %pause, %pause, 1000, 20000;
  cvt.u64.u32 %until, %pause;
  mov.u64 %now, %globaltimer;
  add.u64 %until, %until, %now;
PAUSE:
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %p, %now, %until;
  @%p bra PAUSE;
  add.u32 %next, %i, 1;
  and.b32 %odd, %i, 1;
  setp.eq.u32 %isCommand, %odd, 1;
  shr.u32 %seen, %i, 1;
  cvt.u64.u32 %k, %seen;
  shl.b64 %at, %k, 5;
  add.u64 %at, %at, %commands;
  ld.volatile.global.v2.u64 {%a, %b}, [%at];
  ld.volatile.global.v2.u64 {%c, %d}, [%at+16];
  and.b64 %k, %k, 1023;
  shl.b64 %k, %k, 5;
  add.u64 %at, %ring, %k;
  // The time is taken when the command is here.
  or.b64 %k, %a, %c;
  setp.eq.u64 %p, %k, 0;
  @%p bra END;
  mov.u64 %t0, %globaltimer;
  @%isCommand bra COMMAND;
  st.relaxed.sys.global.u32 [%words], %next;
  bra ANSWER;
COMMAND:
  mov.b128 %half, {%a, %b};
  st.relaxed.sys.global.b128 [%at], %half;
  mov.b128 %half, {%c, %d};
  st.relaxed.sys.global.b128 [%at+16], %half;
ANSWER:
  ld.relaxed.sys.global.u32 %seen, [%words+64];
  mov.u64 %t1, %globaltimer;
  setp.eq.u32 %p, %seen, %next;
  @%p bra DONE;
  sub.u64 %now, %t1, %t0;
  setp.gt.u64 %p, %now, 1000000000;
  @%p bra END;
  bra ANSWER;
DONE:
  mul.wide.u32 %k, %i, 16;
  add.u64 %at, %times, %k;
  st.volatile.global.v2.u64 [%at], {%t0, %t1};
  mov.u32 %i, %next;
  bra ROUND;
END:
  st.release.sys.global.u32 [%words+128], 1;
  ret;
}
)";

/// The few calls of the driver that it takes. All return 0 or an error.
struct Cuda {
  void *library = nullptr;
  std::string missing;

  template <typename... Args> int call(const char *name, Args... args) {
    auto *function = reinterpret_cast<int (*)(Args...)>(dlsym(library, name));
    int code = function ? function(args...) : -1;
    if (code && missing.empty())
      missing = str(name, " failed with error ", code);
    return code;
  }
  template <typename T> T *pinned(size_t bytes, uint64_t &device) {
    void *host = nullptr;
    if (call("cuMemHostAlloc", &host, bytes, 3u) ||
        call("cuMemHostGetDevicePointer_v2", &device, host, 0u))
      return nullptr;
    std::memset(host, 0, bytes);
    return static_cast<T *>(host);
  }
};

struct Stamps {
  uint64_t begin, end;
};

/// Both in nanoseconds, of clocks that began at different times.
GpuTimes evaluate(const std::vector<Stamps> &gpu, const std::vector<int64_t> &host) {
  GpuTimes times;
  int64_t apart = host[0] - static_cast<int64_t>(gpu[0].begin); // about
  auto ahead = [&](uint32_t i, uint64_t stamp) {
    return double(host[i] - static_cast<int64_t>(stamp) - apart);
  };
  std::vector<double> oneWay, both, half;
  for (uint32_t first = 0; first < kRounds; first += kWindow) {
    // The host's clock is ahead of the GPU's by something between these.
    double least = -1e300, most = 1e300;
    for (uint32_t i = first; i < first + kWindow; ++i) {
      least = std::max(least, ahead(i, gpu[i].end));
      most = std::min(most, ahead(i, gpu[i].begin));
    }
    half.push_back((most - least) / 2e3);
    for (uint32_t i = first + 1; i < first + kWindow; i += 2) {
      oneWay.push_back((ahead(i, gpu[i].begin) - (least + most) / 2) / 1e3);
      both.push_back(double(gpu[i].end - gpu[i].begin) / 1e3);
    }
  }
  auto at = [](std::vector<double> &values, double q) {
    std::sort(values.begin(), values.end());
    return values[size_t(double(values.size()) * q)];
  };
  times.median = at(oneWay, 0.5);
  times.p99 = at(oneWay, 0.99);
  times.uncertainty = at(half, 0.5);
  times.roundTrip = at(both, 0.5);
  return times;
}

} // namespace

std::optional<GpuTimes> gpuStores(Rank &rank, std::string &why) {
  Cuda cuda;
  cuda.library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda.library) {
    why = "there is no libcuda.so.1: no NVIDIA driver";
    return {};
  }
  int device = 0, major = 0;
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  char name[128] = "";
  uint64_t ringAt = 0, commandsAt = 0, wordsAt = 0, timesAt = 0;
  if (cuda.call("cuInit", 0u) || cuda.call("cuDeviceGet", &device, 0) ||
      cuda.call("cuDeviceGetName", +name, 128, device) ||
      cuda.call("cuDeviceGetAttribute", &major, 75, device) ||
      cuda.call("cuDevicePrimaryCtxRetain", &context, device) ||
      cuda.call("cuCtxSetCurrent", context)) {
    why = cuda.missing;
    return {};
  }
  if (major < 9) {
    why = str(+name, " is older than compute capability 9.0");
    return {};
  }
  auto *ringMemory = cuda.pinned<std::byte>(CommandRing::bytesOf(kRing), ringAt);
  auto *commands = cuda.pinned<mk_command>(kRounds / 2 * sizeof(mk_command), commandsAt);
  auto *words = cuda.pinned<uint32_t>(192, wordsAt);
  auto *stamps = cuda.pinned<Stamps>(kRounds * sizeof(Stamps), timesAt);
  if (!ringMemory || !commands || !words || !stamps ||
      cuda.call("cuModuleLoadData", &module, static_cast<const void *>(kKernel)) ||
      cuda.call("cuModuleGetFunction", &kernel, module, "stores")) {
    why = cuda.missing;
    return {};
  }
  for (uint32_t i = 0; i < kRounds / 2; ++i)
    commands[i] = encodeCommand(rank.command(i), i / kRing);
  std::atomic_ref<uint32_t> question(words[0]), answer(words[16]), over(words[32]);
  std::vector<int64_t> host(kRounds);
  auto note = [&](uint32_t round, Clock::time_point when) {
    host[round] = when.time_since_epoch().count();
    answer.store(round + 1, std::memory_order_release);
  };
  auto ring = take(CommandRing::create(kRing, ringMemory));
  uint64_t before = rank.transport->posted;
  rank.transport->onPost = [&](uint64_t number, Clock::time_point when) {
    if (uint64_t round = 2 * (number - before) - 1; round < kRounds)
      note(static_cast<uint32_t>(round), when);
  };
  rank.transport->marksTime = true;
  bool launched = false;
  {
    auto proxy = rank.start(*ring);
    uint64_t where = ringAt + sizeof(mk_command_ring);
    uint32_t rounds = kRounds;
    void *args[] = {&where, &commandsAt, &wordsAt, &timesAt, &rounds};
    launched = !cuda.call("cuLaunchKernel", kernel, 1u, 1u, 1u, 1u, 1u, 1u, 0u,
                          static_cast<void *>(nullptr), +args, static_cast<void **>(nullptr));
    for (uint32_t next = 1; launched && next < kRounds && !over.load();) {
      if (question.load(std::memory_order_acquire) != next)
        continue;
      note(next - 1, Clock::now());
      next += 2;
    }
    launched = launched && !cuda.call("cuCtxSynchronize");
  }
  rank.transport->marksTime = false;
  rank.transport->onPost = nullptr;
  if (!launched || stamps[kRounds - 1].end == 0) {
    why = launched ? "a command was not posted within a second" : cuda.missing;
    return {};
  }
  GpuTimes times = evaluate({stamps, stamps + kRounds}, host);
  times.gpu = name;
  cuda.call("cuDevicePrimaryCtxRelease_v2", device);
  return times;
}

} // namespace mk::rt::speed
