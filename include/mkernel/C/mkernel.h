/*===- mkernel.h - mKernel from C --------------------------------*- C -*-===*
 *
 * Compiling kernels and launching them, for programs in C and for bindings of
 * other languages. Link libmkernel_runtime; the compiler is loaded when
 * something has to be compiled. examples/host/gemm.c uses all of it.
 *
 * Results. Fallible functions return a mkernel_status; MKERNEL_OK is 0. What
 * went wrong, why, and what to do about it says mkernel_message(). An out
 * parameter is written only on success. Nothing throws. Nothing is printed but
 * warnings, on standard error, as when the cache cannot be written; MK_DEBUG=error
 * leaves them out.
 *
 * Ownership. Whoever gets a handle from a function that ends in `out` destroys
 * it with the function of its type, in any order: a handle keeps what it was
 * made from alive. Destroying NULL does nothing. Strings and structures that
 * are passed in are read during the call only. Strings that are returned belong
 * to the handle they were asked of and live as long.
 *
 * Threads. One thread at a time uses a context and what was made from it.
 * Compiling and everything about packages may be done on any number of threads.
 *
 * Structures of options begin with their size, so that they can grow: start
 * from the ..._INIT macro. Fields that are zero or NULL have their default.
 *
 *===----------------------------------------------------------------------===*/
#ifndef MKERNEL_C_MKERNEL_H
#define MKERNEL_C_MKERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
#define MKERNEL_INIT_(type)                                                    \
  { sizeof(type) }
#else
#define MKERNEL_INIT_(type)                                                    \
  { .size = sizeof(type) }
#endif

/* The codes of mkernel/Runtime/Status.h, which says what each stands for. */
typedef enum mkernel_status {
  MKERNEL_OK = 0,
  MKERNEL_INVALID_ARGUMENT = 1,
  MKERNEL_OUT_OF_RANGE = 2,
  MKERNEL_RESOURCE_EXHAUSTED = 3,
  MKERNEL_DEADLINE_EXCEEDED = 4,
  MKERNEL_ABORTED = 5,
  MKERNEL_UNAVAILABLE = 6,
  MKERNEL_AGAIN = 7,
  MKERNEL_PERMISSION_DENIED = 8,
  MKERNEL_NOT_FOUND = 9,
  MKERNEL_FAILED_PRECONDITION = 10,
  MKERNEL_INTERNAL = 11
} mkernel_status;

/* "0.1.0". */
const char *mkernel_version(void);
/* "invalid argument"; static. */
const char *mkernel_status_name(mkernel_status status);
/* Of the last failure on this thread; "" if there was none. Valid until the
   next failure on this thread. */
const char *mkernel_message(void);

/* GPUs that CUDA gives to this process. UNAVAILABLE, where there is none or no
   driver that can be used, says what is missing and how to get it. */
mkernel_status mkernel_num_gpus(size_t *out);

typedef struct mkernel_package mkernel_package; /* a compiled kernel */
typedef struct mkernel_job mkernel_job; /* ranks that others start */
typedef struct mkernel_context mkernel_context; /* a rank of a job */
typedef struct mkernel_kernel mkernel_kernel;   /* a package in a context */
typedef struct mkernel_bound mkernel_bound;     /* with sizes and memory */
typedef struct mkernel_graph mkernel_graph;     /* a launch to repeat */

/* A size by name: of a dimension or a mesh axis. A dimension that differs from
   rank to rank has `count` values, one for each. {"M", 1024} is a whole one. */
typedef struct mkernel_size {
  const char *name;
  int64_t value;
  const int64_t *values; /* NULL: `value` for all ranks */
  size_t count;
} mkernel_size;

/*===- Packages -----------------------------------------------------------===*/

typedef struct mkernel_compile_options {
  size_t size;        /* sizeof(mkernel_compile_options) */
  const char *target; /* "host" (default), a GPU's, or a file: docs/targets.md */
  const char *kernel; /* which; default: the only one of the file */
  /* Axes and dimensions to specialise for; others are given when binding. */
  const mkernel_size *sizes;
  size_t num_sizes;
  /* Parameters of the file by name; `values` is not used. */
  const mkernel_size *params;
  size_t num_params;
  int64_t nodes, gpus; /* products of the net and the link axes */
  int64_t grid;        /* CTAs; default: the target's */
  const char *cpu;     /* of host code; default: "native" */
  const char *tuning;  /* a tuning file, "model" (the cost model alone) or "none" (neither);
                          default: the target's */
  /* Folder of the cache, or "off"; default: what MK_CACHE_DIR says. */
  const char *cache;
  const char *library; /* libmkernel_jit.so; default: MK_JIT_LIBRARY, else the one beside
                          libmkernel_runtime.so, else ../lib beside the program */
  int no_bounds; /* 1: code does not check that what ops name exists */
  /* Versions of the kernel for sizes that are given when binding, as in
     "M=64,M=512+TM=128" (docs/embedding.md); default: one for all. */
  const char *variants;
  /* Up to so many sets of parameters (1 to 8) for mkernel_kernel_bind_fastest to choose
     from; default: the compiler's choice alone. */
  int64_t candidates;
} mkernel_compile_options;
#define MKERNEL_COMPILE_OPTIONS_INIT MKERNEL_INIT_(mkernel_compile_options)

