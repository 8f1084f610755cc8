// RUN: mk-opt %s -mk-thread-expand-elements | FileCheck %s

#acc = #mk_sm.mma<warpgroups = 1>

mk_thread.kernel @elements threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 2.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // What does not depend on the column is computed once for each of two rows; an element takes a comparison.
  // CHECK: %[[ROW:.*]] = arith.trunci {{.*}} : i64 to i32
  // CHECK: arith.cmpi sge, %[[ROW]], %c0_i32
  // CHECK: arith.cmpi sge, %[[ROW]], %c1_i32
  // CHECK-COUNT-2: arith.select
  // CHECK: %[[NEXT:.*]] = arith.trunci {{.*}} : i64 to i32
  // CHECK: arith.cmpi sge, %[[NEXT]], %c0_i32
  // CHECK: arith.cmpi sge, %[[NEXT]], %c1_i32
  // CHECK-NOT: arith.cmpi
  %a:4 = mk_thread.mask_elements %x, %x, %x, %x of tensor<64x8xf32, #acc>
      where affine_set<(r, c)[s] : (r - c + s >= 0)>[%g] else %low : f32 thread(%w) : f32, f32, f32, f32
  // A warp votes.
  // CHECK: arith.cmpf une
  // CHECK: %[[ANY:.*]] = nvvm.vote.sync any
  // CHECK: scf.if %[[ANY]] -> (f32, f32, f32, f32)
  // CHECK-COUNT-4: arith.mulf {{.*}} fastmath<contract>
  // CHECK: else
  // CHECK-NOT: arith.mulf
  %b:4 = mk_thread.scale_elements %a#0, %a#1, %a#2, %a#3 of tensor<64x8xf32, #acc> by %x, %x along 1 : f32, f32, f32, f32
  // What is in flight is waited for on both ways, behind the branch.
  // CHECK: nvvm.vote.sync any
  // CHECK: scf.if
  // CHECK: %[[W:.*]]:4 = mk_thread.wgmma_wait 0
  // CHECK-NEXT: arith.mulf %[[W]]#0
  // CHECK: else
  // CHECK: %[[V:.*]]:4 = mk_thread.wgmma_wait 0
  // CHECK-NEXT: scf.yield %[[V]]#0, %[[V]]#1, %[[V]]#2, %[[V]]#3
  %d:4 = mk_thread.scale_elements in_flight %a#0, %a#1, %a#2, %a#3 of tensor<64x8xf32, #acc> by %x, %x along 1 : f32, f32, f32, f32
  mk_thread.pin %d#0, %d#1, %d#2, %d#3 : f32, f32, f32, f32
  mk_thread.pin %b#0, %b#1, %b#2, %b#3 : f32, f32, f32, f32
  // What depends on the column alone LLVM decides, for nearly all elements: words would stay.
  // CHECK-NOT: arith.shli {{.*}} : i64
  // CHECK-COUNT-8: arith.cmpi sge
  // CHECK-NOT: arith.cmpi
  %16 = arith.constant 16 : i64
  %f:16 = mk_thread.mask_elements %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x of tensor<64x32xf32, #acc>
      where affine_set<(r, c)[s] : (s - 1 - c >= 0)>[%16] else %low : f32 thread(%w) : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  mk_thread.pin %f#0, %f#1, %f#2, %f#3 : f32, f32, f32, f32
}
