//===- Nic.cpp - The thread and the wire of a software NIC ----------------===//

#include "Nic.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace soft {
namespace {

std::mutex registryMutex;
std::vector<Nic *> registry;

socklen_t address(sockaddr_un &a, const std::string &name) {
  memset(&a, 0, sizeof a);
  a.sun_family = AF_UNIX;
  size_t n = std::min(name.size(), sizeof a.sun_path - 1);
  memcpy(a.sun_path + 1, name.data(), n);
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + n);
}

/// A listening socket of that name, or -1 where the name is taken.
int listenAt(const std::string &name) {
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_un a;
  socklen_t length = address(a, name);
  if (fd >= 0 && !bind(fd, reinterpret_cast<sockaddr *>(&a), length) &&
      !listen(fd, 128))
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

std::string endpointName(const std::string &job, uint64_t to) {
  char digits[32];
  snprintf(digits, sizeof digits, "%llx", (unsigned long long)to);
  return "mk-softrdma/" + job + "/" + digits;
}

} // namespace

std::vector<Nic *> allNics() {
  std::lock_guard lock(registryMutex);
  return registry;
}

uint64_t endpoint(const ibv_gid &gid, uint32_t qpn) {
  uint64_t device =
      uint64_t(gid.raw[13]) << 16 | gid.raw[14] << 8 | gid.raw[15];
  return device << (24 - kQpBits) | qpn >> kQpBits;
}

#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize_thread, noinline))
#endif
void dma(void *to, const void *from, size_t bytes) {
#if defined(__SANITIZE_THREAD__)
  auto *t = static_cast<volatile char *>(to);
  auto *f = static_cast<const volatile char *>(from);
  // Not memcpy(), which TSan looks into.
  bool aligned = (uintptr_t(to) | uintptr_t(from)) % sizeof(uint64_t) == 0;
  for (; aligned && bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t)) {
    *reinterpret_cast<volatile uint64_t *>(t) =
        *reinterpret_cast<const volatile uint64_t *>(f);
    t += sizeof(uint64_t), f += sizeof(uint64_t);
  }
  while (bytes--)
    *t++ = *f++;
#else
  memcpy(to, from, bytes);
#endif
}

// Index 0 and 1 are the link-local address, 2 and 3 the IPv4 address, each as
// RoCE v1 and v2. Other kinds have one entry.
ibv_gid Nic::gid(uint32_t index) const {
  ibv_gid g{};
  if (index >= (device->spec.kind == Kind::Roce ? 4u : 1u))
    return g;
  if (index < 2) {
    g.raw[0] = 0xfe, g.raw[1] = 0x80;
    g.raw[8] = 2, g.raw[11] = 0xff, g.raw[12] = 0xfe;
  } else {
    g.raw[10] = g.raw[11] = 0xff, g.raw[12] = 10;
  }
  g.raw[13] = uint8_t(knobs.node >> 8), g.raw[14] = uint8_t(knobs.node);
  g.raw[15] = uint8_t(device->index + 1);
  return g;
}

uint32_t Nic::gidType(uint32_t index) const {
  if (device->spec.kind != Kind::Roce)
    return kGidIb;
  return index % 2 ? kGidRoceV2 : kGidRoceV1;
}

bool Nic::open() {
  for (int i = 0, n = victims(); i < n && n < 4096 && token < 0; ++i)
    token =
        listenAt("mk-softrdma/" + knobs.job + "/victim" + std::to_string(i));
  if (victims() < 4096 && token < 0)
    knobs = knobs.healthy();
  std::random_device entropy;
  contextId = entropy() & 0xfff;
  for (int tries = 0; listener < 0 && tries < 4096; ++tries)
    listener = listenAt(endpointName(
        knobs.job, endpoint(gid(0), (++contextId &= 0xfff) << kQpBits)));
  if (listener < 0)
    return false;
  nextKey = entropy() & 0x7fffff00;
  wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  int pipes[2];
  if (wakeup < 0 || pipe2(pipes, O_CLOEXEC))
    return false;
  fcntl(pipes[1], F_SETFL, O_NONBLOCK);
  context()->async_fd = pipes[0];
  asyncWrite = pipes[1];
  {
    std::lock_guard lock(registryMutex);
    random.seed(knobs.seed * 1000 + registry.size());
    registry.push_back(this);
  }
  thread = std::thread([this] { run(); });
  return true;
}