/* Compile a kernel file, or take from the cache what an equal call compiled.
   `options` may be NULL. The text need not end with NUL; messages call it
   `name`. FAILED_PRECONDITION: the compiler's messages about the file.
   INVALID_ARGUMENT: about the options. UNAVAILABLE: the compiler is needed and
   cannot be loaded. NOT_FOUND: the file cannot be read. */
mkernel_status mkernel_compile_file(const char *path,
                                    const mkernel_compile_options *options,
                                    mkernel_package **out);
mkernel_status mkernel_compile_text(const char *text, size_t bytes,
                                    const char *name,
                                    const mkernel_compile_options *options,
                                    mkernel_package **out);

/* A package that was compiled before: a file, or bytes (they are copied). */
mkernel_status mkernel_package_read(const char *path, mkernel_package **out);
mkernel_status mkernel_package_parse(const void *bytes, size_t size,
                                     mkernel_package **out);
void mkernel_package_destroy(mkernel_package *package);

/* What a file would hold; lives as long as the package. */
const void *mkernel_package_bytes(const mkernel_package *package, size_t *size);
const char *mkernel_package_kernel(const mkernel_package *package);
const char *mkernel_package_target(const mkernel_package *package);
/* Versions of the kernel, of which each candidate counts; 1 of a package that has one for
   all sizes. */
size_t mkernel_package_num_versions(const mkernel_package *package);

/*===- Jobs ---------------------------------------------------------------===*/

/* Being one rank of a job that torchrun, mpirun or srun has started; docs/jobs.md
   has the variables that are read. Fields left NULL come from the environment. */
typedef struct mkernel_job_options {
  size_t size;         /* sizeof(mkernel_job_options) */
  const char *source;  /* "torchrun", "mpirun", "srun"; default: MK_JOB, auto */
  const char *store;   /* where rank 0 listens, "host:port"; MK_STORE */
  const char *token;   /* secret of the job; MK_JOB_TOKEN */
  const char *node;    /* node of this rank, "3" or "rank/8"; MK_NODE */
  uint64_t timeout_ns; /* to meet the other ranks; 60 s */
} mkernel_job_options;
#define MKERNEL_JOB_OPTIONS_INIT MKERNEL_INIT_(mkernel_job_options)

/* Waits for all ranks. FAILED_PRECONDITION: no launcher has started this
   process. INVALID_ARGUMENT: launchers say too little, or contradict each other.
   DEADLINE_EXCEEDED names the ranks that did not come. */
mkernel_status mkernel_job_join(const mkernel_job_options *options,
                                mkernel_job **out);
/* Collective: what rank 0 compiles, on every rank; a failure is everyone's. Only
   rank 0 needs the file. Mesh axes without a size get that of the job. */
mkernel_status mkernel_job_compile_file(mkernel_job *job, const char *path,
                                        const mkernel_compile_options *options,
                                        mkernel_package **out);
/* Collective: the package of rank 0, which alone passes one, on every rank. */
mkernel_status mkernel_job_share_package(mkernel_job *job,
                                         const mkernel_package *mine,
                                         mkernel_package **out);
/* Tells all ranks why this one cannot go on. */
void mkernel_job_fail(mkernel_job *job, const char *why);
/* Waits for all ranks and ends the job; at once when it has failed, with its
   first cause. Destroying a job without it looks to the others like a lost
   rank. */
mkernel_status mkernel_job_leave(mkernel_job *job);
void mkernel_job_destroy(mkernel_job *job);

uint32_t mkernel_job_rank(const mkernel_job *job);
uint32_t mkernel_job_world(const mkernel_job *job);
/* Its number among the ranks of its node, from 0. */
uint32_t mkernel_job_local_rank(const mkernel_job *job);
uint32_t mkernel_job_nodes(const mkernel_job *job);
/* 0: nodes have different numbers of ranks. */
uint32_t mkernel_job_ranks_per_node(const mkernel_job *job);
/* "torchrun", "mpirun" or "srun". */
const char *mkernel_job_source(const mkernel_job *job);

