//===- Launcher.cpp - Runs all ranks of a job on this machine -------------===//

#include "Launcher.h"

#include "Compile.h"
#include "Npy.h"
#include "Processes.h"
#include "Report.h"

#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Log.h"

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
    return Status::ok();
  }
  int fd = -1;
};

/// --random names an integer input without a file, whose type has the values.
Status checkRange(const Options &options, const Metadata &metadata,
                  const IntegerRange &range) {
  int arg = metadata.argIndex(range.name);
  if (arg < 0 || !isInput(metadata.args[arg]))
    return error(StatusCode::InvalidArgument, "--random ", range.name,
                 ": kernel '", metadata.kernel, "' has no such input");
  ElementType type = metadata.args[arg].type;
  if (isFloat(type))
    return error(StatusCode::InvalidArgument, "--random ", range.name,
                 ": it has elements of ", name(type),
                 "; a range is given for integers");
  // What is random goes through a double.
  int bits = std::min<int>(static_cast<int>(byteSize(type)) * 8, 54);
  int64_t low = type == ElementType::i1 ? 0 : -(int64_t(1) << (bits - 1));
  int64_t high = type == ElementType::i1 ? 1 : -(low + 1);
  if (range.low < low || range.high > high)
    return error(StatusCode::InvalidArgument, "--random ", range.name, "=",
                 range.low, ":", range.high, ": ", name(type),
                 " takes values from ", low, " to ", high);
  for (const NamedFile &file : options.inputs)
    if (file.name == range.name)
      return error(StatusCode::InvalidArgument, "--random ", range.name,
                   ": --in gives its values already");
  return Status::ok();
}

/// Names of files must fit before anything is started.
Status checkNames(const Options &options, const Metadata &metadata) {
  auto check = [&](const char *option, const NamedFile &file,
                   bool (*wanted)(const Metadata::Arg &)) {
    int arg = metadata.argIndex(file.name);
    if (arg >= 0 && wanted(metadata.args[arg]))
      return Status::ok();
    std::string names;
    for (const Metadata::Arg &a : metadata.args)
      if (wanted(a))
        names += (names.empty() ? "" : ", ") + a.name;
    return error(StatusCode::InvalidArgument, option, " ", file.name,
                 ": kernel '", metadata.kernel,
                 "' has no such argument; "
                 "possible are: ",
                 names.empty() ? "none" : names);
  };
  for (const NamedFile &file : options.inputs)
    MK_TRY(check("--in", file, isInput));
  for (const IntegerRange &range : options.random)
    MK_TRY(checkRange(options, metadata, range));
  for (const NamedFile &file : options.outputs)
    MK_TRY(check("--out", file, isOutput));
  if (options.check && !metadata.reference)
    return error(StatusCode::FailedPrecondition, "--check: kernel '",
                 metadata.kernel,
                 "' carries no reference to compare with: add "
                 "func.func @reference to its file");
  if (options.grid && options.grid != metadata.grid)
    return error(StatusCode::InvalidArgument, "--grid ", options.grid,
                 ": the package was compiled for ", metadata.grid,
                 " CTAs; compile it again for another number");
  return Status::ok();
}

/// What only some meshes and targets can do.
Status checkMode(const Options &options, const Metadata &metadata,
                 const Mesh &mesh) {
  uint32_t world = mesh.size();
  bool network = !mesh.netPeers(0).empty();
  if (!network && (!options.loopback.empty() || options.pauseProxy >= 0))
    return error(StatusCode::InvalidArgument,
                 options.pauseProxy >= 0 ? "--pause-proxy" : "--loopback",
                 ": no two ranks of this job are connected by a mesh axis via "
                 "net, so there is no network to change: give such an axis "
                 "more than one rank (--nodes 2)");
  if (options.pauseProxy >= int64_t(world))
    return error(StatusCode::InvalidArgument, "--pause-proxy ",
                 options.pauseProxy, ": the job has ", world, " ranks");
  if (options.checkEach && world > 1)
    return error(StatusCode::InvalidArgument,
                 "--check=each: a job of ", world,
                 " ranks is checked after its last launch only: use --check");
  if (metadata.gpu && world > 1)
    return error(StatusCode::InvalidArgument, "a job of ", world,
                 " ranks for ", metadata.target,
                 ": several GPUs are not supported yet by this target: run one "
                 "rank, or use --target=host");
  if (metadata.gpu && options.seed)
    log::info("--seed changes the data only: a GPU has an order of its own");
  // A missing driver or GPU is said here, once, and not by every rank.
  return metadata.gpu ? queryGpus().status() : Status::ok();
}

Status readInputs(const Options &options, const Metadata &metadata,
                  const JobPlan &plan, const JobMemory &job) {
  for (const NamedFile &file : options.inputs) {
    size_t arg = metadata.argIndex(file.name);
    const std::vector<int64_t> &shape = plan.shard(arg, 0).global;
    MK_ASSIGN(NpyArray array, readNpy(file.path));
    if (array.shape != shape)
      return error(StatusCode::InvalidArgument, "--in ", file.name, ": '",
                   file.path, "' is ", shapeText(array.shape),
                   ", the argument is ", shapeText(shape));
    Status status = convertNpy(array, metadata.args[arg].type, job.input(arg));
    if (!status.isOk())
      return status.withContext("--in " + file.name);
  }
  return Status::ok();
}

Status writeOutputs(const Options &options, const Metadata &metadata,
                    const JobPlan &plan, const JobMemory &job) {
  for (const NamedFile &file : options.outputs) {
    size_t arg = metadata.argIndex(file.name);
    MK_TRY(writeNpy(file.path, metadata.args[arg].type,
                    plan.shard(arg, 0).global, job.output(arg, 0)));
  }
  return Status::ok();
}

