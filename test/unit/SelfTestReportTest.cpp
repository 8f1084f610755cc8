//===- SelfTestReportTest.cpp ---------------------------------------------===//

#include "SelfTestReport.h"

#include "Support.h"

namespace mk::run {
namespace {

using rt::test::HasSubstr;
using testing::ElementsAre;

Pair pairOf(uint32_t a, uint32_t b, double latencyUs, double forth, double back,
            bool link = false) {
  return {a, b, link, {latencyUs, forth, back, "", ""}};
}

std::vector<std::string> verdicts(std::vector<Pair> pairs) {
  std::vector<std::string> out;
  for (const std::string &line : describe(pairs)) {
    size_t at = line.rfind("order kept: ");
    out.push_back(at == std::string::npos ? line : line.substr(at + 12));
  }
  return out;
}

constexpr const char *kRate = "SLOW: less than half of the others' bandwidth";
constexpr const char *kLatency = "SLOW: more than three times the others' latency";

TEST(SelfTestReport, ALineHasTheFigures) {
  EXPECT_THAT(describe(std::vector{pairOf(0, 8, 2.04, 46.123, 45, false)}),
              ElementsAre("0 <-> 8: latency 2.0 us, 46.12 GB/s there, 45.00 GB/s back, "
                          "order kept: good"));
}

TEST(SelfTestReport, SlowIsLessThanHalfTheMedianOrThreeTimesTheLatency) {
  EXPECT_THAT(verdicts({pairOf(0, 1, 10, 40, 40), pairOf(0, 2, 10, 40, 20),
                        pairOf(1, 2, 10, 40, 19.9), pairOf(3, 4, 10, 40, 40)}),
              ElementsAre("good", "good", kRate, "good"));
  EXPECT_THAT(verdicts({pairOf(0, 1, 10, 40, 40), pairOf(0, 2, 35, 40, 40), pairOf(1, 2, 35.1, 40, 40),
                        pairOf(3, 4, 10, 40, 40)}),
              ElementsAre("good", "good", kLatency, "good"));
}

TEST(SelfTestReport, OneBadNicOfFourIsSeen) {
  // It is in three of six pairs.
  EXPECT_THAT(verdicts({pairOf(0, 1, 5, 40, 40), pairOf(0, 2, 5, 40, 40), pairOf(1, 2, 5, 40, 40),
                        pairOf(0, 3, 5, 40, 10), pairOf(1, 3, 5, 40, 10), pairOf(2, 3, 50, 40, 40)}),
              ElementsAre("good", "good", "good", kRate, kRate, kLatency));
}

TEST(SelfTestReport, LinksAreComparedWithLinks) {
  EXPECT_THAT(verdicts({pairOf(0, 2, 10, 40, 40), pairOf(1, 3, 10, 40, 40),
                        pairOf(0, 1, 1, 400, 400, true), pairOf(2, 3, 1, 400, 150, true)}),
              ElementsAre("good", "good", "good", kRate));
}

TEST(SelfTestReport, WhatFailedHasALineAndNoPartInTheMedian) {
  Measured timeout, nic;
  timeout.failed = "waited 1 s for an answer of rank 1";
  nic.failed = "NIC a: port error";
  std::vector<Pair> pairs = {Pair::of(0, 1, false, timeout, nic), pairOf(0, 2, 10, 40, 40),
                             Pair::of(2, 3, false, timeout, timeout)};
  EXPECT_THAT(verdicts(pairs),
              ElementsAre("0 <-> 1: FAILED: rank 1: NIC a: port error", "good",
                          "2 <-> 3: FAILED: rank 2: waited 1 s for an answer of rank 1"));
  EXPECT_EQ(findFault(pairs),
            "ranks 0 and 1 did not get through to each other: rank 1: NIC a: port error");
  EXPECT_EQ(findFault(std::span(pairs).subspan(1, 1)), "");
}

TEST(SelfTestReport, BothRanksMakeAPair) {
  Measured there, back;
  there.latencyUs = 3;
  there.forthGBs = 40;
  back.backGBs = 30;
  back.wrong = "data: 12 of 13";
  Pair pair = Pair::of(4, 7, true, Measured::decode(there.encode()),
                       Measured::decode(back.encode()));
  EXPECT_THAT(describe(std::span(&pair, 1)),
              ElementsAre("4 <-> 7: latency 3.0 us, 40.00 GB/s there, 30.00 GB/s back, order "
                          "broken: WRONG"));
  EXPECT_EQ(findFault(std::span(&pair, 1)), "data: 12 of 13");
  back.failed = "why";
  Measured again = Measured::decode(back.encode());
  EXPECT_EQ(again.wrong, back.wrong);
  EXPECT_EQ(again.failed, "why");
}

} // namespace
} // namespace mk::run
