//===- Member.cpp - A rank that another launcher started ------------------===//

#include "Member.h"

#include "JobSetup.h"
#include "Rank.h"
#include "SelfTest.h"
#include "Tensors.h"

#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Versions.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

using namespace mk::run;
using namespace mk::rt;

namespace {

// Between two signs of life of a rank on a machine that is busy.
constexpr std::chrono::seconds kLeastSilence{5};

// Of what rank 0 does while the others wait: a loss ends the wait at once.
Deadline patience() { return Deadline::after(std::chrono::hours(1)); }

/// The mesh is the job's unless options say otherwise.
Options withJobMesh(Options options, const Job &job) {
  if (!options.compile.nodes)
    options.compile.nodes = job.nodes();
  if (!options.compile.gpus)
    options.compile.gpus = job.ranksPerNode();
  return options;
}

template <typename T> void putArray(std::string &out, const T *data, size_t n) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char *>(data), n * sizeof(T));
}

/// Moves what one rank leaves behind between its memory and a message.
struct Results {
  const Metadata &metadata;
  const JobPlan &plan;
  const JobMemory &job;
  uint32_t world;

  std::string pack(uint32_t rank) const {
    std::string out;
    putArray(out, &job.rank(rank).times, 1);
    putArray(out, job.roles(rank), job.numRoles());
    putArray(out, job.peers(rank), world);
    eachOutput(rank, [&](size_t i, const std::byte *global) {
      size_t at = out.size();
      out.resize(at + bytesOf(i, rank));
      copyFromGlobal(plan.shard(i, rank), byteSize(metadata.args[i].type),
                     global, reinterpret_cast<std::byte *>(&out[at]));
    });
    return out;
  }

  Status unpack(uint32_t rank, const std::string &in) const {
    size_t wanted = sizeof(RankTimes) + job.numRoles() * sizeof(LaunchStats::Role) +
                    world * sizeof(LaunchStats::Peer);
    eachOutput(rank, [&](size_t i, std::byte *) { wanted += bytesOf(i, rank); });
    if (in.size() != wanted)
      return error(StatusCode::InvalidArgument, "rank ", rank, " sent ",
                   in.size(), " bytes of results, ", wanted,
                   " were expected: give all ranks the same options");
    const char *from = in.data();
    auto take = [&](void *to, size_t bytes) {
      std::memcpy(to, from, bytes);
      from += bytes;
    };
    take(&job.rank(rank).times, sizeof(RankTimes));
    take(job.roles(rank), job.numRoles() * sizeof(LaunchStats::Role));
    take(job.peers(rank), world * sizeof(LaunchStats::Peer));
    eachOutput(rank, [&](size_t i, std::byte *global) {
      copyToGlobal(plan.shard(i, rank), byteSize(metadata.args[i].type),
                   reinterpret_cast<const std::byte *>(from), global);
      from += bytesOf(i, rank);
    });
    return Status::success();
  }

  /// Calls fn(argument, global value) for what a rank leaves in each run.
  template <typename Fn> void eachOutput(uint32_t rank, Fn fn) const {
    for (size_t i = 0; i < metadata.args.size(); ++i)
      for (int run = 0; run < job.runs(); ++run)
        if (std::byte *global = job.output(i, plan.copy(i, rank), run))
          fn(i, global);
  }

  size_t bytesOf(size_t arg, uint32_t rank) const {
    return static_cast<size_t>(plan.shard(arg, rank).elements()) *
           byteSize(metadata.args[arg].type);
  }
};

/// What decides in which exchanges a rank takes part, and with what: one line each.
std::string describeShared(const Options &o) {
  auto names = [](const std::vector<NamedFile> &files) {
    std::vector<std::string> sorted;
    for (const NamedFile &file : files)
      sorted.push_back(file.name);
    std::ranges::sort(sorted);
    std::string text;
    for (const std::string &name : sorted)
      text += str(text.empty() ? "" : ",", name);
    return text.empty() ? "none" : text;
  };
  auto given = [](bool is) { return is ? "given" : "not given"; };
  return str("--launches\t", o.graph ? 1 : o.launches, "\n--graph\t",
             o.graph ? str(o.launches) : "not given", "\n--candidate\t",
             o.candidate ? str(o.candidate) : "not given", "\n--check\t", given(o.check),
             "\n--check=races\t", given(o.races), "\n--out\t", names(o.outputs), "\n--in\t",
             names(o.inputs), "\n--selftest\t", given(o.selfTest), "\n--timeline\t",
             given(!o.timeline.empty()), "\n--seed\t", o.launch.seed, "\n");
}

/// Ranks that were told different things would wait for one another.
Status agreeOnOptions(const Options &options, Job &job) {
  std::string mine = describeShared(options);
  return job.collect(
      "options", mine,
      [&](uint32_t rank, const std::string &theirs) -> Status {
        std::istringstream own(mine), other(theirs);
        std::string a, b;
        while (std::getline(own, a) && std::getline(other, b))
          if (size_t tab = a.find('\t'); a != b)
            return error(StatusCode::InvalidArgument, "rank 0 has ", a.substr(0, tab), ": ",
                         a.substr(tab + 1), ", rank ", rank, ": ", b.substr(b.find('\t') + 1),
                         ": give all ranks the same options");
        return Status::success();
      },
      patience());
}

