//===- Cpu.h - Whether this CPU can run a package's code --------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PACKAGE_CPU_H
#define MKERNEL_RUNTIME_PACKAGE_CPU_H

#include "mkernel/Runtime/Package.h"

namespace mk::rt {

/// FailedPrecondition with the names of both CPUs, and what this one lacks.
Status checkCpu(const Metadata &metadata);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PACKAGE_CPU_H
