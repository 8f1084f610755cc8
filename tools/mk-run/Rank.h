//===- Rank.h - A rank process of mk-run ------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_RANK_H
#define MKERNEL_TOOLS_MKRUN_RANK_H

#include "JobMemory.h"

#include "mkernel/Runtime/Context.h"

namespace mk::run {

/// Runs the rank that options.rank names. Returns the exit status; the error,
/// if any, is in the job's memory, for the launcher to report.
int runRank(const Options &options);

/// Runs all launches as one rank and leaves results and times in `job`.
/// `context` has the mesh, the rank, the heap's size and how to reach the store.
Status runKernel(const Options &options, const rt::Package &package,
                 const rt::Payload &payload, const JobMemory &job,
                 rt::ContextOptions context);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_RANK_H
