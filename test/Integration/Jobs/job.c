/* One rank of a job that a launcher starts, by way of the C interface: rank 0 reads
   the package of runtime/Inputs/allgather.c, c = 2 a + 1 everywhere.

     mpirun -n 4 mkernel-c-job allgather.mkpkg

   JOB_TRANSPORT and JOB_TRANSPORT_OPTIONS say what carries net axes. JOB_HEAP_BYTES is the size of the heap of rank JOB_HEAP_RANK, or of "all".
   JOB_LAUNCHES is how often the kernel is launched, JOB_TIMEOUT_MS how long anything
   is waited for. JOB_ROUNDS=1: a job for each line of standard input, its
   TORCHELASTIC_RUN_ID, in this one process; behind each a line "done". */
#define _POSIX_C_SOURCE 200809L
#include "mkernel/C/mkernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 3, kColumns = 101, kMaxRanks = 16 };

typedef struct {
  mkernel_job *job;
  mkernel_package *mine, *package;
  mkernel_context *context;
  mkernel_kernel *kernel;
  mkernel_bound *bound;
} Handles;

static long number(const char *variable, long otherwise) {
  const char *text = getenv(variable);
  return text ? atol(text) : otherwise;
}

#define TRY(call)                                                              \
  do {                                                                         \
    if (call)                                                                  \
      return #call;                                                            \
  } while (0)

/* Launches often; all results must be right. */
static const char *launch(Handles *h, uint32_t rank, uint32_t world,
                          uint64_t timeout, int *right) {
  size_t in, out;
  TRY(mkernel_arg_index(h->bound, "a", &in));
  TRY(mkernel_arg_index(h->bound, "c", &out));
  mkernel_launch_options options = MKERNEL_LAUNCH_OPTIONS_INIT;
  options.deadline_ns = timeout;
  float a[kRows * kColumns], c[kMaxRanks * kRows * kColumns];
  for (long n = number("JOB_LAUNCHES", 1); n > 0; --n) {
    for (int i = 0; i < kRows * kColumns; ++i)
      a[i] = (float)(rank * 100 + (uint32_t)(i + n));
    TRY(mkernel_upload(h->bound, in, a, NULL));
    TRY(mkernel_launch(h->bound, &options));
    TRY(mkernel_download(h->bound, out, c, NULL));
    for (uint32_t r = 0; r < world; ++r)
      for (int i = 0; i < kRows * kColumns; ++i)
        *right &= c[r * kRows * kColumns + (uint32_t)i] ==
                  2 * (float)(r * 100 + (uint32_t)(i + n)) + 1;
  }
  return NULL;
}

/* Returns the call that failed. */
static const char *run(Handles *h, const char *path, int *right) {
  uint64_t timeout = (uint64_t)number("JOB_TIMEOUT_MS", 60000) * 1000000u;
  mkernel_job_options join = MKERNEL_JOB_OPTIONS_INIT;
  join.timeout_ns = timeout;
  TRY(mkernel_job_join(&join, &h->job));
  uint32_t rank = mkernel_job_rank(h->job), world = mkernel_job_world(h->job);
  if (rank == 0)
    TRY(mkernel_package_read(path, &h->mine));
  TRY(mkernel_job_share_package(h->job, h->mine, &h->package));

  mkernel_context_options options = MKERNEL_CONTEXT_OPTIONS_INIT;
  options.member_of = h->job;
  options.timeout_ns = timeout;
  options.transport = getenv("JOB_TRANSPORT");
  options.transport_options = getenv("JOB_TRANSPORT_OPTIONS");
  const char *who = getenv("JOB_HEAP_RANK");
  if (who && (!strcmp(who, "all") || (uint32_t)atoi(who) == rank))
    options.heap_bytes = (uint64_t)number("JOB_HEAP_BYTES", 0);
  TRY(mkernel_context_create(h->package, &options, &h->context));
  TRY(mkernel_kernel_load(h->context, h->package, &h->kernel));
  mkernel_size sizes[] = {{"M", (int64_t)world * kRows, NULL, 0},
                          {"N", kColumns, NULL, 0}};
  TRY(mkernel_kernel_bind(h->kernel, sizes, 2, &h->bound));
  const char *failed = launch(h, rank, world, timeout, right);
  if (failed)
    return failed;
  mkernel_bound_destroy(h->bound);
  h->bound = NULL;
  TRY(mkernel_context_close(h->context));
  /* Ranks of a node follow each other here. */
  *right &= mkernel_job_local_rank(h->job) ==
            rank % mkernel_job_ranks_per_node(h->job);
  char line[160];
  snprintf(line, sizeof(line), "rank %u of %u on node %u of %u, %s: %s\n", rank,
           world, rank / mkernel_job_ranks_per_node(h->job),
           mkernel_job_nodes(h->job), mkernel_job_source(h->job),
           *right ? "right" : "wrong");
  fputs(line, stdout);
  TRY(mkernel_job_leave(h->job));
  return NULL;
}

static int runJob(const char *path) {
  Handles h = {0};
  int right = 1;
  const char *failed = run(&h, path, &right);
  if (failed) {
    fprintf(stderr, "%.*s: %s\n", (int)strcspn(failed, "("), failed,
            mkernel_message());
    mkernel_job_fail(h.job, mkernel_message());
  }
  mkernel_bound_destroy(h.bound);
  mkernel_kernel_destroy(h.kernel);
  mkernel_context_destroy(h.context);
  mkernel_package_destroy(h.package);
  mkernel_package_destroy(h.mine);
  mkernel_job_destroy(h.job);
  return failed || !right;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  if (!number("JOB_ROUNDS", 0))
    return runJob(argv[1]);
  char id[128];
  while (fgets(id, sizeof(id), stdin)) {
    id[strcspn(id, "\n")] = 0;
    setenv("TORCHELASTIC_RUN_ID", id, 1);
    runJob(argv[1]);
    fflush(stderr);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