/// The cause of a failed job: a killed rank, one that ended without a word, the
/// abort record (the first failure of all), what ranks said by themselves.
Status findCause(const Status &lost, const StoreServer &store,
                 const Processes &processes, const JobMemory &job,
                 uint32_t world) {
  if (!lost.isOk())
    return lost;
  std::string said;
  for (uint32_t r = 0; r < world; ++r) {
    RankBlock &block = job.rank(r);
    block.error[sizeof(block.error) - 1] = 0;
    int status = processes.exitStatus(r);
    if (block.state != RankBlock::Failed && status > 0)
      return error(StatusCode::Unavailable, "rank ", r, " ended with status ",
                   status, " while the kernel ran");
    bool followUp =
        std::string_view(block.error).find("was lost") != std::string::npos;
    if (block.error[0] && (said.empty() || !followUp))
      said = str("rank ", r, ": ", block.error);
    if (!said.empty() && !followUp)
      break;
  }
  auto record = store.aborted();
  if (record && record->rank >= 0 &&
      record->text.find("was lost") == std::string::npos)
    return error(StatusCode::Aborted, record->toString(), processes.stuck());
  if (!said.empty())
    return error(StatusCode::Unavailable, said, processes.stuck());
  if (record)
    return error(StatusCode::Aborted, record->toString(), processes.stuck());
  return Status::ok();
}

/// Bytes of memory that this machine can still give, 0 if it does not say.
uint64_t availableMemory() {
  unsigned long long kilobytes = 0;
  if (FILE *file = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), file))
      if (std::sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
        break;
    std::fclose(file);
  }
  return kilobytes * 1024;
}

/// Memory is only reserved when it is touched: say at once what cannot fit.
Status checkMemory(const Metadata &metadata, const JobPlan &plan,
                   uint32_t world) {
  double bytes = double(plan.heapBytes()) * world;
  for (size_t i = 0; i < metadata.args.size(); ++i)
    for (uint32_t r = 0; r < world; ++r) {
      const Metadata::Arg &arg = metadata.args[i];
      if (!arg.symmetric)
        bytes += double(plan.shard(i, r).elements()) * byteSize(arg.type);
    }
  double available = double(availableMemory());
  if (available == 0 || bytes <= available)
    return Status::ok();
  char text[160];
  std::snprintf(text, sizeof(text),
                "the arguments of %u ranks take %.1f GiB, and this machine has "
                "%.1f GiB of memory left: use smaller sizes or fewer ranks",
                world, bytes / (1 << 30), available / (1 << 30));
  return error(StatusCode::ResourceExhausted, text);
}

/// What a file is compiled with: a GPU's grid has a CTA for each of its SMs.
Result<Options> compileOptions(const Options &options) {
  Options result = options;
  if (options.grid == 0 && options.target.starts_with("sm_") &&
      options.file.ends_with(".mlir")) {
    MK_ASSIGN(GpuSystem system, queryGpus());
    result.grid = system.gpus[0].sms;
  }
  return result;
}

Status launchJob(const Options &options, char **argv, bool &passed) {
  MK_ASSIGN(Options compileFor, compileOptions(options));
  MK_ASSIGN(Compiled compiled, loadOrCompile(compileFor));
  const Package &package = compiled.package;
  const Metadata &metadata = package.metadata();
  MK_ASSIGN(std::vector<NamedSize> axes, axisSizes(options, metadata));
  MK_ASSIGN(Mesh mesh,
            resolveMesh(metadata, axes, options.nodes, options.gpus));
  MK_TRY(checkNames(options, metadata));
  MK_TRY(checkMode(options, metadata, mesh));
  MK_ASSIGN(auto payload, Payload::load(package));
  MK_ASSIGN(JobPlan plan,
            JobPlan::create(metadata, *payload, mesh, options.bind));
  uint32_t world = mesh.size();
  if (!metadata.gpu) // there they are in the GPU's memory, which says it itself
    MK_TRY(checkMemory(metadata, plan, world));
  MK_ASSIGN(JobMemory job, JobMemory::create(options, metadata, plan, world));
  MK_TRY(readInputs(options, metadata, plan, job));
  MemoryFile packageFile;
  MK_TRY(packageFile.fill(package.bytes()));

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
  // Symmetric arguments of a GPU are in its memory.
  header.heapBytes = metadata.gpu ? 64 << 10 : plan.heapBytes();
  header.slots = metadata.gpu ? 1 : plan.slots();

  std::fflush(nullptr);
  Processes processes;
  MK_TRY(processes.start(world, argv, packageFile.fd, job.fd()));
  Status lost = processes.wait(*store);
  MK_TRY(findCause(lost, *store, processes, job, world));

  Report report{options,       metadata, mesh, job, compiled.compileMs,
                options.check, {}};
  MK_TRY(corruptOutput(options, metadata, plan, job));
  if (options.check) {
    MK_ASSIGN(report.checks,
              checkOutputs(options, metadata, *payload, plan, job, world));
  }
  MK_TRY(writeOutputs(options, metadata, plan, job));
  bool json = options.stats == Options::Stats::Json;
  FILE *out = json ? stderr : stdout;
  printTable(out, report);
  if (options.stats == Options::Stats::Text)
    printStats(out, report);
  printVerdict(out, report);
  if (json)
    printJson(stdout, report);
  passed = report.passed();
  return Status::ok();
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
