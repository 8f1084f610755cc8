//===- Endpoint.cpp - What ranks tell each other through the store --------===//

#include "transport/rdma/Endpoint.h"

#include "bootstrap/Frame.h"

#include <cstring>

namespace mk::rt::rdma {
namespace {

constexpr uint32_t kRankMagic = 0x6d6b5231, kPathsMagic = 0x6d6b5031,
                   kSegmentMagic = 0x6d6b5331;
constexpr uint32_t kVersion = 1;
constexpr uint32_t kMaxNics = 64;

store::Writer beginMessage(uint32_t magic) {
  store::Writer w;
  w.u32(magic).u32(kVersion);
  return w;
}

void write64(store::Writer &w, uint64_t value) {
  w.i64(static_cast<int64_t>(value));
}
uint64_t read64(store::Reader &r) { return static_cast<uint64_t>(r.i64()); }

Status checkHead(store::Reader &r, uint32_t magic, uint32_t rank,
                 std::string_view what) {
  uint32_t gotMagic = r.u32(), version = r.u32();
  if (!r.ok() || gotMagic != magic)
    return error(StatusCode::Unavailable, "rank ", rank,
                 " published something else than ", what,
                 ": run the same mKernel on all ranks");
  if (version != kVersion)
    return error(StatusCode::Unavailable, "rank ", rank, " published ", what,
                 " of version ", version, ", this is version ", kVersion,
                 ": run the same mKernel on all ranks");
  return {};
}

Status checkEnd(const store::Reader &r, uint32_t rank, std::string_view what) {
  if (r.done())
    return {};
  return error(StatusCode::Unavailable, "rank ", rank, " published ", what,
               r.ok() ? " with bytes behind its end" : " that was cut short",
               ": run the same mKernel on all ranks");
}

Status wrongValue(uint32_t rank, std::string_view what) {
  return error(StatusCode::Unavailable, "rank ", rank, " published ", what,
               ", which makes no sense: run the same mKernel on all ranks");
}

} // namespace

std::string RankEndpoint::encode() const {
  store::Writer w = beginMessage(kRankMagic);
  w.u32(rank).bytes(transport).u32(generation).u32(qps);
  for (uint64_t value : {begin, end, slots, base})
    write64(w, value);
  w.bytes(control).bytes(secret).u32(static_cast<uint32_t>(nics.size()));
  for (const NicEndpoint &n : nics) {
    w.bytes(n.name).u32(n.kind == NicKind::Efa).bytes(n.link);
    write64(w, n.mbits);
    w.u32(n.mtu).u32(n.lid).u32(n.grh);
    w.bytes({reinterpret_cast<const char *>(n.gid.data()), n.gid.size()});
    write64(w, n.sinkAddress);
    w.u32(n.sinkKey);
  }
  return w.take();
}

Result<RankEndpoint> RankEndpoint::decode(std::string_view bytes,
                                          uint32_t rank) {
  constexpr std::string_view what = "an endpoint";
  store::Reader r(bytes);
  MK_TRY(checkHead(r, kRankMagic, rank, what));
  RankEndpoint e;
  e.rank = r.u32();
  e.transport = r.bytes();
  e.generation = r.u32();
  e.qps = r.u32();
  e.begin = read64(r);
  e.end = read64(r);
  e.slots = read64(r);
  e.base = read64(r);
  e.control = r.bytes();
  e.secret = r.bytes();
  uint32_t nics = r.u32();
  if (r.ok() && nics > kMaxNics)
    return wrongValue(rank, str("an endpoint of ", nics, " NICs"));
  for (uint32_t i = 0; i < nics && r.ok(); ++i) {
    NicEndpoint n;
    n.name = r.bytes();
    n.kind = r.u32() ? NicKind::Efa : NicKind::Verbs;
    n.link = r.bytes();
    n.mbits = read64(r);
    n.mtu = r.u32();
    n.lid = r.u32();
    n.grh = r.u32();
    std::string_view gid = r.bytes();
    n.sinkAddress = read64(r);
    n.sinkKey = r.u32();
    if (!r.ok())
      break;
    if (gid.size() != n.gid.size())
      return wrongValue(rank, str("a GID of ", gid.size(), " bytes"));
    std::memcpy(n.gid.data(), gid.data(), gid.size());
    e.nics.push_back(std::move(n));
  }
  MK_TRY(checkEnd(r, rank, what));
  if (e.rank != rank)
    return wrongValue(rank, str("the endpoint of rank ", e.rank));
  if (e.begin > e.end || e.slots > UINT32_MAX)
    return wrongValue(rank, str("a window from ", e.begin, " to ", e.end,
                                " with ", e.slots, " slots"));
  return e;
}

NodeNics RankEndpoint::rails() const {
  NodeNics node;
  auto &ports = node.users.emplace_back();
  for (const NicEndpoint &n : nics)
    ports.push_back({n.name, n.kind, n.link, n.mbits});
  return node;
}

std::string encodePaths(std::span<const PathEndpoint> paths) {
  store::Writer w = beginMessage(kPathsMagic);
  w.u32(static_cast<uint32_t>(paths.size()));
  for (const PathEndpoint &p : paths)
    w.u32(p.qpn).u32(p.psn).u32(p.qkey).u32(p.window);
  return w.take();
}

Result<std::vector<PathEndpoint>> decodePaths(std::string_view bytes,
                                              uint32_t rank, size_t expected) {
  constexpr std::string_view what = "a list of queue pairs";
  store::Reader r(bytes);
  MK_TRY(checkHead(r, kPathsMagic, rank, what));
  uint32_t count = r.u32();
  if (r.ok() && count != expected)
    return error(StatusCode::Unavailable, "rank ", rank, " has ", count,
                 " queue pairs for this rank, ", expected,
                 " are expected: give all ranks the same options, and NICs "
                 "that pair up (MK_NICS)");
  std::vector<PathEndpoint> paths;
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    PathEndpoint p;
    p.qpn = r.u32();
    p.psn = r.u32();
    p.qkey = r.u32();
    p.window = r.u32();
    if (r.ok() && (p.qpn >> 24 || p.window < 4 || p.window > 1u << 20))
      return wrongValue(rank, str("queue pair ", p.qpn, " with a window of ",
                                  p.window, " signals"));
    paths.push_back(p);
  }
  MK_TRY(checkEnd(r, rank, what));
  return paths;
}