/*===- Contexts and kernels -----------------------------------------------===*/

typedef struct mkernel_context_options {
  size_t size; /* sizeof(mkernel_context_options) */
  /* Sizes of mesh axes that the package leaves open; those left are 1. */
  const mkernel_size *axes;
  size_t num_axes;
  /* In a mesh of more than one rank: which one this is, and where and with what
     secret the job's store is reached. */
  uint32_t rank;
  const char *endpoint, *job, *token;
  uint64_t heap_bytes;   /* symmetric heap, the same on all ranks; 64 MiB */
  uint32_t slots;        /* signal slots, the same on all ranks; 65536 */
  const char *transport; /* across net axes; "loopback" (default), "verbs", "efa" */
  const char *transport_options; /* "qps=2,nics=mlx5_0"; docs/network.md */
  uint64_t timeout_ns;  /* to meet the other ranks; 30 s */
  int32_t gpu_plus_one; /* GPU number + 1; 0: for a member of a job that of its local rank (modulo
                           the GPUs that it sees), else the thread's current one, else the first */
  /* A job that was joined, instead of rank, endpoint, job and token. One context
     of it at a time. */
  mkernel_job *member_of;
  /* On GPUs: how many ranks of the job may use one, where there are fewer GPUs than
     ranks; they take turns, which is slow. 0 and 1: each needs one of its own. */
  uint32_t ranks_per_gpu;
} mkernel_context_options;
#define MKERNEL_CONTEXT_OPTIONS_INIT MKERNEL_INIT_(mkernel_context_options)

/* A rank of a job whose mesh is that of `package`; any kernel of that mesh can
   be loaded into it. Collective. `options` may be NULL for a mesh of one rank.
 */
mkernel_status mkernel_context_create(const mkernel_package *package,
                                      const mkernel_context_options *options,
                                      mkernel_context **out);
/* Leaves the job in peace: waits for all ranks. Destroying a context of several
   ranks without it looks to the others like a lost rank; a member of a job has half a
   second to tell them the cause itself (mkernel_job_fail). */
mkernel_status mkernel_context_close(mkernel_context *context);
void mkernel_context_destroy(mkernel_context *context);

/* Symmetric memory of the program's own, zeroed: `bytes` on every rank, at the same
   place of its symmetric memory. mkernel_attach makes kernels share it. An address
   of the device. Collective: all ranks allocate, free, bind and destroy kernels in
   the same order; INVALID_ARGUMENT names two ranks whose sizes differ. Freed by
   mkernel_symmetric_free or with the context. */
mkernel_status mkernel_symmetric_allocate(mkernel_context *context,
                                          uint64_t bytes, void **out);
/* Gives it back, once everything that all ranks have enqueued has ended.
   Collective. */
mkernel_status mkernel_symmetric_free(mkernel_context *context, void *memory);
/* Where this device addresses what `rank` has at the place of `memory`, an address
   in symmetric memory of this rank. FAILED_PRECONDITION where the memory of `rank`
   is not mapped: on another node. */
mkernel_status mkernel_symmetric_at(mkernel_context *context, uint32_t rank,
                                    const void *memory, void **out);

mkernel_status mkernel_kernel_load(mkernel_context *context,
                                   const mkernel_package *package,
                                   mkernel_kernel **out);
void mkernel_kernel_destroy(mkernel_kernel *kernel);

/* Fixes all dimensions and allocates memory for all arguments. Collective. */
mkernel_status mkernel_kernel_bind(mkernel_kernel *kernel,
                                   const mkernel_size *sizes, size_t num_sizes,
                                   mkernel_bound **out);
void mkernel_bound_destroy(mkernel_bound *bound);

/* How mkernel_kernel_bind_fastest measures candidates. */
typedef struct mkernel_measure_options {
  size_t size;  /* sizeof(mkernel_measure_options) */
  void *stream; /* a CUstream that does not capture */
  /* Gives the arguments of a binding that is to be measured their values or memory; called
     with `data`, twice for each candidate, on all ranks. It must not destroy the binding,
     whose launches write what it attaches. What it returns when it fails is what measuring
     returns. NULL: inputs of floating point get random values, and integers
     stay 0, which is wrong where work follows from them. */
  mkernel_status (*prepare)(mkernel_bound *bound, void *data);
  void *data;
  uint64_t deadline_ns; /* of every single wait; default 30 s */
  /* Folder where rank 0 keeps what was found, or "off"; default: what MK_CACHE_DIR says. */
  const char *cache;
} mkernel_measure_options;
#define MKERNEL_MEASURE_OPTIONS_INIT MKERNEL_INIT_(mkernel_measure_options)

