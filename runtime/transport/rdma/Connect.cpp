//===- Connect.cpp - Meeting the peers ------------------------------------===//

#include "transport/rdma/Rdma.h"

#include "mkernel/Runtime/Digest.h"
#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/epoll.h>
#include <unistd.h>

namespace mk::rt::rdma {
namespace {

/// The same for all processes that see the same NICs.
std::string machineName() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  char net[64] = "";
  ssize_t n = ::readlink("/proc/self/ns/net", net, sizeof(net));
  return name + "/" + std::string(net, static_cast<size_t>(std::max<ssize_t>(n, 0)));
}

} // namespace

Rdma::Rdma(TransportConfig config, NicKind kind, Options options,
           Library library)
    : Transport(std::move(config)), kind_(kind), options_(std::move(options)),
      library_(library) {}

Status Rdma::doConnect(StoreClient &store, std::span<const uint32_t> peers,
                       Deadline deadline) {
  MK_ASSIGN(waker_, makeWaker());
  std::string address = options_.address;
  if (address.empty()) {
    MK_ASSIGN(address, store.localAddress());
  }
  MK_TRY(control_.listen(address));
  if (nics_.empty())
    MK_TRY(openNics(store, deadline));
  MK_TRY(meetPeers(store, peers, deadline));
  MK_TRY(makePaths(peers));
  MK_TRY(joinPaths(store, peers, deadline));

  std::vector<Control::Address> addresses;
  for (uint32_t peer : peers) {
    const RankEndpoint &e = peers_.at(peer).endpoint;
    addresses.push_back({peer, e.control, e.secret});
  }
  // Nobody sends before everybody can receive.
  MK_TRY(store.set(key("joined", heap().rank()), "1", deadline));
  for (uint32_t peer : peers)
    MK_TRY(store.get(key("joined", peer), deadline).status());
  MK_TRY(control_.connect(store, config().scope, heap().rank(), addresses,
                          deadline));
  for (Control::Link &link : control_.links())
    peers_.at(link.peer).control = &link;
  MK_TRY(watchFds());
  for (uint32_t peer : peers) {
    const RankEndpoint &e = peers_.at(peer).endpoint;
    setPeerWindow(peer, e.begin, e.end, static_cast<uint32_t>(e.slots));
  }
  MK_TRY(heap().onSegment([this, &store](uint64_t offset, uint64_t bytes) {
    return shareSegment(store, offset, bytes);
  }));
  {
    std::lock_guard lock(mutex_);
    connected_ = true;
  }
  log::info(describe());
  return {};
}

/// Ranks of one machine divide its NICs, by their GPUs if they have some.
Status Rdma::openNics(StoreClient &store, Deadline deadline) {
  uint32_t rank = heap().rank(), world = heap().world();
  std::string own = machineName();
  MK_TRY(store.set(key("machine", rank), str(own, "\n", config().gpu), deadline));
  NicUser user;
  user.gpus.clear();
  for (uint32_t r = 0; r < world; ++r) {
    MK_ASSIGN(std::string machine, store.get(key("machine", r), deadline));
    size_t line = machine.find('\n');
    if (std::string_view(machine).substr(0, line) != own)
      continue;
    user.localRank += r < rank;
    user.gpus.push_back(line == machine.npos ? "" : machine.substr(line + 1));
  }
  MK_ASSIGN(std::vector<ChosenNic> chosen,
            chooseNics(library_, kind_, options_, user));
  Status first;
  for (const ChosenNic &choice : chosen) {
    Result<std::unique_ptr<Nic>> nic =
        Nic::open(library_, kind_, choice, options_);
    if (nic) {
      nics_.push_back(std::move(*nic));
      continue;
    }
    if (first.isOk())
      first = nic.status();
    if (chosen.size() > 1)
      log::warn(name(), " transport: left out: ", nic.status().message());
  }
  return nics_.empty() ? first : Status::success();
}

