/* The same as gemm.cpp, in C: compiles a kernel at run time and launches it
   1,000 times, each time with other data, each result compared with sums
   computed here.

     example-gemm-c [--target=host|sm_90a] .../examples/gemm.mlir */
#include "mkernel/C/mkernel.h"

#include <stdio.h>
#include <string.h>

enum { M = 40, N = 24, K = 48, LAUNCHES = 1000 };

static uint16_t a[M * K], b[N * K], c[M * N];

/* To the nearest, ties to even. All values here are finite. */
static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Integers from -4 to 4: sums are exact in whatever order they are taken. */
static int value_of(int launch, int which, int i) {
  uint32_t x =
      (uint32_t)(launch * 2 + which) * 0x9e3779b9u + (uint32_t)i * 0x85ebca6bu;
  x = (x ^ x >> 15) * 0x2c1b3c6du;
  return (int)((x ^ x >> 13) % 9) - 4;
}

static int is_right(int launch) {
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      int sum = 0;
      for (int k = 0; k < K; ++k)
        sum += value_of(launch, 0, m * K + k) * value_of(launch, 1, n * K + k);
      if (c[m * N + n] != to_bf16((float)sum)) {
        fprintf(stderr, "launch %d: c[%d, %d] is not %d\n", launch, m, n, sum);
        return 0;
      }
    }
  return 1;
}

/* 0 when every launch gave the right result. */
static int launch_all(mkernel_bound *gemm) {
  size_t arg_a, arg_b, arg_c;
  if (mkernel_arg_index(gemm, "a", &arg_a) ||
      mkernel_arg_index(gemm, "b", &arg_b) ||
      mkernel_arg_index(gemm, "c", &arg_c))
    return 1;
  for (int launch = 0; launch < LAUNCHES; ++launch) {
    for (int i = 0; i < M * K; ++i)
      a[i] = to_bf16((float)value_of(launch, 0, i));
    for (int i = 0; i < N * K; ++i)
      b[i] = to_bf16((float)value_of(launch, 1, i));
    if (mkernel_upload(gemm, arg_a, a, NULL) ||
        mkernel_upload(gemm, arg_b, b, NULL) || mkernel_launch(gemm, NULL) ||
        mkernel_download(gemm, arg_c, c, NULL) || !is_right(launch))
      return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *target = "host", *file = NULL;
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], "--target=", 9) == 0)
      target = argv[i] + 9;
    else
      file = argv[i];
  if (!file) {
    fprintf(stderr, "usage: %s [--target=host|sm_90a] FILE\n", argv[0]);
    return 2;
  }
  size_t gpus;
  if (strcmp(target, "host") != 0 && mkernel_num_gpus(&gpus) != MKERNEL_OK) {
    printf("skipped: %s\n", mkernel_message());
    return 0;
  }

  mkernel_compile_options options = MKERNEL_COMPILE_OPTIONS_INIT;
  mkernel_size depth = {"K", K, NULL, 0};
  options.target = target;
  options.kernel = "gemm_nt"; /* C = A * B^T in bf16 */
  options.sizes = &depth;     /* M and N may differ from launch to launch */
  options.num_sizes = 1;
  mkernel_size sizes[] = {{"M", M, NULL, 0}, {"N", N, NULL, 0}};

  mkernel_package *package = NULL;
  mkernel_context *context = NULL;
  mkernel_kernel *kernel = NULL;
  mkernel_bound *gemm = NULL;
  int failed = mkernel_compile_file(file, &options, &package) ||
               mkernel_context_create(package, NULL, &context) ||
               mkernel_kernel_load(context, package, &kernel) ||
               mkernel_kernel_bind(kernel, sizes, 2, &gemm) ||
               launch_all(gemm) || mkernel_context_close(context);
  if (failed)
    fprintf(stderr, "%s\n", mkernel_message());
  else
    printf("%d launches on %s, all results right\n", LAUNCHES, target);
  mkernel_bound_destroy(gemm);
  mkernel_kernel_destroy(kernel);
  mkernel_context_destroy(context);
  mkernel_package_destroy(package);
  return failed;
}
