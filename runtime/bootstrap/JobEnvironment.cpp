//===- JobEnvironment.cpp - What launchers tell a rank --------------------===//

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Job.h"

#include <algorithm>
#include <unistd.h>

using namespace mk::rt;

namespace {

constexpr int64_t kMaxWorld = 65536; // a mesh has no more ranks

/// A number and the variable that holds it.
struct Field {
  const char *name = "";
  std::optional<int64_t> value;
};

/// What one launcher says.
struct Claim {
  std::string_view source;
  Field rank, world, localRank, localWorld, node;
  std::string missing; // variable without which the set is incomplete
  std::string remedy;  // for that
  std::string id, store, token;
  bool present = false, oneHost = false;
};

class Reader {
public:
  explicit Reader(const Environment &environment) : environment_(environment) {}

  std::string text(const char *name) const {
    auto it = environment_.find(std::string_view(name));
    return it == environment_.end() ? std::string() : it->second;
  }
  /// The first of `names` that is set.
  std::string firstText(std::initializer_list<const char *> names) const {
    for (const char *name : names)
      if (std::string value = text(name); !value.empty())
        return value;
    return "";
  }
  Status number(const char *name, Field &field, int64_t low,
                int64_t high) const {
    std::string value = text(name);
    if (value.empty()) {
      if (!*field.name)
        field.name = name;
      return Status::success();
    }
    auto n = env::parseInt(value);
    if (!n || *n < low || *n > high)
      return error(StatusCode::InvalidArgument, name, "=", value,
                   " makes no sense: an integer from ", low, " to ", high,
                   " is expected; unset it, or use --job none (MK_JOB=none) to "
                   "ignore all launchers");
    field = {name, *n};
    return Status::success();
  }
  Status ranks(Claim &claim, const char *rank, const char *world,
               const char *localRank) const {
    MK_TRY(number(rank, claim.rank, 0, kMaxWorld - 1));
    MK_TRY(number(world, claim.world, 1, kMaxWorld));
    return number(localRank, claim.localRank, 0, kMaxWorld - 1);
  }

private:
  const Environment &environment_;
};

void need(Claim &claim, const char *name, bool given) {
  if (!given && claim.missing.empty())
    claim.missing = name;
}

bool isLoopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string joinEndpoint(const std::string &host, int64_t port) {
  bool v6 = host.find(':') != std::string::npos;
  return str(v6 ? "[" : "", host, v6 ? "]:" : ":", port);
}

/// MASTER_ADDR and MASTER_PORT say where rank 0 is. The port itself belongs to
/// the store of torch; ours listens on the next one.
Status readMaster(const Reader &in, Claim &claim, bool needed) {
  std::string host = in.text("MASTER_ADDR");
  Field port;
  MK_TRY(in.number("MASTER_PORT", port, 1, 65534));
  if (needed) {
    need(claim, "MASTER_ADDR", !host.empty());
    need(claim, "MASTER_PORT", port.value.has_value());
  }
  claim.oneHost |= isLoopback(host);
  if (!host.empty() && port.value)
    claim.store = joinEndpoint(host, *port.value + 1);
  return Status::success();
}

Result<Claim> readTorchrun(const Reader &in) {
  Claim claim;
  claim.source = "torchrun";
  MK_TRY(in.ranks(claim, "RANK", "WORLD_SIZE", "LOCAL_RANK"));
  claim.present =
      claim.rank.value || claim.world.value || claim.localRank.value;
  if (!claim.present)
    return claim;
  MK_TRY(in.number("LOCAL_WORLD_SIZE", claim.localWorld, 1, kMaxWorld));
  MK_TRY(in.number("GROUP_RANK", claim.node, 0, kMaxWorld - 1));
  need(claim, "RANK", claim.rank.value.has_value());
  need(claim, "WORLD_SIZE", claim.world.value.has_value());
  need(claim, "LOCAL_RANK", claim.localRank.value.has_value());
  MK_TRY(readMaster(in, claim, /*needed=*/true));
  claim.remedy = "start the ranks with torchrun, which sets RANK, WORLD_SIZE, "
                 "LOCAL_RANK, MASTER_ADDR and MASTER_PORT";
  claim.id = str(in.text("TORCHELASTIC_RUN_ID"), " ",
                 in.text("TORCHELASTIC_RESTART_COUNT"), " ",
                 in.text("MASTER_ADDR"), ":", in.text("MASTER_PORT"));
  return claim;
}

Result<Claim> readMpirun(const Reader &in) {
  Claim claim;
  claim.source = "mpirun";
  MK_TRY(in.ranks(claim, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                  "OMPI_COMM_WORLD_LOCAL_RANK"));
  claim.present =
      claim.rank.value || claim.world.value || claim.localRank.value;
  if (!claim.present)
    return claim;
  MK_TRY(
      in.number("OMPI_COMM_WORLD_LOCAL_SIZE", claim.localWorld, 1, kMaxWorld));
  need(claim, "OMPI_COMM_WORLD_RANK", claim.rank.value.has_value());
  need(claim, "OMPI_COMM_WORLD_SIZE", claim.world.value.has_value());
  need(claim, "OMPI_COMM_WORLD_LOCAL_RANK", claim.localRank.value.has_value());
  MK_TRY(readMaster(in, claim, /*needed=*/false));
  claim.remedy = "start the ranks with mpirun of Open MPI, which sets all of "
                 "OMPI_COMM_WORLD_*";
  claim.id = in.firstText(
      {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"});
  // Random, the same on all ranks, and known to this user alone.
  claim.token = in.text("OMPI_MCA_orte_precondition_transports");
  return claim;
}

Result<Claim> readSrun(const Reader &in) {
  Claim claim;
  claim.source = "srun";
  // A batch script has a place among the tasks too, but is none of them.
  bool script = in.text("ENVIRONMENT") == "BATCH" &&
                in.firstText({"SLURM_STEP_ID", "SLURM_STEPID"}).empty();
  if (script || in.text("SLURM_PROCID").empty())
    return claim;
  claim.present = true;
  MK_TRY(in.ranks(claim, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"));
  // Of the step, where it differs from the allocation.
  MK_TRY(in.number("SLURM_STEP_NUM_TASKS", claim.world, 1, kMaxWorld));
  MK_TRY(in.number("SLURM_NODEID", claim.node, 0, kMaxWorld - 1));
  need(claim, "SLURM_NTASKS", claim.world.value.has_value());
  need(claim, "SLURM_LOCALID", claim.localRank.value.has_value());
  need(claim, "SLURM_NODEID", claim.node.value.has_value());
  MK_TRY(readMaster(in, claim, /*needed=*/false));
  claim.remedy = "start the ranks with srun, which sets SLURM_PROCID, "
                 "SLURM_NTASKS, SLURM_LOCALID and SLURM_NODEID";
  std::string job = in.firstText({"SLURM_JOB_ID", "SLURM_JOBID"});
  std::string step = in.firstText({"SLURM_STEP_ID", "SLURM_STEPID"});
  claim.id = str(job, ".", step);
  std::string list = in.firstText(
      {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  std::string hosts = in.firstText(
      {"SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"});
  claim.oneHost |= hosts == "1" || isLoopback(list);
  if (claim.store.empty() && !list.empty() && !job.empty()) {
    // Below the ports that a system gives out by itself, by job and step.
    Digest digest = sha256(claim.id);
    claim.store = joinEndpoint(firstHost(list),
                               20000 + (digest[0] | digest[1] << 8) % 12000);
  }
  return claim;
}

/// PMIx alone says too little, but what it says must fit.
Result<Claim> readPmix(const Reader &in) {
  Claim claim;
  claim.source = "PMIx";
  MK_TRY(in.number("PMIX_RANK", claim.rank, 0, kMaxWorld - 1));
  claim.present = claim.rank.value.has_value();
  claim.missing = "OMPI_COMM_WORLD_SIZE";
  claim.remedy = "start the ranks with mpirun of Open MPI or with srun, whose "
                 "variables say how many there are";
  return claim;
}

Status conflict(const Claim &a, const Field &x, const Claim &b,
                const Field &y) {
  return error(StatusCode::InvalidArgument,
               "two launchers say different things: ", a.source, " ", x.name,
               "=", *x.value, ", ", b.source, " ", y.name, "=", *y.value,
               "; say which one to listen to with --job ", a.source,
               " or --job ", b.source == "PMIx" ? "none" : b.source,
               " (MK_JOB), or unset the other's variables");
}

Status compare(const Claim &a, const Claim &b) {
  for (Field Claim::*field : {&Claim::world, &Claim::rank, &Claim::localRank,
                              &Claim::localWorld, &Claim::node}) {
    const Field &x = a.*field, &y = b.*field;
    if (x.value && y.value && *x.value != *y.value)
      return conflict(a, x, b, y);
  }
  return Status::success();
}

Result<std::optional<JobPlace>> toPlace(const Claim &claim) {
  if (!claim.missing.empty()) {
    const Field &said = claim.rank.value    ? claim.rank
                        : claim.world.value ? claim.world
                                            : claim.localRank;
    return error(StatusCode::InvalidArgument, said.name, " is set, but ",
                 claim.missing, " is missing: ", claim.remedy,
                 ", or use --job none (MK_JOB=none) to ignore it");
  }
  // `below`: how far the one has to stay below the other.
  auto within = [&](const Field &low, const Field &high, int64_t below,
                    std::string_view why) {
    if (!low.value || !high.value || *low.value <= *high.value - below)
      return Status::success();
    return error(StatusCode::InvalidArgument, low.name, "=", *low.value,
                 " does not fit ", high.name, "=", *high.value, " (", why,
                 "): ", claim.remedy,
                 ", correct the variable, or use --job none (MK_JOB=none) to "
                 "ignore it");
  };
  MK_TRY(within(claim.rank, claim.world, 1, "ranks count from 0"));
  MK_TRY(within(claim.localWorld, claim.world, 0,
                "no node has more ranks than the job"));
  MK_TRY(within(claim.localRank, claim.localWorld, 1,
                "ranks of a node count from 0"));
  MK_TRY(within(claim.localRank, claim.rank, 0,
                "no more ranks can be before it on its node than in the job"));
  JobPlace place;
  place.source = claim.source;
  place.id = claim.id;
  place.rank = static_cast<uint32_t>(*claim.rank.value);
  place.world = static_cast<uint32_t>(*claim.world.value);
  place.localRank = claim.localRank.value;
  place.localWorld = claim.localWorld.value;
  place.localRankFrom = claim.localRank.name;
  place.localWorldFrom = claim.localWorld.name;
  place.node = claim.node.value;
  place.store = claim.store;
  place.token = claim.token;
  place.oneHost = claim.oneHost || place.world == 1 ||
                  (place.localWorld && *place.localWorld == place.world);
  return std::optional(std::move(place));
}

} // namespace

Environment mk::rt::currentEnvironment() {
  Environment environment;
  for (char **entry = ::environ; entry && *entry; ++entry) {
    std::string_view text(*entry);
    size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::string mk::rt::firstHost(std::string_view list) {
  size_t end = list.find_first_of(",[");
  std::string host(list.substr(0, end));
  if (end == std::string_view::npos || list[end] == ',')
    return host;
  // "node[07-09,11]-ib": the first of the numbers, then what follows.
  size_t close = list.find(']', end);
  if (close == std::string_view::npos)
    return host;
  std::string_view numbers = list.substr(end + 1, close - end - 1);
  host += numbers.substr(0, numbers.find_first_of(",-"));
  return host + firstHost(list.substr(close + 1));
}

Result<std::optional<JobPlace>>
mk::rt::findPlace(const Environment &environment, std::string_view source) {
  if (source == "none")
    return std::optional<JobPlace>();
  Reader in(environment);
  using Read = Result<Claim> (*)(const Reader &);
  constexpr std::pair<std::string_view, Read> readers[] = {
      {"torchrun", readTorchrun}, {"mpirun", readMpirun}, {"srun", readSrun}};
  if (source != "auto") {
    for (auto [name, read] : readers)
      if (name == source) {
        MK_ASSIGN(Claim claim, read(in));
        if (!claim.present)
          return error(StatusCode::InvalidArgument, "--job ", source,
                       " (MK_JOB): none of the variables of ", source,
                       " is set: start the ranks with it, or use --job none");
        return toPlace(claim);
      }
    return error(StatusCode::InvalidArgument, "--job ", source,
                 " (MK_JOB): auto, none, torchrun, mpirun or srun is possible");
  }
  std::vector<Claim> claims;
  for (auto [name, read] : readers) {
    MK_ASSIGN(Claim claim, read(in));
    if (claim.present)
      claims.push_back(std::move(claim));
  }
  MK_ASSIGN(Claim pmix, readPmix(in));
  if (pmix.present)
    claims.push_back(std::move(pmix));
  if (claims.empty())
    return std::optional<JobPlace>();
  for (size_t i = 0; i < claims.size(); ++i)
    for (size_t j = i + 1; j < claims.size(); ++j)
      MK_TRY(compare(claims[i], claims[j]));
  auto complete =
      std::find_if(claims.begin(), claims.end(),
                   [](const Claim &claim) { return claim.missing.empty(); });
  return toPlace(complete == claims.end() ? claims[0] : *complete);
}

Result<std::optional<JobPlace>> mk::rt::findPlace(const JobOptions &options) {
  std::string source = options.source;
  if (source.empty())
    source = env::get("MK_JOB").value_or("auto");
  return findPlace(currentEnvironment(), source);
}
