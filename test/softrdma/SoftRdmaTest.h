//===- SoftRdmaTest.h - Two ends of a wire for the library's tests -*- C++
//-*-=//
#ifndef MKERNEL_TEST_SOFTRDMA_SOFTRDMATEST_H
#define MKERNEL_TEST_SOFTRDMA_SOFTRDMATEST_H

#include "Functions.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace soft::test {

// The same tests run over the real libibverbs where a device is
// (test/roce): what they say of RC then holds of the software NIC and of the
// kernel's soft-RoCE alike.
#ifdef MK_REAL_VERBS
constexpr bool kReal = true;
#else
constexpr bool kReal = false;
#endif
#define SOFT_ONLY()                                                            \
  if (kReal)                                                                   \
  GTEST_SKIP() << "of the software NIC"

/// Whether it is SRD: the protocols to test.
inline std::vector<bool> protocols() {
  return kReal ? std::vector<bool>{false} : std::vector<bool>{true, false};
}

/// Knobs for the contexts that a test opens.
class Knob {
public:
  Knob(const char *name, const std::string &value)
      : name_(std::string("MK_SOFTRDMA_") + name) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Knob() { unsetenv(name_.c_str()); }
  Knob(const Knob &) = delete;

private:
  std::string name_;
};

struct Completion {
  uint64_t id = 0;
  uint32_t status = 0, opcode = 0, vendor = 0, imm = 0, bytes = 0;
};

struct Options {
  bool srd = true;
  bool unsolicited = true;
  uint32_t sendDepth = 256, recvDepth = 256, cqDepth = 4096;
  uint8_t timeout = 14, retries = 3, rnrRetry = 7;
  unsigned access = kAccessLocalWrite | kAccessRemoteWrite;
  bool channel = false;
  uint32_t gidIndex = kReal ? 1 : 3; // RoCE v2, IPv4
  uint32_t qkey = 0x1234;
};

/// Of real devices, those of a wire's ends are two.
extern int nextDevice;

inline Options rc() {
  Options o;
  o.srd = false;
  return o;
}

/// A device with one queue pair and a buffer.
struct End {
  explicit End(const Options &o, size_t bytes = 1 << 20);
  ~End();
  End(const End &) = delete;

  void connect(const End &peer);
  /// 0, or what wr_complete says. `imm` below 0: a write without.
  int write(uint64_t id, uint64_t from, uint64_t to, uint32_t bytes,
            int64_t imm = -1, bool signaled = true);
  int receive(uint64_t id);
  /// One completion within the time, of either queue.
  bool poll(Completion &c, int milliseconds = 5000);
  Completion next(int milliseconds = 5000);
  uint64_t *words(uint64_t at) {
    return reinterpret_cast<uint64_t *>(memory.data() + at);
  }

  Options options;
  std::vector<char> memory;
  ibv_context *context = nullptr;
  ibv_pd *pd = nullptr;
  ibv_comp_channel *channel = nullptr;
  ibv_cq_ex *cq = nullptr;
  ibv_qp *qp = nullptr;
  ibv_mr *mr = nullptr;
  ibv_ah *ah = nullptr;
  ibv_gid gid{};
  uint32_t peerQpn = 0, peerKey = 0;
  uint64_t peerAddress = 0;
};

struct Wire {
  explicit Wire(const Options &o = {}) : a(o), b(o) {
    a.connect(b);
    b.connect(a);
  }
  End a, b;
};

} // namespace soft::test

#endif // MKERNEL_TEST_SOFTRDMA_SOFTRDMATEST_H
