//===- JobNodes.cpp - Which ranks of a job share a node -------------------===//

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Job.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace mk::rt;

namespace {

/// What ranks tell each other: where they run and what they were told.
struct Site {
  std::string host;    // name, for messages
  std::string machine; // the same for processes that reach each other's memory
  int64_t localRank = -1, localWorld = -1, node = -1; // -1: not said
  bool chosen = false; // the node was given by option

  std::string encode() const {
    return str(host, "\t", machine, "\t", localRank, "\t", localWorld, "\t",
               node, "\t", chosen ? 1 : 0);
  }
  static Site decode(const std::string &text) {
    std::istringstream in(text);
    Site site;
    std::getline(in, site.host, '\t');
    std::getline(in, site.machine, '\t');
    in >> site.localRank >> site.localWorld >> site.node >> site.chosen;
    return site;
  }
};

Site ownSite() {
  Site site;
  char host[256] = "?";
  gethostname(host, sizeof(host) - 1);
  site.host = host;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> site.machine;
  // Containers of one machine have sockets of their own.
  char net[64];
  ssize_t n = readlink("/proc/self/ns/net", net, sizeof(net));
  site.machine += str("/", std::string(net, std::max<ssize_t>(n, 0)));
  return site;
}

/// "3", or "rank/8".
Result<int64_t> parseNode(const std::string &text, uint32_t rank) {
  bool division = text.starts_with("rank/");
  auto n = env::parseInt(division ? std::string_view(text).substr(5) : text);
  if (!n || *n < (division ? 1 : 0) || *n > 65535)
    return error(
        StatusCode::InvalidArgument, "--node ", text,
        " (MK_NODE): the number of this rank's node is needed, or rank/8 for "
        "eight ranks of a node in a row");
  return division ? rank / *n : *n;
}

} // namespace

Status Job::findNodes(Deadline deadline) {
  Site own = ownSite();
  if (place_.localRank)
    own.localRank = *place_.localRank;
  if (place_.localWorld)
    own.localWorld = *place_.localWorld;
  if (place_.node)
    own.node = *place_.node;
  if (!options_.node.empty()) {
    MK_ASSIGN(own.node, parseNode(options_.node, rank()));
    own.chosen = true;
  }
  auto all = store_->allGather("mk.job.sites", rank(), own.encode(), world(), deadline);
  if (all.status().code() == StatusCode::DeadlineExceeded)
    return all.status().withContext("exchange of who is on which node");
  MK_TRY(all.status());
  std::vector<Site> sites;
  for (const std::string &text : *all)
    sites.push_back(Site::decode(text));

  // A node is a number that was given, or the ranks of a machine. Where a
  // machine has several ranks of one local rank, it stands for several nodes.
  std::map<std::string, uint32_t> numbers;
  std::map<std::pair<std::string, int64_t>, uint32_t> seen;
  std::vector<uint32_t> size, first;
  for (uint32_t r = 0; r < world(); ++r) {
    const Site &site = sites[r];
    if (site.chosen != sites[0].chosen)
      return error(StatusCode::InvalidArgument, "rank ", site.chosen ? r : 0,
                   " was told its node, rank ", site.chosen ? 0 : r,
                   " was not: give --node (MK_NODE) to all ranks or to none");
    std::string key = str("node ", site.node);
    if (site.node < 0)
      key =
          str(site.machine, " ",
              site.localRank < 0 ? 0u : seen[{site.machine, site.localRank}]++);
    auto [it, fresh] = numbers.try_emplace(key, uint32_t(numbers.size()));
    nodeOfRank_.push_back(it->second);
    hostOfRank_.push_back(site.host);
    machineOfRank_.push_back(site.machine);
    if (fresh) {
      size.push_back(0);
      first.push_back(r);
    }
    ++size[it->second];
    uint32_t other = first[it->second];
    if (sites[other].machine != site.machine)
      return error(
          StatusCode::InvalidArgument, "ranks ", other, " and ", r,
          " were told to be on one node, but are on different hosts ('",
          sites[other].host, "' and '", site.host,
          "'): ranks of a node share memory");
  }
  std::map<std::pair<uint32_t, int64_t>, uint32_t> taken;
  numNodes_ = static_cast<uint32_t>(numbers.size());
  ranksPerNode_ = size[0];
  for (uint32_t r = 0; r < world(); ++r) {
    uint32_t have = size[nodeOfRank_[r]];
    if (have != ranksPerNode_)
      ranksPerNode_ = 0;
    if (!sites[r].chosen && sites[r].localWorld > 0 &&
        sites[r].localWorld != have)
      return error(StatusCode::InvalidArgument, place_.localWorldFrom, "=",
                   sites[r].localWorld, " on rank ", r, ", but ", have,
                   " ranks of this job are on its node ('", sites[r].host,
                   "'): correct the variable, or tell every rank its node with "
                   "--node (MK_NODE)");
    if (sites[r].chosen || sites[r].localRank < 0)
      continue;
    auto [other, fresh] =
        taken.try_emplace({nodeOfRank_[r], sites[r].localRank}, r);
    if (!fresh || sites[r].localRank >= have)
      return error(
          StatusCode::InvalidArgument, place_.localRankFrom, "=",
          sites[r].localRank, " on rank ", r, ", but ",
          fresh ? str(have,
                      have == 1 ? " rank of this job is"
                                : " ranks of this job are",
                      " on its node ('", sites[r].host, "')")
                : str("rank ", other->second, " of the same node ('",
                      sites[r].host, "') has it too"),
          ": ranks of a node count from 0; correct the variables, or tell "
          "every rank its node with --node (MK_NODE)");
  }
  localRank_ = static_cast<uint32_t>(std::count(
      nodeOfRank_.begin(), nodeOfRank_.begin() + rank(), nodeOfRank_[rank()]));
  return Status::success();
}

