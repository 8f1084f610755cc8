// RUN: mk-opt %s -mk-thread-stage-fragments | FileCheck %s

#acc = #mk_sm.mma<warpgroups = 1>
#runs = #mk_sm.blocked<threads = 128, vector = 2>

// Two parts in turn through one buffer: its use before is over, then what is on demand is taken, and one thread
// sends it off, or all run the region.
// CHECK-LABEL: mk_thread.kernel @parts
mk_thread.kernel @parts threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %c = arith.constant dense<0.0> : tensor<64x128xbf16, #acc>
  %there = arith.cmpi eq, %w, %w : i32
  // CHECK: scf.for %[[PART:.*]] = %{{.*}} to %c2_i32 step
  // CHECK: mk_thread.thread_id pinned
  // CHECK: arith.andi %[[PART]], %c1_i32
  // CHECK: scf.if
  // CHECK: mk_thread.load_ahead [0, 1, {{.*}}, 31] of %[[TILE:.*]] :
  // CHECK: mk_thread.wait_group 0 read
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK: %[[W:.*]]:4 = mk_thread.take_elements only [0, 1, 2, 3, 4, 5, 6, 7] of %[[TILE]] : {{.*}} -> i32, i32, i32, i32
  // CHECK: mk_thread.stmatrix %{{.*}}, %[[W]]#0, %[[W]]#1, %[[W]]#2, %[[W]]#3
  // CHECK-COUNT-3: mk_thread.stmatrix
  // CHECK: else
  // CHECK: mk_thread.take_elements only [32, 33, 34, 35, 36, 37, 38, 39]
  // CHECK-COUNT-4: mk_thread.stmatrix
  // CHECK: mk_thread.fence_async
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK: scf.if %[[THERE:.*]] {
  // CHECK: mk_thread.store_tensor
  // CHECK: mk_thread.commit_group
  // CHECK: else
  // CHECK: mk_thread.commit_group
  // CHECK: mk_thread.sync_warp
  // CHECK: llvm.loop_annotation
  mk_thread.stage_fragment %c in 1024 buffers 1 regular barrier 2 where %there maps(%g : i64) at(%w, %w) rows 64
      : tensor<64x128xbf16, #acc> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// What goes to several places is put into the buffer once.
// CHECK-LABEL: mk_thread.kernel @places
mk_thread.kernel @places threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %h = mk_thread.param 32 : i64
  %c = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
  %there = arith.cmpi eq, %w, %w : i32
  // CHECK-COUNT-4: mk_thread.stmatrix
  // CHECK-NOT: mk_thread.stmatrix
  // CHECK: mk_thread.store_tensor %{{.*}} to %[[G:[^,]*]]
  // CHECK-NOT: mk_thread.store_tensor %{{.*}} to %[[G]]
  // CHECK: mk_thread.store_tensor
  // CHECK: mk_thread.commit_group
  mk_thread.stage_fragment %c in 1024 buffers 1 barrier 2 where %there maps(%g, %h : i64, i64) at(%w, %w) rows 64 unrolled
      : tensor<64x64xbf16, #acc> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// Blocks of rows below each other follow each other.
// CHECK-LABEL: mk_thread.kernel @below
mk_thread.kernel @below threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %c = arith.constant dense<0.0> : tensor<128x128xbf16, #acc>
  %there = arith.cmpi eq, %w, %w : i32
  // CHECK: mk_thread.take_elements only [0, 1, 2, 3, 4, 5, 6, 7]
  // CHECK: mk_thread.take_elements only [64, 65, 66, 67, 68, 69, 70, 71]
  // CHECK: mk_thread.take_elements only [32, 33, 34, 35, 36, 37, 38, 39]
  // CHECK: mk_thread.take_elements only [96, 97, 98, 99, 100, 101, 102, 103]
  mk_thread.stage_fragment %c in 1024 buffers 1 barrier 2 where %there maps(%g : i64) at(%w, %w) rows 64 unrolled
      : tensor<128x128xbf16, #acc> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// Unrolled, what the next part is computed from is loaded ahead; without maps nothing is sent.
// CHECK-LABEL: mk_thread.kernel @unrolled
mk_thread.kernel @unrolled threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %there = arith.cmpi eq, %w, %w : i32
  // CHECK-NOT: scf.for
  // CHECK: mk_thread.load_ahead [0, {{.*}}, 15]
  // CHECK: mk_thread.load_ahead [16, {{.*}}, 31]
  // CHECK: mk_thread.take_elements only [0, 1] of {{.*}} -> f32, f32
  // CHECK: mk_thread.store %{{.*}}, %{{.*}} : f32, f32 to %{{.*}} : i32 bytes(8)
  // CHECK: mk_thread.take_elements only [2, 3] of
  // CHECK-NOT: mk_thread.store_tensor
  mk_thread.stage_fragment %c in 1024 buffers 2 barrier 2 where %there at() rows 64 unrolled
      : tensor<64x64xf32, #acc> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// Straight from registers: in runs or not. What is on demand is taken run by run, or at once.
// CHECK-LABEL: mk_thread.kernel @direct
mk_thread.kernel @direct threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %there = arith.cmpi eq, %w, %w : i32
  %c = arith.constant dense<0.0> : tensor<8x32xf32, #runs>
  %d = mk_thread.on_demand : tensor<8x32xf32, #runs> {
    %e = arith.addf %c, %c : tensor<8x32xf32, #runs>
  }
  // CHECK: scf.if
  // CHECK: mk_thread.take_elements only [0, 1] of %[[D:.*]] :
  // CHECK: mk_thread.store_elements {{.*}} as [0, 1] of {{.*}} runs
  // CHECK: else
  // CHECK: mk_thread.take_elements only [0] of %[[D]] :
  // CHECK: mk_thread.store_elements {{.*}} as [0] of
  // CHECK: mk_thread.take_elements only [1] of %[[D]] :
  mk_thread.store_fragment %d to %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%there) grouped 2
      thread(%w) : tensor<8x32xf32, #runs>
  // CHECK: mk_thread.take_elements only [0, 1] of %[[D]] :
  // CHECK-NEXT: mk_thread.store_elements {{.*}} as [0, 1] of {{.*}} together(
  mk_thread.store_fragment %d to %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%there) grouped 2 materialize
      thread(%w) : tensor<8x32xf32, #runs>
}

// CHECK-LABEL: mk_thread.kernel @spill
mk_thread.kernel @spill threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %c = arith.constant dense<0.0> : tensor<64x16xf32, #acc>
  // CHECK: mk_thread.take_elements only [0, 1, 2, 3] of
  // CHECK: mk_thread.store %{{.*}} to %[[G:.*]] : i64 bytes(16) if %
  // CHECK: mk_thread.take_elements only [4, 5, 6, 7] of
  // CHECK: %[[NEXT:.*]] = arith.addi %[[G]], %c2048_i64
  // CHECK: mk_thread.store %{{.*}} to %[[NEXT]] : i64 bytes(16) if %
  mk_thread.spill_fragment %c to %g step 2048 where %w : tensor<64x16xf32, #acc>
}
