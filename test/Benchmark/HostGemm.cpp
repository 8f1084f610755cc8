//===- HostGemm.cpp - A kernel on the host target beside OpenBLAS ---------===//
//
//   host-gemm PACKAGE [SIZE] [SAMPLES]
//
// Runs the package of a square f32 GEMM (arguments a, b, c: C = A * B^T, dimensions
// M, N, K) on one rank and cblas_sgemm with one thread on the same random normal
// data, alternating, both pinned to one core. Checks one result against the other,
// prints the medians and their ratio; exit code 1 below a quarter.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Runtime/Kernel.h"
#include "mkernel/Runtime/Package.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <sched.h>
#include <vector>

using namespace mk::rt;

namespace {

using Sgemm = void (*)(int order, int transA, int transB, int m, int n, int k,
                       float alpha, const float *a, int lda, const float *b,
                       int ldb, float beta, float *c, int ldc);

int fail(const std::string &message) {
  std::fprintf(stderr, "host-gemm: %s\n", message.c_str());
  return 2;
}

double seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void pinToOneCore() {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof all, &all) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all)) {
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
      }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return fail("usage: host-gemm PACKAGE [SIZE] [SAMPLES]");
  const int64_t n = argc > 2 ? std::atoll(argv[2]) : 1024;
  const int samples = argc > 3 ? std::max(1, std::atoi(argv[3])) : 30;
  pinToOneCore(); // before any thread starts, so that all inherit it

  void *blas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!blas)
    return fail("needs OpenBLAS to compare with: apt-get install libopenblas0");
  auto sgemm = reinterpret_cast<Sgemm>(dlsym(blas, "cblas_sgemm"));
  auto threads = reinterpret_cast<void (*)(int)>(
      dlsym(blas, "openblas_set_num_threads"));
  if (!sgemm || !threads)
    return fail("libopenblas.so.0 has no cblas_sgemm");
  threads(1);

  Result<Package> package = Package::read(argv[1]);
  if (!package)
    return fail(package.status().message());
  ContextOptions options;
  options.heapBytes = 1u << 20;
  Result<Mesh> mesh = Mesh::create({{"gpu", 1, LinkKind::Link}});
  if (!mesh)
    return fail(mesh.status().message());
  options.mesh = *mesh;
  auto context = Context::create(options);
  if (!context)
    return fail(context.status().message());
  auto kernel = Kernel::load(**context, *package);
  if (!kernel)
    return fail(kernel.status().message());
  auto bound = (*kernel)->bind({{"M", {n}}, {"N", {n}}, {"K", {n}}});
  if (!bound)
    return fail(bound.status().message());

  auto *a = reinterpret_cast<float *>((*bound)->data("a"));
  auto *b = reinterpret_cast<float *>((*bound)->data("b"));
  auto *c = reinterpret_cast<float *>((*bound)->data("c"));
  std::vector<float> expected(n * n);
  std::mt19937_64 engine(1);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < n * n; ++i) {
    a[i] = normal(engine);
    b[i] = normal(engine);
  }
  std::memset(c, 0xff, n * n * sizeof(float));

  std::vector<double> ours, theirs;
  for (int i = -2; i < samples; ++i) {
    double begin = seconds();
    if (Status status = (*bound)->launch({}); !status)
      return fail(status.message());
    double middle = seconds();
    sgemm(/*row-major*/ 101, /*no transpose*/ 111, /*transpose*/ 112, n, n, n,
          1.0f, a, n, b, n, 0.0f, expected.data(), n);
    double end = seconds();
    if (i < 0)
      continue; // warm-up
    ours.push_back(middle - begin);
    theirs.push_back(end - middle);
  }
  double error = 0;
  for (int64_t i = 0; i < n * n; ++i) {
    double difference = std::abs(double(c[i]) - expected[i]);
    if (!(difference <= error)) // also for NaN
      error = difference;
  }
  if (Status status = (*context)->close(); !status)
    return fail(status.message());
  if (!(error <= 1e-5 * n))
    return fail("results differ by " + std::to_string(error));

  double flops = 2.0 * n * n * n;
  double ratio = median(theirs) / median(ours);
  std::printf("f32 GEMM %ld^3 on one core, median of %d: mKernel host target "
              "%.1f GFLOP/s, OpenBLAS %.1f GFLOP/s, ratio %.2f, largest "
              "difference %.2g\n",
              long(n), samples, flops / median(ours) * 1e-9,
              flops / median(theirs) * 1e-9, ratio, error);
  return ratio >= 0.25 ? 0 : 1;
}
