//===- Options.cpp - Options of the transports over NICs ------------------===//

#include "transport/rdma/Options.h"

#include "mkernel/Runtime/Env.h"
#include "transport/OptionText.h"
#include "transport/Paths.h"

#include <algorithm>

namespace mk::rt::rdma {
namespace {

using Description = Options::Description;

// docs/network.md has the same lines; a test compares them.
constexpr Description kOptionTable[] = {
    {"nics", "A+B", "the nearest", "NICs of this rank, by name", Description::Both},
    {"qps", "1..16", "1", "queue pairs for each pair of NICs", Description::VerbsOnly},
    {"depth", "16..4096", "512", "requests in flight on a queue pair", Description::Both},
    {"signals", "16..8192", "512",
     "signals under way to a peer over one path that its proxy has not taken",
     Description::Both},
    {"request", "4K..1G", "8M", "bytes of the largest request", Description::Both},
    {"stripe", "4K..1G", "256K",
     "bytes from which a piece of a put is divided over all paths", Description::Both},
    {"mtu", "256..4096", "the port's", "largest packet", Description::VerbsOnly},
    {"timeout", "0..31", "18",
     "wait for an acknowledgement, 4.096 us times 2 to this power; 0: for ever",
     Description::VerbsOnly},
    {"retries", "0..7", "7", "repetitions after that", Description::VerbsOnly},
    {"rnr", "0..7", "7", "repetitions while the receiver is not ready; 7: for ever",
     Description::VerbsOnly},
    {"gid", "INDEX", "chosen",
     "index of the GID; chosen: RoCE v2 over IPv4, then over IPv6", Description::VerbsOnly},
    {"tc", "0..255", "0", "traffic class: DSCP times 4 (RoCE)", Description::VerbsOnly},
    {"sl", "0..15", "0", "service level", Description::VerbsOnly},
    {"pkey", "INDEX", "0", "index of the partition key", Description::Both},
    {"relaxed", "0..1", "1", "relaxed ordering of PCIe for data", Description::Both},
    {"unsolicited", "0..1", "1", "signals without posted receives, where the device can",
     Description::EfaOnly},
    {"deadline", "TIME", "30s", "without progress on a path that has requests",
     Description::Both},
    {"linger", "TIME", "2s", "for which a rank that leaves waits for its peers to leave",
     Description::Both},
    {"address", "IP", "that to the store",
     "address of this rank at which peers reach its control socket", Description::Both},
};

bool isFor(const Description &d, NicKind kind) {
  return d.of == Description::Both ||
         (d.of == Description::EfaOnly) == (kind == NicKind::Efa);
}

std::string validOptions(NicKind kind) {
  std::string out;
  for (const Description &d : kOptionTable)
    if (isFor(d, kind))
      out += str(d.name, "=", d.form, ", ");
  return out + PathOptions::valid(/*loopback=*/false);
}

template <typename T>
Status parseRange(std::string_view value, T &out, int64_t low, int64_t high) {
  MK_ASSIGN(int64_t number, env::parseInt(value));
  if (number < low || number > high)
    return error(StatusCode::InvalidArgument, "a number from ", low, " to ", high,
                 " is needed");
  out = static_cast<T>(number);
  return {};
}

Status parseSize(std::string_view value, uint64_t &out) {
  MK_ASSIGN(out, env::parseBytes(value));
  if (out < 4096 || out > 1u << 30)
    return error(StatusCode::InvalidArgument, "a size from 4K to 1G is needed");
  return {};
}

Status parseTime(std::string_view value, std::chrono::nanoseconds &out,
                 std::chrono::nanoseconds least) {
  MK_ASSIGN(out, env::parseDuration(value));
  if (out < least || out > std::chrono::hours(24))
    return error(StatusCode::InvalidArgument, "a time up to a day is needed",
                 least.count() ? ", and more than 10 ms" : "");
  return {};
}

Status parseNames(std::string_view value, std::vector<std::string> &out) {
  while (true) {
    size_t plus = value.find('+');
    std::string name(value.substr(0, plus));
    if (name.empty() || std::find(out.begin(), out.end(), name) != out.end())
      return error(StatusCode::InvalidArgument,
                   "different names are needed, like mlx5_0+mlx5_1");
    out.push_back(std::move(name));
    if (plus == std::string_view::npos)
      return {};
    value.remove_prefix(plus + 1);
  }
}

Status applyOption(Options &o, std::string_view key, std::string_view value) {
  using std::chrono::milliseconds;
  if (key == "nics") {
    o.nics.clear();
    return parseNames(value, o.nics);
  }
  if (key == "qps")
    return parseRange(value, o.qps, 1, 16);
  if (key == "depth")
    return parseRange(value, o.depth, 16, 4096);
  if (key == "signals")
    return parseRange(value, o.signals, 16, 8192);
  if (key == "request")
    return parseSize(value, o.request);
  if (key == "stripe")
    return parseSize(value, o.stripe);
  if (key == "mtu") {
    MK_TRY(parseRange(value, o.mtu, 256, 4096));
    return o.mtu & (o.mtu - 1)
               ? error(StatusCode::InvalidArgument, "256, 512, 1024, 2048 or 4096 is needed")
               : Status::success();
  }
  if (key == "timeout")
    return parseRange(value, o.timeout, 0, 31);
  if (key == "retries")
    return parseRange(value, o.retries, 0, 7);
  if (key == "rnr")
    return parseRange(value, o.rnr, 0, 7);
  if (key == "gid")
    return parseRange(value, o.gid, 0, 65535);
  if (key == "tc")
    return parseRange(value, o.tc, 0, 255);
  if (key == "sl")
    return parseRange(value, o.sl, 0, 15);
  if (key == "pkey")
    return parseRange(value, o.pkey, 0, 65535);
  if (key == "relaxed")
    return parseRange(value, o.relaxed, 0, 1);
  if (key == "unsolicited")
    return parseRange(value, o.unsolicited, 0, 1);
  if (key == "deadline")
    return parseTime(value, o.deadline, milliseconds(10));
  if (key == "linger")
    return parseTime(value, o.linger, milliseconds(0));
  o.address = value; // "address", the only one left
  return {};
}

} // namespace

std::span<const Description> Options::table() { return kOptionTable; }

Result<Options> Options::parse(std::string_view text, NicKind kind) {
  Options options;
  std::string_view name = kind == NicKind::Efa ? "efa" : "verbs";
  std::vector<std::string_view> names;
  for (const Description &d : kOptionTable)
    if (isFor(d, kind))
      names.push_back(d.name);
  MK_TRY(parseOptions(text, {name, names, {}, validOptions(kind)},
                      [&](std::string_view key, std::string_view value) {
                        return applyOption(options, key, value);
                      }));
  return options;
}

} // namespace mk::rt::rdma