/* The same with the candidate (mkernel_compile_options) that takes the least time for these
   sizes: known since an earlier call or from the cache, or found by binding each and running
   some dozens of launches of it. `options` may be NULL. What is bound is new: it has not what
   `prepare` attached. Collective. */
mkernel_status mkernel_kernel_bind_fastest(mkernel_kernel *kernel, const mkernel_size *sizes,
                                           size_t num_sizes, const mkernel_measure_options *options,
                                           mkernel_bound **out);
/* Which of what mkernel_package_num_versions counts it is, from 0. */
size_t mkernel_bound_version(const mkernel_bound *bound);

/*===- Arguments ----------------------------------------------------------===*/

size_t mkernel_num_args(const mkernel_bound *bound);
/* NOT_FOUND: there is no argument of that name. */
mkernel_status mkernel_arg_index(const mkernel_bound *bound, const char *name,
                                 size_t *out);
/* About argument `arg`; NULL or 0 when there is no such argument. */
const char *mkernel_arg_name(const mkernel_bound *bound, size_t arg);
const char *mkernel_arg_type(const mkernel_bound *bound,
                             size_t arg); /* "bf16" */
size_t mkernel_arg_rank(const mkernel_bound *bound, size_t arg);
/* Extents of this rank's part; array of mkernel_arg_rank numbers. */
const int64_t *mkernel_arg_sizes(const mkernel_bound *bound, size_t arg);
uint64_t mkernel_arg_bytes(const mkernel_bound *bound, size_t arg);
/* Address on the device; in host memory, where the host target has everything
   (NULL on a GPU). Row-major and tight unless attached otherwise. */
void *mkernel_arg_data(const mkernel_bound *bound, size_t arg);
void *mkernel_arg_host_data(const mkernel_bound *bound, size_t arg);

/* Uses the caller's memory for an argument; it must live until the last launch.
   Not symmetric: on a GPU any address the GPU reaches, and `strides`, one for each
   dimension, in elements; NULL: row-major and tight, which is all that the host
   target takes.
   Symmetric: a place in symmetric memory (mkernel_symmetric_allocate, or the data of
   another kernel's symmetric argument), a multiple of 16 bytes behind its start, the
   same on all ranks, with as many bytes as the largest part of all ranks. Collective;
   INVALID_ARGUMENT names the ranks and both offsets where they differ. */
mkernel_status mkernel_attach(mkernel_bound *bound, size_t arg, void *data,
                              const int64_t *strides);
/* Copy all of an argument, row-major and tight, from or to host memory. Ordered
   behind what `stream` (a CUstream; NULL on the host target) has so far; done
   when they return. */
mkernel_status mkernel_upload(mkernel_bound *bound, size_t arg,
                              const void *from, void *stream);
mkernel_status mkernel_download(mkernel_bound *bound, size_t arg, void *to,
                                void *stream);

/*===- Launches -----------------------------------------------------------===*/

typedef struct mkernel_launch_options {
  size_t size;          /* sizeof(mkernel_launch_options) */
  void *stream;         /* a CUstream, which may be capturing */
  uint64_t deadline_ns; /* of every single wait; default 30 s */
  uint64_t seed;        /* host target, not 0: random order and delays */
} mkernel_launch_options;
#define MKERNEL_LAUNCH_OPTIONS_INIT MKERNEL_INIT_(mkernel_launch_options)

/* Host: runs to the end. GPU: enqueues. Collective. `options` may be NULL. */
mkernel_status mkernel_launch(mkernel_bound *bound,
                              const mkernel_launch_options *options);
/* Waits for `stream`; the report of a launch that failed. */
mkernel_status mkernel_synchronize(mkernel_bound *bound, void *stream);
/* Launches so far. */
uint64_t mkernel_epoch(const mkernel_bound *bound);

/* The launch as a graph that is cheap to repeat; options->stream is not used.
 */
mkernel_status mkernel_capture(mkernel_bound *bound,
                               const mkernel_launch_options *options,
                               mkernel_graph **out);
mkernel_status mkernel_graph_launch(mkernel_graph *graph, void *stream);
void mkernel_graph_destroy(mkernel_graph *graph);

#ifdef __cplusplus
}
#endif

#endif /* MKERNEL_C_MKERNEL_H */
