//===- JobTest.cpp - Ranks that meet by themselves ------------------------===//
//
// Ranks are threads here: a Job has no state of the process. Whole processes are
// in test/Integration/Jobs.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "bootstrap/LocalOffer.h"
#include "mkernel/Runtime/Context.h"
#include "mkernel/Runtime/Job.h"

#include <atomic>
#include <netinet/in.h>
#include <poll.h>
#include <set>
#include <sys/socket.h>

namespace mk::rt::test {
namespace {

/// A port that nobody listens on at the moment.
uint16_t freePort() {
  Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(a);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr *>(&a), size), 0);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr *>(&a), &size);
  return ntohs(a.sin_port);
}

std::string uniqueId() { return randomToken().substr(0, 16); }

struct World {
  explicit World(uint32_t n) : places(n), options(n), jobs(n), status(n) {
    std::string id = uniqueId();
    for (uint32_t r = 0; r < n; ++r) {
      places[r].source = "torchrun";
      places[r].id = id;
      places[r].rank = r;
      places[r].world = n;
      places[r].localRank = r;
      places[r].oneHost = true;
      options[r].timeout = 30s;
    }
  }
  void join() {
    rt::test::Job::parallel(places.size(), [&](uint32_t r) {
      auto job = rt::Job::join(places[r], options[r]);
      status[r] = job.status();
      if (job)
        jobs[r] = std::move(*job);
    });
  }
  void parallel(const std::function<Status(rt::Job &)> &body) {
    rt::test::Job::parallel(places.size(), [&](uint32_t r) {
      if (jobs[r])
        status[r] = body(*jobs[r]);
    });
  }
  void leave() {
    parallel([](rt::Job &job) { return job.leave(); });
    for (const Status &s : status)
      EXPECT_OK(s);
  }
  QuietLog quiet;
  std::vector<JobPlace> places;
  std::vector<JobOptions> options;
  std::vector<std::unique_ptr<rt::Job>> jobs;
  std::vector<Status> status;
};

/// Carries connections to a port on, until it swallows all: a wire that is cut.
class Wire {
public:
  explicit Wire(uint16_t to) : to_(to), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in a = address(0);
    socklen_t size = sizeof(a);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr *>(&a), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr *>(&a), &size);
    port = ntohs(a.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Wire() {
    over_ = true;
    thread_.join();
  }
  void cut() { cut_ = true; }
  uint16_t port = 0;

private:
  static sockaddr_in address(uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
  }
  /// Whoever it leads to may listen later: a wire hangs up on nobody.
  Fd connect() {
    sockaddr_in a = address(to_);
    while (!over_) {
      Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
      if (::connect(fd.get(), reinterpret_cast<sockaddr *>(&a), sizeof(a)) == 0)
        return fd;
      std::this_thread::sleep_for(2ms);
    }
    return {};
  }
  void run() {
    std::vector<Fd> ends; // two by two
    while (!over_) {
      std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}};
      for (const Fd &fd : ends)
        fds.push_back({fd.get(), POLLIN, 0});
      ::poll(fds.data(), nfds_t(fds.size()), 5);
      if (fds[0].revents) {
        ends.emplace_back(::accept(listener_.get(), nullptr, nullptr));
        ends.push_back(connect());
      }
      for (size_t i = 1; i < fds.size(); ++i) {
        char bytes[4096];
        ssize_t n = fds[i].revents ? ::recv(fds[i].fd, bytes, sizeof(bytes), 0) : 0;
        if (n > 0 && !cut_) {
          EXPECT_EQ(::send(ends[(i - 1) ^ 1].get(), bytes, size_t(n), MSG_NOSIGNAL), n);
        }
      }
    }
  }
  uint16_t to_;
  Fd listener_;
  std::thread thread_;
  std::atomic<bool> over_{false}, cut_{false};
};

