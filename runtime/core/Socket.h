//===- Socket.h - Descriptors, packets, waiting on them ---------*- C++ -*-===//
//
// Sockets of the runtime are non-blocking and close-on-exec; whoever waits on
// one has a deadline. Local ones are SOCK_SEQPACKET in the abstract namespace,
// which has no files to leave behind; since any process of the machine may
// connect there, both ends check each other's user.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_CORE_SOCKET_H
#define MKERNEL_RUNTIME_CORE_SOCKET_H

#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Status.h"

namespace mk::rt {

/// Owns a file descriptor.
class Fd {
public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd &&other) noexcept : fd_(other.release()) {}
  Fd &operator=(Fd &&other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

private:
  int fd_ = -1;
};

/// An eventfd for waking a poll loop.
Result<Fd> makeWaker();
void wake(const Fd &waker);
void clearWaker(const Fd &waker);

/// Waits for `events` (POLLIN, POLLOUT); hang-up and error count as ready.
/// `what` completes "waited 5 s for ...".
Status waitReady(int fd, short events, const Deadline &deadline,
                 std::string_view what);

/// Listens on the abstract name (without its leading zero byte).
Result<Fd> listenLocal(std::string_view name);
/// Connects to it and checks that its owner is this user.
Result<Fd> connectLocal(std::string_view name, const Deadline &deadline);
/// Accepts one connection; Again when none is waiting. PermissionDenied: a
/// process of another user was there and was disconnected.
Result<Fd> acceptLocal(int listener);

/// Sends one packet, with a descriptor unless `passed` is negative.
Status sendPacket(int fd, std::string_view bytes, int passed,
                  const Deadline &deadline, std::string_view what);

struct Packet {
  std::string bytes; // empty: the other side closed
  Fd fd;
};
/// Receives one packet of at most `maxBytes`.
Result<Packet> receivePacket(int fd, size_t maxBytes, const Deadline &deadline,
                             std::string_view what);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_CORE_SOCKET_H
