//===- Support.h - What several unit tests share ----------------*- C++ -*-===//
#ifndef MKERNEL_TEST_UNIT_SUPPORT_H
#define MKERNEL_TEST_UNIT_SUPPORT_H

#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Store.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <functional>
#include <thread>

namespace mk::rt::test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Generous: a sanitized build with other jobs beside it.
inline Deadline soon() { return Deadline::after(30s); }

inline ::testing::AssertionResult succeeded(const Status &s) {
  return s ? ::testing::AssertionSuccess()
           : ::testing::AssertionFailure() << s.toString();
}
template <typename T>::testing::AssertionResult succeeded(const Result<T> &r) {
  return succeeded(r.status());
}
#define EXPECT_OK(expr) EXPECT_TRUE(::mk::rt::test::succeeded(expr))
#define ASSERT_OK(expr) ASSERT_TRUE(::mk::rt::test::succeeded(expr))
#define EXPECT_ERROR(expr, wantedCode, wantedText)                             \
  do {                                                                         \
    ::mk::rt::Status status_ = (expr);                                         \
    EXPECT_EQ(status_.code(), ::mk::rt::StatusCode::wantedCode)                \
        << status_.toString();                                                 \
    EXPECT_THAT(status_.message(), ::testing::HasSubstr(wantedText));          \
  } while (false)

/// Polls until `condition` holds; false after the deadline.
inline bool eventually(const std::function<bool()> &condition) {
  Deadline deadline = soon();
  Backoff backoff;
  while (!condition()) {
    if (deadline.passed())
      return false;
    backoff.pause();
  }
  return true;
}

/// A variable of the environment for a scope.
struct SetEnv {
  SetEnv(const char *name, const char *value) : name(name) {
    ::setenv(name, value, 1);
  }
  ~SetEnv() { ::unsetenv(name); }
  const char *name;
};

/// Keeps expected warnings out of the test's output.
struct QuietLog {
  QuietLog() {
    log::setSink([](log::Level, std::string_view) {});
  }
  ~QuietLog() { log::setSink(nullptr); }
};

/// A store and the clients of `world` ranks, all in this process.
struct Job {
  explicit Job(uint32_t world, StoreServerOptions options = {}) {
    options.job = "unit-test";
    options.token = token;
    options.world = world;
    auto started = StoreServer::start(options);
    EXPECT_OK(started);
    server = std::move(*started);
    for (uint32_t r = 0; r < world; ++r) {
      auto client = StoreClient::connect(clientOptions(int32_t(r)), soon());
      EXPECT_OK(client);
      clients.push_back(std::move(*client));
    }
  }
  ~Job() {
    for (auto &client : clients)
      if (client)
        client->goodbye(soon()).ignore();
  }

  StoreClientOptions clientOptions(int32_t rank) const {
    StoreClientOptions o;
    o.endpoint = server->endpoint();
    o.job = "unit-test";
    o.token = token;
    o.rank = rank;
    return o;
  }

  /// Runs `body(rank)` for every rank, each on a thread.
  static void parallel(uint32_t world,
                       const std::function<void(uint32_t)> &body) {
    std::vector<std::thread> threads;
    for (uint32_t r = 0; r < world; ++r)
      threads.emplace_back([&body, r] { body(r); });
    for (auto &t : threads)
      t.join();
  }

  QuietLog quiet;
  std::string token = randomToken();
  std::unique_ptr<StoreServer> server;
  std::vector<std::unique_ptr<StoreClient>> clients;
};

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_SUPPORT_H