void Nic::close() {
  stop = true;
  wake();
  thread.join();
  {
    std::lock_guard lock(registryMutex);
    std::erase(registry, this);
  }
  // A NIC acknowledges at once; here that may still lie in the queue.
  for (; !events.empty() && !dead; events.pop())
    if (events.top().packet.type != PacketType::Data)
      transmit(events.top().packet, nullptr);
  for (int i = 0; i < 100; ++i) {
    flushLinks();
    if (std::all_of(links.begin(), links.end(),
                    [](auto &l) { return l.second.waiting.empty(); }))
      break;
    usleep(1000);
  }
  for (auto &[to, l] : links)
    ::close(l.fd);
  for (int fd : inbound)
    ::close(fd);
  for (int fd : {listener, wakeup, asyncWrite, context()->async_fd, token})
    if (fd >= 0)
      ::close(fd);
}

void Nic::wake() {
  uint64_t one = 1;
  if (::write(wakeup, &one, sizeof one) < 0) {
  }
}

void Nic::run() {
  while (!stop) {
    std::vector<pollfd> fds{{listener, POLLIN, 0}, {wakeup, POLLIN, 0}};
    Clock::time_point until;
    {
      std::lock_guard lock(mutex);
      for (int fd : inbound)
        fds.push_back({fd, POLLIN, 0});
      for (auto &[to, l] : links)
        if (!l.waiting.empty())
          fds.push_back({l.fd, POLLOUT, 0});
      until = nextDeadline(Clock::now());
    }
    auto left = std::max(std::chrono::nanoseconds(0),
                         std::chrono::nanoseconds(until - Clock::now()));
    timespec t{0, std::min<long>(left.count(), 50'000'000)};
    ppoll(fds.data(), fds.size(), &t, nullptr);
    uint64_t count;
    if (read(wakeup, &count, sizeof count) < 0) {
    }
    std::lock_guard lock(mutex);
    acceptAll();
    receiveAll();
    flushLinks();
    auto now = Clock::now();
    // Not for ever: others want the lock.
    for (int n = 0; n < 64 && !events.empty() && events.top().time <= now;
         ++n) {
      Event e = events.top();
      events.pop();
      if (e.rcQpn) {
        auto qp = qps.find(e.rcQpn);
        if (qp != qps.end())
          tickRc(qp->second);
      } else if (dead) {
      } else if (e.packet.type == PacketType::Data) {
        sendSrd(e);
      } else {
        transmit(e.packet, nullptr);
      }
    }
    expireSrd(now);
    expireRc(now);
    failOverrun();
  }
}

Clock::time_point Nic::nextDeadline(Clock::time_point now) {
  auto until = now + std::chrono::milliseconds(50);
  if (!messages.empty() || !qps.empty())
    until = now + std::chrono::milliseconds(2); // time limits
  if (!events.empty())
    until = std::min(until, events.top().time);
  return until;
}

