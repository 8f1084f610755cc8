//===- Tensors.cpp - Values of tensors and their shards -------------------===//

#include "Tensors.h"

#include <cstring>

using namespace mk::run;
using namespace mk::rt;

/// The finaliser of splitmix64: every input bit changes every output bit.
static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

RandomTensor::RandomTensor(ElementType type, uint64_t seed, uint64_t launch,
                           uint64_t arg, const IntegerRange *range)
    : type_(type),
      key_(mix(mix(mix(seed + 0x9e3779b97f4a7c15u) + launch) + arg)) {
  if (type == ElementType::i1)
    count_ = 2;
  if (range) {
    low_ = range->low;
    count_ = uint64_t(range->high) - uint64_t(range->low) + 1;
  }
}

double RandomTensor::operator()(uint64_t index) const {
  uint64_t bits = mix(key_ + index * 0x9e3779b97f4a7c15u);
  if (!isFloat(type_))
    return static_cast<double>(
        int64_t(uint64_t(low_) +
                uint64_t(static_cast<unsigned __int128>(bits) * count_ >> 64)));
  uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) +
                 (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - 2 * 65535.0) * 0x1p-16;
}

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

void mk::run::fillRandom(const Shard &shard, ElementType type,
                         const RandomTensor &random, std::byte *local) {
  forEachShardRun(shard, [&](int64_t to, int64_t global, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      storeElement(type, local, to + i, random(global + i));
  });
}
