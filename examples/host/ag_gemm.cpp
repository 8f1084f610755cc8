// One rank of a job that computes C = gather(A) B^T: A is split by rows among the
// ranks, B by rows, C by columns. Compiles the kernel at run time, launches it 1,000
// times and then as a graph, each time with other data, each result compared with sums
// in f64; then one rank leaves a launch out, all ranks get a report, and a new context
// goes on.
//
//   torchrun --nproc-per-node 2 --no-python example-ag-gemm .../examples/ag_gemm.mlir
//   mpirun -n 2 example-ag-gemm [--target=host|sm_90a] [--launches=N] [--grid=CTAS] FILE
#include "mkernel/JIT/JIT.h"
#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Job.h"
#include "mkernel/Runtime/Kernel.h"
#include "numbers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mk;

static constexpr int64_t M = 70, N = 48, K = 64;

struct Options {
  std::string target = "host";
  const char *file = nullptr;
  int launches = 1000;
  int64_t grid = 0; // CTAs; 0: one for each SM of the GPU
};

/// This rank's part of an operand whose rows have K elements.
static std::vector<uint16_t> partOf(const rt::Shard &shard, int launch, int which) {
  std::vector<uint16_t> part(shard.elements());
  for (int64_t i = 0; i < shard.elements(); ++i)
    part[i] = toBf16(float(valueOf(launch, which, shard.begin[0] * K + i)));
  return part;
}

static rt::Status check(const rt::Shard &shard, const std::vector<uint16_t> &c,
                        int launch) {
  for (int64_t m = 0; m < shard.sizes[0]; ++m)
    for (int64_t n = 0; n < shard.sizes[1]; ++n) {
      int64_t row = shard.begin[0] + m, column = shard.begin[1] + n;
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += double(valueOf(launch, 0, row * K + k)) *
               valueOf(launch, 1, column * K + k);
      if (c[m * shard.sizes[1] + n] != toBf16(float(sum)))
        return rt::error(rt::StatusCode::Internal, "launch ", launch, ": c[", row,
                         ", ", column, "] is not ", sum);
    }
  return rt::Status::success();
}

/// One launch, by `launch()`, with the data of that number.
template <typename Launch>
static rt::Status launchOnce(rt::BoundKernel &kernel, int number, Launch launch) {
  MK_TRY(kernel.upload("a", partOf(kernel.shard("a"), number, 0).data()));
  MK_TRY(kernel.upload("b", partOf(kernel.shard("b"), number, 1).data()));
  // A GPU needs no more than a stream to be told of: here the default one.
  MK_TRY(launch());
  std::vector<uint16_t> c(kernel.shard("c").elements());
  MK_TRY(kernel.download("c", c.data()));
  return check(kernel.shard("c"), c, number);
}

