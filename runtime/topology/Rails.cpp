//===- Rails.cpp - NICs of one node and those of others -------------------===//

#include "mkernel/Runtime/Rails.h"

#include <algorithm>

namespace mk::rt {

NodeNics NodeNics::of(const Machine &machine, const NicAssignment &assignment) {
  NodeNics node;
  for (const NicAssignment::User &user : assignment.users) {
    auto &ports = node.users.emplace_back();
    for (const NicShare &share : user.shares) {
      const MachineNic &nic = machine.nics[share.nic];
      ports.push_back({nic.name, nic.kind, nic.link, share.mbits});
    }
  }
  return node;
}

/// The NICs of one node in order of their first use.
static std::vector<Rail> railsOf(const NodeNics &node) {
  std::vector<Rail> rails;
  for (uint32_t user = 0; user < node.users.size(); ++user)
    for (uint32_t k = 0; k < node.users[user].size(); ++k) {
      const NodeNics::Port &port = node.users[user][k];
      auto rail = std::find_if(rails.begin(), rails.end(), [&](const Rail &r) {
        return r.nics[0] == port.nic;
      });
      if (rail == rails.end()) {
        rails.push_back({{}, {port.nic}, 0});
        rail = rails.end() - 1;
      }
      rail->uses.push_back({user, k});
      rail->mbits += port.mbits;
    }
  return rails;
}

std::vector<Rail> commonRails(std::span<const NodeNics> nodes) {
  if (nodes.empty())
    return {};
  std::vector<Rail> common = railsOf(nodes[0]);
  for (const NodeNics &node : nodes.subspan(1)) {
    std::vector<Rail> kept, others = railsOf(node);
    for (Rail &rail : common)
      for (const Rail &other : others)
        if (other.uses == rail.uses) {
          rail.nics.push_back(other.nics[0]);
          rail.mbits = std::min(rail.mbits, other.mbits);
          kept.push_back(std::move(rail));
          break;
        }
    common = std::move(kept);
  }
  return common;
}

static Status checkPair(const NodeNics::Port &from, const NodeNics::Port &to) {
  auto describe = [](const NodeNics::Port &port) {
    return str("'", port.nic, "' (", toString(port.kind),
               port.link.empty() || port.kind == NicKind::Efa
                   ? std::string()
                   : ", " + port.link,
               ")");
  };
  bool sameLink = from.link.empty() || to.link.empty() || from.link == to.link;
  if (from.kind == to.kind && sameLink)
    return Status::success();
  return error(StatusCode::FailedPrecondition, "the NIC ", describe(from),
               " of one node cannot talk to ", describe(to),
               " of another: choose NICs of one network on both with MK_NICS");
}

Result<std::vector<Stripe>> stripes(const NodeNics &a, uint32_t i,
                                    const NodeNics &b, uint32_t j) {
  if (i >= a.users.size() || j >= b.users.size())
    return error(StatusCode::OutOfRange, "no user ", i, " of ", a.users.size(),
                 ", or no ", j, " of ", b.users.size());
  const auto &from = a.users[i], &to = b.users[j];
  if (from.empty() || to.empty())
    return error(StatusCode::FailedPrecondition, "user ", from.empty() ? i : j,
                 " of ", from.empty() ? "the sending" : "the receiving",
                 " node has no NIC");
  // At most 10 Tbit/s, so that products of sums fit.
  auto weight = [](const NodeNics::Port &port) {
    return std::clamp<uint64_t>(port.mbits, 1, 10'000'000);
  };
  std::vector<Stripe> out;
  auto add = [&](size_t k, size_t l, double fraction) {
    out.push_back(
        {static_cast<uint32_t>(k), static_cast<uint32_t>(l), fraction});
    return checkPair(from[k], to[l]);
  };
  if (from.size() == to.size()) {
    double sum = 0;
    for (size_t k = 0; k < from.size(); ++k)
      sum += double(std::min(weight(from[k]), weight(to[k])));
    for (size_t k = 0; k < from.size(); ++k)
      MK_TRY(add(k, k, double(std::min(weight(from[k]), weight(to[k]))) / sum));
    return out;
  }
  // Both lines are as long as the product of the sums, so that all ends are
  // whole numbers.
  uint64_t sumFrom = 0, sumTo = 0;
  for (const NodeNics::Port &port : from)
    sumFrom += weight(port);
  for (const NodeNics::Port &port : to)
    sumTo += weight(port);
  uint64_t at = 0, endFrom = weight(from[0]) * sumTo,
           endTo = weight(to[0]) * sumFrom;
  for (size_t k = 0, l = 0; k < from.size() && l < to.size();) {
    uint64_t end = std::min(endFrom, endTo);
    MK_TRY(add(k, l, double(end - at) / (double(sumFrom) * double(sumTo))));
    at = end;
    bool nextFrom = endFrom == end, nextTo = endTo == end;
    if (nextFrom && ++k < from.size())
      endFrom += weight(from[k]) * sumTo;
    if (nextTo && ++l < to.size())
      endTo += weight(to[l]) * sumFrom;
  }
  return out;
}

} // namespace mk::rt