Status runJob(const Options &given, Job &job, bool &passed) {
  MK_TRY(agreeOnOptions(given, job));
  Options options = withJobMesh(given, job);
  double compileMs = 0;
  MK_ASSIGN(Package package,
            sharePackage(job, [&]() -> Result<Package> {
              MK_ASSIGN(Compiled compiled, compileFile(options));
              compileMs = compiled.compileMs;
              return std::move(compiled.package);
            }));
  MK_ASSIGN(std::vector<NamedSize> axes, axisSizes(options, package.metadata()));
  auto mesh = resolveMesh(package.metadata(), axes, options.compile.nodes, options.compile.gpus);
  if (!mesh)
    return mesh.status().withContext(job.describe());
  MK_TRY(job.checkMesh(*mesh));
  MK_ASSIGN(size_t chosen, chooseVersion(package, *mesh, options.compile.bind));
  const Package &version = package.version(chosen);
  const Metadata &metadata = version.metadata();
  MK_TRY(checkNames(options, metadata));
  MK_TRY(checkMode(options, metadata, *mesh, job.place().source));
  for (uint32_t r = 0; r < job.world() && !options.timeline.empty(); ++r)
    if (!job.sameHost(r))
      return error(StatusCode::InvalidArgument,
                   "--timeline: rank ", r, " is on another machine, whose clock is another: run "
                   "all ranks on one");
  MK_ASSIGN(auto payload, Payload::load(version));
  MK_ASSIGN(JobPlan plan,
            JobPlan::create(metadata, *payload, *mesh, options.compile.bind));
  std::vector<uint32_t> here;
  for (uint32_t r = 0; r < job.world(); ++r)
    if (job.sameHost(r))
      here.push_back(r);
  if (!metadata.gpu) {
    if (here[0] == job.rank())
      MK_TRY(checkMemory(metadata, plan, here));
    // Before anybody takes memory, which would be counted as not there.
    MK_TRY(job.store()->barrier("mk-run.memory", job.world(), patience()));
  }
  MK_ASSIGN(JobMemory memory,
            JobMemory::create(options, metadata, plan, countRoles(package, chosen), job.world()));
  MK_TRY(readInputs(options, metadata, plan, memory));

  ContextOptions context = ContextOptions::of(job, *mesh);
  MK_ASSIGN(SymmetricNeeds needs, needsOf(package, chosen, *mesh, options.compile.bind));
  context.heapBytes = needs.heapBytes + (options.selfTest ? kSelfTestBytes : 0);
  context.slots = std::max<uint32_t>(needs.slots, options.selfTest ? kSelfTestSlots : 0);
  MK_TRY(runKernel(options, package, *payload, memory, std::move(context)));

  Results results{metadata, plan, memory, job.world()};
  MK_TRY(job.collect("results", results.pack(job.rank()),
                     [&](uint32_t rank, std::string bytes) {
                       return results.unpack(rank, bytes);
                     },
                     patience()));
  if (!options.timeline.empty()) {
    MK_ASSIGN(std::string mine, memory.readLog(job.rank(), JobMemory::Log::Times));
    MK_TRY(job.collect("timeline", mine,
                       [&](uint32_t rank, const std::string &bytes) {
                         return memory.writeLog(rank, bytes, JobMemory::Log::Times);
                       },
                       patience()));
  }
  MK_ASSIGN(std::string verdict,
            job.broadcast(
                "verdict",
                [&]() -> Result<std::string> {
                  // Which of several candidates it became.
                  const Package &taken = package.version(memory.rank(0).version);
                  MK_ASSIGN(auto code, Payload::load(taken));
                  MK_ASSIGN(JobPlan ran,
                            JobPlan::create(taken.metadata(), *code, *mesh, options.compile.bind));
                  Report report{options, taken.metadata(), *mesh, memory, compileMs};
                  report.launcher = job.place().source;
                  report.version = versionOf(package, memory.rank(0).version);
                  MK_TRY(finishJob(report, *code, ran, passed));
                  std::fflush(stdout);
                  return std::string(passed ? "passed" : "failed");
                },
                patience()));
  passed = verdict == "passed";
  return Status::success();
}

int exitStatus(const Status &status, uint32_t rank, bool passed) {
  if (!status.isOk())
    std::fprintf(stderr, "mk-run: rank %u: %s\n", rank,
                 status.message().c_str());
  if (status.code() == StatusCode::InvalidArgument)
    return 2;
  return status.isOk() && passed ? 0 : 1;
}

} // namespace

int mk::run::runMember(const Options &options, JobPlace place) {
  uint32_t rank = place.rank;
  log::setRank(static_cast<int>(rank));
  JobOptions jobOptions = options.job;
  jobOptions.silence = std::max<std::chrono::nanoseconds>(options.launch.deadline, kLeastSilence);
  auto job = Job::join(std::move(place), std::move(jobOptions));
  if (!job)
    return exitStatus(job.status(), rank, false);
  if (rank == 0)
    std::fprintf(stderr, "mk-run: %s\n", (*job)->describe().c_str());
  bool passed = false;
  Status status = runJob(options, **job, passed);
  (*job)->fail(status);
  Status left = (*job)->leave();
  return exitStatus(status.isOk() ? left : status, rank, passed);
}
