//===- Launcher.cpp - Runs all ranks of a job on this machine -------------===//

#include "Launcher.h"

#include "Capacity.h"
#include "JobSetup.h"
#include "Processes.h"
#include "Races.h"
#include "Report.h"
#include "SelfTest.h"
#include "Trial.h"

#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Versions.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace mk::run;
using namespace mk::rt;

namespace {

/// A descriptor that a process may inherit.
class MemoryFile {
public:
  ~MemoryFile() {
    if (fd >= 0)
      close(fd);
  }
  Status fill(std::span<const std::byte> bytes) {
    fd = memfd_create("mk-run-package", MFD_CLOEXEC);
    if (fd < 0)
      return errnoError(StatusCode::ResourceExhausted, "memfd_create",
                        errno);
    for (size_t done = 0; done < bytes.size();) {
      ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno != EINTR)
        return errnoError(StatusCode::ResourceExhausted,
                          "writing the package to memory", errno);
      done += n > 0 ? n : 0;
    }
    return Status::success();
  }
  int fd = -1;
};

/// Says how far a job is that takes long to start.
class Progress {
public:
  Progress(const JobMemory &job, uint32_t world) : job_(job), world_(world) {}

  void tick() {
    if (done_ || !next_.passed())
      return;
    uint32_t running = 0;
    for (uint32_t r = 0; r < world_; ++r)
      running += job_.rank(r).state != RankBlock::Started;
    done_ = running == world_;
    if (!done_)
      std::fprintf(stderr, "mk-run: %u of %u ranks have started\n", running, world_);
    next_ = Deadline::after(std::chrono::seconds(5));
  }

private:
  const JobMemory &job_;
  uint32_t world_;
  bool done_ = false;
  Deadline next_ = Deadline::after(std::chrono::seconds(5));
};

/// Said before anything is compiled, of what the options alone tell.
Status checkRanks(const Options &options) {
  uint64_t ranks = std::max<uint64_t>(options.compile.nodes, 1) * std::max<uint64_t>(options.compile.gpus, 1);
  if (ranks < 2)
    return Status::success();
  return checkCapacity(Capacity::ofThisMachine(),
                       RankNeeds::of(std::max<uint64_t>(options.compile.grid, 1)), ranks,
                       /*bytes=*/0);
}

/// The cause of a failed job: a killed rank, one that ended without a word, the
/// abort record (the first failure of all), what ranks said by themselves.
Status findCause(const Status &lost, const StoreServer &store,
                 const Processes &processes, const JobMemory &job,
                 uint32_t world) {
  if (!lost.isOk())
    return lost;
  std::string said;
  int best = 0;
  for (uint32_t r = 0; r < world; ++r) {
    RankBlock &block = job.rank(r);
    block.error[sizeof(block.error) - 1] = 0;
    int status = processes.exitStatus(r);
    if (block.state != RankBlock::Failed && status > 0)
      return error(StatusCode::Unavailable, "rank ", r, " ended with status ",
                   status, " while the kernel ran");
    // What another rank's failure has led to says less, the launcher's own word least.
    std::string_view text = block.error;
    int worth = text.empty()                                        ? 0
                : text.find(kRankFailed) != std::string_view::npos ? 1
                : text.find("was lost") != std::string_view::npos  ? 2
                                                                   : 3;
    if (worth > best) {
      best = worth;
      said = str("rank ", r, ": ", text);
    }
  }
  auto record = store.aborted();
  if (record && record->rank >= 0 &&
      record->text.find("was lost") == std::string::npos)
    return error(StatusCode::Aborted, record->toString(), processes.stuck());
  if (!said.empty())
    return error(StatusCode::Unavailable, said, processes.stuck());
  if (record)
    return error(StatusCode::Aborted, record->toString(), processes.stuck());
  return Status::success();
}

