//===- Rank.cpp - A rank process of mk-run --------------------------------===//

#include "Rank.h"

#include "Check.h"
#include "JobMemory.h"
#include "SelfTest.h"
#include "Tensors.h"

#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Versions.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

using namespace mk::run;
using namespace mk::rt;

namespace {

/// Arguments where the host can write them: the kernel's own memory, or a copy
/// of one of them at a time for a device that the host does not reach.
class Staging {
public:
  explicit Staging(BoundKernel &kernel) : kernel_(kernel) {}

  std::byte *begin(size_t arg) {
    if (std::byte *data = kernel_.hostData(arg))
      return data;
    copy_.resize(std::max<uint64_t>(kernel_.bytes(arg), 1));
    return copy_.data();
  }
  /// What begin() gave holds new values.
  Status write(size_t arg) {
    return kernel_.hostData(arg) ? Status::success() : kernel_.upload(arg, copy_.data());
  }
  /// The values of an argument.
  Result<const std::byte *> read(size_t arg) {
    std::byte *data = begin(arg);
    if (!kernel_.hostData(arg))
      MK_TRY(kernel_.download(arg, data));
    return static_cast<const std::byte *>(data);
  }

private:
  BoundKernel &kernel_;
  std::vector<std::byte> copy_;
};

/// Values of all arguments before launch `launch`. What a launch must produce
/// is poisoned (all bits set: NaN in every float type), so that nothing left
/// over from the launch before can pass for a result. No integer is poison: of those
/// there are two runs, the second with all bits clear.
Status fillArguments(const Options &options, const JobMemory &job,
                     BoundKernel &kernel, int64_t launch, int run = 0) {
  Staging staging(kernel);
  for (size_t i = 0; i < kernel.metadata().args.size(); ++i) {
    const Metadata::Arg &arg = kernel.metadata().args[i];
    if (!isInput(arg)) {
      MK_TRY(kernel.fill(i, std::byte(run && !isFloat(arg.type) ? 0 : 0xff)));
    } else if (const std::byte *global = job.input(i)) {
      copyFromGlobal(kernel.shard(i), byteSize(arg.type), global, staging.begin(i));
      MK_TRY(staging.write(i));
    } else {
      MK_TRY(kernel.fillRandom(i, RandomTensor(arg.type, options.launch.seed, launch, i,
                                               findRange(options, arg.name))));
    }
  }
  return Status::success();
}

Status publish(const JobMemory &job, BoundKernel &kernel, uint32_t rank,
               int run = 0) {
  Staging staging(kernel);
  for (size_t i = 0; i < kernel.metadata().args.size(); ++i)
    if (std::byte *global = job.output(i, kernel.plan().copy(i, rank), run)) {
      MK_ASSIGN(const std::byte *local, staging.read(i));
      copyToGlobal(kernel.shard(i), byteSize(kernel.metadata().args[i].type),
                   local, global);
    }
  return Status::success();
}

void publishTimes(const JobMemory &job, const BoundKernel &kernel, uint32_t rank,
                  const std::vector<double> &deviceMs) {
  const LaunchStats &stats = kernel.stats();
  job.rank(rank).times = RankTimes::of(stats, deviceMs);
  std::copy(stats.roles.begin(), stats.roles.end(), job.roles(rank));
  std::copy(stats.peers.begin(), stats.peers.end(), job.peers(rank));
}

/// What is wrong with the results that all ranks have published; empty: nothing.
Result<std::string> findWrong(const Options &options, const JobMemory &job,
                              const BoundKernel &kernel, const Payload &payload,
                              uint32_t world, int64_t launch) {
  Options now = options;
  now.launches = launch + 1; // whose inputs these are
  MK_ASSIGN(std::vector<OutputCheck> checks,
            checkOutputs(now, kernel.metadata(), payload, kernel.plan(), job, world));
  for (const OutputCheck &check : checks)
    if (!check.passed)
      return str("launch ", launch + 1, " of ", options.launches, ": ",
                 check.firstMismatches.empty() ? check.name
                                               : check.firstMismatches[0]);
  return std::string();
}

/// --check=each: rank 0 compares what all ranks have published with the reference while
/// the others wait. An error on all of them when it is wrong.
Status checkNow(const Options &options, const JobMemory &job, Context &context,
                const BoundKernel &kernel, const Payload &payload,
                int64_t launch) {
  MK_TRY(context.allGather("results", "").status());
  Result<std::string> wrong = std::string();
  if (context.rank() == 0)
    wrong = findWrong(options, job, kernel, payload, context.world(), launch);
  std::string said = wrong ? *wrong : wrong.status().message();
  MK_ASSIGN(std::vector<std::string> all, context.allGather("verdict", said));
  if (!wrong)
    return wrong.status();
  return all[0].empty() ? Status::success() : error(StatusCode::FailedPrecondition, all[0]);
}

/// --delay: how long this rank lets the others wait before a launch. One rank is late,
/// which and how much is drawn.
std::chrono::nanoseconds delayOf(const Options &options, const Context &context,
                                 int64_t launch) {
  uint64_t key = RandomValues::keyOf({options.launch.seed, uint64_t(launch)});
  RandomValues late(ElementType::i64, key, 0, context.world());
  RandomValues time(ElementType::i64, key, 0, uint64_t(options.delay.count()) + 1);
  return std::chrono::nanoseconds(
      late(0) == context.rank() ? static_cast<int64_t>(time(1)) : 0);
}

/// How the network was reached, and what went over it.
void publishNetwork(RankBlock &block, Context &context) {
  Transport *transport = context.transport();
  if (!transport)
    return;
  std::string text = str(transport->name(), ", ", transport->path());
  std::snprintf(block.network, sizeof(block.network), "%s", text.c_str());
  for (uint32_t peer : context.mesh().netPeers(context.rank())) {
    PeerStats stats = transport->stats(peer);
    block.netBytes += stats.bytes;
    block.netRequests += stats.requests;
  }
}

/// The candidate that --candidate names, else the fastest.
Result<std::unique_ptr<BoundKernel>> bindCandidate(const Options &options, const Package &package,
                                                   const Mesh &mesh, Kernel &kernel,
                                                   const JobMemory &job,
                                                   std::vector<CandidateTime> &times) {
  // --bind gives sizes of axes, too.
  std::vector<DimValue> dims = options.compile.bind;
  std::erase_if(dims, [&](const DimValue &dim) {
    return std::ranges::none_of(package.metadata().dims,
                                [&](const Metadata::Dim &d) { return d.name == dim.name; });
  });
  if (options.candidate) {
    MK_ASSIGN(size_t chosen, chooseVersion(package, mesh, dims));
    VersionPlace place = placeOf(package.metadata(), chosen);
    if (options.candidate > int64_t(place.candidates))
      return error(StatusCode::InvalidArgument, "--candidate ", options.candidate,
                   ": for these sizes '", options.file, "' has ", place.candidates,
                   place.candidates == 1 ? " candidate" : " candidates",
                   ": name one of them (--stats lists them), or leave the option out");
    return kernel.bindVersion(dims, place.first + size_t(options.candidate) - 1);
  }
  MeasureOptions measure;
  measure.deadline = options.launch.deadline;
  measure.computeDeadline = options.launch.computeDeadline;
  measure.prepare = [&](BoundKernel &candidate) {
    return fillArguments(options, job, candidate, /*launch=*/0);
  };
  return kernel.bindFastest(dims, measure, &times);
}

Status runJob(const Options &options, RankBlock *&block) {
  const RankOptions &self = *options.rank;
  log::setRank(static_cast<int>(self.rank));
  MK_ASSIGN(JobHeader header, JobMemory::readHeader(self.jobFd));
  MK_ASSIGN(Package package, Package::read(self.packageFd, options.file));
  MK_ASSIGN(std::vector<NamedSize> axes, axisSizes(options, package.metadata()));
  MK_ASSIGN(Mesh mesh, resolveMesh(package.metadata(), axes, options.compile.nodes,
                                   options.compile.gpus));
  MK_ASSIGN(size_t chosen, chooseVersion(package, mesh, options.compile.bind));
  const Package &version = package.version(chosen);
  const Metadata &metadata = version.metadata();
  MK_ASSIGN(auto payload, Payload::load(version));
  MK_ASSIGN(JobPlan plan,
            JobPlan::create(metadata, *payload, mesh, options.compile.bind));
  MK_ASSIGN(JobMemory job, JobMemory::map(self.jobFd, options, metadata, plan,
                                          countRoles(package, chosen), mesh.size()));
  // Stays mapped while the caller writes the error there.
  static JobMemory kept = std::move(job);
  block = &kept.rank(self.rank);

  ContextOptions context;
  context.mesh = mesh;
  context.rank = self.rank;
  context.endpoint = header.endpoint;
  context.job = header.job;
  context.token = header.token;
  context.heapBytes = header.heapBytes;
  context.slots = header.slots;
  if (metadata.gpu)
    context.localRank = self.rank; // the launcher has seen that there are enough
  return runKernel(options, package, *payload, kept, std::move(context));
}

} // namespace

