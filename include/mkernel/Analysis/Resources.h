//===- Resources.h - What a kernel declares, numbered ----------*- C++ -*-===//
//
// Compiled code and runtime name signals, counters, queues, loops, roles and
// requirements by number. This is the one place that numbers them: in textual
// order of the kernel, helpers inlined.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ANALYSIS_RESOURCES_H
#define MKERNEL_ANALYSIS_RESOURCES_H

#include "mkernel/Dialect/Tile/Buffers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::mk {

/// An analysis of a kernel: in a pass getChildAnalysis<KernelResources>(kernel). It holds
/// as long as nothing that it numbers comes or goes.
struct KernelResources {
  explicit KernelResources(Operation *kernel);

  /// One distributed loop: the mk.foreach or mk.foreach_item and its role.
  struct Loop {
    Operation *op;
    unsigned role;
  };

  SmallVector<SignalsOp> signals;
  SmallVector<CountersOp> counters;
  SmallVector<QueueOp> queues;
  SmallVector<Loop> loops; // of roles; those of mk.prepare have no number
  SmallVector<RoleOp> roles;
  SmallVector<RequireOp> requirements;
  PrepareOp prepare; // null if there is none

  /// The number of a declared value (signals, counters or queue), of a
  /// distributed loop, of a role or of a requirement, among those of its own
  /// kind; nothing for anything else.
  std::optional<unsigned> indexOf(Value declared) const {
    return lookup(declared.getDefiningOp());
  }
  std::optional<unsigned> indexOf(Operation *op) const { return lookup(op); }
  std::optional<unsigned> roleIndex(StringRef name) const;
  /// The roles that CTAs of this one go on with (`then`), in their order.
  SmallVector<unsigned> getChain(unsigned role) const;
  /// Those of each role.
  SmallVector<SmallVector<unsigned>> getChains() const;

private:
  std::optional<unsigned> lookup(Operation *op) const;
  llvm::DenseMap<Operation *, unsigned> index;
};

/// The same outside of passes.
inline KernelResources getKernelResources(KernelOp kernel) {
  return KernelResources(kernel.getOperation());
}

/// The arguments that a buffer may be, through choices between them.
SmallVector<unsigned> getPossibleArgs(KernelOp kernel, Value buffer);
/// Whether two buffers may be the same argument.
bool mayBeSame(KernelOp kernel, Value first, Value second);

/// The buffer, here or at a peer, that an op writes; null if it writes none. Of the ops of
/// `hasVisibleEffect` the others tell somebody something, or order.
Value getWritten(Operation *op);
/// The shape of an array of signals or counters, and its extents that are no numbers.
std::pair<ArrayRef<int64_t>, ValueRange> getDeclaredShape(Value declared);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_RESOURCES_H