void Nic::acceptAll() {
  int fd;
  while ((fd = accept4(listener, nullptr, nullptr,
                       SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
    inbound.push_back(fd);
}

void Nic::receiveAll() {
  static thread_local std::vector<char> buffer(sizeof(Packet) + 65536);
  for (size_t i = 0; i < inbound.size(); ++i)
    for (int n = 0; n < 64; ++n) {
      ssize_t got = recv(inbound[i], buffer.data(), buffer.size(), 0);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        ::close(inbound[i]);
        inbound.erase(inbound.begin() + ptrdiff_t(i--));
        break;
      }
      if (got < ssize_t(sizeof(Packet)))
        break;
      Packet packet;
      memcpy(&packet, buffer.data(), sizeof packet);
      if (!dead)
        handle(packet, buffer.data() + sizeof packet);
      handled.fetch_add(1);
    }
}

void Nic::handle(const Packet &packet, const char *payload) {
  if (packet.type == PacketType::Ack)
    acknowledgeSrd(packet);
  else if (packet.type != PacketType::Data)
    acknowledgeRc(packet);
  else if (packet.rc)
    receiveRc(packet, payload);
  else
    receiveSrd(packet, payload);
}

Link *Nic::link(uint64_t to) {
  auto found = links.find(to);
  if (found != links.end())
    return &found->second;
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int size = 1 << 20;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  sockaddr_un a;
  socklen_t length = address(a, endpointName(knobs.job, to));
  if (connect(fd, reinterpret_cast<sockaddr *>(&a), length)) {
    ::close(fd);
    return nullptr;
  }
  return &(links[to] = Link{fd, {}});
}

// What cannot be delivered is dropped, as on a network: time limits notice.
void Nic::transmit(const Packet &packet, const void *payload) {
  std::vector<char> bytes(sizeof packet + packet.bytes);
  memcpy(bytes.data(), &packet, sizeof packet);
  if (packet.bytes)
    dma(bytes.data() + sizeof packet, payload, packet.bytes);
  if (packet.bytes && knobs.breakage == Break::Corrupt && random() % 50 == 0)
    bytes[sizeof packet + random() % packet.bytes] ^= 0x10;
  Link *l = link(packet.route);
  if (!l)
    return;
  if (l->waiting.empty()) {
    if (send(l->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) {
      sent.fetch_add(1);
      return;
    }
    if (errno != EAGAIN) {
      ::close(l->fd);
      links.erase(packet.route);
      return;
    }
  }
  l->waiting.push_back(std::move(bytes));
}

void Nic::flushLinks() {
  for (auto l = links.begin(); l != links.end();) {
    auto &waiting = l->second.waiting;
    bool gone = false;
    while (!waiting.empty() && !gone) {
      auto &bytes = waiting.front();
      if (send(l->second.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) {
        sent.fetch_add(1);
        waiting.pop_front();
      } else if (errno == EAGAIN) {
        break;
      } else {
        gone = true;
      }
    }
    if (gone)
      ::close(l->second.fd), l = links.erase(l);
    else
      ++l;
  }
}

std::chrono::nanoseconds Nic::jitter() {
  uint64_t range = uint64_t(knobs.jitter) * 1000;
  return std::chrono::nanoseconds(uint64_t(knobs.delay) * 1000 +
                                  (range ? random() % range : 0));
}

void Nic::schedule(Event event, std::chrono::nanoseconds after) {
  event.time = Clock::now() + after;
  event.order = eventOrder++;
  if (paused && event.data)
    held.push_back(std::move(event));
  else
    events.push(std::move(event));
}

void Nic::reply(const Packet &to, PacketType type, uint32_t status,
                uint64_t number) {
  Event e{};
  Packet &p = e.packet;
  p.type = type;
  p.rc = to.rc;
  p.number = number;
  p.status = status;
  p.psn = to.psn;
  p.sgid = gid(0);
  p.sqpn = to.dqpn, p.dqpn = to.sqpn;
  p.route = endpoint(to.sgid, to.sqpn);
  schedule(std::move(e), jitter());
}

Mr *Nic::local(const Wqe &w, const Qp *qp) {
  auto found = mrs.find(w.lkey);
  if (found == mrs.end())
    return nullptr;
  Mr *mr = found->second;
  if (mr->pd != qp->pd || w.local < mr->iova ||
      w.local - mr->iova > mr->length ||
      w.bytes > mr->length - (w.local - mr->iova))
    return nullptr;
  return mr;
}

Mr *Nic::remote(const Packet &p, const Qp *qp) {
  auto found = mrs.find(p.rkey);
  if (found == mrs.end())
    return nullptr;
  Mr *mr = found->second;
  if (mr->pd != qp->pd || !(mr->access & kAccessRemoteWrite) ||
      p.remote < mr->iova || p.remote - mr->iova > mr->length ||
      p.total > mr->length - (p.remote - mr->iova))
    return nullptr;
  return mr;
}

void Nic::write(Mr *mr, const Packet &p, const char *payload) {
  dma(static_cast<char *>(mr->addr) + (p.remote - mr->iova) + p.offset, payload,
      p.bytes);
}

void Nic::raise(Qp *qp, const Packet &p) {
  if (knobs.breakage == Break::LostImmediate && random() % 8 == 0)
    return;
  Cqe e;
  e.wrId = 0xdeadbeefdeadbeef; // of unsolicited ones it says nothing
  if (!qp->unsolicited) {
    e.wrId = qp->receives.front().wrId;
    e.receive = true;
    qp->receives.pop_front();
  }
  e.opcode = kWcRecvRdmaWithImm;
  e.bytes = p.total;
  e.imm = p.imm;
  e.flags = kWcWithImm;
  e.qp = qp, e.qpn = qp->qp_num;
  e.solicited = p.solicited;
  e.srcQp = p.sqpn;
  e.slid = p.sgid.raw[15]; // as efadv_query_ah numbers them
  push(asCq(qp->recv_cq), e);
  if (knobs.breakage == Break::TwiceImmediate && random() % 8 == 0) {
    e.receive = false;
    push(asCq(qp->recv_cq), e);
  }
}

void Nic::countPosted() {
  ++posted;
  auto reached = [&](uint64_t n) { return n && posted > n && !dead; };
  if (reached(knobs.deadAfter))
    dead = true;
  if (reached(knobs.downAfter)) {
    dead = portDown = true;
    event(kEventPortError, nullptr);
  }
  if (reached(knobs.fatalAfter)) {
    dead = true;
    event(kEventDeviceFatal, nullptr);
  }
}

void Nic::note(const Qp *qp, const Wqe &w, uint32_t status) {
  if (!knobs.log || logged)
    return;
  logged = true;
  fprintf(stderr,
          "softrdma: %s: work request %llu of queue pair %u failed with %u "
          "(MK_SOFTRDMA_SEED=%llu)\n",
          device->name, (unsigned long long)w.wrId, qp->qp_num, status,
          (unsigned long long)knobs.seed);
}

void Nic::event(uint32_t type, void *element) {
  ibv_async_event e{};
  e.event_type = type;
  if (element)
    e.element.qp = static_cast<ibv_qp *>(element);
  else
    e.element.port_num = 1;
  if (::write(asyncWrite, &e, sizeof e) < 0) {
  }
}

void Nic::setPaused(bool on) {
  std::lock_guard lock(mutex);
  paused = on;
  if (on)
    return;
  // In an order that depends on the seed alone.
  auto now = Clock::now();
  for (Event &e : std::exchange(held, {})) {
    e.time = now + jitter();
    events.push(std::move(e));
  }
  for (auto &[qpn, qp] : qps)
    if (!qp->srd)
      kickRc(qp, jitter());
  wake();
}

bool Nic::deliver(uint64_t packet) {
  std::lock_guard lock(mutex);
  auto found = std::find_if(held.begin(), held.end(), [&](const Event &e) {
    return e.data == packet + 1;
  });
  if (found == held.end())
    return false;
  Event e = std::move(*found);
  held.erase(found);
  e.time = Clock::now();
  events.push(std::move(e));
  wake();
  return true;
}

size_t Nic::pending() {
  std::lock_guard lock(mutex);
  size_t n = events.size();
  for (auto &[to, l] : links)
    n += l.waiting.size();
  return n;
}

} // namespace soft
