// RUN: mk-opt %s -mk-thread-expand-copies | FileCheck %s

// The barrier waits for the bytes of two chunks of 512 rows. Each comes in two boxes, which begin 64 columns and
// 256 rows further on.
// CHECK-LABEL: mk_thread.kernel @alone
mk_thread.kernel @alone threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.mbarrier_expect %{{.*}}, 131072
  // CHECK-NEXT: mk_thread.copy_tensor %[[MAP:.*]][%[[W:.*]], %[[W]]] to %[[W]] counted by %[[W]] : i64
  // CHECK: %[[LOWER:.*]] = arith.addi %[[W]], %c256_i32
  // CHECK: %[[AT:.*]] = arith.addi %[[W]], %c32768_i32
  // CHECK: mk_thread.copy_tensor %[[MAP]][%[[LOWER]], %[[W]]] to %[[AT]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[W]], %c64_i32
  // CHECK: arith.addi %[[W]], %c65536_i32
  // CHECK: mk_thread.copy_tensor %[[MAP]][%[[W]], %[[NEXT]]]
  // CHECK: mk_thread.copy_tensor
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%w, %w) of 512 x 2 box 256 x 64 to %w counted by %w lane(%w) : i64
}

// Two CTAs bring 256 rows each, for both.
// CHECK-LABEL: mk_thread.kernel @together
mk_thread.kernel @together threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 131072
  // CHECK: arith.muli %{{.*}}, %c256_i32
  // CHECK-COUNT-2: mk_thread.copy_tensor {{.*}} ctas(3)
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%w, %w) of 512 x 2 box 256 x 64 to %w counted by %w lane(%w) shared(%w of 2) : i64
}
