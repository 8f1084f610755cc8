//===- RdmaControlTest.cpp - Who comes to the sockets beside queue pairs --===//

#include "Holdings.h"

#include "transport/rdma/Control.h"

#include <arpa/inet.h>
#include <sys/socket.h>

namespace mk::rt::rdma {
namespace {

using namespace mk::rt::test;

/// A connection with none of a rank's manners.
Fd knock(const std::string &endpoint, std::string_view bytes) {
  Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(uint16_t(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr *>(&a), sizeof(a)), 0);
  EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
  return fd;
}

/// Whether the other end closes it.
bool isClosed(const Fd &fd) {
  return eventually([&] {
    char byte;
    ssize_t n = ::recv(fd.get(), &byte, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN);
  });
}

struct Pair {
  Pair() {
    for (Control &c : ends)
      EXPECT_OK(c.listen("127.0.0.1"));
  }
  /// Rank 1 is met by rank 0.
  void connect(std::string_view scope = "0", std::string secret = {}) {
    test::Job::parallel(2, [&](uint32_t r) {
      Control::Address peer{1 - r, ends[1 - r].endpoint(), ends[1 - r].secret()};
      if (r == 0 && !secret.empty())
        peer.secret = secret;
      statuses[r] = ends[r].connect(*job.clients[r], scope, r, {&peer, 1},
                                    Deadline::after(r ? limit : 30s));
    });
  }
  test::Job job{2};
  Control ends[2];
  Status statuses[2];
  std::chrono::seconds limit{30};
};

TEST(RdmaControl, StrangersAreRefusedAndRanksMeet) {
  { Pair warm; warm.connect(); }
  Holdings before;
  {
    Pair p;
    std::vector<Fd> strangers;
    for (std::string_view bytes : {std::string_view(""), std::string_view("GET / HTTP/1.1\r\n\r\n")}) {
      strangers.push_back(knock(p.ends[1].endpoint(), bytes)); // truncated, and its end
      ::shutdown(strangers.back().get(), SHUT_WR);
    }
    // Oversized, and as long as a hello that is none.
    strangers.push_back(knock(p.ends[1].endpoint(), std::string(5000, 'x')));
    strangers.push_back(knock(p.ends[1].endpoint(), std::string(56, '\0')));
    p.connect();
    EXPECT_OK(p.statuses[0]);
    EXPECT_OK(p.statuses[1]);
    for (const Fd &fd : strangers)
      EXPECT_TRUE(isClosed(fd));
  }
  EXPECT_TRUE(before.areBack());
}

TEST(RdmaControl, ARankWithAnotherSecretIsNone) {
  Pair p;
  p.limit = 1s;
  p.connect("0", std::string(32, 's'));
  EXPECT_ERROR(p.statuses[1], DeadlineExceeded, "for connections of rank(s) 0: is there a firewall");
}

TEST(RdmaControl, AMessageThatMakesNoSenseEndsTheConnection) {
  Pair p;
  p.connect();
  ASSERT_OK(p.statuses[1]);
  Control::Link &from = p.ends[0].links()[0], &to = p.ends[1].links()[0];
  std::vector<ControlMessage> got;
  auto read = [&] {
    return p.ends[1].receive(to, [&](const ControlMessage &m) { got.push_back(m); });
  };
  p.ends[0].send(from, {ControlMessage::Failed, 3, 4, "why"});
  EXPECT_TRUE(eventually([&] { return read() && got.size() == 1; }));
  EXPECT_EQ(got[0].text, "why");
  EXPECT_EQ(got[0].count, 4u);
  // Half a message is none.
  uint32_t head[6] = {ControlMessage::Failed, 0, 0, 0, 3, 0};
  ASSERT_EQ(::send(from.socket.get(), head, sizeof(head), 0), ssize_t(sizeof(head)));
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(read());
  EXPECT_EQ(got.size(), 1u);
  ASSERT_EQ(::send(from.socket.get(), "abc", 3, 0), 3);
  EXPECT_TRUE(eventually([&] { return read() && got.size() == 2; }));
  // One that says it has 4 GiB.
  head[4] = ~0u;
  ASSERT_EQ(::send(from.socket.get(), head, sizeof(head), 0), ssize_t(sizeof(head)));
  EXPECT_TRUE(eventually([&] { return !read(); }));
  EXPECT_FALSE(to.open);
  EXPECT_EQ(got.size(), 2u);
}

} // namespace
} // namespace mk::rt::rdma
