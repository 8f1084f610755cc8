//===- Tensors.h - Values of tensors and their shards -----------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_TENSORS_H
#define MKERNEL_TOOLS_MKRUN_TENSORS_H

#include "Options.h"
#include "mkernel/Runtime/Plan.h"
#include "mkernel/Runtime/Random.h"

namespace mk::run {

/// Values of an input that are a function of (seed, launch, argument, element) alone.
/// Integers are uniform in `range`, or from 0 to 7 without one, i1 from 0 to 1.
class RandomTensor : public rt::RandomValues {
public:
  RandomTensor(rt::ElementType type, uint64_t seed, uint64_t launch,
               uint64_t arg, const IntegerRange *range = nullptr);
};

/// Calls fn(local element, global element, run length) for each run of
/// elements of a shard that is contiguous in the global tensor.
template <typename Fn> void forEachShardRun(const rt::Shard &shard, Fn fn);

/// Copies the shard out of, or into, the global tensor.
void copyFromGlobal(const rt::Shard &shard, size_t elementBytes,
                    const std::byte *global, std::byte *local);
void copyToGlobal(const rt::Shard &shard, size_t elementBytes,
                  const std::byte *local, std::byte *global);

//===----------------------------------------------------------------------===//

template <typename Fn> void forEachShardRun(const rt::Shard &shard, Fn fn) {
  size_t rank = shard.sizes.size();
  int64_t elements = shard.elements();
  if (elements <= 0)
    return;
  if (rank == 0) {
    fn(int64_t(0), int64_t(0), int64_t(1));
    return;
  }
  int64_t width = shard.sizes[rank - 1];
  std::vector<int64_t> at(rank, 0);
  for (int64_t local = 0; local < elements; local += width) {
    int64_t global = 0;
    for (size_t d = 0; d < rank; ++d)
      global = global * shard.global[d] + shard.begin[d] + at[d];
    fn(local, global, width);
    for (size_t d = rank - 1; d-- > 0;) {
      if (++at[d] < shard.sizes[d])
        break;
      at[d] = 0;
    }
  }
}

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_TENSORS_H
