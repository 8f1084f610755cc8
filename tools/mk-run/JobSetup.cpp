//===- JobSetup.cpp - Before and after the ranks of a job run -------------===//

#include "JobSetup.h"

#include "Capacity.h"
#include "Npy.h"
#include "Timeline.h"

#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace mk::run;
using namespace mk::rt;

/// Names of the arguments that are wanted.
static std::string listArgs(const Metadata &metadata,
                            bool (*wanted)(const Metadata::Arg &)) {
  std::string names;
  for (const Metadata::Arg &a : metadata.args)
    if (wanted(a))
      names += (names.empty() ? "" : ", ") + a.name;
  return names.empty() ? "none" : names;
}

/// --random names an integer input without a file, whose type has the values.
static Status checkRange(const Options &options, const Metadata &metadata,
                  const IntegerRange &range) {
  int arg = metadata.argIndex(range.name);
  if (arg < 0 || !isInput(metadata.args[arg]))
    return error(StatusCode::InvalidArgument, "--random ", range.name,
                 ": kernel '", metadata.kernel,
                 "' has no such input; possible are: ",
                 listArgs(metadata, isInput));
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
  return Status::success();
}

/// Names of files must fit before anything is started.
Status mk::run::checkNames(const Options &options, const Metadata &metadata) {
  auto check = [&](const char *option, const NamedFile &file,
                   bool (*wanted)(const Metadata::Arg &)) {
    int arg = metadata.argIndex(file.name);
    if (arg >= 0 && wanted(metadata.args[arg]))
      return Status::success();
    return error(StatusCode::InvalidArgument, option, " ", file.name,
                 ": kernel '", metadata.kernel,
                 "' has no such argument; "
                 "possible are: ",
                 listArgs(metadata, wanted));
  };
  for (const NamedFile &file : options.inputs)
    MK_TRY(check("--in", file, isInput));
  for (const IntegerRange &range : options.random)
    MK_TRY(checkRange(options, metadata, range));
  for (const NamedFile &file : options.outputs)
    MK_TRY(check("--out", file, isOutput));
  for (const auto &[output, factor] : options.tolerances)
    MK_TRY(check("--tolerance", {output, ""}, isOutput));
  if (options.check && !metadata.reference)
    return error(StatusCode::FailedPrecondition, "--check: kernel '",
                 metadata.kernel,
                 "' carries no reference to compare with: add "
                 "func.func @reference to its file");
  int64_t grid = metadata.countOwnCtas();
  if (options.compile.grid && options.compile.grid != grid)
    return options.file.ends_with(".mlir")
               ? error(StatusCode::InvalidArgument, "--grid ", options.compile.grid, ": kernel '",
                       metadata.kernel, "' takes ", grid, " CTA", grid == 1 ? "" : "s",
                       " of that, as its roles and the parts of its items say: give --grid ", grid,
                       ", or leave the option out")
               : error(StatusCode::InvalidArgument, "--grid ", options.compile.grid,
                       ": the package was compiled for ", grid, " CTA", grid == 1 ? "" : "s",
                       "; compile it again for another number");
  // A file is compiled for what --target says, which may describe a machine.
  bool isCompiled = options.file.ends_with(".mlir");
  if (!isCompiled && options.isGiven("--target") && options.compile.target != metadata.target)
    return error(StatusCode::InvalidArgument, "--target ", options.compile.target,
                 ": the package was compiled for ", metadata.target,
                 "; compile it again for another target");
  if (!options.compile.kernel.empty() && options.compile.kernel != metadata.kernel)
    return error(StatusCode::InvalidArgument, "--kernel ", options.compile.kernel,
                 ": the package holds kernel '", metadata.kernel,
                 "'; compile it again for another one");
  return Status::success();
}

/// What only some meshes and targets can do.
Status mk::run::checkMode(const Options &options, const Metadata &metadata,
                          const Mesh &mesh, const std::string &launcher) {
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
  if (options.checkEach && world > 1 && !launcher.empty())
    return error(StatusCode::InvalidArgument, "--check=each: ranks that ", launcher,
                 " has started are checked after the last launch only: use --check, or "
                 "run this without it, as mk-run FILE --nodes N --gpus G");
  if (options.delay.count() && world == 1)
    return error(StatusCode::InvalidArgument,
                 "--delay: there is one rank, which nobody waits for: give --gpus or "
                 "--nodes");
  if (!options.timeline.empty() && !metadata.timeline)
    return error(StatusCode::InvalidArgument, "--timeline: the package of kernel '",
                 metadata.kernel, "' records no times: give the kernel's .mlir, or make the "
                 "package with mk-opt --timeline");
  if (options.races && (metadata.gpu || !options.file.ends_with(".mlir")))
    return error(StatusCode::InvalidArgument, "--check=races: ",
                 metadata.gpu ? "works on the host target only"
                              : "a package does not say which accesses it "
                                "makes: give the kernel's .mlir");
  if (metadata.gpu && options.launch.seed)
    log::info("--seed changes the data only: a GPU has an order of its own");
  // A missing driver or GPU is said here, once, and not by every rank.
  return metadata.gpu ? queryGpus().status() : Status::success();
}

