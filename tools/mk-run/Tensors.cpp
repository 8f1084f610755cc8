//===- Tensors.cpp - Values of tensors and their shards -------------------===//

#include "Tensors.h"

#include <cstring>

using namespace mk::run;
using namespace mk::rt;

RandomTensor::RandomTensor(ElementType type, uint64_t seed, uint64_t launch,
                           uint64_t arg, const IntegerRange *range)
    : RandomValues(type, keyOf({seed, launch, arg}), range ? range->low : 0,
                   range ? uint64_t(range->high) - uint64_t(range->low) + 1
                   : type == ElementType::i1 ? 2
                                             : 8) {}

void mk::run::copyFromGlobal(const Shard &shard, size_t size,
                             const std::byte *global, std::byte *local) {
  forEachShardRun(shard, [&](int64_t to, int64_t from, int64_t n) {
    std::memcpy(local + to * size, global + from * size, n * size);
  });
}

void mk::run::copyToGlobal(const Shard &shard, size_t size,
                           const std::byte *local, std::byte *global) {
  forEachShardRun(shard, [&](int64_t from, int64_t to, int64_t n) {
    std::memcpy(global + to * size, local + from * size, n * size);
  });
}
