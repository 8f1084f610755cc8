//===- Rank.cpp - A rank process of mk-run --------------------------------===//

#include "Rank.h"

#include "JobMemory.h"
#include "Tensors.h"

#include "mkernel/Runtime/Log.h"

#include <cstdio>
#include <cstring>

using namespace mk::run;
using namespace mk::rt;

namespace {

/// Values of all arguments before launch `launch`. What a launch must produce
/// is poisoned (all bits set: NaN in every float type), so that nothing left
/// over from the launch before can pass for a result.
void fillArguments(const Options &options, const JobMemory &job,
                   BoundKernel &kernel, int64_t launch) {
  for (size_t i = 0; i < kernel.metadata().args.size(); ++i) {
    const Metadata::Arg &arg = kernel.metadata().args[i];
    const Shard &shard = kernel.shard(i);
    if (!isInput(arg))
      std::memset(kernel.data(i), 0xff, kernel.bytes(i));
    else if (const std::byte *global = job.input(i))
      copyFromGlobal(shard, byteSize(arg.type), global, kernel.data(i));
    else
      fillRandom(shard, arg.type,
                 RandomTensor(arg.type, options.seed, launch, i),
                 kernel.data(i));
  }
}

void publish(const JobMemory &job, const BoundKernel &kernel, uint32_t rank) {
  const LaunchStats &stats = kernel.stats();
  job.rank(rank).wallMs = stats.wallMs;
  std::copy(stats.roles.begin(), stats.roles.end(), job.roles(rank));
  std::copy(stats.peers.begin(), stats.peers.end(), job.peers(rank));
  for (size_t i = 0; i < kernel.metadata().args.size(); ++i)
    if (std::byte *global = job.output(i, kernel.plan().copy(i, rank)))
      copyToGlobal(kernel.shard(i), byteSize(kernel.metadata().args[i].type),
                   kernel.data(i), global);
}

Status runJob(const Options &options, RankBlock *&block) {
  const RankOptions &self = *options.rank;
  log::setRank(static_cast<int>(self.rank));
  MK_ASSIGN(JobHeader header, JobMemory::readHeader(self.jobFd));
  MK_ASSIGN(Package package, Package::read(self.packageFd, options.file));
  const Metadata &metadata = package.metadata();
  MK_ASSIGN(std::vector<NamedSize> axes, axisSizes(options, metadata));
  MK_ASSIGN(Mesh mesh,
            resolveMesh(metadata, axes, options.nodes, options.gpus));
  MK_ASSIGN(auto payload, Payload::load(package));
  MK_ASSIGN(JobPlan plan,
            JobPlan::create(metadata, *payload, mesh, options.bind));
  MK_ASSIGN(JobMemory job,
            JobMemory::map(self.jobFd, options, metadata, plan, mesh.size()));
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
  context.maxGrid = metadata.grid;
  context.transportOptions = options.loopback;
  if (options.seed && options.loopback.find("reorder") == std::string::npos)
    context.transportOptions +=
        str(options.loopback.empty() ? "" : ",", "reorder=", options.seed);
  context.timeout = std::max<std::chrono::nanoseconds>(
      options.deadline, std::chrono::seconds(60));
  context.proxyPaused = options.pauseProxy == int64_t(self.rank);
  MK_ASSIGN(auto ctx, Context::create(context));
  MK_ASSIGN(auto kernel, Kernel::load(*ctx, package));
  MK_ASSIGN(auto bound, kernel->bind(options.bind));

  block->state = RankBlock::Running;
  LaunchOptions launch;
  launch.deadline = options.deadline;
  for (int64_t i = 0; i < options.launches; ++i) {
    launch.seed = options.seed ? options.seed + i : 0;
    fillArguments(options, kept, *bound, i);
    // All ranks start together once, for the times to mean something; later
    // launches drift, as they do in a program.
    if (i == 0)
      MK_TRY(ctx->allGather("start", "").status());
    MK_TRY(bound->launch(launch));
  }
  publish(kept, *bound, self.rank);
  bound.reset();
  return ctx->close();
}

} // namespace

int mk::run::runRank(const Options &options) {
  RankBlock *block = nullptr;
  Status status = runJob(options, block);
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
