//===- Plan.h - A kernel's sizes for given dimensions -----------*- C++ -*-===//
//
// What depends on dimensions and mesh (shapes, numbers of signals, arrivals) is
// computed by the package's own mk_plan. This gives its numbers names, and says
// which part of a tensor lies on which rank.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_PLAN_H
#define MKERNEL_RUNTIME_PLAN_H

#include "mkernel/Runtime/Payload.h"

namespace mk::rt {

/// The value of a dimension: one for all ranks, or one for each.
struct DimValue {
  std::string name;
  std::vector<int64_t> values;
};

/// Values of the kernel's dimensions for every rank: result[rank][dim], from
/// the package or `bind`. InvalidArgument names a dimension without value, with
/// two, or with a wrong number of them. Names in `bind` that are
/// no dimension are ignored.
Result<std::vector<std::vector<int64_t>>>
resolveDims(const Metadata &metadata, const Mesh &mesh,
            std::span<const DimValue> bind);

/// The part of an argument that a rank holds.
struct Shard {
  std::vector<int64_t> sizes;  // local extents
  std::vector<int64_t> global; // extents of the whole tensor
  std::vector<int64_t> begin;  // where the local part starts in it

  int64_t elements() const;
  int64_t globalElements() const;
};

/// One rank's evaluation of mk_plan.
struct Plan {
  struct Signal {
    std::vector<int64_t> extents;
    int64_t elements = 0;
    int64_t arrivals = -1; // -1: dynamic
  };
  struct Counter {
    std::vector<int64_t> extents;
    int64_t elements = 0;
  };
  std::vector<std::vector<int64_t>> args; // extents as mk_plan returns them
  std::vector<Signal> signals;
  std::vector<Counter> counters;
  std::vector<int64_t> queues; // capacities in records
};

/// What a fault that mk_plan or mk_reference returned says (mkernel/ABI/Package.h):
/// what was wrong, where, and what to do about it. `inRole`: a CTA has met it, maybe in a tile.
std::string faultText(const Metadata &metadata, int64_t fault, bool inRole = false);

/// Calls mk_plan for `rank`, whose dimensions are `dims`. FailedPrecondition
/// with the kernel's own message when one of its requirements does not hold.
Result<Plan> evaluatePlan(const Metadata &metadata, const Payload &payload,
                          const Mesh &mesh, uint32_t rank,
                          std::span<const int64_t> dims);

/// A plan for each rank, and what follows from all of them together.
class JobPlan {
public:
  static Result<JobPlan> create(const Metadata &metadata,
                                const Payload &payload, const Mesh &mesh,
                                std::span<const DimValue> bind);

  const Plan &plan(uint32_t rank) const { return plans_[rank]; }
  const std::vector<int64_t> &dims(uint32_t rank) const { return dims_[rank]; }
  const Shard &shard(size_t arg, uint32_t rank) const {
    return shards_[arg][rank];
  }
  /// Bytes that symmetric argument `arg` takes in every rank's heap: of the
  /// largest shard.
  uint64_t symmetricBytes(size_t arg) const;
  /// Which copy of argument `arg` the rank holds (0..copies-1): ranks that
  /// differ only along axes that do not split it hold the same part.
  uint32_t copy(size_t arg, uint32_t rank) const { return copy_[arg][rank]; }
  uint32_t copies(size_t arg) const { return copies_[arg]; }

  /// Heap bytes and signal slots that a context needs to bind this kernel once.
  uint64_t heapBytes() const;
  uint32_t slots() const;

private:
  const Metadata *metadata_ = nullptr;
  uint32_t world_ = 1;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<Plan> plans_;
  std::vector<std::vector<Shard>> shards_; // [arg][rank]
  std::vector<std::vector<uint32_t>> copy_;
  std::vector<uint32_t> copies_;

  Status layOut(const Mesh &mesh,
                const std::vector<std::vector<bool>> &perRank);
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PLAN_H
