//===- Nic.cpp - A NIC that is open ---------------------------------------===//

#include "transport/rdma/Nic.h"

#include "transport/rdma/Immediate.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>

namespace mk::rt::rdma {
namespace {

ibv_context *openByName(const Library &library, const std::string &name) {
  int count = 0;
  ibv_device **list = library.get_device_list(&count);
  ibv_context *context = nullptr;
  for (int i = 0; list && i < count; ++i)
    if (name == library.get_device_name(list[i])) {
      context = library.open_device(list[i]);
      break;
    }
  int err = errno;
  if (list)
    library.free_device_list(list);
  errno = err;
  return context;
}

std::string_view linkName(uint8_t layer) {
  return layer == IBV_LINK_LAYER_ETHERNET     ? "Ethernet"
         : layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand"
                                              : "Unspecified";
}

Status setNonBlocking(int fd) {
  int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
    return errnoError(StatusCode::Internal, "fcntl(O_NONBLOCK)", errno);
  return {};
}

/// Mbit/s of a port; 0: unknown.
uint64_t portSpeed(const ibv_port_attr &port) {
  uint64_t lane = 0, lanes = 0;
  switch (port.active_speed) { // as the kernel numbers them, SDR to NDR
  case 1: lane = 2500; break;
  case 2: lane = 5000; break;
  case 4:
  case 8: lane = 10000; break;
  case 16: lane = 14000; break;
  case 32: lane = 25000; break;
  case 64: lane = 50000; break;
  case 128: lane = 100000; break;
  }
  switch (port.active_width) {
  case 1: lanes = 1; break;
  case 2: lanes = 4; break;
  case 4: lanes = 8; break;
  case 8: lanes = 12; break;
  case 16: lanes = 2; break;
  }
  return lane * lanes;
}

/// Smaller is better; negative: of no use here.
int rankOfGid(const ibv_gid_entry &entry) {
  if (entry.gid_type != IBV_GID_TYPE_ROCE_V2)
    return -1;
  const uint8_t *raw = entry.gid.raw;
  static constexpr uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(raw, mapped, sizeof(mapped)) == 0)
    return 0;
  bool linkLocal = raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80;
  return linkLocal ? 2 : 1;
}

} // namespace

ibv_mtu mtuOf(uint32_t bytes) {
  int exponent = std::bit_width(std::clamp(bytes, 256u, 4096u)) - 1;
  return static_cast<ibv_mtu>(exponent - 7);
}

