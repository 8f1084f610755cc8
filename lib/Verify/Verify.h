//===- Verify.h - Parts of the verification of kernels ----------*- C++ -*-===//
#ifndef MKERNEL_LIB_VERIFY_VERIFY_H
#define MKERNEL_LIB_VERIFY_VERIFY_H

#include "KernelProgram.h"

namespace mlir::mk {

/// What can be said without any sizes: signals that nobody raises, loads behind
/// a store to the same place. Of the kernel as it is written.
LogicalResult verifyStructure(KernelOp kernel);

/// Emits why a run has got stuck.
void explainStuck(KernelProgram &program, ::mk::check::Machine &machine);
/// Compares arrivals with what types say.
LogicalResult verifyArrivals(KernelProgram &program,
                             const ::mk::check::Machine &machine);
/// Emits an error for each race.
LogicalResult reportRaces(KernelProgram &program,
                          const ::mk::check::Machine &machine);

/// Adds what was not searched for races to a remark, with a note at each place.
void noteUnsearched(const KernelProgram &program, InFlightDiagnostic &remark);

} // namespace mlir::mk

#endif // MKERNEL_LIB_VERIFY_VERIFY_H
