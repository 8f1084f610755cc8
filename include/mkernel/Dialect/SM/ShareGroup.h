//===- ShareGroup.h - CTAs of a cluster that share a copy --------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_SM_SHAREGROUP_H
#define MKERNEL_DIALECT_SM_SHAREGROUP_H

#include <cstdint>

namespace mlir::mk_sm {

/// `size` CTAs whose numbers are `stride` apart, of each size * stride that follow each other. Both
/// are powers of 2: the place in the group is some bits of the number.
struct ShareGroup {
  int64_t size = 1, stride = 1;

  int64_t getPlaceBits() const { return (size - 1) * stride; }
  /// A bit for each of those that CTA 0 of the cluster is one of.
  int64_t getMask() const {
    int64_t mask = 0;
    for (int64_t i = 0; i != size; ++i)
      mask |= int64_t(1) << (i * stride);
    return mask;
  }
  bool operator==(const ShareGroup &other) const {
    return size == other.size && stride == other.stride;
  }
};

} // namespace mlir::mk_sm

#endif // MKERNEL_DIALECT_SM_SHAREGROUP_H
