//===- EnvTest.cpp - Environment variables --------------------------------===//

#include "Support.h"

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Log.h"

#include <cstdlib>

namespace mk::rt::test {
namespace {

TEST(Env, TableIsSortedAndDescribed) {
  std::string last;
  for (const env::Variable &v : env::table()) {
    EXPECT_LT(last, v.name);
    EXPECT_THAT(v.name, testing::StartsWith("MK_"));
    EXPECT_GT(std::string(v.description).size(), 10u) << v.name;
    last = v.name;
  }
}

TEST(Env, Bytes) {
  EXPECT_EQ(*env::getBytes("MK_CACHE_BYTES", 7), 7u);
  {
    SetEnv e("MK_CACHE_BYTES", "1.5G");
    EXPECT_EQ(*env::getBytes("MK_CACHE_BYTES", 0), 3ull << 29);
  }
  {
    SetEnv e("MK_CACHE_BYTES", "much");
    EXPECT_ERROR(env::getBytes("MK_CACHE_BYTES", 0).status(), InvalidArgument,
                 "MK_CACHE_BYTES: 'much' is not a size: write a number of "
                 "bytes");
  }
  {
    SetEnv e("MK_CACHE_BYTES", ""); // empty means unset
    EXPECT_EQ(*env::getBytes("MK_CACHE_BYTES", 7), 7u);
  }
}

TEST(Env, Parsers) {
  EXPECT_EQ(*env::parseInt("-12"), -12);
  EXPECT_ERROR(env::parseInt("12x").status(), InvalidArgument,
               "'12x' is not an integer");
  EXPECT_EQ(*env::parseDuration("3"), 3s);
  EXPECT_EQ(*env::parseDuration("1.5us"), 1500ns);
  for (const char *bad : {"", "-1s", "s", "1 s", "nan", "inf", "1e300"}) {
    EXPECT_FALSE(env::parseDuration(bad)) << bad;
    EXPECT_FALSE(env::parseBytes(bad)) << bad;
  }
}

TEST(Env, UnknownVariablesGetASuggestion) {
  char a[] = "MK_CACHE_DRI=x", b[] = "MK_DEBUG=info", c[] = "PATH=/bin",
       d[] = "MK_XYZZYPLUGH_NOTHING_LIKE_IT=1";
  char *environment[] = {a, b, c, d, nullptr};
  auto messages = env::unknownVariables(environment);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages[0], HasSubstr("did you mean MK_CACHE_DIR?"));
  EXPECT_THAT(messages[1], Not(HasSubstr("did you mean")));
}

TEST(Env, WrongValuesAreNamedWithWhatIsTaken) {
  EXPECT_TRUE(env::wrongValues().empty());
  SetEnv bytes("MK_CACHE_BYTES", "1Q"), debug("MK_DEBUG", "loud"), pack("MK_PACK", "no");
  EXPECT_THAT(
      env::wrongValues(),
      testing::ElementsAre(
          "MK_CACHE_BYTES: '1Q' is not a size: write a number of bytes with an "
          "optional K, M, G or T, like 64M; taking 1G",
          "MK_DEBUG: 'loud' is no log level: write error, warn, info, debug or "
          "trace; taking warn",
          "MK_PACK: 'no' is neither on nor off; taking on"));
  for (const char *level : {"error", "warn", "warning", "info", "debug",
                            "trace", "0", "4", ""}) {
    SetEnv right("MK_DEBUG", level);
    EXPECT_EQ(env::wrongValues().size(), 2u) << level;
  }
}

TEST(Log, LevelsHaveNamesAndNumbers) {
  EXPECT_EQ(*log::parseLevel("info"), log::Level::Info);
  EXPECT_EQ(*log::parseLevel("4"), log::Level::Trace);
  for (const char *bad : {"", "INFO", "5", "-1", "warn "})
    EXPECT_ERROR(log::parseLevel(bad).status(), InvalidArgument,
                 "is no log level: write error, warn, info, debug or trace");
}

TEST(Log, LinesCarryTheRank) {
  static std::string last;
  log::setSink([](log::Level, std::string_view line) { last = line; });
  log::setRank(5);
  log::error("boom ", 3);
  EXPECT_EQ(last, "[mk rank 5] error: boom 3");
  auto level = log::level();
  log::setLevel(log::Level::Warn);
  log::debug("not this");
  EXPECT_EQ(last, "[mk rank 5] error: boom 3");
  log::setLevel(log::Level::Debug);
  log::debug("this");
  EXPECT_EQ(last, "[mk rank 5] debug: this");
  log::setLevel(level);
  log::setRank(-1);
  log::setSink(nullptr);
}

} // namespace
} // namespace mk::rt::test
