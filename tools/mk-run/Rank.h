//===- Rank.h - A rank process of mk-run ------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_RANK_H
#define MKERNEL_TOOLS_MKRUN_RANK_H

#include "Options.h"

namespace mk::run {

/// Runs the rank that options.rank names. Returns the exit status; the error,
/// if any, is in the job's memory, for the launcher to report.
int runRank(const Options &options);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_RANK_H
