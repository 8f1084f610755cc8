//===- ThreadTest.cpp -----------------------------------------------------===//

#include "core/Thread.h"

#include "Support.h"

#include <pthread.h>

namespace mk::rt::test {
namespace {

TEST(Thread, ARefusedOneIsAnError) {
  // A stack that no machine has room for: as if there were no thread left.
  pthread_attr_t usual, huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_init(&huge);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t(1) << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  std::thread thread;
  Status status = startThread(thread, "the test", [] {});
  pthread_setattr_default_np(&usual);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("starting the thread of the test: "),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("ulimit -u"), std::string::npos);
  EXPECT_FALSE(thread.joinable());
}

TEST(Thread, OneThatStartsRuns) {
  std::thread thread;
  bool ran = false;
  ASSERT_OK(startThread(thread, "the test", [&] { ran = true; }));
  thread.join();
  EXPECT_TRUE(ran);
}

} // namespace
} // namespace mk::rt::test