Status mk::run::readInputs(const Options &options, const Metadata &metadata,
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
  return Status::success();
}

static Status writeOutputs(const Options &options, const Metadata &metadata,
                    const JobPlan &plan, const JobMemory &job) {
  for (const NamedFile &file : options.outputs) {
    size_t arg = metadata.argIndex(file.name);
    MK_TRY(writeNpy(file.path, metadata.args[arg].type,
                    plan.shard(arg, 0).global, job.output(arg, 0)));
  }
  return Status::success();
}

double mk::run::argumentBytes(const Metadata &metadata, const JobPlan &plan,
                              const std::vector<uint32_t> &ranks) {
  double bytes = double(plan.heapBytes()) * double(ranks.size());
  for (size_t i = 0; i < metadata.args.size(); ++i)
    for (uint32_t r : ranks) {
      const Metadata::Arg &arg = metadata.args[i];
      if (!arg.symmetric)
        bytes += double(plan.shard(i, r).elements()) * byteSize(arg.type);
    }
  // What roles of one rank share: a word and its base, values, records.
  for (uint32_t r : ranks) {
    const Plan &own = plan.plan(r);
    for (const Plan::Signal &signal : own.signals)
      bytes += 16.0 * double(signal.elements);
    for (const Plan::Counter &counter : own.counters)
      bytes += 8.0 * double(counter.elements);
    for (size_t q = 0; q < own.queues.size(); ++q)
      bytes += 8.0 * double(own.queues[q]) * (metadata.queues[q].width + 1);
  }
  return bytes;
}

/// Memory is only reserved when it is touched: say at once what cannot fit.
Status mk::run::checkMemory(const Metadata &metadata, const JobPlan &plan,
                            const std::vector<uint32_t> &ranks) {
  double bytes = argumentBytes(metadata, plan, ranks);
  double available = double(Capacity::ofThisMachine().memory);
  if (available == 0 || bytes <= available)
    return Status::success();
  char text[160];
  std::snprintf(text, sizeof(text),
                "the arguments of %zu ranks, with signals, counters and queues, take %.1f GiB, and this machine has "
                "%.1f GiB of memory left: use smaller sizes or fewer ranks",
                ranks.size(), bytes / (1 << 30), available / (1 << 30));
  return error(StatusCode::ResourceExhausted, text);
}

/// Whether a target's code needs a GPU. A name that is none is the compiler's to refuse.
static bool mayBeOfGpu(std::string_view target) {
  return target.ends_with(".mlir") || findGpuTarget(target);
}

/// What a file is compiled with: a GPU's grid has a CTA for each of its SMs.
static Result<Options> compileOptions(const Options &options) {
  Options result = options;
  if (options.compile.grid == 0 && mayBeOfGpu(options.compile.target) &&
      options.file.ends_with(".mlir")) {
    MK_ASSIGN(GpuSystem system, queryGpus());
    result.compile.grid = system.gpus[0].sms;
    result.compile.gridOfMachine = true;
  }
  return result;
}

Result<Compiled> mk::run::compileFile(const Options &options) {
  MK_ASSIGN(Options compileFor, compileOptions(options));
  return loadOrCompile(compileFor);
}

std::vector<uint32_t> mk::run::allRanks(const Mesh &mesh) {
  std::vector<uint32_t> ranks(mesh.size());
  for (uint32_t r = 0; r < mesh.size(); ++r)
    ranks[r] = r;
  return ranks;
}

Status mk::run::finishJob(Report &report, const Payload &payload,
                          const JobPlan &plan, bool &passed) {
  const Options &options = report.options;
  MK_TRY(corruptOutput(options, report.metadata, plan, report.job));
  report.checked = options.check;
  if (options.check) {
    MK_ASSIGN(report.checks,
              checkOutputs(options, report.metadata, payload, plan, report.job,
                           report.mesh.size()));
  }
  MK_TRY(writeOutputs(options, report.metadata, plan, report.job));
  bool json = options.stats == Options::Stats::Json;
  FILE *out = json ? stderr : stdout;
  printTable(out, report);
  if (options.stats == Options::Stats::Text)
    printStats(out, report);
  if (!options.timeline.empty())
    MK_TRY(writeTimeline(out, report, plan));
  printVerdict(out, report);
  if (json)
    printJson(stdout, report);
  passed = report.passed();
  return Status::success();
}
