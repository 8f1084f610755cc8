//===- Params.cpp - The parameter block and what it points to -------------===//

#include "device/cuda/Params.h"

#include <cassert>
#include <cstring>

using namespace mk::rt;
using namespace mk::rt::cuda;

static_assert(sizeof(TensorMapBytes) == MK_GPU_TENSOR_MAP_BYTES);

namespace {

constexpr uint64_t kLine = 128;  // bytes, of the L2 cache
constexpr uint64_t kAlign = 256; // of arrays
constexpr uint64_t kMaxElements = uint64_t(1) << 32;

struct Allocator {
  uint64_t next = 0;
  uint64_t take(uint64_t bytes, uint64_t align) {
    uint64_t at = (next + align - 1) / align * align;
    next = at + bytes;
    return at;
  }
};

Status checkCount(const Metadata &metadata, std::string_view what,
                  const std::string &name, int64_t elements, uint64_t width) {
  if (uint64_t(elements) < kMaxElements &&
      uint64_t(elements) * width < kMaxElements)
    return Status::ok();
  return error(StatusCode::ResourceExhausted, "kernel '", metadata.kernel,
               "': ", what, " '", name, "' would have ", elements,
               " elements; on a GPU fewer than 2^32 are possible");
}

} // namespace

Result<StateLayout> StateLayout::create(const Metadata &metadata,
                                        const Plan &plan) {
  StateLayout s;
  Allocator a;
  s.control = a.take(sizeof(mk_gpu_control), kAlign);
  s.zero = a.take(0, kAlign);
  for (size_t i = 0; i < metadata.loops.size(); ++i)
    s.tickets.push_back(a.take(4, kLine));
  s.queues.resize(metadata.queues.size());
  for (Queue &queue : s.queues)
    queue.tail = a.take(4, kLine);
  for (size_t i = 0; i < metadata.counters.size(); ++i) {
    int64_t elements = plan.counters[i].elements;
    MK_TRY(checkCount(metadata, "counter", metadata.counters[i].name, elements,
                      1));
    s.counters.push_back(a.take(uint64_t(elements) * 4, kLine));
  }
  s.zeroWords = (a.next - s.zero) / 4;
  if (s.zeroWords >= kMaxElements)
    return error(StatusCode::ResourceExhausted, "kernel '", metadata.kernel,
                 "': its counters have ", s.zeroWords,
                 " words; on a GPU fewer than 2^32 are possible");
  for (size_t i = 0; i < metadata.signals.size(); ++i) {
    int64_t elements = plan.signals[i].elements;
    MK_TRY(
        checkCount(metadata, "signal", metadata.signals[i].name, elements, 1));
    uint64_t values = a.take(uint64_t(elements) * 4, kAlign);
    s.signals.push_back({values, a.take(uint64_t(elements) * 4, kAlign)});
  }
  for (size_t i = 0; i < metadata.queues.size(); ++i) {
    int64_t capacity = plan.queues[i];
    uint64_t width = metadata.queues[i].width;
    MK_TRY(checkCount(metadata, "queue", metadata.queues[i].name, capacity,
                      width));
    s.queues[i].ready = a.take(uint64_t(capacity) * 4, kAlign);
    s.queues[i].records = a.take(uint64_t(capacity) * width * 8, kAlign);
  }
  s.workspace = a.take(metadata.gpu->workspaceBytes, kAlign);
  s.bytes = a.next;
  return s;
}

ParamBlock::ParamBlock(const Metadata &metadata)
    : memory_((metadata.gpu->paramBytes + sizeof(TensorMapBytes) - 1) /
              sizeof(TensorMapBytes)),
      numMaps_(metadata.gpu->tensorMaps.size()) {
  assert(gpuParamBytes(metadata) <= metadata.gpu->paramBytes &&
         "checked when the metadata was parsed");
}

mk_gpu_launch &ParamBlock::launch() {
  return *reinterpret_cast<mk_gpu_launch *>(memory_.data() + numMaps_);
}

void ParamBlock::fill(const Metadata &metadata, std::span<const int64_t> dims,
                      std::span<const Tensor> args, const Plan &plan,
                      const StateLayout &layout, uint64_t state,
                      std::span<const SharedSignal> shared, uint64_t timeline) {
  auto *next = reinterpret_cast<std::byte *>(&launch() + 1);
  auto put = [&](uint64_t word) {
    std::memcpy(next, &word, sizeof(word));
    next += sizeof(word);
  };
  for (int64_t dim : dims)
    put(uint64_t(dim));
  for (const Tensor &arg : args) {
    put(arg.address);
    for (int64_t size : arg.sizes)
      put(uint64_t(size));
    for (int64_t stride : arg.strides)
      put(uint64_t(stride));
  }
  auto putExtents = [&](const std::vector<int64_t> &extents) {
    for (int64_t extent : extents)
      put(uint64_t(extent));
  };
  for (size_t i = 0; i < layout.signals.size(); ++i) {
    const StateLayout::Signal &signal = layout.signals[i];
    SharedSignal there = i < shared.size() ? shared[i] : SharedSignal();
    put(there.values ? there.values : state + signal.values);
    put(state + signal.bases);
    put(there.net);
    put(there.slot);
    putExtents(plan.signals[i].extents);
  }
  for (size_t i = 0; i < layout.counters.size(); ++i) {
    put(state + layout.counters[i]);
    putExtents(plan.counters[i].extents);
  }
  for (size_t i = 0; i < layout.queues.size(); ++i) {
    put(state + layout.queues[i].records);
    put(state + layout.queues[i].ready);
    put(state + layout.queues[i].tail);
    put(uint64_t(plan.queues[i]));
  }
  for (uint64_t ticket : layout.tickets)
    put(state + ticket);
  // Bases of `ready` and `done` are the epoch.
  for (size_t i = layout.signals.size(); i < shared.size(); ++i)
    for (uint64_t word : {shared[i].values, uint64_t(0), shared[i].net,
                          uint64_t(shared[i].slot)})
      put(word);
  if (metadata.timeline)
    put(timeline);
  assert(next == static_cast<std::byte *>(data()) + gpuParamBytes(metadata));
  mk_gpu_launch &l = launch();
  l.control = state + layout.control;
  l.zero = state + layout.zero;
  l.zero_words = uint32_t(layout.zeroWords);
  l.workspace = metadata.gpu->workspaceBytes ? state + layout.workspace : 0;
  l.num_ctas = metadata.grid;
}
