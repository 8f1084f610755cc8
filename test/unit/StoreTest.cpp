//===- StoreTest.cpp - The key-value store --------------------------------===//

#include "Support.h"

#include "core/Socket.h"

#include <csignal>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mk::rt::test {
namespace {

TEST(Store, SetGetAdd) {
  Job job(2);
  auto &a = *job.clients[0], &b = *job.clients[1];
  std::string binary("\0\xff key", 6);
  EXPECT_OK(a.set(binary, std::string("v\0w", 3), soon()));
  EXPECT_EQ(*b.get(binary, soon()), std::string("v\0w", 3));
  EXPECT_OK(b.set(binary, "", soon()));
  EXPECT_EQ(*a.get(binary, soon()), "");
  EXPECT_EQ(*a.add("n", 5, soon()), 5);
  EXPECT_EQ(*b.add("n", -7, soon()), -2);
}

TEST(Store, EndpointsArePorts) {
  for (const char *port : {"99999999", "0", "-1", "http", "1x"}) {
    StoreClientOptions o;
    o.token = randomToken();
    o.endpoint = str("127.0.0.1:", port);
    auto begin = Deadline::Clock::now();
    EXPECT_ERROR(StoreClient::connect(o, soon()).status(), InvalidArgument,
                 str("'127.0.0.1:", port, "' is no endpoint of a store: '", port,
                     "' is no port; write host:port, with a port from 1 to 65535"));
    EXPECT_LT(Deadline::Clock::now() - begin, 10s);
  }
}

TEST(Store, GetWaitsForTheKey) {
  Job job(2);
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    EXPECT_OK(job.clients[1]->set("late", "here", soon()));
  });
  EXPECT_EQ(*job.clients[0]->get("late", soon()), "here");
  later.join();
}

TEST(Store, DeadlineNamesTheKeyAndCancels) {
  Job job(1);
  auto got = job.clients[0]->get("never", Deadline::after(30ms));
  EXPECT_ERROR(got.status(), DeadlineExceeded, "30 ms for key 'never'");
  // The connection still works, and the late answer goes nowhere.
  EXPECT_OK(job.clients[0]->set("never", "now", soon()));
  EXPECT_EQ(*job.clients[0]->get("never", soon()), "now");
}

TEST(Store, BarrierReleasesAllAndIsReusable) {
  constexpr uint32_t world = 8;
  Job job(world);
  std::atomic<int> in{0};
  Job::parallel(world, [&](uint32_t r) {
    for (int round = 1; round <= 5; ++round) {
      ++in;
      EXPECT_OK(job.clients[r]->barrier("b", world, soon()));
      EXPECT_GE(in, int(world) * round);
    }
  });
}

TEST(Store, BarrierForgetsWhoGaveUp) {
  Job job(2);
  EXPECT_ERROR(job.clients[0]->barrier("b", 2, Deadline::after(20ms)),
               DeadlineExceeded, "barrier 'b' of 2");
  EXPECT_ERROR(job.clients[1]->barrier("b", 2, Deadline::after(20ms)),
               DeadlineExceeded, "rank 1");
}

TEST(Store, BarrierSizesMustAgree) {
  Job job(2);
  std::atomic<int> refused{0}, waited{0};
  Job::parallel(2, [&](uint32_t r) {
    Status s = job.clients[r]->barrier("b", 2 + r, Deadline::after(500ms));
    refused += s.code() == StatusCode::InvalidArgument;
    waited += s.code() == StatusCode::DeadlineExceeded;
  });
  EXPECT_EQ(refused, 1); // whoever came second
  EXPECT_EQ(waited, 1);
}

TEST(Store, AllGather) {
  constexpr uint32_t world = 6;
  Job job(world);
  Job::parallel(world, [&](uint32_t r) {
    auto all =
        job.clients[r]->allGather("g", r, str("from ", r), world, soon());
    ASSERT_OK(all);
    for (uint32_t i = 0; i < world; ++i)
      EXPECT_EQ((*all)[i], str("from ", i));
  });
}

TEST(Store, LargeValuesFromManyThreads) {
  Job job(1);
  std::string big(3 << 20, 'x');
  Job::parallel(4, [&](uint32_t t) {
    std::string key = str("big", t);
    EXPECT_OK(job.clients[0]->set(key, big, soon()));
    EXPECT_EQ(job.clients[0]->get(key, soon())->size(), big.size());
  });
}

TEST(Store, OversizedValueIsRefusedBeforeItIsSent) {
  Job job(1);
  EXPECT_ERROR(job.clients[0]->set("k", std::string(17 << 20, 'x'), soon()),
               InvalidArgument, "a store message at most 16777216");
  EXPECT_OK(job.clients[0]->set("k", "small", soon()));
}

