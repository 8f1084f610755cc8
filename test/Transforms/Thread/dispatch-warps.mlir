// RUN: mk-opt %s -mk-thread-dispatch-warps | FileCheck %s

// Two sides, and warps in them. Only the second side reports what it may have deferred.
// CHECK-LABEL: mk_thread.kernel @sides
mk_thread.kernel @sides threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[WARP:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[GROUP:.*]] = arith.shrui %[[WARP]], %c2_i32
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[GROUP]], %c0_i32
  // CHECK: scf.if %[[FIRST]] {
  // CHECK-NEXT: mk_thread.set_registers 24{{$}}
  mk_thread.specialize %w registers [24, 240] {
    // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[WARP]], %c0_i32
    // CHECK: scf.if %[[IS]] {
    // CHECK-NEXT: mk_thread.sync_warp
    // CHECK-NEXT: } else {
    // CHECK-NEXT: %[[IN:.*]] = arith.cmpi ult, %[[WARP]], %c3_i32
    // CHECK-NEXT: scf.if %[[IN]] {
    // CHECK-NEXT: mk_thread.fence gpu
    mk_thread.by_warps %w in 0 to 0 {
      mk_thread.sync_warp
    } else {
      mk_thread.by_warps %w in 1 to 2 {
        mk_thread.fence gpu
      }
    }
    // Warps may be lower here.
    // CHECK: %[[FROM:.*]] = arith.subi %[[WARP]], %c2_i32
    // CHECK: arith.cmpi ult, %[[FROM]], %c2_i32
    mk_thread.by_warps %w in 2 to 3 {
      mk_thread.fence sys
    }
    // CHECK-NOT: report_failure
    mk_thread.report_failure
  } consumers {
    // CHECK: } else {
    // CHECK-NEXT: mk_thread.set_registers 240 more
    // CHECK: arith.cmpi ult, %[[WARP]], %c8_i32
    mk_thread.by_warps %w in 4 to 7 {
      mk_thread.fail_unless %w report(<kind = 9, role = 1, number = 0>)
    }
    // CHECK: mk_thread.report_failure
    mk_thread.report_failure
  }
}

// CHECK-LABEL: mk_thread.kernel @some
mk_thread.kernel @some threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[CTA:.*]] = mk_thread.cta_id
  %c = mk_thread.cta_id
  // CHECK: %[[LOW:.*]] = arith.cmpi ult, %[[CTA]], %c16_i32
  // CHECK: %[[FROM:.*]] = arith.subi %[[CTA]], %c64_i32
  // CHECK: %[[HIGH:.*]] = arith.cmpi ult, %[[FROM]], %c8_i32
  // CHECK: %[[ANY:.*]] = arith.ori %[[LOW]], %[[HIGH]]
  // CHECK: scf.if %[[ANY]] {
  // CHECK-NEXT: mk_thread.fence gpu
  mk_thread.by_ctas %c in [0, 16, 64, 8] {
    mk_thread.fence gpu
  }
  // CHECK: mk_thread.sync_warp
  // CHECK-NEXT: %[[IS:.*]] = arith.cmpi eq, %[[CTA]], %c0_i32
  // CHECK-NEXT: scf.if %[[IS]] {
  // CHECK-NEXT: mk_thread.fence sys
  // CHECK-NEXT: }
  // CHECK-NEXT: mk_thread.sync_warp
  mk_thread.elect %c {
    mk_thread.fence sys
  }
  // CHECK-NEXT: mk_thread.sync %[[CTA]], 256
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.fence gpu
  // CHECK-NEXT: }
  // CHECK-NOT: mk_thread.sync
  mk_thread.elect %c barrier(%c, 256) {
    mk_thread.fence gpu
  }
}
