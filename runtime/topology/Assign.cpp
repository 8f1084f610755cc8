//===- Assign.cpp - NICs are given to GPUs --------------------------------===//

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Rails.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace mk::rt {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(separator);
    std::string_view part = text.substr(0, at);
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ')
      part.remove_suffix(1);
    parts.push_back(part);
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + 1);
  }
}

/// MK_NICS, taken apart.
struct Override {
  std::map<uint32_t, std::vector<uint32_t>> users; // GPU or rank to NICs
  std::optional<std::vector<uint32_t>> only; // the rest choose among these
};

class Assigner {
public:
  Assigner(const Machine &machine, const NicOptions &options)
      : machine(machine), options(options) {
    uint64_t slowest = 0;
    for (const MachineNic &nic : machine.nics)
      if (nic.mbits && (!slowest || nic.mbits < slowest))
        slowest = nic.mbits;
    // Equal shares need a length even where no speed is known.
    unknownSpeed = slowest ? slowest : 1000;
  }

  Result<NicAssignment> run() {
    MK_TRY(chooseUsers());
    MK_ASSIGN(Override given, parse());
    for (NicAssignment::User &user : out.users)
      if (auto found = given.users.find(user.index);
          found != given.users.end()) {
        user.overridden = true;
        for (uint32_t nic : found->second)
          user.shares.push_back({nic, speed(nic), 0});
      }
    findCandidates(given);
    for (auto &[nics, users] : groups())
      divide(nics, users);
    settle();
    return std::move(out);
  }

private:
  uint64_t speed(uint32_t nic) const {
    uint64_t mbits = machine.nics[nic].mbits;
    return mbits ? mbits : unknownSpeed;
  }
  bool byGpu() const { return !machine.gpus.empty(); }
  std::string_view noun() const { return byGpu() ? "GPU" : "rank"; }
  uint32_t places() const {
    return byGpu() ? static_cast<uint32_t>(machine.gpus.size())
                   : options.hostRanks;
  }

  Status chooseUsers() {
    std::vector<uint32_t> chosen = options.gpus;
    if (chosen.empty()) {
      chosen.resize(places());
      std::iota(chosen.begin(), chosen.end(), 0);
    }
    for (uint32_t index : chosen) {
      if (index >= places())
        return error(StatusCode::OutOfRange, "there is no GPU ", index,
                     " to assign NICs to: this machine has ",
                     machine.gpus.size());
      out.users.push_back({index, false, {}});
    }
    return Status::success();
  }

  Result<Override> parse() const {
    std::optional<std::string> text =
        options.nics ? options.nics : env::get("MK_NICS");
    Override given;
    if (!text || text->empty())
      return given;
    for (std::string_view entry : split(*text, ';')) {
      if (entry.empty())
        continue; // behind the last ';'
      size_t equals = entry.find('=');
      std::vector<uint32_t> nics;
      MK_TRY(
          parseNics(entry.substr(equals == entry.npos ? 0 : equals + 1), nics));
      if (equals == entry.npos) {
        if (given.only)
          return wrong("has two lists of NICs without ", noun(),
                       ": write one, like mlx5_0,mlx5_1");
        given.only = std::move(nics);
        continue;
      }
      std::string_view number = split(entry.substr(0, equals), ';')[0];
      auto index = env::parseInt(number);
      if (!index)
        return wrong("'", number, "' is not the number of a ", noun(),
                     ": write for example 0=mlx5_0,mlx5_1;1=mlx5_2");
      if (*index < 0 || *index >= places())
        return wrong("there is no ", noun(), " ", *index, ": this machine has ",
                     places(),
                     places() ? str(", 0 to ", places() - 1) : std::string());
      if (!given.users.emplace(*index, std::move(nics)).second)
        return wrong(noun(), " ", *index, " is there twice: give it one list, like ", *index,
                     "=mlx5_0,mlx5_1");
    }
    return given;
  }

  Status parseNics(std::string_view list, std::vector<uint32_t> &nics) const {
    for (std::string_view name : split(list, ',')) {
      if (name.empty())
        return wrong("'", list,
                     "' names no NIC: write for example "
                     "0=mlx5_0,mlx5_1;1=mlx5_2");
      auto found =
          std::find_if(machine.nics.begin(), machine.nics.end(),
                       [&](const MachineNic &nic) { return nic.name == name; });
      if (found == machine.nics.end())
        return noNic(name);
      uint32_t index = static_cast<uint32_t>(found - machine.nics.begin());
      if (std::find(nics.begin(), nics.end(), index) != nics.end())
        return wrong("the list '", list, "' has '", name, "' twice: name each NIC once");
      if (!found->usable())
        return Status(StatusCode::FailedPrecondition,
                      str("MK_NICS: the port of '", name, "' is ", found->state,
                          ": check cable and switch, or take another NIC"));
      if (options.kind && found->kind != *options.kind)
        return Status(StatusCode::FailedPrecondition,
                      str("MK_NICS: '", name, "' is for ",
                          toString(found->kind), ", and this job runs over ",
                          toString(*options.kind)));
      nics.push_back(index);
    }
    return Status::success();
  }