std::string registrationError(int err) {
  char buffer[128];
  std::string why = ::strerror_r(err, buffer, sizeof(buffer));
  rlimit limit{};
  if ((err != ENOMEM && err != EAGAIN && err != EPERM) ||
      ::getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
    return why;
  return str(why, "; memory that may be locked is limited to ", limit.rlim_cur >> 10,
             " KiB: ulimit -l unlimited (limits.conf, LimitMEMLOCK=infinity, "
             "docker --ulimit memlock=-1)");
}

Result<std::unique_ptr<Nic>> Nic::open(const Library &library, NicKind kind,
                                       const ChosenNic &chosen,
                                       const Options &options) {
  std::unique_ptr<Nic> nic(new Nic(library));
  nic->kind = kind;
  nic->chosen = chosen;
  nic->context = openByName(library, chosen.name);
  if (!nic->context)
    return errnoError(StatusCode::Unavailable,
                      str("NIC ", chosen.name,
                          " cannot be opened (check the permissions of "
                          "/dev/infiniband/uverbs*)"),
                      errno ? errno : ENODEV);
  if (int err = library.query_device(nic->context, &nic->device))
    return errnoError(StatusCode::Unavailable,
                      str("NIC ", chosen.name, ": ibv_query_device"), err);
  if (kind == NicKind::Efa)
    if (int err = library.efa.query_device(nic->context, &nic->efa,
                                           sizeof(nic->efa)))
      return errnoError(StatusCode::FailedPrecondition,
                        str("NIC ", chosen.name,
                            " is no EFA device (use the transport verbs for it)"),
                        err);
  if (kind == NicKind::Efa && !(nic->efa.device_caps & kEfaRdmaWrite))
    return error(StatusCode::FailedPrecondition, "EFA device ", chosen.name,
                 " (capabilities ", nic->efa.device_caps,
                 ") has no RDMA write: use instances of the fourth generation "
                 "or later, with a current efa driver");
  MK_TRY(nic->findPort(options));
  MK_TRY(nic->findGid(options));
  MK_TRY(setNonBlocking(nic->context->async_fd));
  if (!(nic->pd = library.alloc_pd(nic->context)))
    return errnoError(StatusCode::ResourceExhausted,
                      str("NIC ", chosen.name, ": ibv_alloc_pd"), errno);
  if (!(nic->channel = library.create_comp_channel(nic->context)))
    return errnoError(StatusCode::ResourceExhausted,
                      str("NIC ", chosen.name, ": ibv_create_comp_channel"),
                      errno);
  MK_TRY(setNonBlocking(nic->channel->fd));
  MK_TRY(nic->registerSignals());
  return nic;
}

Status Nic::findPort(const Options &options) {
  std::string states;
  uint32_t ports = std::max<uint32_t>(device.phys_port_cnt, 1);
  for (port = 1; port <= ports; ++port) {
    if (int err = queryPort(context, port, portAttr))
      return errnoError(StatusCode::Unavailable,
                        str("NIC ", name(), ": port ", port), err);
    if (portAttr.state == IBV_PORT_ACTIVE)
      break;
    states += str(states.empty() ? "" : ", ", "port ", port, " is ",
                  portAttr.state == IBV_PORT_DOWN ? "down" : "not active");
  }
  if (port > ports)
    return error(StatusCode::FailedPrecondition, "NIC ", name(), ": ", states,
                 ": check cable, switch and subnet manager (ibv_devinfo)");
  if (chosen.mbits == 0)
    chosen.mbits = portSpeed(portAttr);
  if (options.pkey >= std::max<uint32_t>(portAttr.pkey_tbl_len, 1))
    return error(StatusCode::InvalidArgument, "NIC ", name(), " has no partition key ",
                 options.pkey, "; port ", port, " has ", portAttr.pkey_tbl_len,
                 ", from 0 (option pkey=INDEX)");
  mtu = mtuBytes(portAttr.active_mtu);
  if (options.mtu > mtu)
    return error(StatusCode::InvalidArgument, "option mtu=", options.mtu,
                 ": the port of NIC ", name(), " has ", mtu);
  if (options.mtu)
    mtu = options.mtu;
  return {};
}

Status Nic::findGid(const Options &options) {
  bool roce = kind == NicKind::Verbs &&
              portAttr.link_layer == IBV_LINK_LAYER_ETHERNET;
  gidIndex = std::max(options.gid, 0);
  if (roce && options.gid < 0 && library.query_gid_ex) {
    int best = -1;
    for (int i = 0; i < portAttr.gid_tbl_len; ++i) {
      ibv_gid_entry entry{};
      if (library.query_gid_ex(context, port, static_cast<uint32_t>(i), &entry, 0,
                               sizeof(entry)))
        continue; // an empty place
      int rank = rankOfGid(entry);
      if (rank >= 0 && (best < 0 || rank < best)) {
        best = rank;
        gidIndex = i;
      }
    }
    if (best < 0)
      return error(StatusCode::FailedPrecondition, "NIC ", name(),
                   " has no GID of RoCE v2 among ", portAttr.gid_tbl_len,
                   ": give its interface an IP address (show_gids, ip addr), or "
                   "choose another kind with the option gid=INDEX");
  }
  if (library.query_gid(context, static_cast<uint8_t>(port), gidIndex, &gid))
    return error(StatusCode::InvalidArgument, "NIC ", name(), " has no GID ",
                 gidIndex, "; port ", port, " has ", portAttr.gid_tbl_len,
                 " (option gid=INDEX)");
  return {};
}

Status Nic::registerSignals() {
  sinkMemory = std::make_unique<std::byte[]>(kSinkBytes);
  sourceMemory = std::make_unique<std::byte[]>(kSinkBytes);
  // A parenthesized name: ibv_reg_mr is a macro, this is a member.
  sink = (library.reg_mr)(pd, sinkMemory.get(), kSinkBytes,
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (sink)
    source = (library.reg_mr)(pd, sourceMemory.get(), kSinkBytes, 0);
  if (!source)
    return error(StatusCode::ResourceExhausted, "NIC ", name(), " cannot register ", kSinkBytes,
                 " bytes for signals: ", registrationError(errno));
  return {};
}

Status Nic::createCq(uint32_t entries) {
  ibv_cq_init_attr_ex attr{};
  attr.cqe = entries;
  attr.channel = channel;
  attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
                  IBV_WC_EX_WITH_QP_NUM;
  errno = 0;
  if (kind == NicKind::Efa) {
    attr.wc_flags |= IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID;
    efadv_cq_init_attr efaAttr{};
    cq = library.efa.create_cq(context, &attr, &efaAttr, sizeof(efaAttr));
  } else if (verbs_context *verbs = verbs_get_ctx_op(context, create_cq_ex)) {
    cq = verbs->create_cq_ex(context, &attr);
  } else {
    errno = EOPNOTSUPP;
  }
  if (!cq)
    return error(StatusCode::ResourceExhausted, "NIC ", name(), " has no completion queue of ",
                 entries, " entries (the device allows ", maxCq(),
                 "): ", registrationError(errno));
  return {};
}

NicEndpoint Nic::endpoint() const {
  NicEndpoint e;
  e.name = chosen.name;
  e.kind = kind;
  e.link = linkName(portAttr.link_layer);
  e.mbits = chosen.mbits;
  e.mtu = mtu;
  e.lid = portAttr.lid;
  e.grh = portAttr.flags & IBV_QPF_GRH_REQUIRED;
  std::memcpy(e.gid.data(), gid.raw, sizeof(gid.raw));
  e.sinkAddress = reinterpret_cast<uint64_t>(sinkMemory.get());
  e.sinkKey = sink->rkey;
  return e;
}

std::string Nic::failure(ibv_wc_status status, uint32_t vendorError) const {
  return str("NIC ", name(), " (", library.wc_status_str(status), ", status ",
             int(status), ", vendor error ", vendorError, ")");
}

Nic::~Nic() {
  if (events)
    library.ack_cq_events(reinterpret_cast<ibv_cq *>(cq), events);
  if (cq)
    library.destroy_cq(reinterpret_cast<ibv_cq *>(cq));
  for (ibv_mr *mr : {sink, source})
    if (mr)
      library.dereg_mr(mr);
  if (channel)
    library.destroy_comp_channel(channel);
  if (pd)
    library.dealloc_pd(pd);
  if (context)
    library.close_device(context);
}

} // namespace mk::rt::rdma
