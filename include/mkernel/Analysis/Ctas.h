//===- Ctas.h - How many CTAs each role gets -------------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_CTAS_H
#define MKERNEL_ANALYSIS_CTAS_H

#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir::mk {

/// Divides a grid among the roles of a kernel, in textual order: fixed numbers
/// as they are, shares rounded down but at least their minimum, and what is
/// left evenly (earlier roles get the odd ones) to those that take the rest. If
/// no role does, the sum may be less than the grid. A role beside another has as many as
/// that, none of the grid. Emits an error with the numbers if the grid is too small.
FailureOr<SmallVector<int64_t>> assignCtas(KernelOp kernel, int64_t grid);

/// The same where roles get what `shares` say, one for each.
FailureOr<SmallVector<int64_t>> assignCtas(KernelOp kernel, ArrayRef<CtasAttr> shares,
                                           int64_t grid);

/// How many of `ctas` CTAs a role has of which `together` do an item: whole clusters, and in
/// clusters of more than two no more than run at once beside `others`.
int64_t limitToClusters(KernelOp kernel, int64_t ctas, int64_t together, int64_t others);

/// The largest cluster that may share copies where a CTA has one of so many items at most, or has
/// more (no number): fewer CTAs of clusters of more than two run at once.
int64_t getLargestCluster(SmAttr sm, std::optional<int64_t> items);

/// What a role gets whose number of CTAs is a parameter of this value; 0 leaves it to the share.
CtasAttr resolveCtas(CtasAttr ctas, int64_t count);

/// CTAs of each role, in textual order, as `mk-assign-ctas` has written them. Emits an error where
/// a role has no number of its own.
FailureOr<SmallVector<int64_t>> getCtas(KernelOp kernel);

/// CTAs of a GPU's grid, by their numbers.
struct CtaRange {
  int64_t first = 0, count = 0;
};

/// Those that start with the role, or run it beside the one they start with. `ctas` is what getCtas
/// gives.
CtaRange getCtaRange(KernelOp kernel, ArrayRef<int64_t> ctas, StringRef role);

/// Those of all roles, each once.
int64_t countGrid(KernelOp kernel, ArrayRef<int64_t> ctas);

/// How many CTAs that follow each other have to be of one cluster for the sake of an op of the SM
/// level, which all or some of them do together: 1 for most.
int64_t countTogether(Operation *op);
/// CTAs of a cluster of a kernel at the SM level: those that share copies, or parts of items, or 1.
/// Emits an error where they are different numbers.
FailureOr<int64_t> findClusterSize(KernelOp kernel);

/// Refuses a kernel on a mesh with an axis of unknown size.
LogicalResult verifyMeshIsBound(KernelOp kernel);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_CTAS_H