/// Everything between joining a job and leaving it. `report`: when not null, rank 1
/// leaves out a launch at the end, and this is what each rank is told then.
static rt::Status runJob(const Options &options, rt::Job &job, int launches,
                         std::string *report) {
  jit::Options how;
  how.target = options.target;
  how.kernel = "ag_gemm";
  how.grid = options.grid;
  MK_ASSIGN(rt::Package package, jit::compileFile(job, options.file, how));
  MK_ASSIGN(rt::Mesh mesh, rt::resolveMesh(package.metadata(), {}, job.nodes(),
                                           job.ranksPerNode()));
  MK_TRY(job.checkMesh(mesh));
  auto here = rt::ContextOptions::of(job, mesh);
  here.maxGrid = std::max(here.maxGrid, package.metadata().grid);
  if (options.target != "host") {
    here.device = rt::DeviceKind::Gpu; // the one of this rank's place on its node
  }
  MK_ASSIGN(auto context, rt::Context::create(here));
  MK_ASSIGN(auto kernel, rt::Kernel::load(*context, package));
  MK_ASSIGN(auto gemm, kernel->bind({{"M", {M}}, {"N", {N}}, {"K", {K}}}));

  // Symmetric memory of the program's own, which other kernels could share; the largest
  // part of A has to fit.
  size_t a = gemm->index("a");
  MK_ASSIGN(std::byte *shared,
            context->allocate(gemm->plan().symmetricBytes(a), "A"));
  MK_TRY(gemm->attach(a, shared));

  for (int i = 0; i < launches; ++i)
    MK_TRY(launchOnce(*gemm, i, [&] { return gemm->launch({}); }));
  MK_ASSIGN(auto graph, gemm->capture({}));
  int replays = launches / 10 + 1;
  for (int i = 0; i < replays; ++i)
    MK_TRY(launchOnce(*gemm, -1 - i, [&] { return graph->launch(); }));
  if (job.rank() == 0)
    std::printf("%d launches and %d of a graph%s on %u ranks of %s, all results "
                "right\n",
                launches, replays,
                options.target == "host" ? " (of plain launches: the host has none)" : "",
                job.world(), options.target.c_str());

  if (report) {
    // Behind this all ranks have done what is above.
    rt::Status status = context->allGather("nothing", "").status();
    if (job.rank() == 1) { // does something else, until it hears of it
      while (status.isOk())
        status = context->allGather("nothing", "").status();
    } else if (status.isOk()) {
      rt::LaunchOptions soon;
      soon.deadline = std::chrono::milliseconds(300);
      status = gemm->launch(soon);
      if (status.isOk())
        status = gemm->synchronize();
    }
    *report = status.message();
    if (status.code() != rt::StatusCode::Aborted)
      return rt::error(rt::StatusCode::Internal,
                       "a launch that rank 1 left out gave: ", status.toString());
  }
  graph.reset();
  gemm.reset();
  if (!report)
    MK_TRY(context->free(shared));
  kernel.reset();
  return context->close(); // after an abort: its first cause again
}

static rt::Status run(const Options &options) {
  std::string report;
  uint32_t rank = 0;
  {
    MK_ASSIGN(auto job, rt::Job::join({}));
    rank = job->rank();
    if (job->world() < 2)
      return rt::error(rt::StatusCode::InvalidArgument,
                       "this needs two ranks or more: torchrun --nproc-per-node 2");
    rt::Status status = runJob(options, *job, options.launches, &report);
    // An abort ends the job for all ranks; what is no abort is an error of this one,
    // which the others shall hear.
    if (status.code() != rt::StatusCode::Aborted || report.empty()) {
      job->fail(status);
      job->leave().ignore();
      return status;
    }
    std::printf("rank %u was told: %s\n", rank, report.c_str());
    job->leave().ignore();
  }
  // The same ranks meet again, and nothing is left of what failed.
  MK_ASSIGN(auto job, rt::Job::join({}));
  rt::Status status = runJob(options, *job, options.launches / 10 + 1, nullptr);
  job->fail(status);
  rt::Status left = job->leave();
  MK_TRY(status);
  MK_TRY(left);
  if (rank == 0)
    std::printf("and again with a new context\n");
  return rt::Status::success();
}

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], "--target=", 9) == 0)
      options.target = argv[i] + 9;
    else if (std::strncmp(argv[i], "--launches=", 11) == 0)
      options.launches = std::atoi(argv[i] + 11);
    else if (std::strncmp(argv[i], "--grid=", 7) == 0)
      options.grid = std::atoi(argv[i] + 7);
    else
      options.file = argv[i];
  if (!options.file || options.launches < 1) {
    std::fprintf(stderr,
                 "usage: %s [--target=host|sm_90a] [--launches=N] [--grid=CTAS] FILE, as a rank that "
                 "torchrun, mpirun or srun starts\n",
                 argv[0]);
    return 2;
  }
  if (options.target != "host") {
    auto gpus = rt::queryGpus();
    if (!gpus) {
      std::printf("skipped: %s\n", gpus.status().message().c_str());
      return 0;
    }
    // Without a number the compiler takes that of an H100 or H200, 132.
    if (options.grid == 0)
      options.grid = gpus->gpus[0].sms;
  }
  rt::Status status = run(options);
  if (!status.isOk())
    std::fprintf(stderr, "%s\n", status.toString().c_str());
  return status.isOk() ? 0 : 1;
}
