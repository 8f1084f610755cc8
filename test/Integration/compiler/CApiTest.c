/*===- CApiTest.c - The C interface, as C11 ------------------------------===*/
#include "mkernel/C/mkernel.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int good, const char *what, int line) {
  if (good)
    return;
  ++failures;
  fprintf(stderr, "line %d: %s; last message: %s\n", line, what,
          mkernel_message());
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define OK(call) check((call) == MKERNEL_OK, #call, __LINE__)
/* The call fails with this code and a message that has these words. */
#define FAILS(call, code, words)                                               \
  do {                                                                         \
    check((call) == (code), #call " gives " #code, __LINE__);                  \
    check(strstr(mkernel_message(), words) != NULL, #call ": " words,          \
          __LINE__);                                                           \
  } while (0)

static const char text[] =
    "mk.mesh @mesh (gpu = ? via link)\n"
    "mk.kernel @twice on @mesh dims(uniform N) (\n"
    "    in %x : memref<?x?xf32> [N, N], out %y : memref<?x?xf32> [N, N]) {\n"
    "  %c4 = arith.constant 4 : index\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %t = arith.ceildivui %N, %c4 : index\n"
    "  mk.role @all ctas(rest) {\n"
    "    mk.foreach (%i) in (%t) {\n"
    "      mk.foreach (%j) in (%t) {\n"
    "        %r = arith.muli %i, %c4 : index\n"
    "        %s = arith.muli %j, %c4 : index\n"
    "        %v = mk.load %x[%r, %s] : memref<?x?xf32> -> tensor<4x4xf32>\n"
    "        %w = arith.addf %v, %v : tensor<4x4xf32>\n"
    "        mk.store %w, %y[%r, %s] : tensor<4x4xf32>, memref<?x?xf32>\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

enum { N = 6 };
static float x[N * N], y[N * N];

static void fill(float start) {
  for (int i = 0; i < N * N; ++i)
    x[i] = start + (float)i;
}

static int is_twice(const float *result) {
  for (int i = 0; i < N * N; ++i)
    if (result[i] != 2 * x[i])
      return 0;
  return 1;
}

static mkernel_package *test_packages(const char *library) {
  mkernel_package *package = NULL, *copy = NULL;
  mkernel_compile_options options = MKERNEL_COMPILE_OPTIONS_INIT;
  options.cache = "off";
  options.library = library;
  options.grid = 3;
  FAILS(mkernel_compile_text("nonsense", 8, "bad.mlir", &options, &package),
        MKERNEL_FAILED_PRECONDITION, "bad.mlir:1:");
  CHECK(package == NULL);
  FAILS(mkernel_compile_text(NULL, 0, NULL, &options, &package),
        MKERNEL_INVALID_ARGUMENT, "mkernel_compile_text: 'text' is NULL");
  FAILS(mkernel_compile_file("/no/such.mlir", &options, &package),
        MKERNEL_NOT_FOUND, "/no/such.mlir");
  mkernel_size nameless = {NULL, 1, NULL, 0};
  options.sizes = &nameless;
  options.num_sizes = 1;
  FAILS(mkernel_compile_text(text, strlen(text), NULL, &options, &package),
        MKERNEL_INVALID_ARGUMENT, "sizes[0] has no name");
  mkernel_size same[] = {{"M", 1, NULL, 0}, {"M", 2, NULL, 0}};
  options.sizes = same;
  options.num_sizes = 2;
  FAILS(mkernel_compile_text(text, strlen(text), NULL, &options, &package),
        MKERNEL_INVALID_ARGUMENT,
        "sizes[1], 'M': sizes[0] has the same name; give it once");
  options.num_sizes = 0;
  options.size = 0;
  FAILS(mkernel_compile_text(text, strlen(text), NULL, &options, &package),
        MKERNEL_INVALID_ARGUMENT, "_INIT");

  /* A program built with a newer header: fine as long as it asks for nothing
     that this library does not know. */
  struct {
    mkernel_compile_options known;
    const char *unknown;
  } newer = {options, "x"};
  newer.known.size = sizeof(newer);
  FAILS(mkernel_compile_text(text, strlen(text), NULL, &newer.known, &package),
        MKERNEL_INVALID_ARGUMENT, "does not know");
  newer.unknown = NULL;
  OK(mkernel_compile_text(text, strlen(text), NULL, &newer.known, &package));
  CHECK(strcmp(mkernel_package_kernel(package), "twice") == 0);
  CHECK(strcmp(mkernel_package_target(package), "host") == 0);

  size_t size = 0;
  const void *bytes = mkernel_package_bytes(package, &size);
  CHECK(size > 96 && memcmp(bytes, "MKPACK", 6) == 0);
  OK(mkernel_package_parse(bytes, size, &copy));
  mkernel_package_destroy(package);
  FAILS(mkernel_package_parse("MKPACK", 6, &package), MKERNEL_INVALID_ARGUMENT,
        "package in memory");
  return copy;
}

static mkernel_bound *test_binding(const mkernel_package *package) {
  mkernel_context *context = NULL;
  mkernel_kernel *kernel = NULL;
  mkernel_bound *bound = NULL;
  mkernel_context_options options = MKERNEL_CONTEXT_OPTIONS_INIT;
  mkernel_size axis = {"gpu", 1, NULL, 0};
  options.axes = &axis;
  options.num_axes = 1;
  options.heap_bytes = 1 << 20;
  options.ranks_per_gpu = 2;
  FAILS(mkernel_context_create(package, &options, &context),
        MKERNEL_INVALID_ARGUMENT, "ranks_per_gpu in C) is 2");
  /* A program built with a header that did not have it. */
  options.size = offsetof(mkernel_context_options, ranks_per_gpu);
  OK(mkernel_context_create(package, &options, &context));
  OK(mkernel_context_close(context));
  mkernel_context_destroy(context);
  options.size = sizeof(options);
  options.ranks_per_gpu = 1;
  options.transport = "verb";
  FAILS(mkernel_context_create(package, &options, &context),
        MKERNEL_INVALID_ARGUMENT, "there are: loopback, verbs, efa");
  options.transport = "loopback";
  options.transport_options = "delay=1ms,delay=2ms";
  FAILS(mkernel_context_create(package, &options, &context),
        MKERNEL_INVALID_ARGUMENT, "'delay=1ms' is given as well");
  options.transport_options = "path=staged,chunks=4";
  OK(mkernel_context_create(package, &options, &context));
  OK(mkernel_kernel_load(context, package, &kernel));
  FAILS(mkernel_kernel_bind(kernel, NULL, 0, &bound), MKERNEL_INVALID_ARGUMENT,
        "'N'");
  FAILS(mkernel_kernel_bind(kernel, NULL, 1, &bound), MKERNEL_INVALID_ARGUMENT,
        "sizes: NULL");
  mkernel_size sizes[] = {{"N", N, NULL, 0}, {"Q", 1, NULL, 0}};
  FAILS(mkernel_kernel_bind(kernel, sizes, 2, &bound), MKERNEL_INVALID_ARGUMENT,
        "has no dimension 'Q'; it has N");
  OK(mkernel_kernel_bind(kernel, sizes, 1, &bound));
  /* What was made from them keeps them alive. */
  mkernel_kernel_destroy(kernel);
  mkernel_context_destroy(context);
  return bound;
}

static void test_arguments(mkernel_bound *bound, size_t *in, size_t *out) {
  OK(mkernel_arg_index(bound, "x", in));
  OK(mkernel_arg_index(bound, "y", out));
  FAILS(mkernel_arg_index(bound, "z", in), MKERNEL_NOT_FOUND,
        "has no argument 'z'; it has x, y");
  CHECK(mkernel_num_args(bound) == 2);
  CHECK(strcmp(mkernel_arg_name(bound, *out), "y") == 0);
  CHECK(strcmp(mkernel_arg_type(bound, *out), "f32") == 0);
  CHECK(mkernel_arg_rank(bound, *out) == 2);
  CHECK(mkernel_arg_sizes(bound, *out)[1] == N);
  CHECK(mkernel_arg_bytes(bound, *out) == sizeof(y));
  CHECK(mkernel_arg_data(bound, *in) == mkernel_arg_host_data(bound, *in));
  CHECK(mkernel_arg_name(bound, 2) == NULL);
  CHECK(mkernel_arg_data(bound, 2) == NULL);
  FAILS(mkernel_upload(bound, 2, x, NULL), MKERNEL_INVALID_ARGUMENT,
        "2 arguments, none is number 2");
  FAILS(mkernel_download(bound, *out, NULL, NULL), MKERNEL_INVALID_ARGUMENT,
        "'to' is NULL");
}

static void test_launches(mkernel_bound *bound, size_t in, size_t out) {
  mkernel_launch_options options = MKERNEL_LAUNCH_OPTIONS_INIT;
  options.deadline_ns = 20000000000u;
  for (int i = 0; i < 10; ++i) {
    fill((float)i);
    OK(mkernel_upload(bound, in, x, NULL));
    options.seed = (uint64_t)i;
    OK(mkernel_launch(bound, &options));
    OK(mkernel_synchronize(bound, NULL));
    OK(mkernel_download(bound, out, y, NULL));
    CHECK(is_twice(y));
  }
  CHECK(mkernel_epoch(bound) == 10);

  /* The caller's memory. */
  int64_t strides[] = {N + 4, 1}, tight[] = {N, 1};
  OK(mkernel_attach(bound, in, x, NULL));
  FAILS(mkernel_attach(bound, out, y, strides), MKERNEL_INVALID_ARGUMENT,
        "the host target takes row-major, tight memory only");
  OK(mkernel_attach(bound, out, y, tight));
  mkernel_graph *graph = NULL;
  OK(mkernel_capture(bound, NULL, &graph));
  for (int i = 0; i < 10; ++i) {
    fill((float)-i);
    OK(mkernel_graph_launch(graph, NULL));
    CHECK(is_twice(y));
  }
  mkernel_bound_destroy(bound);
  OK(mkernel_graph_launch(graph, NULL));
  mkernel_graph_destroy(graph);
}

/* Two kernels that share a buffer: what the first writes the second reads. */
static void test_symmetric(const char *library) {
  /* The same kernel with arguments that peers reach. */
  char shared[sizeof(text) + 64];
  const char *rest = text, *at;
  shared[0] = 0;
  while ((at = strstr(rest, "memref<?x?xf32>")) != NULL) {
    strncat(shared, rest, (size_t)(at - rest));
    strcat(shared, "memref<?x?xf32, #mk.symmetric>");
    rest = at + strlen("memref<?x?xf32>");
  }
  strcat(shared, rest);
  mkernel_compile_options how = MKERNEL_COMPILE_OPTIONS_INIT;
  how.cache = "off";
  how.library = library;
  how.gpus = 1;
  mkernel_package *package = NULL;
  mkernel_context *context = NULL;
  mkernel_kernel *kernel = NULL;
  mkernel_bound *first = NULL, *second = NULL;
  mkernel_size size = {"N", N, NULL, 0};
  OK(mkernel_compile_text(shared, strlen(shared), NULL, &how, &package));
  if (!package)
    return;
  OK(mkernel_context_create(package, NULL, &context));
  OK(mkernel_kernel_load(context, package, &kernel));
  OK(mkernel_kernel_bind(kernel, &size, 1, &first));
  OK(mkernel_kernel_bind(kernel, &size, 1, &second));
  if (!first || !second)
    return;

  void *memory = NULL, *there = NULL;
  OK(mkernel_symmetric_allocate(context, sizeof(y) + 16, &memory));
  OK(mkernel_symmetric_at(context, 0, (char *)memory + 16, &there));
  CHECK(there == (char *)memory + 16);
  FAILS(mkernel_symmetric_at(context, 1, memory, &there),
        MKERNEL_INVALID_ARGUMENT, "there is no rank 1 in a mesh of 1 ranks");
  FAILS(mkernel_symmetric_at(context, 0, x, &there), MKERNEL_INVALID_ARGUMENT,
        "not in symmetric memory");
  FAILS(mkernel_symmetric_allocate(context, 1, NULL), MKERNEL_INVALID_ARGUMENT,
        "'out' is NULL");
  FAILS(mkernel_attach(first, 1, y, NULL), MKERNEL_INVALID_ARGUMENT,
        "argument 'y' of kernel 'twice' is symmetric");
  FAILS(mkernel_attach(first, 1, (char *)memory + 32, NULL),
        MKERNEL_INVALID_ARGUMENT, "it needs 144 bytes");
  OK(mkernel_attach(first, 1, (char *)memory + 16, NULL));
  OK(mkernel_attach(second, 0, (char *)memory + 16, NULL));
  CHECK(mkernel_arg_data(second, 0) == mkernel_arg_data(first, 1));
  for (int i = 0; i < 10; ++i) {
    fill((float)i);
    OK(mkernel_upload(first, 0, x, NULL));
    OK(mkernel_launch(first, NULL));
    OK(mkernel_launch(second, NULL));
    OK(mkernel_download(second, 1, y, NULL));
    for (int j = 0; j < N * N; ++j)
      CHECK(y[j] == 4 * x[j]);
  }
  mkernel_bound_destroy(first);
  mkernel_bound_destroy(second);
  FAILS(mkernel_symmetric_free(context, (char *)memory + 16),
        MKERNEL_INVALID_ARGUMENT, "no address that");
  OK(mkernel_symmetric_free(context, memory));
  FAILS(mkernel_symmetric_free(context, memory), MKERNEL_INVALID_ARGUMENT,
        "no address that");
  OK(mkernel_context_close(context));
  mkernel_kernel_destroy(kernel);
  mkernel_context_destroy(context);
  mkernel_package_destroy(package);
}

/* A tile's extent is a parameter, of which versions for several sizes have their own. */
static const char tiled[] =
    "!t = tensor<?x?xf32, #mk.extents<T, T>>\n"
    "mk.mesh @mesh (gpu = 1 via link)\n"
    "mk.kernel @twice on @mesh dims(uniform N) (\n"
    "    in %x : memref<?x?xf32> [N, N], out %y : memref<?x?xf32> [N, N]) {\n"
    "  %e = mk.param \"T\" = 2\n"
    "  %t = arith.ceildivui %N, %e : index\n"
    "  mk.role @all ctas(rest) {\n"
    "    mk.foreach (%i, %j) in (%t, %t) {\n"
    "      %r = arith.muli %i, %e : index\n"
    "      %s = arith.muli %j, %e : index\n"
    "      %v = mk.load %x[%r, %s] : memref<?x?xf32> -> !t\n"
    "      %w = arith.addf %v, %v : !t\n"
    "      mk.store %w, %y[%r, %s] : !t, memref<?x?xf32>\n"
    "    }\n"
    "  }\n"
    "}\n";

/* Serving: a package with versions, kernels for several sizes beside each other. */
static void test_versions(const char *library) {
  static const struct {
    int64_t size;
    size_t version;
  } cases[] = {{2, 0}, {3, 1}, {4, 1}, {5, 2}, {6, 2}};
  enum { CASES = sizeof(cases) / sizeof(*cases) };
  mkernel_compile_options how = MKERNEL_COMPILE_OPTIONS_INIT;
  how.cache = "off";
  how.library = library;
  how.grid = 2;
  mkernel_package *package = NULL;
  how.variants = "N=2,N=4+Q=4";
  FAILS(mkernel_compile_text(tiled, strlen(tiled), NULL, &how, &package),
        MKERNEL_INVALID_ARGUMENT, "there is no dimension and no parameter 'Q'");
  how.variants = "N=2,N=4+T=4,N=100+T=8";
  OK(mkernel_compile_text(tiled, strlen(tiled), NULL, &how, &package));
  CHECK(mkernel_package_num_versions(package) == 3);
  CHECK(mkernel_package_num_versions(NULL) == 0);
  mkernel_context *context = NULL;
  mkernel_kernel *kernel = NULL;
  mkernel_bound *bound[CASES] = {NULL};
  OK(mkernel_context_create(package, NULL, &context));
  OK(mkernel_kernel_load(context, package, &kernel));
  mkernel_package_destroy(package);
  FAILS(mkernel_kernel_bind(kernel, NULL, 0, &bound[0]), MKERNEL_INVALID_ARGUMENT,
        "dimension 'N' has no value");
  for (int i = 0; i < CASES; ++i) {
    mkernel_size size = {"N", cases[i].size, NULL, 0};
    OK(mkernel_kernel_bind(kernel, &size, 1, &bound[i]));
    CHECK(mkernel_bound_version(bound[i]) == cases[i].version);
  }
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < CASES && bound[i]; ++i) {
      fill((float)(10 * round + i));
      OK(mkernel_upload(bound[i], 0, x, NULL));
      OK(mkernel_launch(bound[i], NULL));
      memset(y, 0, sizeof(y));
      OK(mkernel_download(bound[i], 1, y, NULL));
      for (int j = 0; j < cases[i].size * cases[i].size; ++j)
        CHECK(y[j] == 2 * x[j]);
    }
  for (int i = 0; i < CASES; ++i)
    mkernel_bound_destroy(bound[i]);
  OK(mkernel_context_close(context));
  mkernel_kernel_destroy(kernel);
  mkernel_context_destroy(context);
}

/* Gives the argument of a binding that is measured its value, and counts. */
static mkernel_status prepare(mkernel_bound *bound, void *data) {
  ++*(int *)data;
  return mkernel_upload(bound, 0, x, NULL);
}
static mkernel_status prepare_and_fail(mkernel_bound *bound, void *data) {
  (void)bound;
  (void)data;
  return MKERNEL_INTERNAL;
}
static mkernel_status prepare_nothing(mkernel_bound *bound, void *data) {
  size_t index;
  (void)data;
  return mkernel_arg_index(bound, "weights", &index);
}

/* Candidates for the same sizes, of which the fastest is taken. */
static void test_candidates(const char *library) {
  mkernel_compile_options how = MKERNEL_COMPILE_OPTIONS_INIT;
  mkernel_measure_options measure = MKERNEL_MEASURE_OPTIONS_INIT;
  mkernel_size size = {"N", 4, NULL, 0};
  mkernel_size wrong = {"Q", 4, NULL, 0};
  mkernel_package *package = NULL;
  mkernel_context *context = NULL;
  mkernel_kernel *kernel = NULL;
  mkernel_bound *bound[2] = {NULL, NULL};
  int prepared = 0;
  how.cache = "off";
  how.library = library;
  how.grid = 2;
  how.candidates = 9;
  FAILS(mkernel_compile_text(tiled, strlen(tiled), NULL, &how, &package),
        MKERNEL_INVALID_ARGUMENT, "--candidates=9: a package has at most 8 of a version");
  how.candidates = 0;
  how.variants = "N=4+T=1,N=4+T=2,N=4+T=4";
  OK(mkernel_compile_text(tiled, strlen(tiled), NULL, &how, &package));
  CHECK(mkernel_package_num_versions(package) == 3);
  OK(mkernel_context_create(package, NULL, &context));
  OK(mkernel_kernel_load(context, package, &kernel));
  mkernel_package_destroy(package);
  measure.cache = "off";
  measure.prepare = prepare_nothing;
  FAILS(mkernel_kernel_bind_fastest(kernel, &size, 1, &measure, &bound[0]), MKERNEL_NOT_FOUND,
        "'prepare' has failed: kernel 'twice' has no argument 'weights'");
  /* What an earlier call has said is not its reason. */
  measure.prepare = prepare_and_fail;
  FAILS(mkernel_kernel_bind_fastest(kernel, &size, 1, &measure, &bound[0]), MKERNEL_INTERNAL,
        "'prepare' has failed: it returned a status other than MKERNEL_OK");
  FAILS(mkernel_kernel_bind_fastest(kernel, &wrong, 1, &measure, &bound[0]),
        MKERNEL_INVALID_ARGUMENT, "has no dimension 'Q'");
  FAILS(mkernel_kernel_bind_fastest(NULL, &size, 1, &measure, &bound[0]),
        MKERNEL_INVALID_ARGUMENT, "'kernel' is NULL");
  measure.prepare = prepare;
  measure.data = &prepared;
  OK(mkernel_kernel_bind_fastest(kernel, &size, 1, &measure, &bound[0]));
  CHECK(prepared == 6);
  OK(mkernel_kernel_bind_fastest(kernel, &size, 1, &measure, &bound[1]));
  CHECK(prepared == 6);
  CHECK(mkernel_bound_version(bound[0]) == mkernel_bound_version(bound[1]));
  fill(5);
  OK(mkernel_upload(bound[0], 0, x, NULL));
  OK(mkernel_launch(bound[0], NULL));
  OK(mkernel_download(bound[0], 1, y, NULL));
  for (int j = 0; j < 16; ++j)
    CHECK(y[j] == 2 * x[j]);
  for (int i = 0; i < 2; ++i)
    mkernel_bound_destroy(bound[i]);
  OK(mkernel_context_close(context));
  mkernel_kernel_destroy(kernel);
  mkernel_context_destroy(context);
}

int main(int argc, char **argv) {
  (void)argc;
  CHECK(strchr(mkernel_version(), '.') != NULL);
  CHECK(strcmp(mkernel_message(), "") == 0);
  CHECK(strcmp(mkernel_status_name(MKERNEL_NOT_FOUND), "not found") == 0);
  CHECK(strcmp(mkernel_status_name((mkernel_status)99), "unknown status") == 0);
  mkernel_package *package = test_packages(argv[1]);
  if (!package)
    return 1;
  mkernel_bound *bound = test_binding(package);
  mkernel_package_destroy(package);
  if (!bound)
    return 1;
  size_t in = 0, out = 0;
  test_arguments(bound, &in, &out);
  test_launches(bound, in, out);
  test_symmetric(argv[1]);
  test_versions(argv[1]);
  test_candidates(argv[1]);
  mkernel_package_destroy(NULL);
  mkernel_graph_destroy(NULL);
  FAILS(mkernel_launch(NULL, NULL), MKERNEL_INVALID_ARGUMENT,
        "'bound' is NULL");
  printf(failures ? "%d failed\n" : "all passed\n", failures);
  return failures != 0;
}
