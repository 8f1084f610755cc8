//===- Launcher.h - Runs all ranks of a job on this machine -----*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_LAUNCHER_H
#define MKERNEL_TOOLS_MKRUN_LAUNCHER_H

#include "Options.h"

namespace mk::run {

/// Compiles, starts a process for each rank, waits, checks and reports. Returns
/// the exit status. `argv` is passed on to the ranks.
int runLauncher(const Options &options, char **argv);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_LAUNCHER_H
