//===- Races.h - --check=races ----------------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_RACES_H
#define MKERNEL_TOOLS_MKRUN_RACES_H

#include "Report.h"

namespace mk::run {

/// Replays what the ranks have recorded, launch by launch, and prints accesses
/// that nothing orders, and elements of signals that did not get their arrivals. Returns
/// whether there are none. `ended`: all ranks have ended well; else the records are
/// followed as far as they go.
Result<bool> checkRaces(FILE *out, const Report &report, const rt::JobPlan &plan,
                        bool ended);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_RACES_H
