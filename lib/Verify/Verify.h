//===- Verify.h - Parts of the verification of kernels ----------*- C++ -*-===//
#ifndef MKERNEL_LIB_VERIFY_VERIFY_H
#define MKERNEL_LIB_VERIFY_VERIFY_H

#include "KernelProgram.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mk {

/// What can be said without any sizes: signals that nobody raises, loads behind
/// a store to the same place. Of the kernel as it is written.
LogicalResult verifyStructure(KernelOp kernel);

/// Of an expanded kernel whose mesh is known: stores to peers, and puts that add, which
/// cross a net axis whatever the dimensions are.
LogicalResult verifyOpenPeers(KernelOp kernel);

/// The signals that ops in `scope` raise, in their order.
llvm::SetVector<Value> findRaised(Operation *scope);

/// Adds what a list of name=integer:integer:... says, up to an item that is not of this form; gives
/// that, or none.
std::optional<StringRef> readSizes(ArrayRef<std::string> list, DimTable &dims);

/// A copy of a kernel, with what it names in its module.
KernelOp cloneAlone(OpBuilder &b, KernelOp kernel);

/// Emits why a run has got stuck. `order`, if not empty: in which order of CTAs.
void explainStuck(KernelProgram &program, ::mk::check::Machine &machine, StringRef order = {});
/// Compares arrivals with what types say: later launches count on it.
LogicalResult verifyArrivals(KernelProgram &program, const ::mk::check::Machine &machine);
/// Emits an error for each race.
LogicalResult reportRaces(KernelProgram &program, const ::mk::check::Machine &machine,
                          StringRef order = {});

/// Adds what was not searched for races to a remark, with a note at each place.
void noteUnsearched(const KernelProgram &program, InFlightDiagnostic &remark);

} // namespace mlir::mk

#endif // MKERNEL_LIB_VERIFY_VERIFY_H
