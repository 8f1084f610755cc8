//===- ManyRanksTest.cpp - A whole job of processes -----------------------===//
//
// 32 ranks on whatever cores there are: nodes of 8 linked ranks, the network
// between them, from the store's first connection to the last goodbye.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"
#include "mkernel/Runtime/Transport.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace mk::rt::test {
namespace {

constexpr uint32_t kNodes = 4, kGpus = 8, kWorld = kNodes * kGpus;
constexpr uint64_t kPiece = 8192;

/// What one rank process does: all-to-all, each pair over its own link.
Status runRank(uint32_t rank, const std::string &endpoint,
               const std::string &token) {
  MK_ASSIGN(Mesh mesh, Mesh::create({{"node", kNodes, LinkKind::Net},
                                     {"gpu", kGpus, LinkKind::Link}}));
  StoreClientOptions o;
  o.endpoint = endpoint;
  o.job = "many";
  o.token = token;
  o.rank = int32_t(rank);
  MK_ASSIGN(auto store, StoreClient::connect(o, soon()));
  AbortWord word;
  connectAbort(word, *store);
  MK_ASSIGN(
      auto heap,
      HostHeap::create(
          {.bytes = 2 << 20, .slots = 64, .rank = rank, .world = kWorld}));
  MK_TRY(heap->exchange(*store, mesh.linkPeers(rank), soon()));
  TransportConfig config;
  config.heap = heap.get();
  config.options = str("mtu=1024,reorder=", rank);
  MK_ASSIGN(auto transport, createTransport("loopback", config));
  MK_TRY(transport->connect(*store, mesh.netPeers(rank), soon()));
  ProxyOptions p;
  p.mesh = &mesh;
  p.heap = heap.get();
  p.transport = transport.get();
  p.abort = &word;
  MK_ASSIGN(auto proxy, Proxy::start(p));

  MK_ASSIGN(std::byte * in, heap->allocate(kPiece, "in"));
  MK_ASSIGN(std::byte * out, heap->allocate(kPiece * kWorld, "out"));
  memset(in, int(rank + 1), kPiece);
  std::byte *mine = out + rank * kPiece;
  for (uint32_t peer = 0; peer < kWorld; ++peer) {
    if (std::byte *remote = heap->peerPointer(peer, mine)) {
      memcpy(remote, in, kPiece);
      heap->peerSignal(peer, 0)->fetch_add(1, std::memory_order_release);
      continue;
    }
    Command c;
    c.flags = MK_CMD_HAS_SIGNAL;
    c.peer = uint16_t(peer);
    c.src = *heap->offsetOf(in);
    c.dst = *heap->offsetOf(mine);
    c.bytes = kPiece;
    c.amount = 1;
    MK_TRY(proxy->submit(c, [&] { return word.status(); }));
  }
  Deadline deadline = soon();
  for (Backoff backoff; heap->signal(0).load() < kWorld; backoff.pause()) {
    MK_TRY(word.status());
    if (deadline.passed())
      return error(StatusCode::DeadlineExceeded, "rank ", rank, " saw ",
                   heap->signal(0).load(), " arrivals");
  }
  for (uint32_t peer = 0; peer < kWorld; ++peer)
    for (uint64_t i = 0; i < kPiece; ++i)
      if (out[peer * kPiece + i] != std::byte(peer + 1))
        return error(StatusCode::Internal, "rank ", rank, " has bad data of ",
                     peer);
  MK_TRY(proxy->drain(soon()));
  MK_TRY(store->barrier("end", kWorld, soon()));
  proxy.reset();
  MK_TRY(transport->shutdown(soon()));
  disconnectAbort(word, *store);
  return store->goodbye(soon());
}

TEST(ManyRanks, AllToAllOfProcesses) {
  // The ranks are forked before this test makes threads; each learns the
  // endpoint through a pipe of its own.
  std::string token = randomToken();
  std::vector<pid_t> children;
  std::vector<int> pipes;
  for (uint32_t r = 0; r < kWorld; ++r) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[1]);
      char text[64] = {};
      if (::read(ends[0], text, sizeof(text) - 1) <= 0)
        ::_exit(2);
      Status s = runRank(r, text, token);
      if (!s)
        log::error("rank ", r, ": ", s.toString());
      ::_exit(s ? 0 : 1);
    }
    ::close(ends[0]);
    children.push_back(child);
    pipes.push_back(ends[1]);
  }
  StoreServerOptions options;
  options.job = "many";
  options.token = token;
  options.world = kWorld;
  auto server = StoreServer::start(options);
  ASSERT_OK(server);
  std::string endpoint = (*server)->endpoint();
  for (int fd : pipes) {
    EXPECT_GT(::write(fd, endpoint.data(), endpoint.size()), 0);
    ::close(fd);
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_FALSE((*server)->aborted());
  EXPECT_TRUE((*server)->refusals().empty());
}

} // namespace
} // namespace mk::rt::test