std::string SegmentEndpoint::encode() const {
  store::Writer w = beginMessage(kSegmentMagic);
  write64(w, offset);
  write64(w, bytes);
  w.bytes(failure).u32(static_cast<uint32_t>(keys.size()));
  for (uint32_t key : keys)
    w.u32(key);
  return w.take();
}

Result<SegmentEndpoint> SegmentEndpoint::decode(std::string_view bytes,
                                                uint32_t rank, size_t nics) {
  constexpr std::string_view what = "a part of its memory";
  store::Reader r(bytes);
  MK_TRY(checkHead(r, kSegmentMagic, rank, what));
  SegmentEndpoint s;
  s.offset = read64(r);
  s.bytes = read64(r);
  s.failure = r.bytes();
  uint32_t count = r.u32();
  if (r.ok() && !s.failure.empty())
    return error(StatusCode::ResourceExhausted, "rank ", rank, ": ", s.failure);
  if (r.ok() && count != nics)
    return wrongValue(rank, str("keys of ", count, " NICs for memory, having ",
                                nics, " NICs"));
  for (uint32_t i = 0; i < count && r.ok(); ++i)
    s.keys.push_back(r.u32());
  MK_TRY(checkEnd(r, rank, what));
  if (s.bytes > UINT64_MAX - s.offset)
    return wrongValue(rank, "memory beyond all addresses");
  return s;
}

Status checkAgreement(const RankEndpoint &own, const RankEndpoint &theirs) {
  auto differs = [&](std::string_view what, const auto &ownValue, const auto &theirValue,
                     std::string_view remedy) {
    return error(StatusCode::InvalidArgument, "rank ", own.rank, " has ", what, " ", ownValue,
                 ", rank ", theirs.rank, " has ", theirValue, ": ", remedy);
  };
  if (own.transport != theirs.transport)
    return differs("transport", own.transport, theirs.transport,
                   "choose the same on all ranks (ContextOptions::transport)");
  if (own.qps != theirs.qps)
    return differs("option qps", own.qps, theirs.qps,
                   "give the same on all ranks (ContextOptions::transportOptions)");
  if (own.generation != theirs.generation)
    return differs("generation", own.generation, theirs.generation,
                   "a rank has come back to a job that goes on without it; "
                   "start all ranks again");
  if (own.slots != theirs.slots)
    return differs("signal slots", own.slots, theirs.slots,
                   "give the same on all ranks (ContextOptions::slots)");
  return {};
}

} // namespace mk::rt::rdma
