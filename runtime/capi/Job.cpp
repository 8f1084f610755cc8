//===- Job.cpp - Jobs that others start, from C ---------------------------===//

#include "capi/Support.h"

using namespace mk;
using namespace mk::capi;
using rt::Status;

mkernel_status mkernel_job_join(const mkernel_job_options *given,
                                mkernel_job **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(out);
    MK_ASSIGN(mkernel_job_options known, readOptions(given, "mkernel_job_options"));
    Fields o(known);
    rt::JobOptions options;
#define MK_JOB_OPTION(kind, field, c, ...) take(mkernel::options::Kind::kind, o.c, options.field);
#include "mkernel/Options/Options.def"
    MK_ASSIGN(std::shared_ptr<rt::Job> job, rt::Job::join(options));
    *out = new mkernel_job{std::move(job)};
    return Status::success();
  });
}

mkernel_status mkernel_job_compile_file(mkernel_job *job, const char *path,
                                        const mkernel_compile_options *given,
                                        mkernel_package **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(job);
    MK_NOT_NULL(path);
    MK_NOT_NULL(out);
    MK_ASSIGN(jit::Options options, compileOptions(given));
    MK_ASSIGN(rt::Package package, jit::compileFile(*job->job, path, options));
    *out = new mkernel_package{std::move(package)};
    return Status::success();
  });
}

mkernel_status mkernel_job_share_package(mkernel_job *job,
                                         const mkernel_package *mine,
                                         mkernel_package **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(job);
    MK_NOT_NULL(out);
    auto make = [&]() -> rt::Result<rt::Package> {
      MK_NOT_NULL(mine); // of rank 0
      return mine->package;
    };
    MK_ASSIGN(rt::Package package, rt::sharePackage(*job->job, make));
    *out = new mkernel_package{std::move(package)};
    return Status::success();
  });
}

void mkernel_job_fail(mkernel_job *job, const char *why) {
  if (job)
    job->job->fail(Status(rt::StatusCode::Internal, text(why)));
}

mkernel_status mkernel_job_leave(mkernel_job *job) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(job);
    return job->job->leave();
  });
}

void mkernel_job_destroy(mkernel_job *job) { delete job; }

uint32_t mkernel_job_rank(const mkernel_job *job) {
  return job ? job->job->rank() : 0;
}
uint32_t mkernel_job_world(const mkernel_job *job) {
  return job ? job->job->world() : 0;
}
uint32_t mkernel_job_local_rank(const mkernel_job *job) {
  return job ? job->job->localRank() : 0;
}
uint32_t mkernel_job_nodes(const mkernel_job *job) {
  return job ? job->job->nodes() : 0;
}
uint32_t mkernel_job_ranks_per_node(const mkernel_job *job) {
  return job ? job->job->ranksPerNode() : 0;
}
const char *mkernel_job_source(const mkernel_job *job) {
  return job ? job->job->place().source.c_str() : nullptr;
}
