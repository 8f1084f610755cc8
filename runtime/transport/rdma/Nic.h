//===- Nic.h - A NIC that is open -------------------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_NIC_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_NIC_H

#include "transport/rdma/Endpoint.h"
#include "transport/rdma/Library.h"
#include "transport/rdma/Options.h"

#include <memory>

namespace mk::rt::rdma {

/// What this rank shall use.
struct ChosenNic {
  std::string name;
  uint64_t mbits = 0; // this rank's part
};

/// A rank among those of this transport on its machine.
struct NicUser {
  uint32_t localRank = 0;
  /// PCI address of the GPU of each local rank; "": none, or unknown.
  std::vector<std::string> gpus = {""};
};

/// The NICs that the topology assigns to the rank: to its GPU, beside those of the other ranks,
/// if the machine knows the GPUs of all of them; else by local rank. Empty: none, and `problem`
/// says why.
Result<std::vector<ChosenNic>> assignedNics(const Machine &machine, NicKind kind,
                                            const NicUser &user, std::string &problem);

/// The NICs for this rank: Options::nics, else those that the topology assigns
/// (MK_NICS), of those that the library has. FailedPrecondition says why there
/// is none.
Result<std::vector<ChosenNic>> chooseNics(const Library &library, NicKind kind,
                                          const Options &options,
                                          const NicUser &user);

/// What an EFA device can do: bits of device_caps, of which old headers name the
/// first three only.
constexpr uint32_t kEfaRdmaWrite = 1u << 3, kEfaUnsolicited = 1u << 4;

class Nic {
public:
  /// Opens the device and finds an active port and an address.
  static Result<std::unique_ptr<Nic>> open(const Library &library, NicKind kind,
                                           const ChosenNic &chosen,
                                           const Options &options);
  ~Nic();
  Nic(const Nic &) = delete;
  Nic &operator=(const Nic &) = delete;

  /// A completion queue of at least `entries`; fewer than the device's largest.
  Status createCq(uint32_t entries);
  uint32_t maxCq() const { return device.max_cqe > 0 ? uint32_t(device.max_cqe) : 0; }
  NicEndpoint endpoint() const;
  const std::string &name() const { return chosen.name; }
  /// "mlx5_0 (retry counter exceeded, status 12, vendor error 129)"
  std::string failure(ibv_wc_status status, uint32_t vendorError) const;

  const Library &library;
  NicKind kind;
  ChosenNic chosen;
  ibv_context *context = nullptr;
  ibv_device_attr device{};
  uint32_t port = 1;
  ibv_port_attr portAttr{};
  int gidIndex = 0;
  ibv_gid gid{};
  uint32_t mtu = 4096; // bytes
  efadv_device_attr efa{};
  ibv_pd *pd = nullptr;
  ibv_comp_channel *channel = nullptr;
  ibv_cq_ex *cq = nullptr;
  // Signals of their own write from source to a peer's sink; nobody reads it.
  std::unique_ptr<std::byte[]> sinkMemory, sourceMemory;
  ibv_mr *sink = nullptr, *source = nullptr;
  bool armed = false;        // the completion queue will tell of its next entry
  unsigned events = 0;       // of the channel, not acknowledged

private:
  explicit Nic(const Library &l) : library(l) {}
  Status findPort(const Options &options);
  Status findGid(const Options &options);
  Status registerSignals();
};

/// An MTU in bytes and as libibverbs counts.
constexpr uint32_t mtuBytes(ibv_mtu mtu) { return 128u << mtu; }
ibv_mtu mtuOf(uint32_t bytes);

/// Why something that locks memory failed with `err`; then what to do, where that memory is
/// limited.
std::string registrationError(int err);

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_NIC_H
