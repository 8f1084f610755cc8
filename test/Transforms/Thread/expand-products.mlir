// RUN: mk-opt %s -mk-thread-expand-products | FileCheck %s

// Rows along the contraction: a step of 16 elements is 32 bytes. The first block begins with the accumulator, its
// second step with what the first one gave; rows 64 to 127 lie 8192 bytes further on.
// CHECK-LABEL: mk_thread.kernel @rows
mk_thread.kernel @rows threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %a = mk_thread.cta_id
  %b = mk_thread.thread_id
  %x = arith.constant 0.0 : f32
  // CHECK: %[[LOW:.*]] = arith.shrui %{{.*}}, %c4_i32
  // CHECK: %[[WIDE:.*]] = arith.extui %[[LOW]]
  // CHECK: %[[A:.*]] = arith.ori %[[WIDE]]
  // CHECK: %[[B:.*]] = arith.ori
  // CHECK: %[[S:.*]]:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%[[A]] : i64) + 0 right(%[[B]]) + 0 acc(%[[X:[^,]*]], %[[X]]
  // CHECK: mk_thread.wgmma {{.*}} left(%[[A]] : i64) + 2 right(%[[B]]) + 2 acc(%[[S]]#0, %[[S]]#1
  // CHECK: mk_thread.wgmma {{.*}} left(%[[A]] : i64) + 512 right(%[[B]]) + 0 acc(%[[X]], %[[X]]
  // CHECK: mk_thread.wgmma {{.*}} left(%[[A]] : i64) + 514 right(%[[B]]) + 2
  // CHECK-NEXT: mk_thread.wgmma_commit
  %s:8 = mk_thread.product 128 x 8 x 32 width 8 "bf16" * "bf16" left(%a of 128) right(%b of 8)
      acc(%x, %x, %x, %x, %x, %x, %x, %x) -> f32, f32, f32, f32, f32, f32, f32, f32
}

// Columns along it: a step is 16 rows of 128 bytes. Without an accumulator only the first step begins with nothing, and
// the left operand comes 4 registers at a time. In a cluster the CTA's place is taken from addresses.
// CHECK-LABEL: mk_thread.kernel @columns
mk_thread.kernel @columns threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %a = mk_thread.cta_id
  %b = mk_thread.thread_id
  // CHECK: arith.andi %{{.*}}, %c262143_i32
  // CHECK: %[[B:.*]] = arith.ori
  // CHECK: mk_thread.wgmma {{.*}} left(%[[V:.*]], %[[V]], %[[V]], %[[V]] : i32, i32, i32, i32) + 0 right(%[[B]]) + 0 transposed -> f32
  // CHECK: mk_thread.wgmma {{.*}} right(%[[B]]) + 128 transposed acc(
  %s:4 = mk_thread.product 64 x 8 x 32 width 8 "f16" * "f16" left(%a, %a, %a, %a, %a, %a, %a, %a of 0)
      right(%b of 64) transposed -> f32, f32, f32, f32
}