TEST(Store, AbortReachesEveryRankAndEveryWait) {
  Job job(3);
  std::atomic<int> called{0};
  job.clients[2]->onAbort([&](const AbortRecord &) { ++called; });
  std::thread waiting([&] {
    EXPECT_ERROR(job.clients[1]->get("never", soon()).status(), Aborted,
                 "rank 0, wait");
  });
  EXPECT_FALSE(job.clients[1]->aborted());
  EXPECT_OK(job.clients[0]->publishAbort(AbortRecord::now(0, "wait", "boom")));
  waiting.join();
  for (auto &client : job.clients)
    EXPECT_TRUE(eventually([&] { return client->aborted().has_value(); }));
  EXPECT_TRUE(eventually([&] { return called == 1; }));
  EXPECT_EQ(job.server->aborted()->text, "boom");
  // The first one counts; somebody who comes too late is told.
  EXPECT_OK(job.clients[1]->publishAbort(AbortRecord::now(1, "x", "later")));
  auto late = StoreClient::connect(job.clientOptions(kObserver), soon());
  ASSERT_OK(late);
  EXPECT_TRUE(eventually([&] { return (*late)->aborted().has_value(); }));
  EXPECT_EQ((*late)->aborted()->text, "boom");
}

TEST(Store, AbortWordsOfRanksAreOne) {
  Job job(2);
  AbortWord words[2];
  for (int r = 0; r < 2; ++r)
    connectAbort(words[r], *job.clients[r]);
  words[0].raise(AbortRecord::now(0, "proxy", "bad command"));
  EXPECT_TRUE(eventually([&] { return words[1].raised(); }));
  EXPECT_ERROR(words[1].status(), Aborted, "rank 0, proxy");
  for (int r = 0; r < 2; ++r)
    disconnectAbort(words[r], *job.clients[r]);
}

TEST(Store, AllRanksTogetherEndAnAbort) {
  Job job(3);
  for (uint32_t round = 1; round <= 3; ++round) {
    // Who waits somewhere is told, and is not waited for any more.
    std::thread waits([&] {
      EXPECT_ERROR(job.clients[1]->barrier("b", 2, soon()), Aborted, "boom");
    });
    EXPECT_OK(job.clients[0]->publishAbort(AbortRecord::now(0, "wait", "boom")));
    waits.join();
    Job::parallel(3, [&](uint32_t r) {
      EXPECT_TRUE(eventually([&] { return job.clients[r]->aborted().has_value(); }));
      EXPECT_FALSE(job.clients[r]->set("k", "v", soon()));
      auto ended = job.clients[r]->recover(3, soon());
      ASSERT_OK(ended);
      EXPECT_EQ(*ended, round);
      EXPECT_FALSE(job.clients[r]->aborted());
      EXPECT_OK(job.clients[r]->barrier("b", 3, soon()));
    });
    EXPECT_FALSE(job.server->aborted());
  }
}

TEST(Store, AnAbortStaysWhereARankIsLostOrDoesNotCome) {
  Job job(3);
  EXPECT_OK(job.clients[0]->publishAbort(AbortRecord::now(0, "wait", "boom")));
  EXPECT_TRUE(eventually([&] { return job.clients[1]->aborted().has_value(); }));
  EXPECT_ERROR(job.clients[1]->recover(3, Deadline::after(50ms)).status(),
               DeadlineExceeded, "for all 3 ranks to begin anew");
  std::thread waits([&] {
    EXPECT_ERROR(job.clients[1]->recover(3, soon()).status(), Unavailable,
                 "cannot go on after an abort: ");
  });
  std::this_thread::sleep_for(20ms);
  job.clients[2].reset();
  waits.join();
  EXPECT_ERROR(job.clients[0]->recover(3, soon()).status(), Unavailable,
               "only 2 of 3 ranks are left");
  EXPECT_EQ(job.clients[1]->aborted()->text, "boom");
}

TEST(Store, LauncherAborts) {
  Job job(1);
  job.server->abort(AbortRecord::now(-1, "launcher", "interrupted"));
  EXPECT_TRUE(
      eventually([&] { return job.clients[0]->aborted().has_value(); }));
  EXPECT_THAT(job.clients[0]->aborted()->toString(),
              HasSubstr("launcher, launcher"));
}

