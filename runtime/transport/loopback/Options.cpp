//===- Options.cpp - Options of the loopback transport --------------------===//

#include "transport/loopback/Options.h"
#include "mkernel/Runtime/Env.h"
#include "transport/OptionText.h"
#include "transport/Paths.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mk::rt {
namespace {

constexpr std::string_view kValid =
    "delay=TIME, jitter=TIME, reorder=SEED, rate=BYTES/s, mtu=BYTES, "
    "fail=REQUEST, pause, ";
constexpr std::string_view kLoopbackNames[] = {"delay", "jitter", "reorder", "rate",
                                       "mtu",   "fail",   "pause"};
constexpr std::string_view kLoopbackFlags[] = {"pause"};

/// "100MB/s", "100M", "1.5GB/s"; units are decimal, as those of links are.
Result<double> parseRate(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with("/s"))
    number.remove_suffix(2);
  if (number.ends_with("B"))
    number.remove_suffix(1);
  constexpr std::pair<char, double> kUnits[] = {{'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
  double factor = 1, value = 0;
  for (auto [unit, times] : kUnits)
    if (number.ends_with(unit)) {
      number.remove_suffix(1);
      factor = times;
      break;
    }
  auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), value);
  value *= factor;
  if (ec != std::errc() || end != number.data() + number.size() || !(value >= 0 && value < 1e18))
    return error(StatusCode::InvalidArgument, "'", text,
                 "' is not a rate: write bytes a second, like 50GB/s");
  return value;
}

Result<uint64_t> parseCount(std::string_view text) {
  MK_ASSIGN(int64_t value, env::parseInt(text));
  if (value < 0)
    return error(StatusCode::InvalidArgument, "'", text, "' is negative");
  return static_cast<uint64_t>(value);
}

Status apply(LoopbackOptions &o, std::string_view key, std::string_view value) {
  if (key == "pause") {
    o.pause = true;
    return {};
  }
  if (key == "delay" || key == "jitter") {
    MK_ASSIGN((key == "delay" ? o.delay : o.jitter), env::parseDuration(value));
    if (std::max(o.delay, o.jitter) > std::chrono::hours(1))
      return error(StatusCode::InvalidArgument, "more than an hour");
  } else if (key == "reorder") {
    MK_ASSIGN(o.reorder, parseCount(value));
  } else if (key == "rate") {
    MK_ASSIGN(double rate, parseRate(value));
    if (rate < 1)
      return error(StatusCode::InvalidArgument,
                   "nothing would arrive; use 'pause' for that");
    o.rate = rate;
  } else if (key == "mtu") {
    MK_ASSIGN(o.mtu, env::parseBytes(value));
    if (o.mtu == 0)
      return error(StatusCode::InvalidArgument, "a packet of no bytes");
  } else if (key == "fail") {
    MK_ASSIGN(o.fail, parseCount(value));
  }
  return {};
}

} // namespace

Result<LoopbackOptions> LoopbackOptions::parse(std::string_view text) {
  LoopbackOptions options;
  MK_TRY(parseOptions(text, {"loopback", kLoopbackNames, kLoopbackFlags, str(kValid, PathOptions::valid(/*loopback=*/true))},
                      [&](std::string_view key, std::string_view value) {
                        return apply(options, key, value);
                      }));
  return options;
}

} // namespace mk::rt
