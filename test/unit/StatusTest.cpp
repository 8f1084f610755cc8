//===- StatusTest.cpp - Status, deadlines, digests, abort word ------------===//

#include "Support.h"

namespace mk::rt::test {
namespace {

Result<int> half(int v) {
  if (v % 2)
    return error(StatusCode::InvalidArgument, v, " is odd");
  return v / 2;
}
Result<int> quarter(int v) {
  MK_ASSIGN(int h, half(v));
  MK_TRY(half(h).status());
  return h / 2;
}

TEST(Status, CarriesCodeAndMessage) {
  EXPECT_TRUE(Status().isOk());
  EXPECT_EQ(Status().toString(), "ok");
  Status s = error(StatusCode::NotFound, "rank ", 3, " of ", 4u);
  EXPECT_EQ(s.toString(), "not found: rank 3 of 4");
  EXPECT_EQ(s.withContext("store").message(), "store: rank 3 of 4");
  EXPECT_ERROR(errnoError(StatusCode::Unavailable, "open", ENOENT), Unavailable,
               "open failed: No such file");
}

TEST(Status, MacrosReturnTheFirstError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_ERROR(quarter(3).status(), InvalidArgument, "3 is odd");
  EXPECT_ERROR(quarter(6).status(), InvalidArgument, "3 is odd");
  EXPECT_EQ(half(3).valueOr(-1), -1);
}

TEST(Deadline, SaturatesAndFormats) {
  EXPECT_TRUE(Deadline::after(0ns).passed());
  EXPECT_FALSE(Deadline::never().passed());
  EXPECT_FALSE(Deadline::after(std::chrono::nanoseconds::max()).passed());
  EXPECT_EQ(Deadline::after(1500ms).duration(), "1.5 s");
  EXPECT_EQ(Deadline::after(20ms).duration(), "20 ms");
  EXPECT_EQ(Deadline::after(0ns).pollMillis(), 0);
  EXPECT_GE(Deadline::after(100us).pollMillis(), 0);
  EXPECT_EQ(Deadline::never().pollMillis(7), 7);
}

TEST(Deadline, TimesSaturateAndAreNotNegative) {
  EXPECT_EQ(addTime(1s, 250ms), 1250ms);
  EXPECT_EQ(addTime(std::chrono::nanoseconds::max(), 1ns), std::chrono::nanoseconds::max());
  EXPECT_OK(checkTime("o", 0ns));
  EXPECT_ERROR(checkTime("LaunchOptions::deadline", -2us), InvalidArgument,
               "LaunchOptions::deadline is -2000 ns: a time must not be negative; leave it at its "
               "default, or give one from 0 on");
}

TEST(Digest, KnownAnswers) {
  EXPECT_EQ(toHex(sha256(std::string_view("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(hmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(randomToken().size(), 64u);
  EXPECT_NE(randomToken(), randomToken());
}

TEST(AbortRecord, SurvivesTheWire) {
  AbortRecord r = AbortRecord::now(3, "wait", "signal 7 stayed at 1");
  auto back = AbortRecord::decode(r.encode());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->toString(), r.toString());
  EXPECT_THAT(r.toString(), HasSubstr("rank 3, wait, at "));
  for (size_t n = 0; n < 13; ++n)
    EXPECT_FALSE(AbortRecord::decode(r.encode().substr(0, n)));
  r.text.assign(1 << 20, 'x');
  EXPECT_LT(r.encode().size(), 20000u);
}

TEST(AbortWord, KeepsTheFirstRecord) {
  AbortWord word;
  int calls = 0;
  word.onRaise([&](const AbortRecord &) { ++calls; });
  EXPECT_FALSE(word.raised());
  EXPECT_OK(word.status());
  EXPECT_TRUE(word.raise(AbortRecord::now(1, "a", "first")));
  EXPECT_FALSE(word.raise(AbortRecord::now(2, "b", "second")));
  EXPECT_TRUE(word.raised());
  EXPECT_EQ(word.word().load(), 1u);
  EXPECT_ERROR(word.status(), Aborted, "first");
  EXPECT_EQ(calls, 1);
  word.onRaise([&](const AbortRecord &) { ++calls; }); // too late: at once
  EXPECT_EQ(calls, 2);
}

TEST(AbortWord, WaitsThatWereGivenUpAreExplained) {
  for (bool remote : {false, true})
    for (const char *what : {"wait", "proxy"}) {
      AbortWord word;
      int owner = 0, asked = 0;
      word.addNote(&owner, [&] { return ++asked, std::string("rank 2 is silent"); });
      word.addNote(&asked, [] { return std::string(); });
      std::string published;
      word.onRaise([&](const AbortRecord &r) { published = r.text; });
      AbortRecord record = AbortRecord::now(1, what, "waited 2 s");
      remote ? word.raiseRemote(record) : word.raise(record);
      bool wait = what == std::string("wait");
      std::string text = wait ? "waited 2 s; rank 2 is silent" : "waited 2 s";
      EXPECT_EQ(word.record()->text, text);
      EXPECT_EQ(published, remote ? "" : text);
      EXPECT_EQ(asked, wait ? 1 : 0);
      word.raise(AbortRecord::now(1, "wait", "another"));
      EXPECT_EQ(asked, wait ? 1 : 0) << "it is raised already";
    }
  AbortWord word;
  int owner = 0;
  word.addNote(&owner, [] { return std::string("gone"); });
  word.removeNote(&owner);
  word.raise(AbortRecord::now(1, "wait", "waited"));
  EXPECT_EQ(word.record()->text, "waited");
}

TEST(AbortWord, DoesNotSendBackWhatCameFromOthers) {
  AbortWord word;
  int calls = 0;
  word.onRaise([&](const AbortRecord &) { ++calls; });
  EXPECT_TRUE(word.raiseRemote(AbortRecord::now(1, "a", "first")));
  EXPECT_FALSE(word.raise(AbortRecord::now(0, "b", "second")));
  EXPECT_EQ(calls, 0);
}

TEST(AbortWord, OneOfManyThreadsIsFirst) {
  AbortWord word;
  std::atomic<int> first{0};
  Job::parallel(8, [&](uint32_t r) {
    first += word.raise(AbortRecord::now(int32_t(r), "t", std::to_string(r)));
  });
  EXPECT_EQ(first, 1);
}

} // namespace
} // namespace mk::rt::test
