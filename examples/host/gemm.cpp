// Compiles a kernel at run time and launches it 1,000 times, each time with
// other data, each result compared with sums computed here.
//
//   example-gemm-cpp [--target=host|sm_90a] [--launches=N] .../examples/gemm.mlir
#include "mkernel/JIT/JIT.h"
#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Kernel.h"
#include "numbers.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mk;

static constexpr int64_t M = 40, N = 24, K = 48;

static rt::Status run(const std::string &target, const char *file,
                      int launches) {
  MK_ASSIGN(jit::Source source, jit::Source::read(file));
  jit::Options options;
  options.target = target;
  options.kernel = "gemm_nt";  // C = A * B^T in bf16
  options.bind = {{"K", {K}}}; // M and N may differ from launch to launch
  jit::Report report;
  MK_ASSIGN(rt::Package package, jit::compile(source, options, &report));
  std::printf("%s in %.1f ms\n", report.cached ? "from the cache" : "compiled",
              report.milliseconds);

  rt::ContextOptions here; // this process is the only rank
  MK_ASSIGN(here.mesh, rt::resolveMesh(package.metadata(), {}, 0, 0));
  MK_ASSIGN(auto context, rt::Context::create(here));
  MK_ASSIGN(auto kernel, rt::Kernel::load(*context, package));
  MK_ASSIGN(auto gemm, kernel->bind({{"M", {M}}, {"N", {N}}}));

  std::vector<uint16_t> a(M * K), b(N * K), c(M * N);
  for (int launch = 0; launch < launches; ++launch) {
    for (int64_t i = 0; i < M * K; ++i)
      a[i] = toBf16(float(valueOf(launch, 0, i)));
    for (int64_t i = 0; i < N * K; ++i)
      b[i] = toBf16(float(valueOf(launch, 1, i)));
    // A GPU needs no more than a stream to be told of: here the default one.
    MK_TRY(gemm->upload("a", a.data()));
    MK_TRY(gemm->upload("b", b.data()));
    MK_TRY(gemm->launch({}));
    MK_TRY(gemm->download("c", c.data()));
    for (int64_t m = 0; m < M; ++m)
      for (int64_t n = 0; n < N; ++n) {
        int sum = 0;
        for (int64_t k = 0; k < K; ++k)
          sum += valueOf(launch, 0, m * K + k) * valueOf(launch, 1, n * K + k);
        if (c[m * N + n] != toBf16(float(sum)))
          return rt::error(rt::StatusCode::Internal, "launch ", launch, ": c[",
                           m, ", ", n, "] is not ", sum);
      }
  }
  std::printf("%d launches on %s, all results right\n", launches,
              target.c_str());
  return context->close();
}

int main(int argc, char **argv) {
  std::string target = "host";
  const char *file = nullptr;
  int launches = 1000;
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], "--target=", 9) == 0)
      target = argv[i] + 9;
    else if (std::strncmp(argv[i], "--launches=", 11) == 0)
      launches = std::atoi(argv[i] + 11);
    else
      file = argv[i];
  if (!file || launches < 1) {
    std::fprintf(stderr,
                 "usage: %s [--target=host|sm_90a] [--launches=N] FILE\n",
                 argv[0]);
    return 2;
  }
  if (target != "host")
    if (auto gpus = rt::queryGpus(); !gpus) {
      std::printf("skipped: %s\n", gpus.status().message().c_str());
      return 0;
    }
  rt::Status status = run(target, file, launches);
  if (!status.isOk())
    std::fprintf(stderr, "%s\n", status.toString().c_str());
  return status.isOk() ? 0 : 1;
}
