//===- Knobs.cpp - The weather and the faults of software RDMA ------------===//

#include "Knobs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace soft {
namespace {

const char *text(const char *name) {
  std::string full = std::string("MK_SOFTRDMA_") + name;
  const char *value = getenv(full.c_str());
  return value && *value ? value : nullptr;
}

[[noreturn]] void bad(const char *name, const char *value, const char *valid) {
  fprintf(stderr, "softrdma: MK_SOFTRDMA_%s=%s: not valid; use %s\n", name,
          value, valid);
  abort();
}

uint64_t number(const char *name, uint64_t otherwise) {
  const char *value = text(name);
  if (!value)
    return otherwise;
  char *end = nullptr;
  uint64_t result = strtoull(value, &end, 0);
  if (*end || *value == '-')
    bad(name, value, "a number");
  return result;
}

/// The value of a variable that has one of several names.
template <typename T, size_t N>
T named(const char *name, const std::pair<const char *, T> (&names)[N],
        T otherwise) {
  const char *value = text(name);
  if (!value)
    return otherwise;
  std::string valid;
  for (auto &[known, result] : names) {
    if (!strcmp(value, known))
      return result;
    valid += std::string(valid.empty() ? "" : ", ") + known;
  }
  bad(name, value, valid.c_str());
}

constexpr std::pair<const char *, Break> kBreaks[] = {
    {"early-completion", Break::EarlyCompletion},
    {"early-immediate", Break::EarlyImmediate},
    {"lost-immediate", Break::LostImmediate},
    {"twice-immediate", Break::TwiceImmediate},
    {"corrupt", Break::Corrupt},
    {"unordered", Break::Unordered},
    {"early-read", Break::EarlyRead}};

constexpr std::pair<const char *, Overrun> kOverruns[] = {
    {"abort", Overrun::Abort},
    {"event", Overrun::Event},
    {"silent", Overrun::Silent}};

double share(const char *name) {
  const char *value = text(name);
  if (!value)
    return 0;
  char *end = nullptr;
  double result = strtod(value, &end);
  if (*end == '%')
    result /= 100, ++end;
  if (*end || !(result >= 0 && result <= 1))
    bad(name, value, "a share of packets: 0.02 or 2%");
  return result;
}

} // namespace

Knobs Knobs::read() {
  Knobs k{};
  k.seed = number("SEED", 1);
  k.mtu = uint32_t(number("MTU", 4096));
  if (!k.mtu || k.mtu > 65536)
    bad("MTU", text("MTU"), "1 to 65536");
  k.jitter = uint32_t(number("JITTER", 200));
  k.delay = uint32_t(number("DELAY", 0));
  k.timeout = uint32_t(number("TIMEOUT", 0));
  k.rnr = uint32_t(number("RNR", 200));
  k.loss = share("LOSS");
  k.failNth = number("FAIL_NTH", 0);
  k.failStatus = uint32_t(number("FAIL_STATUS", 0));
  k.failLate = number("FAIL_LATE", 0);
  k.ackLost = number("ACK_LOST", 0);
  k.deadAfter = number("DEAD_NIC", 0);
  k.downAfter = number("LINK_DOWN", 0);
  k.fatalAfter = number("FATAL", 0);
  k.refuseNth = number("REFUSE_NTH", 0);
  k.caps = uint32_t(number("CAPS", kEfaRead | kEfaRnrRetry | kEfaCqWithSgid |
                                       kEfaWrite | kEfaUnsolicited));
  k.silentArp = uint32_t(number("RESOLVE", 0));
  k.regNth = number("REFUSE_REG", 0);
  k.cqLimit = uint32_t(number("CQ_DEPTH", 32768));
  k.cqEntries = uint32_t(number("CQ_ENTRIES", 0));
  k.overrun = named("OVERRUN", kOverruns, Overrun::Abort);
  k.qpLimit = uint32_t(number("QP_DEPTH", 4096));
  k.maxMessage = uint32_t(number("MAX_MESSAGE", 1u << 30));
  k.dmabuf = number("DMABUF", 0);
  k.relaxed = number("RELAXED", 1);
  k.log = number("LOG", text("SEED") != nullptr);
  k.breakage = named("BREAK", kBreaks, Break::None);
  k.job = text("JOB") ? text("JOB") : "";
  k.node = uint16_t(number("NODE", 0));
  return k;
}

Knobs Knobs::healthy() const {
  Knobs k = *this;
  k.loss = 0;
  k.failNth = k.ackLost = k.deadAfter = k.downAfter = k.fatalAfter = 0;
  k.refuseNth = k.regNth = k.cqEntries = k.silentArp = 0;
  k.breakage = Break::None;
  return k;
}

int victims() { return int(number("VICTIMS", 1 << 20)); }

std::vector<DeviceSpec> devices() {
  const char *value = text("NICS");
  std::string list = value ? value : "soft_roce0:roce,soft_efa0:efa";
  if (list.find_first_not_of("0123456789") == std::string::npos) {
    int n = atoi(list.c_str());
    list.clear();
    for (int i = 0; i < n; ++i)
      list += "soft_roce" + std::to_string(i) + ",";
  }
  std::vector<DeviceSpec> result;
  for (size_t at = 0; at < list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    std::string item = list.substr(at, end - at);
    at = end + 1;
    if (item.empty())
      continue;
    DeviceSpec spec;
    size_t colon = item.find(':');
    spec.name = item.substr(0, colon);
    while (colon != std::string::npos) {
      size_t next = item.find(':', colon + 1);
      std::string word = item.substr(
          colon + 1, next == std::string::npos ? next : next - colon - 1);
      if (word == "efa")
        spec.kind = Kind::Efa;
      else if (word == "ib")
        spec.kind = Kind::InfiniBand;
      else if (word == "down")
        spec.down = true;
      else if (atoi(word.c_str()) > 0)
        spec.gbps = uint32_t(atoi(word.c_str()));
      else if (word != "roce")
        bad("NICS", list.c_str(), "name:kind:gbps,... with roce, ib or efa");
      colon = next;
    }
    result.push_back(spec);
  }
  return result;
}

} // namespace soft