Status Rdma::meetPeers(StoreClient &store, std::span<const uint32_t> peers,
                       Deadline deadline) {
  RankEndpoint own;
  own.rank = heap().rank();
  own.transport = name();
  own.generation = config().generation;
  own.qps = options_.qps;
  own.begin = heap().dataOffset();
  own.end = heap().bytes();
  own.slots = heap().slots();
  own.base = reinterpret_cast<uint64_t>(heap().base());
  own.control = control_.endpoint();
  own.secret = control_.secret();
  for (const auto &nic : nics_)
    own.nics.push_back(nic->endpoint());
  MK_TRY(store.set(key("rank", own.rank), own.encode(), deadline));
  // Both ends list their paths in the order of the lower rank's NICs.
  for (uint32_t peer : peers) {
    Result<std::string> bytes = store.get(key("rank", peer), deadline);
    if (!bytes)
      return bytes.status().withContext(
          str("rank ", peer, " did not publish its NICs"));
    PeerLink &link = peers_[peer];
    MK_ASSIGN(link.endpoint, RankEndpoint::decode(*bytes, peer));
    MK_TRY(checkAgreement(own, link.endpoint));
    link.code = ImmediateCode(static_cast<uint32_t>(own.slots));
    bool lower = own.rank < peer;
    NodeNics local = own.rails(), remote = link.endpoint.rails();
    auto pairs = lower ? stripes(local, 0, remote, 0) : stripes(remote, 0, local, 0);
    if (!pairs)
      return pairs.status().withContext(
          str("ranks ", own.rank, " and ", peer));
    for (const Stripe &pair : *pairs)
      for (uint32_t i = 0; i < options_.qps; ++i) {
        Path &path = paths_.emplace_back();
        path.peer = peer;
        path.index = static_cast<uint32_t>(link.paths.size());
        path.nic = lower ? pair.from : pair.to;
        path.remoteNic = lower ? pair.to : pair.from;
        path.share = std::max(pair.fraction / options_.qps, 1e-6);
        link.paths.push_back(&path);
      }
  }
  return {};
}

/// Completion queues and queue pairs of this end.
Status Rdma::makePaths(std::span<const uint32_t>) {
  for (Path &path : paths_)
    ++loads_[&nicOf(path)].paths;
  for (const auto &nic : nics_) {
    NicLoad &load = loads_[nic.get()];
    if (load.paths == 0)
      continue; // no peer has a counterpart for it
    bool efa = kind_ == NicKind::Efa;
    uint64_t most = efa ? nic->efa.max_sq_wr : uint64_t(std::max(nic->device.max_qp_wr, 1));
    load.depth = static_cast<uint32_t>(std::min<uint64_t>(options_.depth, std::max<uint64_t>(most, 1)));
    uint64_t sends = uint64_t(load.depth) * (efa ? 1 : load.paths);
    uint64_t room = nic->maxCq() > sends ? (nic->maxCq() - sends) / load.paths : 0;
    // RC queue pairs have receives of their own; without unsolicited ones those of
    // SRD share a queue.
    uint64_t receives = efa ? nic->efa.max_rq_wr / load.paths : most;
    room = std::min(room, receives);
    if (room < 16 + kCreditReserve)
      return rt::error(StatusCode::ResourceExhausted, "NIC ", nic->name(),
                   " is too small for ", load.paths, " paths: its completion queue holds ",
                   nic->maxCq(), " entries, its receive queues ", receives, " for a path, and ",
                   sends, " requests may be in flight: use a smaller depth or qps");
    load.window = static_cast<uint32_t>(
        std::min<uint64_t>(options_.signals, room - kCreditReserve));
    MK_TRY(nic->createCq(static_cast<uint32_t>(
        sends + uint64_t(load.paths) * (load.window + kCreditReserve))));
  }
  for (Path &path : paths_) {
    path.local.window = loads_.at(&nicOf(path)).window;
    MK_TRY(openPath(path));
  }
  return {};
}

