// RUN: mk-opt %s -mk-thread-expand-sender | FileCheck %s

// CHECK-LABEL: mk_thread.kernel @posts
mk_thread.kernel @posts threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // The first warp tells the sender, and calls it.
  // CHECK: arith.cmpi ult, %{{.*}}, %c32_i32
  // CHECK: scf.if
  // The number, whether it is sent, that nobody waits, the element, two offsets, a rank.
  // CHECK: mk_thread.store_shared %c2_i32, %[[POST:.*]] + 0
  // CHECK: mk_thread.store_shared %{{.*}}, %[[POST]] + 4
  // CHECK: mk_thread.store_shared %c0_i32, %[[POST]] + 64
  // CHECK: mk_thread.store_shared %{{.*}}, %[[POST]] + 8
  // CHECK: mk_thread.store_shared %{{.*}}, %[[POST]] + 12
  // CHECK: mk_thread.store_shared %{{.*}}, %[[POST]] + 16
  // CHECK: mk_thread.store_shared %{{.*}}, %[[POST]] + 32
  // CHECK: mk_thread.sync_warp
  // CHECK-NEXT: mk_thread.arrive %c12_i32, 64
  mk_thread.post_tile 2 in 512 called at 12 by(%w) sends(%w) element(%g) at(%g, %g) on(%g)
  // CHECK: mk_thread.store_shared %c0_i32, %{{.*}} + 0
  // CHECK-NOT: mk_thread.store_shared
  // CHECK: mk_thread.arrive
  mk_thread.post_tile 0 in 512 called at 12 by(%w) sends(%w) element(%g) at() on()
  // CHECK: mk_thread.store_shared %c1_i32, %{{.*}} + 64
  // CHECK-NOT: mk_thread.mbarrier_wait
  mk_thread.flush_sender in 512 by(%w)
  // CHECK: mk_thread.store_shared %c2_i32, %{{.*}} + 64
  // CHECK: mk_thread.mbarrier_wait
  mk_thread.flush_sender in 512 by(%w) until(%w) sent(520) report(<kind = 9, role = 0, number = -1>)
}

// CHECK-LABEL: mk_thread.kernel @serves
mk_thread.kernel @serves threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: scf.while
  // CHECK: mk_thread.sync %c12_i32, 64
  // To each rank; then piece by piece: 2 warpgroups, 8 parts, 2 pieces.
  // CHECK: scf.for %{{.*}} = %c0_i32 to %c1_i32
  // CHECK: scf.for %{{.*}} = %c0_i32 to %c32_i32
  // It pauses as long as the consumer does not wait.
  // CHECK: scf.while
  // CHECK: nvvm.nanosleep
  // CHECK: mk_thread.store_tensor
  // CHECK-NEXT: mk_thread.commit_group
  // One piece is under way at a time.
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.wait_group 0
  // CHECK: mk_thread.wait_group 0
  // CHECK: mk_thread.raise 72[%{{.*}}] add 1 sys on
  // CHECK: mk_thread.mbarrier_arrive
  mk_thread.serve_posts [#mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8, peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>] in 512 called at 12 spread 37500
}
