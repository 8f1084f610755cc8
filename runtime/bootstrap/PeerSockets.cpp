//===- PeerSockets.cpp - Local connections between ranks ------------------===//
//
// Of two ranks the lower one connects. Every rank publishes its listener before
// it waits for anybody, and a connection completes without the other side's
// help, so no order of ranks can block.
//
//===----------------------------------------------------------------------===//

#include "bootstrap/PeerSockets.h"
#include "mkernel/Runtime/Digest.h"
#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Store.h"

#include <algorithm>
#include <cstring>
#include <poll.h>

namespace mk::rt {
namespace {

constexpr size_t kSecretBytes = 32;

std::string keyOf(std::string_view scope, uint32_t rank) {
  return str("peers/", scope, "/", rank);
}

/// Rank of the process at the other end of `fd`, from its first packet.
Result<uint32_t> readHello(int fd, std::string_view secret) {
  // Short: the packet is sent right after the connection is made, and a
  // stranger must not hold up the job.
  MK_ASSIGN(Packet hello,
            receivePacket(fd, 64, Deadline::after(std::chrono::seconds(2)),
                          "the hello of a rank"));
  Digest got{}, want{};
  uint32_t rank;
  if (hello.bytes.size() != kSecretBytes + sizeof(rank))
    return error(StatusCode::PermissionDenied, "malformed hello");
  memcpy(got.data(), hello.bytes.data(), kSecretBytes);
  memcpy(want.data(), secret.data(), kSecretBytes);
  if (!equalDigests(got, want))
    return error(StatusCode::PermissionDenied, "wrong secret");
  memcpy(&rank, hello.bytes.data() + kSecretBytes, sizeof(rank));
  return rank;
}

} // namespace

Result<std::vector<Fd>> connectPeers(StoreClient &store, std::string_view scope,
                                     uint32_t rank,
                                     std::span<const uint32_t> peers,
                                     const Deadline &deadline) {
  std::string suffix = randomBytes(16);
  std::string name =
      str("mkernel-",
          toHex({reinterpret_cast<const uint8_t *>(suffix.data()), 16}));
  std::string secret = randomBytes(kSecretBytes);
  MK_ASSIGN(Fd listener, listenLocal(name));
  MK_TRY(store.set(keyOf(scope, rank), secret + name, deadline));

  std::vector<Fd> sockets(peers.size());
  size_t toAccept = 0;
  for (size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] < rank) {
      ++toAccept;
      continue;
    }
    Result<std::string> address = store.get(keyOf(scope, peers[i]), deadline);
    if (!address)
      return address.status().withContext(
          str("rank ", peers[i], " did not publish its socket"));
    if (address->size() <= kSecretBytes)
      return error(StatusCode::Internal, "rank ", peers[i],
                   " published a malformed socket name");
    auto socket = connectLocal(address->substr(kSecretBytes), deadline);
    if (!socket)
      return socket.status().withContext(str("connecting to rank ", peers[i]));
    std::string hello = address->substr(0, kSecretBytes);
    hello.append(reinterpret_cast<const char *>(&rank), sizeof(rank));
    MK_TRY(sendPacket(socket->get(), hello, -1, deadline,
                      str("hello to rank ", peers[i])));
    sockets[i] = std::move(*socket);
  }

  while (toAccept > 0) {
    // In slices, so that an abort of the job ends the wait.
    Deadline slice = Deadline::after(std::min<std::chrono::nanoseconds>(
        deadline.left(), std::chrono::milliseconds(100)));
    Status ready = waitReady(listener.get(), POLLIN, slice, "a connection");
    if (auto record = store.aborted())
      return record->toStatus();
    if (deadline.passed()) {
      std::string missing;
      for (size_t i = 0; i < peers.size(); ++i)
        if (!sockets[i])
          missing += str(missing.empty() ? "" : ", ", peers[i]);
      return error(StatusCode::DeadlineExceeded, "waited ", deadline.duration(),
                   " for connections of rank(s) ", missing);
    }
    if (!ready)
      continue;
    Result<Fd> socket = acceptLocal(listener.get());
    if (!socket && socket.status().code() == StatusCode::Again)
      continue;
    if (!socket && socket.status().code() != StatusCode::PermissionDenied)
      return socket.status();
    Status refused = socket.status();
    if (socket) {
      Result<uint32_t> from = readHello(socket->get(), secret);
      auto at =
          from ? std::find(peers.begin(), peers.end(), *from) : peers.end();
      if (!from)
        refused = from.status();
      else if (at == peers.end() || sockets[at - peers.begin()])
        refused = error(StatusCode::PermissionDenied, "rank ", *from,
                        " is not expected");
      else {
        sockets[at - peers.begin()] = std::move(*socket);
        --toAccept;
      }
    }
    if (!refused)
      log::warn("refused a local connection: ", refused.message());
  }
  return sockets;
}

} // namespace mk::rt