TEST(Store, GoodbyeIsNoLoss) {
  Job job(2);
  EXPECT_EQ(job.server->connected(), 2u);
  EXPECT_OK(job.clients[1]->goodbye(soon()));
  EXPECT_OK(job.clients[1]->goodbye(soon()));
  EXPECT_ERROR(job.clients[1]->set("k", "v", soon()), FailedPrecondition,
               "after goodbye");
  job.clients[1].reset();
  EXPECT_OK(job.clients[0]->set("k", "v", soon()));
  EXPECT_EQ(job.server->connected(), 1u);
  EXPECT_FALSE(job.server->aborted());
}

TEST(Store, LostRankIsAnAbort) {
  std::atomic<int> told{0};
  StoreServerOptions options;
  options.onAbort = [&](const AbortRecord &) { ++told; };
  Job job(2, options);
  job.clients[1].reset();
  EXPECT_TRUE(
      eventually([&] { return job.clients[0]->aborted().has_value(); }));
  EXPECT_THAT(job.clients[0]->aborted()->text, HasSubstr("rank 1 was lost"));
  EXPECT_TRUE(eventually([&] { return told == 1; }));
}

TEST(Store, LostObserverIsNot) {
  Job job(1);
  {
    auto tool = StoreClient::connect(job.clientOptions(kObserver), soon());
    ASSERT_OK(tool);
  }
  EXPECT_OK(job.clients[0]->set("k", "v", soon()));
  EXPECT_FALSE(job.server->aborted());
}

TEST(Store, LostStoreIsAnAbort) {
  Job job(1);
  job.server.reset();
  EXPECT_TRUE(
      eventually([&] { return job.clients[0]->aborted().has_value(); }));
  EXPECT_ERROR(job.clients[0]->set("k", "v", soon()), Unavailable,
               "the launcher is gone");
}

TEST(Store, NobodyListens) {
  StoreClientOptions o;
  o.token = randomToken();
  o.endpoint = "127.0.0.1:1";
  EXPECT_ERROR(StoreClient::connect(o, Deadline::after(50ms)).status(),
               DeadlineExceeded, "check that the launcher runs");
  EXPECT_ERROR(StoreClient::connect(o, Deadline::after(50ms)).status(),
               DeadlineExceeded, "nobody listened at 127.0.0.1:1 for ");
  o.endpoint = "nonsense";
  EXPECT_ERROR(StoreClient::connect(o, soon()).status(), InvalidArgument,
               "write host:port");
}

TEST(Store, LocalListenerThatIsFull) {
  const std::string name = "mkernel-full-" + std::to_string(::getpid());
  auto listener = listenLocal(name);
  ASSERT_OK(listener);
  ASSERT_EQ(::listen(listener->get(), 0), 0);
  // Nobody accepts them.
  std::vector<Fd> waiting;
  Status last = Status::success();
  for (int i = 0; i < 8 && last.isOk(); ++i) {
    auto socket = connectLocal(name, Deadline::after(50ms));
    last = socket.status();
    if (socket)
      waiting.push_back(std::move(*socket));
  }
  EXPECT_ERROR(last, DeadlineExceeded, " to connect to local socket '@" + name);
}

TEST(Store, KilledProcessIsReported) {
  // Forked before this process has threads of this test.
  int endpoint[2];
  ASSERT_EQ(::pipe(endpoint), 0);
  std::string token = randomToken();
  pid_t child = ::fork();
  if (child == 0) {
    char text[64] = {};
    if (::read(endpoint[0], text, sizeof(text) - 1) <= 0)
      ::_exit(1);
    StoreClientOptions o;
    o.endpoint = text;
    o.job = "unit-test";
    o.token = token;
    o.rank = 1;
    auto client = StoreClient::connect(o, soon());
    if (!client || !(*client)->set("alive", "1", soon()))
      ::_exit(2);
    ::pause();
  }
  StoreServerOptions options;
  options.job = "unit-test";
  options.token = token;
  options.world = 2;
  QuietLog quiet;
  auto server = StoreServer::start(options);
  ASSERT_OK(server);
  StoreClientOptions o;
  o.endpoint = (*server)->endpoint();
  o.job = "unit-test";
  o.token = token;
  o.rank = 0;
  auto client = StoreClient::connect(o, soon());
  ASSERT_OK(client);
  ASSERT_GT(::write(endpoint[1], o.endpoint.data(), o.endpoint.size()), 0);
  ASSERT_OK((*client)->get("alive", soon()));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(eventually([&] { return (*client)->aborted().has_value(); }));
  EXPECT_EQ((*client)->aborted()->rank, 1);
  EXPECT_OK((*client)->goodbye(soon()));
  ::close(endpoint[0]);
  ::close(endpoint[1]);
}

} // namespace
} // namespace mk::rt::test
