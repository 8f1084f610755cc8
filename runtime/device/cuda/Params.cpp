//===- Params.cpp - The parameter block and what it points to -------------===//

#include "device/cuda/Params.h"

#include <cassert>

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
    return Status::success();
  return error(StatusCode::ResourceExhausted, "kernel '", metadata.kernel,
               "': ", what, " '", name, "' would have ", elements,
               " elements; on a GPU fewer than 2^32 are possible");
}

} // namespace

Result<StateLayout> StateLayout::create(const Metadata &metadata,
                                        const Metadata::Variant &variant, const Plan &plan) {
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
  s.workspace = variant.workspaceBytes ? a.take(variant.workspaceBytes, kAlign) : 0;
  s.zeroes = a.take(16, kAlign);
  s.bytes = a.next;
  return s;
}

ParamBlock::ParamBlock(const Metadata &metadata, const Metadata::Variant &variant)
    : memory_((variant.paramBytes + sizeof(TensorMapBytes) - 1) / sizeof(TensorMapBytes)),
      layout_(layOutGpuParams(metadata, variant)), grid_(variant.grid) {
  assert(uint64_t(layout_.bytes) <= variant.paramBytes &&
         "checked when the metadata was parsed");
}

mk_gpu_launch &ParamBlock::launch() {
  return *reinterpret_cast<mk_gpu_launch *>(bytes() + layout_.launch);
}

void ParamBlock::put(int64_t at, std::span<const int64_t> words) {
  std::memcpy(bytes() + at, words.data(), words.size_bytes());
}

void ParamBlock::putSignal(int64_t at, const SharedSignal &signal, uint64_t bases) {
  putWord(at, signal.values);
  putWord(at + abi::kSignalBases, bases);
  putWord(at + abi::kSignalNet, signal.net);
  putWord(at + abi::kSignalSlot, signal.slot);
}

void ParamBlock::fill(const Metadata &metadata, std::span<const int64_t> dims,
                      std::span<const Tensor> args, const Plan &plan,
                      const StateLayout &layout, uint64_t state,
                      std::span<const SharedSignal> shared, uint64_t timeline) {
  put(layout_.dims, dims);
  for (size_t i = 0; i < args.size(); ++i) {
    int64_t sizes = layout_.args[i] + abi::kArgSizes;
    putWord(layout_.args[i], args[i].address);
    put(sizes, args[i].sizes);
    put(sizes + 8 * int64_t(args[i].sizes.size()), args[i].strides);
  }
  for (size_t i = 0; i < layout.signals.size(); ++i) {
    const StateLayout::Signal &signal = layout.signals[i];
    SharedSignal place = i < shared.size() ? shared[i] : SharedSignal();
    if (!place.values)
      place.values = state + signal.values;
    putSignal(layout_.signals[i], place, state + signal.bases);
    put(layout_.signals[i] + abi::kSignalBytes, plan.signals[i].extents);
  }
  for (size_t i = 0; i < layout.counters.size(); ++i) {
    putWord(layout_.counters[i], state + layout.counters[i]);
    put(layout_.counters[i] + abi::kCounterBytes, plan.counters[i].extents);
  }
  for (size_t i = 0; i < layout.queues.size(); ++i) {
    int64_t at = layout_.queues[i];
    putWord(at, state + layout.queues[i].records);
    putWord(at + abi::kQueueReady, state + layout.queues[i].ready);
    putWord(at + abi::kQueueTail, state + layout.queues[i].tail);
    putWord(at + abi::kQueueCapacity, uint64_t(plan.queues[i]));
  }
  for (size_t i = 0; i < layout.tickets.size(); ++i)
    putWord(layout_.loops[i], state + layout.tickets[i]);
  // Bases of `ready` and `done` are the epoch.
  size_t own = layout.signals.size();
  if (shared.size() > own) {
    putSignal(layout_.ready, shared[own], 0);
    putSignal(layout_.done, shared[own + 1], 0);
  }
  if (metadata.timeline)
    putWord(layout_.timeline, timeline);
  mk_gpu_launch &l = launch();
  l.control = state + layout.control;
  l.zero = state + layout.zero;
  l.zero_words = uint32_t(layout.zeroWords);
  l.workspace = layout.workspace ? state + layout.workspace : 0;
  l.num_ctas = grid_;
}