Status launchJob(const Options &options, char **argv, bool &passed) {
  MK_TRY(checkRanks(options));
  MK_ASSIGN(Compiled compiled, compileFile(options));
  const Package &whole = compiled.package;
  MK_ASSIGN(std::vector<NamedSize> axes, axisSizes(options, whole.metadata()));
  MK_ASSIGN(Mesh mesh, resolveMesh(whole.metadata(), axes, options.compile.nodes,
                                   options.compile.gpus));
  if (!options.file.ends_with(".mlir"))
    MK_TRY(tryLoading(options.file, [&] {
      auto i = chooseVersion(whole, mesh, options.compile.bind);
      if (!i)
        return;
      (void)needsOf(whole, *i, mesh, options.compile.bind);
    }));
  MK_ASSIGN(size_t chosen, chooseVersion(whole, mesh, options.compile.bind));
  const Package &package = whole.version(chosen);
  const Metadata &metadata = package.metadata();
  if (options.compile.candidates > 1 && placeOf(whole.metadata(), chosen).candidates == 1)
    std::fprintf(stderr,
                 "mk-run: note: --candidates %lld: these sizes are in the tuning file, or there is "
                 "nothing to choose; `mk-opt --emit=params` says which\n",
                 static_cast<long long>(options.compile.candidates));
  MK_TRY(checkNames(options, metadata));
  MK_TRY(checkMode(options, metadata, mesh));
  MK_ASSIGN(auto payload, Payload::load(package));
  MK_ASSIGN(JobPlan plan,
            JobPlan::create(metadata, *payload, mesh, options.compile.bind));
  uint32_t world = mesh.size();
  if (!metadata.gpu) { // there they are in the GPU's memory, which says it itself
    MK_TRY(checkMemory(metadata, plan, allRanks(mesh)));
  } else {
    MK_ASSIGN(GpuSystem system, queryGpus());
    if (world > system.gpus.size() * options.context.ranksPerGpu)
      return error(StatusCode::InvalidArgument, "a job of ", world,
                   " ranks on GPUs: the driver sees ", system.gpus.size(),
                   options.context.ranksPerGpu > 1
                       ? str(", for ", options.context.ranksPerGpu, " ranks each")
                       : std::string(", and each rank needs one of its own"),
                   " (--gpus, CUDA_VISIBLE_DEVICES; --ranks-per-gpu lets several take turns on "
                   "one, which is slow)");
  }
  MK_TRY(checkCapacity(Capacity::ofThisMachine(),
                       RankNeeds::of(metadata.gpu ? 1 : metadata.grid), world,
                       metadata.gpu ? 0 : argumentBytes(metadata, plan, allRanks(mesh))));
  MK_ASSIGN(JobMemory job,
            JobMemory::create(options, metadata, plan, countRoles(whole, chosen), world));
  // Also of a job that ends before it knows which candidate it takes.
  for (uint32_t r = 0; r < world; ++r)
    job.rank(r).version = uint32_t(chosen);
  MK_TRY(readInputs(options, metadata, plan, job));
  MemoryFile packageFile;
  MK_TRY(packageFile.fill(whole.bytes()));

  StoreServerOptions serverOptions;
  serverOptions.job = "mk-run";
  serverOptions.token = randomToken();
  serverOptions.world = world;
  // 32 ranks that start on two cores are not quick to answer.
  serverOptions.handshakeTimeout = std::chrono::seconds(30);
  MK_ASSIGN(auto store, StoreServer::start(serverOptions));
  JobHeader &header = job.header();
  std::snprintf(header.endpoint, sizeof(header.endpoint), "%s",
                store->endpoint().c_str());
  std::snprintf(header.job, sizeof(header.job), "%s", "mk-run");
  std::snprintf(header.token, sizeof(header.token), "%s",
                serverOptions.token.c_str());
  MK_ASSIGN(SymmetricNeeds needs, needsOf(whole, chosen, mesh, options.compile.bind));
  header.heapBytes = needs.heapBytes + (options.selfTest ? kSelfTestBytes : 0);
  header.slots = std::max<uint32_t>(needs.slots, options.selfTest ? kSelfTestSlots : 0);

  std::fflush(nullptr);
  Processes processes;
  MK_TRY(processes.start(world, argv, packageFile.fd, job.fd()));
  Progress progress(job, world);
  // What was recorded takes a while to write down.
  Status lost = processes.wait(
      *store, std::chrono::milliseconds(options.races ? 10'000 : 500),
      [&] { progress.tick(); });
  Status cause = findCause(lost, *store, processes, job, world);

  // Which of several candidates it became.
  const Package &taken = whole.version(job.rank(0).version);
  MK_ASSIGN(payload, Payload::load(taken));
  MK_ASSIGN(plan, JobPlan::create(taken.metadata(), *payload, mesh, options.compile.bind));
  Report report{options, taken.metadata(), mesh, job, compiled.compileMs};
  report.launcher = "mk-run";
  report.version = versionOf(whole, job.rank(0).version);
  FILE *racesTo = options.stats == Options::Stats::Json ? stderr : stdout;
  if (!cause.isOk()) {
    // A race may be why.
    if (options.races)
      if (auto clean = checkRaces(racesTo, report, plan, /*ended=*/false); !clean)
        std::fprintf(racesTo, "races: %s\n", clean.status().message().c_str());
    return cause;
  }
  MK_TRY(finishJob(report, *payload, plan, passed));
  if (options.races) {
    MK_ASSIGN(bool clean, checkRaces(racesTo, report, plan, /*ended=*/true));
    passed &= clean;
  }
  return Status::success();
}

} // namespace

int mk::run::runLauncher(const Options &options, char **argv) {
  bool passed = false;
  Status status = launchJob(options, argv, passed);
  if (!status.isOk())
    std::fprintf(stderr, "mk-run: %s\n", status.message().c_str());
  if (status.code() == StatusCode::InvalidArgument)
    return 2;
  return status.isOk() && passed ? 0 : 1;
}
