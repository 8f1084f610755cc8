//===- ParamsTest.cpp - Layouts of parameters and shared state ------------===//

#include "FakeGpu.h"
#include "device/cuda/Params.h"

#include <cstring>

namespace mk::rt::test {
namespace {

using cuda::ParamBlock;
using cuda::StateLayout;
using cuda::Tensor;
struct CudaParams : FakeGpu {};

Plan planOf(int64_t m) {
  Plan plan;
  plan.args = {{m, 8}, {m, 8}};
  plan.signals = {{{m, 3}, 3 * m, 2}};
  plan.counters = {{{5}, 5}};
  plan.queues = {8};
  return plan;
}

TEST_F(CudaParams, StateHasNoOverlapAndIsAligned) {
  Package affine = package();
  auto made = StateLayout::create(affine.metadata(), affine.metadata().gpu->variants[0], planOf(4));
  ASSERT_OK(made);
  const StateLayout &s = *made;
  struct Piece {
    uint64_t at, bytes, align;
  };
  std::vector<Piece> pieces = {{s.control, 16, 16},
                               {s.tickets.at(0), 4, 128},
                               {s.queues.at(0).tail, 4, 128},
                               {s.counters.at(0), 20, 128},
                               {s.signals.at(0).values, 48, 16},
                               {s.signals.at(0).bases, 48, 16},
                               {s.queues.at(0).ready, 32, 16},
                               {s.queues.at(0).records, 8 * 2 * 8, 16},
                               {s.workspace, 1000, 256},
                               {s.zeroes, 16, 16}};
  for (const Piece &a : pieces) {
    EXPECT_EQ(a.at % a.align, 0u);
    EXPECT_LE(a.at + a.bytes, s.bytes);
    for (const Piece &b : pieces)
      EXPECT_TRUE(&a == &b || a.at + a.bytes <= b.at || b.at + b.bytes <= a.at);
  }
  // Zeroed after each launch: tickets, counters and tails, and those alone.
  auto zeroed = [&](uint64_t at) {
    return at >= s.zero && at < s.zero + 4 * s.zeroWords;
  };
  EXPECT_TRUE(zeroed(s.tickets[0]));
  EXPECT_TRUE(zeroed(s.counters[0]) && zeroed(s.counters[0] + 16));
  EXPECT_TRUE(zeroed(s.queues[0].tail));
  for (uint64_t at : {s.control, s.signals[0].values, s.signals[0].bases,
                      s.queues[0].ready, s.queues[0].records, s.workspace, s.zeroes})
    EXPECT_FALSE(zeroed(at));

  Plan large = planOf(4);
  large.counters[0].elements = int64_t(1) << 32;
  EXPECT_ERROR(StateLayout::create(affine.metadata(), affine.metadata().gpu->variants[0], large)
                   .status(),
               ResourceExhausted, "counter 'done' would have 4294967296");
}

TEST_F(CudaParams, BlockIsAsTheAbiSays) {
  Package affine = package();
  const Metadata &meta = affine.metadata();
  const Metadata::Variant &variant = meta.gpu->variants[0];
  auto layout = StateLayout::create(meta, variant, planOf(4));
  ASSERT_OK(layout);
  ParamBlock block(meta, variant);
  block.tensorMap(1).bytes[127] = 7;
  block.launch().deadline_ns = 5;
  std::vector<int64_t> dims = {4, 8};
  std::vector<Tensor> args = {{0x1000, ElementType::f32, {4, 8}, {16, 1}},
                              {0x2000, ElementType::f32, {4, 8}, {8, 1}}};
  uint64_t state = 0x100000;
  block.fill(meta, dims, args, planOf(4), *layout, state);

  auto *bytes = static_cast<const uint8_t *>(block.data());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0u);
  EXPECT_EQ(bytes[255], 7);
  mk_gpu_launch launch;
  std::memcpy(&launch, bytes + 256, sizeof(launch));
  EXPECT_EQ(launch.deadline_ns, 5u);
  EXPECT_EQ(launch.control, state + layout->control);
  EXPECT_EQ(launch.zero, state + layout->zero);
  EXPECT_EQ(launch.zero_words, layout->zeroWords);
  EXPECT_EQ(launch.workspace, state + layout->workspace);
  EXPECT_EQ(launch.num_ctas, 132u);
  std::vector<uint64_t> words(25), want = {
      4, 8,                    // dimensions
      0x1000, 4, 8, 16, 1,     // a
      0x2000, 4, 8, 8, 1,      // c
      state + layout->signals[0].values, state + layout->signals[0].bases, 0, 0,
      4, 3,
      state + layout->counters[0], 5,
      state + layout->queues[0].records, state + layout->queues[0].ready,
      state + layout->queues[0].tail, 8,
      state + layout->tickets[0]};
  ASSERT_EQ(256 + sizeof(launch) + 8 * words.size(), variant.paramBytes);
  std::memcpy(words.data(), bytes + 256 + sizeof(launch), 8 * words.size());
  EXPECT_EQ(words, want);

  // Where times are recorded their address is the last word.
  Metadata timed = meta;
  timed.timeline.emplace();
  Metadata::Variant &wider = timed.gpu->variants[0];
  wider.paramBytes += 8;
  EXPECT_EQ(layOutGpuParams(timed, wider).bytes, layOutGpuParams(meta, variant).bytes + 8);
  ParamBlock longer(timed, wider);
  longer.fill(timed, dims, args, planOf(4), *layout, state, {}, 0x3000);
  words.push_back(0), want.push_back(0x3000);
  std::memcpy(words.data(),
              static_cast<const uint8_t *>(longer.data()) + 256 + sizeof(launch),
              8 * words.size());
  EXPECT_EQ(words, want);
}

} // namespace
} // namespace mk::rt::test
