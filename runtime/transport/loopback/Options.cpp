//===- Options.cpp - Options of the loopback transport --------------------===//

#include "transport/loopback/Options.h"
#include "mkernel/Runtime/Env.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace mk::rt {
namespace {

constexpr std::string_view kValid =
    "delay=TIME, jitter=TIME, reorder=SEED, rate=BYTES/s, mtu=BYTES, "
    "fail=REQUEST, pause, path=auto|copy-engine|staged, chunk=BYTES, chunks=COUNT";
constexpr std::array<std::string_view, 7> kNames = {
    "delay", "jitter", "reorder", "rate", "mtu", "fail", "pause"};

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

Status apply(LoopbackOptions &o, std::string_view key, bool hasValue,
             std::string_view value) {
  if (key == "pause") {
    if (hasValue)
      return error(StatusCode::InvalidArgument, "it takes no value");
    o.pause = true;
    return {};
  }
  if (value.empty())
    return error(StatusCode::InvalidArgument, "it needs a value");
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
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    if (item.empty())
      continue;
    size_t equals = item.find('=');
    bool hasValue = equals != std::string_view::npos;
    std::string_view key = item.substr(0, equals);
    std::string_view value = hasValue ? item.substr(equals + 1) : "";
    if (std::find(kNames.begin(), kNames.end(), key) == kNames.end()) {
      std::string like = env::nearest(key, kNames);
      return error(StatusCode::InvalidArgument,
                   "the loopback transport has no option '", key, "'",
                   like.empty() ? "" : str(" (did you mean ", like, "?)"),
                   "; valid: ", kValid);
    }
    if (Status s = apply(options, key, hasValue, value); !s)
      return error(StatusCode::InvalidArgument, "loopback option '", item,
                   "': ", s.message(), "; valid: ", kValid);
  }
  return options;
}

} // namespace mk::rt
