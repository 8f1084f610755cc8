/* One rank of a job that a launcher starts, by way of the C interface: rank 0 reads
   the package of runtime/Inputs/allgather.c, c = 2 a + 1 everywhere.

     mpirun -n 4 mkernel-c-job allgather.mkpkg

   JOB_HEAP_BYTES is the size of the heap of rank JOB_HEAP_RANK, or of "all". */
#include "mkernel/C/mkernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 3, kColumns = 101, kMaxRanks = 16 };

static int fail(mkernel_job *job, const char *what) {
  fprintf(stderr, "%s: %s\n", what, mkernel_message());
  mkernel_job_fail(job, mkernel_message());
  mkernel_job_destroy(job);
  return 1;
}
#define TRY(call)                                                              \
  if (call)                                                                    \
  return fail(job, #call)

int main(int argc, char **argv) {
  mkernel_job *job = NULL;
  if (argc != 2)
    return 2;
  mkernel_job_options join = MKERNEL_JOB_OPTIONS_INIT;
  join.timeout_ns = 60000000000u;
  TRY(mkernel_job_join(&join, &job));
  uint32_t rank = mkernel_job_rank(job), world = mkernel_job_world(job);
  mkernel_package *mine = NULL, *package = NULL;
  if (rank == 0)
    TRY(mkernel_package_read(argv[1], &mine));
  TRY(mkernel_job_share_package(job, mine, &package));
  mkernel_package_destroy(mine);

  mkernel_context_options options = MKERNEL_CONTEXT_OPTIONS_INIT;
  options.member_of = job;
  const char *heap = getenv("JOB_HEAP_BYTES"), *who = getenv("JOB_HEAP_RANK");
  if (heap && who && (!strcmp(who, "all") || (uint32_t)atoi(who) == rank))
    options.heap_bytes = (uint64_t)atoll(heap);
  mkernel_context *context = NULL;
  TRY(mkernel_context_create(package, &options, &context));
  mkernel_kernel *kernel = NULL;
  TRY(mkernel_kernel_load(context, package, &kernel));
  mkernel_size sizes[] = {{"M", (int64_t)world * kRows, NULL, 0},
                          {"N", kColumns, NULL, 0}};
  mkernel_bound *bound = NULL;
  TRY(mkernel_kernel_bind(kernel, sizes, 2, &bound));
  size_t in, out;
  TRY(mkernel_arg_index(bound, "a", &in));
  TRY(mkernel_arg_index(bound, "c", &out));
  float a[kRows * kColumns], c[kMaxRanks * kRows * kColumns];
  for (int i = 0; i < kRows * kColumns; ++i)
    a[i] = (float)(rank * 100 + (uint32_t)i);
  TRY(mkernel_upload(bound, in, a, NULL));
  TRY(mkernel_launch(bound, NULL));
  TRY(mkernel_download(bound, out, c, NULL));
  int right = 1;
  for (uint32_t r = 0; r < world; ++r)
    for (int i = 0; i < kRows * kColumns; ++i)
      right &= c[r * kRows * kColumns + (uint32_t)i] ==
               2 * (float)(r * 100 + (uint32_t)i) + 1;
  mkernel_bound_destroy(bound);
  TRY(mkernel_context_close(context));
  mkernel_context_destroy(context);
  mkernel_kernel_destroy(kernel);
  mkernel_package_destroy(package);
  char line[160];
  snprintf(line, sizeof(line), "rank %u of %u on node %u of %u, %s: %s\n", rank,
           world, rank / mkernel_job_ranks_per_node(job), mkernel_job_nodes(job),
           mkernel_job_source(job), right ? "right" : "wrong");
  fputs(line, stdout);
  TRY(mkernel_job_leave(job));
  mkernel_job_destroy(job);
  return !right;
}
