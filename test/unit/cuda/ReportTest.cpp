//===- ReportTest.cpp - What a failed wait on a GPU says ------------------===//

#include "device/cuda/Report.h"

#include "Support.h"

namespace mk::rt::test {
namespace {

TEST(CudaReport, SaysWhoWaitedForWhat) {
  Metadata m;
  m.kernel = "k";
  m.roles = {{"send", 4, -1}, {"gemm", 128, -1}};
  m.signals = {{"ready", 2, false, false, {{0, "k.mlir:9:3"}, {1, "k.mlir:20:5"}}},
               {"dyn", 0, false, true}};
  m.queues = {{"items", 2, {{1, "k.mlir:30:5"}, {1, "k.mlir:40:5"}}}};
  Plan plan;
  plan.signals = {{{4, 3}, 12, 2}, {{}, 1, -1}};
  plan.queues = {8};
  auto text = [&](uint32_t kind, uint32_t number, int64_t element,
                  int64_t wanted, int64_t seen, uint32_t role = 1) {
    mk_gpu_report r = {1, kind, 17, role, number, 0, element, wanted, seen, 0};
    return cuda::reportText(r, m, plan, 2s);
  };
  EXPECT_EQ(text(MK_WAIT_SIGNAL, 0, 7, 2, 1),
            "kernel 'k', role 'gemm', CTA 17: waited 2 s for signal "
            "'ready'[2, 1] to count 2 arrivals of this launch, saw 1 (of 2 "
            "declared), at k.mlir:20:5");
  EXPECT_THAT(text(MK_WAIT_SIGNAL, 1, 0, 1, -1),
              testing::EndsWith("for signal 'dyn' to count 1 arrival of this "
                                "launch, saw -1"));
  EXPECT_THAT(text(MK_WAIT_QUEUE, 0, 5, 6, 4),
              testing::EndsWith("for entry 5 of queue 'items', which nobody has "
                                "pushed so far, at k.mlir:30:5 or k.mlir:40:5"));
  EXPECT_THAT(
      text(MK_WAIT_RING, 2, 3, 1, 0),
      testing::EndsWith("for stage 3 of ring 2 to reach phase 1, saw 0"));
  EXPECT_THAT(text(MK_WAIT_READY, 0, 3, 1, 0),
              testing::EndsWith("for rank 3 to begin this launch (its memory may "
                                "be written only then)"));
  EXPECT_EQ(text(MK_WAIT_DONE, 0, 2, 1, 0, MK_NO_ROLE),
            "kernel 'k', CTA 17: waited 2 s for rank 2 to close this launch");
  EXPECT_THAT(text(MK_WAIT_GRID, 0, 0, 132, 131, MK_NO_ROLE),
              testing::EndsWith("for all 132 CTAs to end mk.prepare, saw 131"));
  EXPECT_THAT(text(MK_WAIT_COMMAND, 0, 4096, 1, 0),
              testing::EndsWith("for a place in the ring of commands for the "
                                "proxy, which is full before command 4096"));
  EXPECT_THAT(text(MK_WAIT_PUTS, 0, 0, 9, 7),
              testing::EndsWith("its puts across the network to complete: 9 were "
                                "sent since the start, 7 are complete"));
  EXPECT_THAT(text(MK_WAIT_COPY, 0, 2, 1, 0),
              testing::EndsWith("for stage 2 of a put's copy to reach phase 1, saw 0"));
  EXPECT_THAT(text(MK_WAIT_COPY, uint32_t(-1), 0, 1, 0),
              testing::EndsWith("for the CTA's sender to have sent a tile (phase 1, saw 0)"));
  EXPECT_EQ(text(MK_FAIL_LOOP, 0, 0, 0, 0),
            "kernel 'k', role 'gemm', a loop begins or ends beyond "
            "2^30, which this target cannot count to: check its bounds, or "
            "divide it into two loops");
  EXPECT_THAT(text(MK_FAIL_PEER, 0, 0, 0, 0),
              testing::StartsWith("kernel 'k', role 'gemm', a put, store or "
                                  "signal names a peer that is no rank"));
  m.args.resize(2);
  m.args[0].name = "a";
  m.args[1].name = "full";
  m.counters = {{"n", 1}};
  m.sites = {{"mk.put", "x.mlir:3:5"}, {"mk.wait", "x.mlir:9:7"}};
  auto outside = [&](uint32_t site, uint32_t named, int64_t index, int64_t size,
                     int64_t extent) {
    mk_gpu_report r = {1, MK_FAIL_BOUNDS, 17, 1, site, named, index, extent, size, 3};
    return cuda::reportText(r, m, plan, 2s);
  };
  EXPECT_EQ(outside(0, MK_GPU_NAMED(MK_WRITTEN_ARGUMENT, 1, 1), -8, 16, 64),
            "kernel 'k', role 'gemm', CTA 17: mk.put (x.mlir:3:5) writes [-8:8] of "
            "dimension 1 of argument 'full', which has 64 elements there on rank 3: "
            "correct the index or the size");
  EXPECT_THAT(outside(0, MK_GPU_NAMED(MK_READ_ARGUMENT, 0, 0), 1, 1, 1),
              testing::EndsWith("mk.put (x.mlir:3:5) reads element 1 of dimension 0 of "
                                "argument 'a', which has 1 element there on rank 3: "
                                "correct the index"));
  EXPECT_THAT(outside(0, MK_GPU_NAMED(MK_READ_ARGUMENT, 0, 0), INT64_MAX, 2, 1),
              testing::HasSubstr("[9223372036854775807:9223372036854775809]"));
  EXPECT_THAT(outside(1, MK_GPU_NAMED(MK_USED_SIGNAL, 1, 0), 3, 1, 3),
              testing::EndsWith("mk.wait (x.mlir:9:7) uses index 3 in dimension 1 of "
                                "signal 'ready', whose extent there is 3: correct the "
                                "index or the extents"));
  EXPECT_THAT(outside(1, MK_GPU_NAMED(MK_USED_COUNTER, 0, 0), -1, 1, 3),
              testing::HasSubstr("uses index -1 in dimension 0 of counter 'n'"));
  EXPECT_THAT(outside(7, MK_GPU_NAMED(MK_FULL_QUEUE, 0, 0), 8, 1, 8),
              testing::EndsWith("an op appends record 8 (from 0) to queue 'items', "
                                "which has room for 8 in a launch: declare it larger"));
  EXPECT_THAT(outside(1, MK_GPU_NAMED(MK_READ_QUEUE, 0, 0), 8, 1, 8),
              testing::HasSubstr("takes record 8 (from 0) of queue 'items', which has "
                                 "room for 8 in a launch: correct the count"));
  EXPECT_THAT(outside(0, 0xffffffff, 0, 1, 0),
              testing::HasSubstr("reads element 0 of dimension 255 of argument 65535"));
  // Nonsense is printed, not followed.
  EXPECT_THAT(text(MK_WAIT_SIGNAL, 9, 0, 1, 0, 40),
              HasSubstr("role 40, CTA 17: waited 2 s for something unknown "
                        "(kind 1, number 9"));
  EXPECT_THAT(text(77, 0, 0, 1, 0), HasSubstr("kind 77"));
}

} // namespace
} // namespace mk::rt::test