Status Job::checkMesh(const Mesh &mesh) const {
  std::string text;
  for (const Axis &axis : mesh.axes())
    text += str(text.empty() ? "" : ", ", axis.name, " = ", axis.size, " via ",
                toString(axis.kind));
  text = str("the mesh (", text, ")");
  if (mesh.size() != world())
    return error(
        StatusCode::InvalidArgument, text, " has ", mesh.size(),
        mesh.size() == 1 ? " rank" : " ranks", ", the job ", world(), " (",
        place_.source,
        "): use --nodes, --gpus or --bind so that they agree, or --job "
        "none to start all ranks here");
  auto where = [&](uint32_t r) {
    return str("node ", nodeOfRank_[r], " (host '", hostOfRank_[r], "')");
  };
  // The first rank of each node and of each set that link axes join.
  std::map<std::vector<int64_t>, uint32_t> joined;
  std::map<uint32_t, uint32_t> nodes;
  for (uint32_t r = 0; r < world(); ++r) {
    std::vector<int64_t> at = mesh.coords(r);
    for (size_t i = 0; i < at.size(); ++i)
      if (mesh.axes()[i].kind == LinkKind::Link)
        at[i] = 0;
    uint32_t linked = joined.try_emplace(at, r).first->second;
    uint32_t near = nodes.try_emplace(nodeOfRank_[r], r).first->second;
    if (linked == near)
      continue;
    std::string sizes =
        ranksPerNode_
            ? str("use --nodes ", numNodes_, " --gpus ", ranksPerNode_)
            : std::string("start the same number of ranks on every node");
    if (nodeOfRank_[linked] != nodeOfRank_[r])
      return error(
          StatusCode::InvalidArgument, text, " joins ranks ", linked, " and ",
          r, " by link axes, but they are on different nodes: ", where(linked),
          " and ", where(r), ": ", sizes);
    return error(
        StatusCode::InvalidArgument, text, " has ranks ", near, " and ", r,
        " on different nodes, but both are on ", where(r), ": ", sizes,
        ", or, to emulate nodes on one host, tell every rank its node: "
        "--node rank/",
        mesh.linkPeers(0).size() + 1, " (MK_NODE)");
  }
  return Status::success();
}
