//===- Trial.h - Code of a package is tried elsewhere first -----*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MK_RUN_TRIAL_H
#define MKERNEL_TOOLS_MK_RUN_TRIAL_H

#include "mkernel/Runtime/Package.h"

#include <functional>

namespace mk::run {

/// Runs `load`, which loads code of the package `file` and calls it, in a child process
/// first. An error says how that one died; what `load` itself reports is not looked at.
/// Call it while this process has one thread.
rt::Status tryLoading(const std::string &file, const std::function<void()> &load);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MK_RUN_TRIAL_H
