//===- StrangerTest.cpp - Who does not belong to the job ------------------===//
//
// Whatever comes in at the store's port: a clear refusal on both sides, never a
// hang or a crash, and the job goes on.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "bootstrap/Frame.h"
#include "bootstrap/Handshake.h"
#include "core/Socket.h"

#include <arpa/inet.h>
#include <cstring>
#include <poll.h>
#include <random>
#include <sys/resource.h>
#include <sys/socket.h>

namespace mk::rt::test {
namespace {

using store::Type;

/// A TCP connection to the store with none of the client's manners.
struct RawPeer {
  explicit RawPeer(uint16_t port) : fd(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr *>(&a), sizeof(a)),
              0);
  }
  void send(std::string_view bytes) {
    // May fail when the store has closed: that is part of the test.
    [[maybe_unused]] auto n =
        ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Next frame; nothing at the end of the connection.
  std::optional<store::Frame> receive() {
    while (true) {
      auto frame = in.next(1 << 20);
      if (!frame)
        return std::nullopt;
      if (*frame)
        return **frame;
      if (!waitReady(fd.get(), POLLIN, soon(), "the store"))
        return std::nullopt;
      char buffer[4096];
      ssize_t n = ::recv(fd.get(), buffer, sizeof(buffer), 0);
      if (n <= 0)
        return std::nullopt;
      in.append(buffer, size_t(n));
    }
  }
  /// Text of the refusal; empty when the connection just ended.
  std::string refusal() {
    while (auto frame = receive()) {
      if (frame->type != Type::Refuse)
        continue;
      store::Reader reader(frame->payload);
      reader.u32();
      return std::string(reader.bytes());
    }
    return "";
  }
  Fd fd;
  store::FrameBuffer in;
};

void expectAlive(Job &job) {
  EXPECT_OK(job.clients[0]->set("alive", "yes", soon()));
  EXPECT_FALSE(job.server->aborted());
}

std::string lastRefusal(Job &job) {
  EXPECT_TRUE(eventually([&] { return !job.server->refusals().empty(); }));
  auto all = job.server->refusals();
  return all.empty() ? "" : all.back();
}

TEST(Stranger, IsWaitedForOnceTheJobHasFailed) {
  // It may be a rank that is about to hear why.
  Job job(1);
  RawPeer peer(job.server->port());
  ASSERT_TRUE(peer.receive()); // the challenge
  EXPECT_EQ(job.server->connected(), 1u);
  job.server->abort(AbortRecord::now(0, "wait", "out of time"));
  EXPECT_TRUE(eventually([&] { return job.server->connected() == 2; }));
  peer.fd.reset();
  EXPECT_TRUE(eventually([&] { return job.server->connected() == 1; }));
}

TEST(Stranger, WrongToken) {
  Job job(2);
  auto o = job.clientOptions(kObserver);
  o.token = randomToken();
  EXPECT_ERROR(StoreClient::connect(o, soon()).status(), PermissionDenied,
               "the job token is wrong");
  EXPECT_THAT(lastRefusal(job), HasSubstr("token is wrong"));
  o.token = "short";
  EXPECT_ERROR(StoreClient::connect(o, soon()).status(), InvalidArgument,
               "too short");
  expectAlive(job);
}

TEST(Stranger, WrongAbi) {
  Job job(1);
  auto o = job.clientOptions(kObserver);
  o.abi[0] ^= 1;
  EXPECT_ERROR(StoreClient::connect(o, soon()).status(), PermissionDenied,
               "use one build of mKernel on all nodes");
  EXPECT_THAT(lastRefusal(job), HasSubstr("was built with ABI"));
  expectAlive(job);
}

TEST(Stranger, WrongJobOrRank) {
  Job job(2);
  auto o = job.clientOptions(kObserver);
  o.job = "another";
  EXPECT_ERROR(StoreClient::connect(o, soon()).status(), PermissionDenied,
               "belongs to job 'another'");
  EXPECT_ERROR(StoreClient::connect(job.clientOptions(2), soon()).status(),
               PermissionDenied, "the job has 2 ranks");
  EXPECT_ERROR(StoreClient::connect(job.clientOptions(1), soon()).status(),
               PermissionDenied, "started with the same rank");
  expectAlive(job);
}

TEST(Stranger, SpeaksHttp) {
  Job job(1);
  RawPeer peer(job.server->port());
  peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(peer.refusal(), HasSubstr("this is no mKernel client"));
  EXPECT_THAT(lastRefusal(job), HasSubstr("refused 127.0.0.1:"));
  expectAlive(job);
}

TEST(Stranger, SaysNothing) {
  StoreServerOptions options;
  options.handshakeTimeout = 50ms;
  Job job(1, options);
  RawPeer silent(job.server->port());
  RawPeer slow(job.server->port());
  slow.send("\x20"); // and never the rest
  EXPECT_THAT(silent.refusal(), HasSubstr("no hello within 50 ms"));
  EXPECT_THAT(slow.refusal(), HasSubstr("no hello within 50 ms"));
  expectAlive(job);
}

TEST(Stranger, ManyAreNotInTheWay) {
  StoreServerOptions options;
  options.handshakeTimeout = 30s;
  Job job(1, options);
  std::vector<std::unique_ptr<RawPeer>> silent;
  for (int i = 0; i < 300; ++i)
    silent.push_back(std::make_unique<RawPeer>(job.server->port()));
  auto begin = Deadline::Clock::now();
  auto rank = StoreClient::connect(job.clientOptions(kObserver), soon());
  ASSERT_OK(rank);
  EXPECT_LT(Deadline::Clock::now() - begin, 5s);
  expectAlive(job);
  // They have been told, and few are still there.
  EXPECT_THAT(silent[0]->refusal(), HasSubstr("has waited longest"));
  auto count = [&] {
    size_t open = 0;
    for (auto &peer : silent) {
      char byte;
      pollfd p{peer->fd.get(), POLLIN, 0};
      while (::poll(&p, 1, 0) > 0 && ::recv(peer->fd.get(), &byte, 1, 0) > 0) {
      }
      open += ::recv(peer->fd.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    }
    return open;
  };
  EXPECT_TRUE(eventually([&] { return count() <= 70; }));
  (*rank)->goodbye(soon()).ignore();
}

TEST(Stranger, WhoMakesRoomComesAgain) {
  // More ranks at once than may wait, beside strangers that keep coming.
  Job job(1);
  std::atomic<bool> stop{false};
  std::thread flood([&] {
    std::vector<std::unique_ptr<RawPeer>> silent;
    while (!stop) {
      silent.push_back(std::make_unique<RawPeer>(job.server->port()));
      if (silent.size() > 200)
        silent.erase(silent.begin());
    }
  });
  Job::parallel(8, [&](uint32_t) {
    for (int i = 0; i < 5; ++i) {
      auto client = StoreClient::connect(job.clientOptions(kObserver), soon());
      EXPECT_OK(client);
      if (client)
        (*client)->goodbye(soon()).ignore();
    }
  });
  stop = true;
  flood.join();
  expectAlive(job);
}

TEST(Stranger, NoDescriptorsLeftIsSaidAtOnce) {
  QuietLog quiet;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  StoreServerOptions options;
  options.job = "unit-test";
  options.token = randomToken();
  options.world = 2;
  auto store = StoreServer::start(options);
  ASSERT_OK(store);
  // A socket for the rank, and none for the store's end of it.
  Fd caller(::socket(AF_INET, SOCK_STREAM, 0));
  rlimit none{rlim_t(caller.get()) + 1, before.rlim_max};
  std::vector<Fd> all;
  while (true) {
    Fd fd(::dup(caller.get()));
    if (!fd || fd.get() > caller.get())
      break;
    all.push_back(std::move(fd));
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons((*store)->port());
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(caller.get(), reinterpret_cast<sockaddr *>(&a), sizeof(a)), 0);
  EXPECT_TRUE(eventually([&] { return (*store)->aborted().has_value(); }));
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE((*store)->aborted());
  EXPECT_THAT((*store)->aborted()->text,
              HasSubstr("no descriptors are left for the connections of 2 ranks: "
                        "allow more (ulimit -n)"));
}

TEST(Stranger, HangsUp) {
  Job job(1);
  { RawPeer peer(job.server->port()); }
  EXPECT_THAT(lastRefusal(job), HasSubstr("before it said hello"));
  expectAlive(job);
}

TEST(Stranger, OversizedBeforeAdmission) {
  Job job(1);
  RawPeer peer(job.server->port());
  uint32_t length = 1 << 20;
  std::string frame(4, '\0');
  memcpy(frame.data(), &length, 4);
  peer.send(frame + std::string(1000, 'x'));
  EXPECT_THAT(peer.refusal(), HasSubstr("a message of 1048576 bytes"));
  expectAlive(job);
}

TEST(Stranger, OversizedFromARank) {
  StoreServerOptions options;
  options.maxMessage = 4096;
  Job job(1, options);
  // The client believes in a larger limit than the server has.
  EXPECT_FALSE(job.clients[0]->set("k", std::string(8192, 'x'), soon()));
  EXPECT_TRUE(eventually([&] { return job.server->aborted().has_value(); }));
  EXPECT_THAT(job.server->aborted()->text, HasSubstr("the limit is 4096"));
  EXPECT_TRUE(
      eventually([&] { return job.clients[0]->aborted().has_value(); }));
}

TEST(Stranger, ReplayedHelloIsRefused) {
  Job job(2);
  // What an eavesdropper would have: a proof made for another challenge.
  store::Hello hello;
  hello.job = "unit-test";
  hello.abi = abiHash();
  hello.nonce = randomBytes(store::kNonceBytes);
  hello.proof =
      store::clientProof(job.token, randomBytes(store::kNonceBytes), hello);
  RawPeer peer(job.server->port());
  peer.send(store::encodeFrame(Type::Hello, 0, store::encodeHello(hello)));
  EXPECT_THAT(peer.refusal(), HasSubstr("the job token is wrong"));
  expectAlive(job);
}

TEST(Stranger, MalformedRequestsOfAMember) {
  Job job(1);
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    RawPeer peer(job.server->port());
    auto challenge = peer.receive();
    ASSERT_TRUE(challenge);
    store::Reader reader(challenge->payload);
    reader.bytes();
    std::string nonce(reader.bytes());
    store::Hello hello;
    hello.job = "unit-test";
    hello.abi = abiHash();
    hello.nonce = randomBytes(store::kNonceBytes);
    hello.proof = store::clientProof(job.token, nonce, hello);
    peer.send(store::encodeFrame(Type::Hello, 0, store::encodeHello(hello)));
    ASSERT_EQ(peer.receive()->type, Type::Welcome);
    std::string junk(random() % 40, '\0');
    for (char &c : junk)
      c = char(random());
    auto type = i % 3 ? Type(Type::Set) : Type(99);
    peer.send(store::encodeFrame(type, 1, junk));
    EXPECT_THAT(peer.refusal(), HasSubstr(" sent a malformed '"));
  }
  expectAlive(job);
}

TEST(Stranger, RandomBytes) {
  Job job(1);
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    RawPeer peer(job.server->port());
    std::string junk(random() % 300, '\0');
    for (char &c : junk)
      c = char(random());
    if (i % 2 && junk.size() >= 4)
      junk[1] = junk[2] = junk[3] = 0; // a plausible length
    peer.send(junk);
  }
  expectAlive(job);
}

TEST(Stranger, FalseStoreIsFoundOut) {
  // Listens where a store should be and does not know the token.
  Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(a);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr *>(&a), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ::getsockname(listener.get(), reinterpret_cast<sockaddr *>(&a), &size);
  std::thread impostor([&] {
    Fd fd(::accept(listener.get(), nullptr, nullptr));
    std::string out =
        store::encodeFrame(Type::Challenge, 0,
                           store::Writer()
                               .bytes(store::kMagic)
                               .bytes(std::string(store::kNonceBytes, 'n'))
                               .take());
    out += store::encodeFrame(Type::Welcome, 0, std::string(32, 'p'));
    ::send(fd.get(), out.data(), out.size(), MSG_NOSIGNAL);
    char buffer[512];
    while (::recv(fd.get(), buffer, sizeof(buffer), 0) > 0) {
    }
  });
  StoreClientOptions o;
  o.endpoint = str("127.0.0.1:", ntohs(a.sin_port));
  o.token = randomToken();
  EXPECT_ERROR(StoreClient::connect(o, soon()).status(), PermissionDenied,
               "does not know the job token");
  impostor.join();
}

} // namespace
} // namespace mk::rt::test
