//===- Knobs.h - The weather and the faults of software RDMA ----*- C++ -*-===//
//
// Environment variables MK_SOFTRDMA_<NAME>, read when a device is opened.
// Times are in microseconds, "n-th" counts from 1 what a context does.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_SOFTRDMA_KNOBS_H
#define MKERNEL_TEST_SOFTRDMA_KNOBS_H

#include "Verbs.h"

#include <string>
#include <vector>

namespace soft {

/// Deliberate defects of the NIC, which a good test suite notices (BREAK=name).
enum class Break {
  None,
  EarlyCompletion, // early-completion: completes before the peer has the data
  EarlyImmediate,  // early-immediate: raised by the first packet, not the last
  LostImmediate,   // lost-immediate: acknowledged and never raised
  TwiceImmediate,  // twice-immediate
  Corrupt,         // corrupt: one byte of one packet in 50
  Unordered,       // unordered: RC queue pairs deliver as SRD does
  EarlyRead,       // early-read: the source is read when posted
};

/// What an entry too many does to a completion queue (OVERRUN=name).
enum class Overrun {
  Abort,  // abort: the process ends, as no test means to have one
  Event,  // event: it is lost, the queue takes no more, its queue pairs fail, and
          //   events say both: what InfiniBand asks of a NIC
  Silent, // silent: it is lost, and nothing says so
};

struct Knobs {
  uint64_t seed;    // SEED (1); contexts of a process draw different numbers
  uint32_t mtu;     // MTU (4096; RC: at most the path's)
  uint32_t jitter;  // JITTER (200): a packet's delay is drawn from [0, this)
  uint32_t delay;   // DELAY (0): added to each packet
  uint32_t timeout; // TIMEOUT: until a message that nobody acknowledges fails
                    //   (SRD: 2 s; RC: what the queue pair says, for each try)
  uint32_t rnr;     // RNR (200): until RC tries again
  double loss; // LOSS (0): share of data packets. SRD: an error; RC resends
  uint64_t failNth; // FAIL_NTH: this work request fails, not delivered
  uint32_t
      failStatus;     // FAIL_STATUS: EFA's status (13), RC's ibv_wc_status (11)
  bool failLate;      // FAIL_LATE=1: delivered, and failed all the same
  uint64_t ackLost;   // ACK_LOST: of this request no acknowledgement arrives
  uint64_t deadAfter; // DEAD_NIC: silent after this many work requests
  uint64_t downAfter; // LINK_DOWN: the same, and the port says so
  uint64_t fatalAfter; // FATAL: the same, and an event says: device fatal
  uint64_t refuseNth;  // REFUSE_NTH: this wr_complete fails with ENOMEM
  uint32_t caps;    // CAPS: EFA's device_caps (all: read, RNR, write, unsol.)
  uint32_t silentArp; // RESOLVE: so many times a peer's address is not found when a
                      //   queue pair of RC connects: ETIMEDOUT
  uint64_t regNth;  // REFUSE_REG: from this one on registrations fail with ENOMEM
  uint32_t cqLimit; // CQ_DEPTH: max_cqe (32768)
  uint32_t cqEntries; // CQ_ENTRIES: a completion queue holds so many, whatever was
                      //   asked for (as many as that)
  Overrun overrun;    // OVERRUN (abort)
  uint32_t qpLimit; // QP_DEPTH: max_qp_wr, max_sq_wr (4096)
  uint32_t maxMessage; // MAX_MESSAGE: max_msg_sz, max_rdma_size (1 GiB)
  bool dmabuf;         // DMABUF=1: ibv_reg_dmabuf_mr maps the descriptor
  bool relaxed;        // RELAXED=0: refuses relaxed ordering
  bool log;        // LOG (1 where SEED is set): the first failure, on stderr
  Break breakage;  // BREAK
  std::string job; // JOB: only contexts of one job reach each other
  uint16_t node;   // NODE: in the devices' addresses

  static Knobs read();
  /// Without faults, for contexts that are not among the VICTIMS.
  Knobs healthy() const;
};

/// Not a context's: OBJECTS=1, and a process that ends says on stderr which objects
/// (contexts, regions, queues ...) it has not given back.

/// VICTIMS=n: faults happen in the first n contexts of the job only.
int victims();

enum class Kind { Roce, InfiniBand, Efa };
struct DeviceSpec {
  std::string name;
  Kind kind = Kind::Roce;
  uint32_t gbps = 100;
  bool down = false;
};
/// NICS="name:kind:gbps,..." with kinds roce, ib, efa (and down), or a number
/// of RoCE devices; by default one of RoCE and one of EFA.
std::vector<DeviceSpec> devices();

} // namespace soft

#endif // MKERNEL_TEST_SOFTRDMA_KNOBS_H