Status mk::run::runKernel(const Options &options, const Package &package,
                          const Payload &payload, const JobMemory &job,
                          ContextOptions context) {
  uint32_t rank = context.rank;
  context.maxGrid = package.metadata().grid;
  if (package.metadata().gpu)
    context.device = DeviceKind::Gpu;
  else if (options.context.ranksPerGpu > 1)
    return error(StatusCode::InvalidArgument, "--ranks-per-gpu ", options.context.ranksPerGpu,
                 ": '", options.file, "' is compiled for the host target, whose ranks share "
                 "the CPUs as they are: leave it out, or compile it for a GPU (--target ",
                 gpuTargets()[0].name, ")");
  if (options.isGiven("--transport") && context.mesh.netPeers(rank).empty())
    return error(StatusCode::InvalidArgument, "--transport ", options.context.transport,
                 ": no axis of this mesh is via net, so that nothing would go over it: say which "
                 "ranks are nodes (--nodes N; --node NAME for each rank under mpirun), or leave "
                 "it out");
  context.ranksPerGpu = options.context.ranksPerGpu;
  context.transport = options.context.transport;
  context.transportOptions = options.context.transportOptions;
  if (options.launch.seed && options.context.transport == "loopback" &&
      options.context.transportOptions.find("reorder") == std::string::npos)
    context.transportOptions +=
        str(options.context.transportOptions.empty() ? "" : ",", "reorder=", options.launch.seed);
  context.timeout = std::max<std::chrono::nanoseconds>(
      options.launch.deadline, std::chrono::seconds(60));
  context.proxyPaused = options.pauseProxy == int64_t(rank);
  MK_ASSIGN(auto ctx, Context::create(context));
  job.rank(rank).state = RankBlock::Running;
  if (options.selfTest)
    MK_TRY(testLinks(*ctx, options.launch.deadline));
  MK_ASSIGN(auto kernel, Kernel::load(*ctx, package));
  std::vector<CandidateTime> times;
  MK_ASSIGN(auto bound, bindCandidate(options, package, ctx->mesh(), *kernel, job, times));
  RankBlock &self = job.rank(rank);
  self.version = uint32_t(bound->version());
  self.numCandidates = uint32_t(times.size());
  std::copy(times.begin(), times.end(), self.candidates);

  LaunchOptions launch;
  launch.deadline = options.launch.deadline;
  bool timed = options.stats != Options::Stats::None && package.metadata().gpu;
  launch.timed = timed;
  std::vector<double> deviceMs; // of each launch
  std::string log;
  if (options.races)
    launch.record = &log;
  launch.computeDeadline = options.launch.computeDeadline;
  std::unique_ptr<LaunchGraph> graph;
  auto runLaunches = [&]() -> Status {
    if (options.graph) {
      MK_ASSIGN(graph, bound->capture(launch));
    }
    for (int64_t i = 0; i < options.launches; ++i) {
      launch.seed = options.launch.seed ? options.launch.seed + i : 0;
      MK_TRY(fillArguments(options, job, *bound, i));
      // All ranks start together once, for the times to mean something; later
      // launches drift, as they do in a program.
      if (i == 0)
        MK_TRY(ctx->allGather("start", "").status());
      if (options.delay.count())
        std::this_thread::sleep_for(delayOf(options, *ctx, i));
      MK_TRY(graph ? graph->launch() : bound->launch(launch));
      MK_TRY(bound->synchronize());
      if (timed)
        deviceMs.push_back(bound->stats().deviceMs);
      bool last = i + 1 == options.launches;
      if (last)
        publishTimes(job, *bound, rank, deviceMs);
      if (last && !options.timeline.empty()) {
        MK_ASSIGN(Timeline timeline, bound->timeline());
        MK_TRY(job.writeLog(rank, encode(timeline), JobMemory::Log::Times));
      }
      if (!options.checkEach && !last)
        continue;
      MK_TRY(publish(job, *bound, rank));
      if (job.runs() > 1) {
        MK_TRY(fillArguments(options, job, *bound, i, /*run=*/1));
        MK_TRY(graph ? graph->launch() : bound->launch(launch));
        MK_TRY(bound->synchronize());
        MK_TRY(publish(job, *bound, rank, /*run=*/1));
      }
      if (options.checkEach)
        MK_TRY(checkNow(options, job, *ctx, *bound, payload, i));
    }
    return Status::success();
  };
  Status status = runLaunches();
  publishNetwork(job.rank(rank), *ctx);
  // Also of a launch that failed: a race may have been why.
  if (options.races) {
    Status written = job.writeLog(rank, log);
    if (status.isOk())
      status = written;
  }
  MK_TRY(status);
  graph.reset();
  bound.reset();
  return ctx->close();
}

/// What is thrown is this rank's error like any other.
static Status runGuarded(const Options &options, RankBlock *&block) {
  try {
    return runJob(options, block);
  } catch (const std::bad_alloc &) {
    return error(StatusCode::ResourceExhausted,
                 "there is no memory left: use smaller sizes or fewer ranks, or raise "
                 "the limit of memory (ulimit -v)");
  } catch (const std::exception &e) {
    return error(StatusCode::Internal, e.what());
  }
}

int mk::run::runRank(const Options &options) {
  RankBlock *block = nullptr;
  Status status = runGuarded(options, block);
  if (status.isOk()) {
    block->state = RankBlock::Finished;
    return 0;
  }
  if (!block) {
    std::fprintf(stderr, "mk-run: rank %u: %s\n", options.rank->rank,
                 status.message().c_str());
    return 1;
  }
  std::snprintf(block->error, sizeof(block->error), "%s",
                status.message().c_str());
  block->state = RankBlock::Failed;
  return 1;
}