Status Rdma::joinPaths(StoreClient &store, std::span<const uint32_t> peers,
                       Deadline deadline) {
  auto pairKey = [&](uint32_t from, uint32_t to) {
    return str(key("paths", from), "/", to);
  };
  for (uint32_t peer : peers) {
    std::vector<PathEndpoint> own;
    for (const Path *path : peers_.at(peer).paths)
      own.push_back(path->local);
    MK_TRY(store.set(pairKey(heap().rank(), peer), encodePaths(own), deadline));
  }
  for (uint32_t peer : peers) {
    PeerLink &link = peers_.at(peer);
    MK_ASSIGN(std::string bytes, store.get(pairKey(peer, heap().rank()), deadline));
    MK_ASSIGN(std::vector<PathEndpoint> theirs,
              decodePaths(bytes, peer, link.paths.size()));
    for (size_t i = 0; i < theirs.size(); ++i) {
      Path &path = *link.paths[i];
      path.remote = theirs[i];
      path.credits = theirs[i].window;
      MK_TRY(joinPath(path, link.endpoint.nics[path.remoteNic]));
    }
  }
  return {};
}

Status Rdma::shareSegment(StoreClient &store, uint64_t offset, uint64_t bytes) {
  Deadline deadline = Deadline::after(options_.deadline);
  uint32_t number = segments_++;
  SegmentEndpoint own{offset, bytes, {}, {}};
  Status status;
  {
    std::lock_guard lock(mutex_);
    if (!memory_)
      memory_ = std::make_unique<Memory>(heap(), options_.relaxed);
    Result<Segment> added = memory_->add(nics_, offset, bytes);
    status = added.status();
    if (added) {
      own.offset = added->offset;
      own.bytes = added->bytes;
      own.keys = added->remoteKeys;
      own.keys.resize(nics_.size());
    } else {
      own.failure = status.message();
    }
  }
  // Also a failure: peers wait for it.
  std::string what = str("memory", number);
  MK_TRY(store.set(key(what, heap().rank()), own.encode(), deadline));
  MK_TRY(status);
  for (auto &[peer, link] : peers_) {
    MK_ASSIGN(std::string answer, store.get(key(what, peer), deadline));
    MK_ASSIGN(SegmentEndpoint theirs,
              SegmentEndpoint::decode(answer, peer, link.endpoint.nics.size()));
    if (theirs.bytes == 0)
      continue;
    std::lock_guard lock(mutex_);
    link.memory.add({theirs.offset, theirs.bytes,
                     link.endpoint.base + theirs.offset, {},
                     std::move(theirs.keys)});
  }
  return {};
}

Status Rdma::reaches(StoreClient &store, Deadline deadline) {
  MK_TRY(openNics(store, deadline));
  Memory memory(heap(), options_.relaxed);
  Status status = memory.add(nics_, 0, heap().backed()).status();
  memory.clear();
  return status;
}

std::vector<std::string> Rdma::nics() const {
  std::vector<std::string> names;
  for (const auto &nic : nics_)
    names.push_back(nic->name());
  return names;
}

std::string Rdma::path() const {
  std::string names;
  for (const auto &nic : nics_)
    names += str(names.empty() ? "" : ", ", nic->name());
  std::lock_guard lock(mutex_);
  return str("by ", names, "; memory ",
             memory_ ? str("registered ", memory_->how()) : "not registered yet");
}

std::string Rdma::describe() const {
  std::string out = str(name(), " transport of rank ", heap().rank(), ":");
  for (const auto &nic : nics_)
    out += str(" ", nic->name(), " (port ", nic->port, ", GID ", nic->gidIndex,
               ", MTU ", nic->mtu, ")");
  std::lock_guard lock(mutex_);
  auto down = std::count_if(paths_.begin(), paths_.end(),
                            [](const Path &path) { return !path.up; });
  return out + str("; memory ", memory_ ? memory_->how() : "none so far", "; ",
                   paths_.size(), paths_.size() == 1 ? " path to " : " paths to ",
                   peers_.size(), peers_.size() == 1 ? " peer" : " peers",
                   down ? str(", ", down, " out of use") : std::string());
}

} // namespace mk::rt::rdma
