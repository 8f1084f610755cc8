//===- Control.h - Sockets beside the queue pairs ---------------*- C++ -*-===//
//
// A TCP connection to each peer. It says what queue pairs cannot: that a rank
// is there though nothing is under way, that it leaves in peace, that it has failed and why, that a path is out of use; and its
// end tells of a rank that died. Of two ranks the lower one connects; address and
// secret of the listener came through the store.
//
// One thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_CONTROL_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_CONTROL_H

#include "core/Socket.h"

#include <chrono>
#include <functional>
#include <span>
#include <vector>

namespace mk::rt {
class StoreClient;
}

namespace mk::rt::rdma {

struct ControlMessage {
  enum Kind : uint32_t {
    Goodbye = 1, // nothing of mine is under way to you, nor will be
    Failed,      // text: why
    PathDown, // path, count: I do not use it any more, nor must you; I have had so
              // many immediates over it, and take no more
    Stuck,    // text: what of my requests has stood still; empty: nothing any more
    Alive,    // sent all the time, so that silence means something
  };
  uint32_t kind = 0, path = 0;
  uint64_t count = 0;
  std::string text;
};

class Control {
public:
  struct Address {
    uint32_t rank = 0;
    std::string endpoint, secret;
  };

  /// Listens on the numeric address.
  Status listen(const std::string &address);
  /// For the peers' Address.
  std::string endpoint() const { return endpoint_; }
  const std::string &secret() const { return secret_; }

  /// Meets all peers, and closes the listener. An abort of the job ends the wait.
  Status connect(StoreClient &store, std::string_view scope, uint32_t rank,
                 std::span<const Address> peers, Deadline deadline);

  struct Link {
    uint32_t peer = 0;
    Fd socket;
    bool open = true, goodbye = false;
    std::chrono::steady_clock::time_point heard{}; // when anything came
    std::string in, out; // not a whole message; not taken by the socket
  };
  /// In the order of connect().
  std::vector<Link> &links() { return links_; }

  /// Never blocks. What the socket does not take waits for flush().
  void send(Link &link, const ControlMessage &message);
  void broadcast(const ControlMessage &message);
  void flush(Link &link);
  /// Calls `handle` for what has come. False: the connection has ended, or what
  /// came makes no sense; the link is closed.
  bool receive(Link &link,
               const std::function<void(const ControlMessage &)> &handle);

private:
  Result<size_t> admit(Fd socket, std::string_view scope,
                       std::span<const Address> peers);

  Fd listener_;
  std::string endpoint_, secret_;
  std::vector<Link> links_;
};

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_CONTROL_H
