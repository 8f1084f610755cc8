//===- Accesses.h - Whether two kernels do the same -------------*- C++ -*-===//
#ifndef MKERNEL_VERIFY_ACCESSES_H
#define MKERNEL_VERIFY_ACCESSES_H

#include "mkernel/Dialect/Tile/Tile.h"

#include <string>
#include <vector>

namespace mlir::mk {

/// All accesses to memory of all CTAs of all ranks, see mkernel/Check/Provenance.h.
struct AccessTrace {
  /// Why there is none: the kernel cannot be followed, does not end or races.
  std::string problem;
  struct Access {
    uint64_t number;
    bool output;      // writes an argument that is a result
    std::string text; // "'mk.load' of 'full'[0:8, 0:16] of rank 1"
  };
  std::vector<Access> accesses; // in the order of the run

  /// The first access that `other` does not have as often; empty if there is none in
  /// either. `outputs`: of those that write results, which depend on all that results are
  /// made of.
  std::string difference(const AccessTrace &other, bool outputs = false) const;
};

/// Follows a kernel at the tile level, with calls inlined and parameters resolved, in one
/// order of CTAs that is possible. `dims`: "name=value", or "name=value:value:..." for
/// dimensions that each rank has its own of.
AccessTrace traceAccesses(KernelOp kernel, ArrayRef<std::string> dims, int64_t grid,
                          uint64_t seed);

} // namespace mlir::mk

#endif // MKERNEL_VERIFY_ACCESSES_H
