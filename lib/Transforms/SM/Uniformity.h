//===- Uniformity.h - What CTAs of a cluster have in common -----*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_UNIFORMITY_H
#define MKERNEL_LIB_TRANSFORMS_SM_UNIFORMITY_H

#include "mkernel/Dialect/SM/SM.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::mk_sm {

/// CTAs r, r + 1, ... r + c - 1 (r a multiple of c) form a cluster, of which a group are those
/// whose numbers are `group.stride` apart. A value is `uniform` if it is the same for all CTAs of a
/// group at the same point of their programs.
class Uniformity {
public:
  /// `ctas`: of each role, which the object refers to.
  Uniformity(ShareGroup group, int64_t cluster, const llvm::StringMap<int64_t> &ctas)
      : group(group), cluster(cluster), ctas(ctas) {}

  bool isUniform(Value value);
  /// Whether all CTAs execute what stands directly in `scope` equally often, if
  /// they come to `op` equally often.
  bool isUniform(Operation *op);
  /// Whether they come to `op` equally often.
  bool isReachedUniformly(Operation *op);

private:
  bool compute(Value value);
  bool carriesUniformly(scf::ForOp loop);
  std::optional<int64_t> getStep(Value value);
  bool isPlaceEnd(int64_t divisor, int64_t step) const;
  bool isMultiple(Value value);
  bool areClusters(ItemsOp items);

  ShareGroup group;
  int64_t cluster;
  const llvm::StringMap<int64_t> &ctas;
  llvm::DenseMap<Value, bool> known;
  llvm::DenseSet<Operation *> varying; // loops that carry what is not uniform
};

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_UNIFORMITY_H
