//===- CapacityTest.cpp ---------------------------------------------------===//

#include "Capacity.h"

#include "Support.h"

namespace mk::run::test {
namespace {

using rt::StatusCode;

std::string refusal(const Capacity &capacity, uint64_t ranks, uint64_t threads,
                    double bytes = 0) {
  rt::Status status =
      checkCapacity(capacity, RankNeeds::of(threads), ranks, bytes);
  EXPECT_TRUE(status.isOk() || status.code() == StatusCode::ResourceExhausted);
  return status.isOk() ? "" : status.message();
}

TEST(Capacity, SaysHowManyRanksArePossible) {
  Capacity few;
  few.tasks = 1000;
  few.tasksBy = "pids.max of the cgroup";
  EXPECT_EQ(refusal(few, 50, 16), ""); // 20 each
  std::string text = refusal(few, 51, 16);
  EXPECT_NE(text.find("a job of 51 ranks is too large for this machine, which takes 50"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1000 are left by pids.max of the cgroup"), std::string::npos);
  EXPECT_NE(text.find("--grid"), std::string::npos);
  // Fewer CTAs are a remedy.
  EXPECT_EQ(refusal(few, 51, 15), "");
}

TEST(Capacity, CountsConnectionsAndMemory) {
  Capacity files;
  files.files = 100;
  EXPECT_EQ(refusal(files, 68, 1), "");
  EXPECT_NE(refusal(files, 69, 1).find("100 files open (ulimit -n)"),
            std::string::npos);
  Capacity memory;
  memory.memory = uint64_t(1) << 30;
  memory.memoryBy = "free memory";
  EXPECT_EQ(refusal(memory, 4, 16), "");
  EXPECT_EQ(refusal(memory, 4, 16, 900 << 20), "");
  EXPECT_NE(refusal(memory, 4, 16, 1 << 30).find("arguments 256.0 MiB"),
            std::string::npos);
  EXPECT_NE(refusal(memory, 10000, 16).find("1.0 GiB are left by free memory"),
            std::string::npos);
}

TEST(Capacity, WithoutLimitsEverythingFits) {
  EXPECT_EQ(refusal(Capacity(), 65536, 65534, 1e18), "");
  // This machine has some, and they take a job of two ranks.
  EXPECT_EQ(refusal(Capacity::ofThisMachine(), 2, 1), "");
  EXPECT_NE(refusal(Capacity::ofThisMachine(), 65536, 65534), "");
}

} // namespace
} // namespace mk::run::test
