//===- SelfTestReport.cpp - What --selftest says of pairs -----------------===//

#include "SelfTestReport.h"

#include <algorithm>
#include <cstdio>

using namespace mk::run;
using namespace mk::rt;

namespace {

constexpr std::string_view kTimeout = "waited ";

/// The medians of pairs of one kind. Of an even number the better of the two in the middle: one bad
/// NIC of four is in half of all pairs.
struct Usual {
  double latencyUs = 0, rateGBs = 0;

  static Usual of(std::span<const Pair> pairs, bool link) {
    std::vector<double> latencies, rates;
    for (const Pair &pair : pairs) {
      if (pair.link != link || !pair.measured.failed.empty())
        continue;
      latencies.push_back(pair.measured.latencyUs);
      rates.push_back(-rateOf(pair.measured));
    }
    return latencies.empty() ? Usual() : Usual{lowerMedian(latencies), -lowerMedian(rates)};
  }
  static double rateOf(const Measured &m) { return std::min(m.forthGBs, m.backGBs); }

private:
  static double lowerMedian(std::vector<double> &values) {
    auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }
};

std::string verdictOf(const Measured &m, const Usual &usual) {
  if (!m.wrong.empty())
    return "WRONG";
  if (Usual::rateOf(m) < usual.rateGBs / 2)
    return "SLOW: less than half of the others' bandwidth";
  if (m.latencyUs > 3 * usual.latencyUs + 5)
    return "SLOW: more than three times the others' latency";
  return "good";
}

} // namespace

std::string Measured::encode() const {
  char numbers[128];
  std::snprintf(numbers, sizeof(numbers), "%.9g %.9g %.9g %zu ", latencyUs, forthGBs, backGBs,
                wrong.size());
  return numbers + wrong + failed;
}

Measured Measured::decode(const std::string &text) {
  Measured m;
  size_t wrongBytes = 0;
  int at = 0;
  std::sscanf(text.c_str(), "%lf %lf %lf %zu %n", &m.latencyUs, &m.forthGBs, &m.backGBs,
              &wrongBytes, &at);
  m.wrong = text.substr(static_cast<size_t>(at), wrongBytes);
  m.failed = text.substr(std::min(text.size(), static_cast<size_t>(at) + wrongBytes));
  return m;
}

Pair Pair::of(uint32_t a, uint32_t b, bool link, const Measured &there, const Measured &back) {
  Pair pair{a, b, link, there};
  Measured &m = pair.measured;
  m.backGBs = back.backGBs;
  if (m.wrong.empty())
    m.wrong = back.wrong;
  // A rank that waits in vain knows less than the one whose NIC gave up.
  bool thereKnows = !there.failed.empty() &&
                    (back.failed.empty() || !there.failed.starts_with(kTimeout) ||
                     back.failed.starts_with(kTimeout));
  if (thereKnows)
    m.failed = str("rank ", a, ": ", there.failed);
  else if (!back.failed.empty())
    m.failed = str("rank ", b, ": ", back.failed);
  return pair;
}

std::vector<std::string> mk::run::describe(std::span<const Pair> pairs) {
  Usual net = Usual::of(pairs, false), link = Usual::of(pairs, true);
  std::vector<std::string> lines;
  for (const Pair &pair : pairs) {
    const Measured &m = pair.measured;
    if (!m.failed.empty()) {
      lines.push_back(str(pair.a, " <-> ", pair.b, ": FAILED: ", m.failed,
                          m.wrong.empty() ? "" : "; before that WRONG: ", m.wrong));
      continue;
    }
    char figures[128];
    std::snprintf(figures, sizeof(figures),
                  "latency %.1f us, %.2f GB/s there, %.2f GB/s back, order %s", m.latencyUs,
                  m.forthGBs, m.backGBs, m.wrong.empty() ? "kept" : "broken");
    lines.push_back(str(pair.a, " <-> ", pair.b, ": ", figures, ": ",
                        verdictOf(m, pair.link ? link : net)));
  }
  return lines;
}

std::string mk::run::findFault(std::span<const Pair> pairs) {
  for (const Pair &pair : pairs)
    if (!pair.measured.failed.empty())
      return str("ranks ", pair.a, " and ", pair.b,
                 " did not get through to each other: ", pair.measured.failed);
  for (const Pair &pair : pairs)
    if (!pair.measured.wrong.empty())
      return pair.measured.wrong;
  return "";
}