// Neither side hears of the other any more, and nobody hangs up.
TEST(Job, WithTheWireToTheStoreCutRanksLeaveSoonOnceTheyHaveFailed) {
  World w(2);
  uint16_t port = freePort();
  Wire wire(port);
  for (uint32_t r = 0; r < 2; ++r) {
    w.places[r].oneHost = false;
    w.options[r].token = "0123456789abcdef";
    w.places[r].store = str("127.0.0.1:", r ? wire.port : port);
  }
  w.join();
  for (const Status &s : w.status)
    ASSERT_OK(s);
  wire.cut();
  auto begin = std::chrono::steady_clock::now();
  w.parallel([](rt::Job &job) {
    job.fail(error(StatusCode::Unavailable, "the link was cut"));
    return job.leave();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_ERROR(w.status[0], Aborted, "the link was cut");
  EXPECT_FALSE(w.status[1].isOk());
}

// Ranks that wait, to which nothing is under way.
TEST(Job, WithTheWireToTheStoreCutRanksThatWaitHearOfIt) {
  World w(2);
  uint16_t port = freePort();
  Wire wire(port);
  for (uint32_t r = 0; r < 2; ++r) {
    w.places[r].oneHost = false;
    w.options[r].token = "0123456789abcdef";
    w.options[r].silence = 1s;
    w.places[r].store = str("127.0.0.1:", r ? wire.port : port);
  }
  w.join();
  for (const Status &s : w.status)
    ASSERT_OK(s);
  auto begin = std::chrono::steady_clock::now();
  w.parallel([&](rt::Job &job) {
    if (job.rank() == 0)
      wire.cut();
    // Nobody else comes.
    return job.store()->barrier("never", 3, Deadline::after(30s));
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_ERROR(w.status[0], Aborted, "rank 1 was lost: nothing has come from it for 1 s");
  EXPECT_FALSE(w.status[1].isOk());
  EXPECT_NE(w.status[1].message().find("was lost: nothing has come from it for"),
            std::string::npos)
      << w.status[1].message();
}

TEST(Job, RanksThatAreIdleAreNotLost) {
  World w(2);
  for (uint32_t r = 0; r < 2; ++r)
    w.options[r].silence = 2s;
  w.join();
  for (const Status &s : w.status)
    ASSERT_OK(s);
  std::this_thread::sleep_for(5s);
  w.leave();
}

TEST(Job, MeetsShareAndCollect) {
  World w(4);
  w.join();
  for (const Status &s : w.status)
    ASSERT_OK(s);
  EXPECT_EQ(w.jobs[2]->describe(), "4 ranks on 1 node, started by torchrun");
  EXPECT_EQ(w.jobs[2]->localRank(), 2u);
  EXPECT_EQ(w.jobs[2]->ranksPerNode(), 4u);
  // Larger than a message of the store.
  std::string big(40u << 20, 'x');
  big.back() = 'y';
  std::set<uint32_t> collected;
  w.parallel([&](rt::Job &job) -> Status {
    MK_ASSIGN(std::string got,
              job.broadcast("data", [&]() -> Result<std::string> { return big; },
                            soon()));
    EXPECT_TRUE(got == big);
    EXPECT_ERROR(job.broadcast(
                        "data",
                        [&]() -> Result<std::string> {
                          return error(StatusCode::NotFound, "no such file");
                        },
                        soon())
                     .status(),
                 NotFound, "no such file");
    return job.collect(
        "results", str("of ", job.rank()),
        [&](uint32_t rank, std::string text) {
          EXPECT_EQ(text, str("of ", rank));
          collected.insert(rank);
          return Status::success();
        },
        soon());
  });
  EXPECT_EQ(collected, (std::set<uint32_t>{1, 2, 3}));
  w.leave();
}

TEST(Job, ContextsOneAfterTheOther) {
  World w(4);
  for (uint32_t r = 0; r < 4; ++r)
    w.options[r].node = "rank/2";
  w.join();
  for (int round = 0; round < 3; ++round)
    w.parallel([&](rt::Job &job) -> Status {
      MK_ASSIGN(Mesh mesh, Mesh::create({{"node", 2, LinkKind::Net},
                                         {"gpu", 2, LinkKind::Link}}));
      MK_TRY(job.checkMesh(mesh));
      ContextOptions options = ContextOptions::of(job, mesh);
      options.heapBytes = 1 << 20;
      options.slots = 64;
      MK_ASSIGN(auto context, Context::create(options));
      MK_ASSIGN(auto all,
                context->allGather("x", str(round, ".", job.rank())));
      EXPECT_EQ(all[3], str(round, ".3"));
      EXPECT_EQ(context->generation(), round + 1) << "what is late belongs to another one";
      return context->close();
    });
  w.leave();
}

TEST(Job, OneContextAtATime) {
  World w(2);
  w.join();
  std::atomic<int> generations[2] = {};
  w.parallel([&](rt::Job &job) -> Status {
    MK_ASSIGN(Mesh mesh, Mesh::create({{"gpu", 2, LinkKind::Link}}));
    ContextOptions options = ContextOptions::of(job, mesh);
    options.heapBytes = 1 << 20;
    options.slots = 64;
    EXPECT_EQ(options.localRank, job.localRank());
    MK_ASSIGN(auto first, Context::create(options));
    ContextOptions more = ContextOptions::of(job, mesh);
    more.heapBytes = 1 << 20;
    more.slots = 64;
    EXPECT_ERROR(Context::create(more).status(), FailedPrecondition,
                 str("rank ", job.rank(), " of the job has a context already"));
    // The first one is as good as before, and the second has its turn behind it.
    MK_ASSIGN(auto all, first->allGather("x", str(job.rank())));
    EXPECT_EQ(all[1], "1");
    MK_TRY(first->close());
    MK_ASSIGN(auto second, Context::create(more));
    first.reset();
    generations[job.rank()] = second->generation();
    MK_ASSIGN(all, second->allGather("x", str(job.rank())));
    EXPECT_EQ(all[0], "0");
    return second->close();
  });
  for (const Status &s : w.status)
    EXPECT_OK(s);
  EXPECT_EQ(generations[0], generations[1]);
  w.leave();
}

TEST(Job, SecondJobOfTheSameName) {
  for (int round = 0; round < 3; ++round) {
    World w(3);
    for (JobPlace &place : w.places)
      place.id = "the same";
    w.join();
    for (const Status &s : w.status)
      ASSERT_OK(s);
    w.leave();
  }
}

TEST(Job, NodesFromVariables) {
  World w(4); // as two hosts with two ranks each
  for (uint32_t r = 0; r < 4; ++r) {
    w.places[r].localRank = r % 2;
    w.places[r].localWorld = 2;
  }
  w.join();
  ASSERT_OK(w.status[0]);
  EXPECT_EQ(w.jobs[0]->nodes(), 2u);
  EXPECT_EQ(w.jobs[0]->nodeOf(1), 0u);
  EXPECT_EQ(w.jobs[0]->nodeOf(2), 1u);
  EXPECT_EQ(w.jobs[3]->localRank(), 1u);
  auto mesh = [](int64_t nodes, int64_t gpus) {
    return *Mesh::create(
        {{"node", nodes, LinkKind::Net}, {"gpu", gpus, LinkKind::Link}});
  };
  EXPECT_OK(w.jobs[0]->checkMesh(mesh(2, 2)));
  EXPECT_ERROR(w.jobs[0]->checkMesh(mesh(1, 4)), InvalidArgument,
               "joins ranks 0 and 2 by link axes, but they are on different "
               "nodes: node 0");
  EXPECT_ERROR(w.jobs[0]->checkMesh(mesh(4, 1)), InvalidArgument,
               "ranks 0 and 1 on different nodes, but both are on node 0");
  EXPECT_ERROR(w.jobs[0]->checkMesh(mesh(2, 3)), InvalidArgument,
               "has 6 ranks, the job 4 (torchrun)");
  w.leave();
}

TEST(Job, NodesThatDoNotAddUp) {
  World w(3);
  for (JobPlace &place : w.places) {
    place.localWorld = 2;
    place.localWorldFrom = "LOCAL_WORLD_SIZE";
  }
  w.join();
  for (const Status &s : w.status)
    EXPECT_THAT(s.message(),
                HasSubstr("LOCAL_WORLD_SIZE=2 on rank 0, but 3 ranks of this job "
                          "are on its node"));
}

TEST(Job, LocalRanksThatDoNotAddUp) {
  World w(2);
  for (JobPlace &place : w.places) {
    place.localRankFrom = "LOCAL_RANK";
    place.localRank = 0;
    place.node = 0;
  }
  w.join();
  for (const Status &s : w.status)
    EXPECT_THAT(s.message(), HasSubstr("LOCAL_RANK=0 on rank 1, but rank 0 of the "
                                       "same node"));
  World x(2);
  x.places[0].node = 0;
  x.places[1].node = 1;
  x.places[1].localRankFrom = x.places[0].localRankFrom = "LOCAL_RANK";
  x.join();
  for (const Status &s : x.status)
    EXPECT_THAT(s.message(), HasSubstr("LOCAL_RANK=1 on rank 1, but 1 rank of this "
                                       "job is on its node"));
  // Unless ranks are told their nodes.
  World y(2);
  y.options[0].node = "0";
  y.options[1].node = "1";
  y.join();
  for (const Status &s : y.status)
    EXPECT_OK(s);
  y.leave();
}

TEST(Job, NodeOption) {
  World w(2);
  w.options[1].node = "1";
  w.join();
  for (const Status &s : w.status)
    EXPECT_THAT(s.message(), HasSubstr("was not: give --node (MK_NODE) to all "
                                       "ranks or to none"));
  World x(1);
  x.options[0].node = "rank/0";
  x.join();
  EXPECT_ERROR(x.status[0], InvalidArgument, "--node rank/0 (MK_NODE): the number");
}

TEST(Job, MissingRanksAreNamedOnEveryRank) {
  World w(4);
  for (JobOptions &o : w.options)
    o.timeout = 300ms;
  auto begin = Deadline::Clock::now();
  rt::test::Job::parallel(2, [&](uint32_t r) {
    w.status[r] = rt::Job::join(w.places[r], w.options[r]).status();
  });
  EXPECT_LT(Deadline::Clock::now() - begin, 10s);
  EXPECT_ERROR(w.status[0], DeadlineExceeded,
               "rank(s) 2, 3 of 4 did not come within 300 ms");
  EXPECT_THAT(w.status[1].message(), HasSubstr("rank(s) 2, 3 of 4 did not"));
  // And without rank 0.
  EXPECT_ERROR(rt::Job::join(w.places[3], w.options[3]).status(),
               DeadlineExceeded, "for rank 0 of this job on this host");
}

TEST(Job, TimesAreNotNegativeAndMayBeTheLongest) {
  World w(2);
  w.options[0].timeout = -1ns;
  EXPECT_ERROR(rt::Job::join(w.places[0], w.options[0]).status(), InvalidArgument,
               "JobOptions::timeout is -1 ns: a time must not be negative");
  w.options[0] = {};
  w.options[0].silence = -1ns;
  EXPECT_ERROR(rt::Job::join(w.places[0], w.options[0]).status(), InvalidArgument,
               "JobOptions::silence is -1 ns");
  w.options[0].silence = w.options[1].silence = {};
  w.options[0].timeout = w.options[1].timeout = std::chrono::nanoseconds::max();
  w.join();
  w.parallel([](rt::Job &job) { return job.leave(); });
  for (const Status &s : w.status)
    EXPECT_OK(s);
}

TEST(Job, LateRank) {
  World w(3);
  rt::test::Job::parallel(3, [&](uint32_t r) {
    std::this_thread::sleep_for(r * 300ms);
    auto job = rt::Job::join(w.places[r], w.options[r]);
    ASSERT_OK(job);
    EXPECT_OK((*job)->leave());
  });
}

TEST(Job, OneFailureIsEverybodys) {
  World w(3);
  w.join();
  w.parallel([](rt::Job &job) -> Status {
    if (job.rank() == 1)
      job.fail(error(StatusCode::Internal, "out of ideas"));
    return job.leave();
  });
  for (const Status &s : w.status)
    EXPECT_ERROR(s, Aborted, "rank 1, job");
}

TEST(Job, LateRankHearsWhyTheOthersGaveUp) {
  World w(3);
  w.options[1].timeout = 50ms;
  std::atomic<bool> failed{false};
  rt::test::Job::parallel(3, [&](uint32_t r) {
    while (r == 2 && !failed)
      std::this_thread::sleep_for(1ms);
    w.status[r] = rt::Job::join(w.places[r], w.options[r]).status();
    failed = failed || r == 1;
  });
  EXPECT_ERROR(w.status[1], DeadlineExceeded, "waited");
  EXPECT_ERROR(w.status[0], Aborted, "rank 1, job");
  EXPECT_ERROR(w.status[2], Aborted, "rank 1, job");
}

TEST(Job, LostRanks) {
  for (uint32_t lost : {0u, 2u}) {
    World w(3);
    w.join();
    w.jobs[lost].reset(); // without goodbye
    w.parallel([](rt::Job &job) { return job.leave(); });
    for (uint32_t r = 0; r < 3; ++r) {
      if (r != lost) {
        EXPECT_THAT(w.status[r].message(),
                    testing::ContainsRegex(str("rank ", lost, " (was lost|is gone)")));
      }
    }
  }
}

TEST(Job, SeveralHostsNeedAnAddressAndASecret) {
  JobPlace place;
  place.source = "mpirun";
  place.world = 2;
  JobOptions options;
  options.timeout = 1s;
  EXPECT_ERROR(rt::Job::join(place, options).status(), InvalidArgument,
               "mpirun does not say where rank 0 of a job of several hosts is");
  place.store = "10.0.0.1:30000";
  EXPECT_ERROR(rt::Job::join(place, options).status(), InvalidArgument,
               "set MK_JOB_TOKEN on all ranks");
  options.token = "short";
  EXPECT_ERROR(rt::Job::join(place, options).status(), InvalidArgument,
               "too short");
  options.token = randomToken();
  options.store = "nowhere";
  EXPECT_ERROR(rt::Job::join(place, options).status(), InvalidArgument,
               "--store (MK_STORE) nowhere: HOST:PORT is needed");
}

TEST(Job, OverTcpWithATokenOfItsOwn) {
  World w(3);
  std::string token = randomToken();
  uint16_t port = freePort();
  for (uint32_t r = 0; r < 3; ++r) {
    w.places[r].oneHost = false;
    w.places[r].store = str("localhost:", port);
    w.options[r].token = token;
  }
  w.join();
  for (const Status &s : w.status)
    ASSERT_OK(s);
  w.leave();
}

TEST(Job, WrongToken) {
  World w(2);
  uint16_t port = freePort();
  for (uint32_t r = 0; r < 2; ++r) {
    w.places[r].oneHost = false;
    w.places[r].store = str("127.0.0.1:", port);
    w.options[r].token = randomToken();
    w.options[r].timeout = 2s;
  }
  w.join();
  EXPECT_ERROR(w.status[1], PermissionDenied, "the job token is wrong");
  EXPECT_ERROR(w.status[0], DeadlineExceeded, "rank(s) 1 of 2 did not come");
}

TEST(Job, AddressInUse) {
  StoreServerOptions other;
  other.job = "other";
  other.token = randomToken();
  auto server = StoreServer::start(other);
  ASSERT_OK(server);
  World w(1);
  w.options[0].store = (*server)->endpoint();
  w.join();
  EXPECT_THAT(w.status[0].message(), HasSubstr("rank 0 cannot listen at"));
  EXPECT_THAT(w.status[0].message(), HasSubstr("Address already in use"));

  // The same job twice at once.
  World x(2), y(2);
  y.places = x.places;
  x.options[0].timeout = 3s;
  x.options[0].timeout = 500ms;
  y.options[0].timeout = 50ms;
  std::atomic<bool> stop{false};
  std::thread first([&] {
    while (!stop)
      x.status[0] = rt::Job::join(x.places[0], x.options[0]).status();
  });
  EXPECT_TRUE(eventually([&] {
    y.status[0] = rt::Job::join(y.places[0], y.options[0]).status();
    return y.status[0].message().find("another rank 0 of this user waits here") !=
           std::string::npos;
  }));
  stop = true;
  first.join();
}

} // namespace
} // namespace mk::rt::test
