//===- DriverLink.cpp - Sockets to the machine ----------------------------===//

#include "Driver.h"

#include <cstdlib>
#include <sys/un.h>

namespace mk::ptx::driver {

std::mutex guard;
int gpus = 1, device = 0;

namespace {

int machine = -1; // the socket
// What is in streams of a priority is the proxy's: it has a socket of its own, since others
// wait for launches that wait for the proxy.
std::mutex proxyGuard;
int proxySocket = -1;

bool connect(int &to) {
  const char *path = std::getenv(kSocket);
  const char *count = std::getenv(kGpus);
  if (!path)
    return false;
  gpus = count ? std::atoi(count) : 1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
  to = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  return ::connect(to, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0;
}

} // namespace

bool connect() { return machine >= 0 || connect(machine); }

int ask(const Request &request, int file, Answer *out) {
  Answer answer;
  int none = -1;
  if (machine < 0 || !sendMessage(machine, request, file) ||
      !receiveMessage(machine, answer, none))
    return kLost;
  if (out)
    *out = answer;
  return answer.code;
}
int ask(Request::Kind kind, uint64_t a, uint64_t b, int file) {
  Request request;
  request.kind = kind;
  request.a = a;
  request.b = b;
  return ask(request, file);
}

int askAsProxy(Request::Kind kind, uint64_t a, uint64_t b, uint64_t c,
               const void *data, void *result) {
  std::lock_guard lock(proxyGuard);
  Answer answer;
  int none = -1;
  auto exchange = [&](const Request &request, int file) {
    return sendMessage(proxySocket, request, file) &&
                   receiveMessage(proxySocket, answer, none)
               ? answer.code
               : kLost;
  };
  if (proxySocket < 0) {
    if (!connect(proxySocket))
      return kLost;
    Request hello;
    hello.a = uint64_t(device);
    hello.b = 1;
    if (int code = exchange(hello, -1))
      return code;
  }
  Request request;
  request.kind = kind;
  request.a = a;
  request.b = b;
  request.c = c;
  int file = data || result ? memoryFile(data, c) : -1;
  int code = exchange(request, file);
  if (result && !code && ::pread(file, result, c, 0) != ssize_t(c))
    code = kLost;
  if (file >= 0)
    ::close(file);
  return code;
}

int waitForAll() { return ask(Request::Wait, 0, 0); }

} // namespace mk::ptx::driver