  Status noNic(std::string_view name) const {
    std::vector<std::string_view> names;
    std::string present;
    for (const MachineNic &nic : machine.nics) {
      names.push_back(nic.name);
      present += (present.empty() ? "" : ", ") + nic.name;
    }
    std::string like = env::nearest(name, names);
    return wrong(
        "there is no NIC '", name, "'", like.empty() ? "" : "; did you mean '" + like + "'?",
        present.empty() ? std::string("; this machine has none") : "; this machine has " + present);
  }

  template <typename... Args> static Status wrong(const Args &...args) {
    return error(StatusCode::InvalidArgument, "MK_NICS: ", args...);
  }

  void findCandidates(const Override &given) {
    uint32_t down = 0;
    for (uint32_t nic = 0; nic < machine.nics.size(); ++nic) {
      const MachineNic &n = machine.nics[nic];
      if (!n.usable())
        ++down;
      else if ((!options.kind || n.kind == *options.kind) &&
               (!given.only || std::find(given.only->begin(), given.only->end(),
                                         nic) != given.only->end()))
        candidates.push_back(nic);
    }
    if (!candidates.empty())
      return;
    if (machine.nics.empty())
      out.problem = "no NIC that does RDMA";
    else if (down == machine.nics.size())
      out.problem = "no NIC has an active port: check cables and switch";
    else
      out.problem =
          str("no NIC for ", options.kind ? toString(*options.kind) : "this",
              " with an active port");
  }

  /// Users that have the same nearest NICs, in order.
  std::map<std::vector<uint32_t>, std::vector<size_t>> groups() const {
    std::map<std::vector<uint32_t>, std::vector<size_t>> groups;
    for (size_t i = 0; i < out.users.size(); ++i)
      if (!out.users[i].overridden && !candidates.empty())
        groups[nearest(out.users[i].index)].push_back(i);
    return groups;
  }

  std::vector<uint32_t> nearest(uint32_t user) const {
    if (!byGpu())
      return candidates;
    std::vector<uint32_t> nics;
    Distance best = Distance::Sys;
    for (uint32_t nic : candidates) {
      Distance d = machine.distance(user, nic);
      if (d < best)
        nics.clear();
      if (d <= best)
        nics.push_back(nic);
      best = std::min(best, d);
    }
    return nics;
  }

  /// The line of Rails.h, in Mbit/s.
  void divide(const std::vector<uint32_t> &nics,
              const std::vector<size_t> &users) {
    std::vector<uint64_t> ends = {0}; // of the NICs
    for (uint32_t nic : nics)
      ends.push_back(ends.back() + speed(nic));
    uint64_t total = ends.back(), n = users.size();
    auto cut = [&](uint64_t i) {
      uint64_t at = total * i / n, near = at, far = total / n / 8;
      for (uint64_t end : ends)
        if (uint64_t gap = end > at ? end - at : at - end; gap < far) {
          near = end;
          far = gap;
        }
      return near;
    };
    for (uint64_t i = 0; i < n; ++i)
      for (size_t k = 0; k < nics.size(); ++k) {
        uint64_t from = std::max(ends[k], cut(i)),
                 to = std::min(ends[k + 1], cut(i + 1));
        if (from < to)
          out.users[users[i]].shares.push_back({nics[k], to - from, 0});
      }
  }

  static void setFractions(NicAssignment::User &user) {
    uint64_t sum = 0;
    for (const NicShare &share : user.shares)
      sum += share.mbits;
    for (NicShare &share : user.shares)
      share.fraction = double(share.mbits) / double(sum);
  }

  /// A NIC that is claimed more than once over is divided as if all its users
  /// sent as much: who has others takes less of it.
  void settle() {
    std::vector<uint64_t> claimed(machine.nics.size());
    std::vector<double> traffic(machine.nics.size());
    for (NicAssignment::User &user : out.users) {
      setFractions(user);
      for (const NicShare &share : user.shares) {
        claimed[share.nic] += share.mbits;
        traffic[share.nic] += share.fraction;
        out.problem.clear();
      }
    }
    for (NicAssignment::User &user : out.users) {
      for (NicShare &share : user.shares)
        if (uint64_t all = speed(share.nic); claimed[share.nic] > all)
          share.mbits = std::max<uint64_t>(
              1, static_cast<uint64_t>(double(all) * share.fraction /
                                       traffic[share.nic]));
      setFractions(user);
    }
  }

  const Machine &machine;
  const NicOptions &options;
  uint64_t unknownSpeed = 0;
  std::vector<uint32_t> candidates;
  NicAssignment out;
};

} // namespace

Result<NicAssignment> assignNics(const Machine &machine,
                                 const NicOptions &options) {
  return Assigner(machine, options).run();
}

} // namespace mk::rt
