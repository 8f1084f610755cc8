//===- Member.h - A rank that another launcher started ----------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_MEMBER_H
#define MKERNEL_TOOLS_MKRUN_MEMBER_H

#include "Options.h"

namespace mk::run {

/// Runs this process's rank of the job that `place` tells of. Rank 0 compiles,
/// and checks and prints what all ranks have made; every rank that fails says
/// why. Returns the exit status, the same on all ranks.
int runMember(const Options &options, rt::JobPlace place);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_MEMBER_H
