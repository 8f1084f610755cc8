// RUN: mk-opt %s -mk-thread-stage-rows | FileCheck %s

#acc = #mk_sm.mma<warpgroups = 1>

// 16-bit elements: four matrices at a time, of the first eight of a warp's rows, then of the others. A row is 16 pieces: two
// rows at a time leave, by a lane for each piece; or elements one by one.
// CHECK-LABEL: mk_thread.kernel @halves
mk_thread.kernel @halves threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %n = mk_thread.param 32 : i64
  %c = arith.constant dense<0.0> : tensor<64x128xbf16, #acc>
  // CHECK-NOT: mk_thread.sync %
  // CHECK: mk_thread.thread_id pinned
  // CHECK: mk_thread.load_ahead [0, 1, 4, 5, 8, 9, 12, 13, {{.*}}, 28, 29] of %[[TILE:.*]] :
  // CHECK: %[[W:.*]]:4 = mk_thread.take_elements only [0, 1, 4, 5, 8, 9, 12, 13] of %[[TILE]] : {{.*}} -> i32, i32, i32, i32
  // CHECK: mk_thread.stmatrix %{{.*}}, %[[W]]#0, %[[W]]#1, %[[W]]#2, %[[W]]#3
  // CHECK-COUNT-3: mk_thread.stmatrix
  // CHECK: mk_thread.sync_warp
  // CHECK: scf.if
  // CHECK-COUNT-4: mk_thread.load %{{.*}}, 16 : i32
  // CHECK-COUNT-4: mk_thread.store {{.*}} bytes(16) if
  // CHECK-NOT: bytes(16) if
  // CHECK: else
  // CHECK: scf.for
  // CHECK: mk_thread.store {{.*}} bytes(2) if
  // CHECK: mk_thread.sync_warp
  // CHECK: mk_thread.take_elements only [2, 3, 6, 7, 10, 11, 14, 15]
  mk_thread.stage_rows %c in 1024 buffers 2 alone barrier 2 to %g strides(%n, %g) rows(%w, %w) columns(%w, %w) unrolled
      : tensor<64x128xbf16, #acc>
}

// 32-bit elements: two at a time. What the engine may still read is waited for.
// CHECK-LABEL: mk_thread.kernel @words
mk_thread.kernel @words threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %n = mk_thread.param 32 : i64
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.wait_group 0 read
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: mk_thread.take_elements only [0, 1]
  // CHECK: mk_thread.store {{.*}} bytes(8)
  // CHECK: else
  // CHECK: mk_thread.take_elements only [2, 3]
  mk_thread.stage_rows %c in 1024 buffers 2 barrier 2 to %g strides(%n, %g) rows(%w, %w) columns(%w, %w) : tensor<64x64xf32, #acc>
}
