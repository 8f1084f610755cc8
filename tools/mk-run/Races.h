//===- Races.h - --check=races ----------------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_RACES_H
#define MKERNEL_TOOLS_MKRUN_RACES_H

#include "Report.h"

namespace mk::run {

/// Replays what the ranks have recorded, launch by launch, and prints accesses
/// that nothing orders. Returns whether there are none.
Result<bool> checkRaces(FILE *out, const Report &report);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_RACES_H
