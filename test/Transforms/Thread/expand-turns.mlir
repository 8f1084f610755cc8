// RUN: mk-opt %s -mk-thread-expand-turns | FileCheck %s

// A warpgroup waits at barrier 8 or 9, and arrives at the other one.
// CHECK-LABEL: mk_thread.kernel @turns
mk_thread.kernel @turns threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: %[[NUMBER:.*]] = mk_thread.thread_id
  // CHECK: %[[GROUP:.*]] = arith.shrui %[[NUMBER]], %c7_i32
  // CHECK: %[[OWN:.*]] = arith.addi %[[GROUP]], %c7_i32
  // CHECK: mk_thread.sync %[[OWN]], 256
  // CHECK: %[[WORD:.*]] = llvm.load
  // CHECK: %[[STAGE:.*]] = arith.shrui %[[WORD]], %c1_i32
  // CHECK: %[[PARITY:.*]] = arith.andi %[[WORD]], %c1_i32
  %p:2 = mk_thread.take_turn first(8) words [512] : i32, i32
  // CHECK: %[[OTHER:.*]] = arith.subi %c17_i32
  // CHECK: %[[HIGH:.*]] = arith.shli %[[STAGE]], %c1_i32
  // CHECK: %[[STATE:.*]] = arith.ori %[[HIGH]], %[[PARITY]]
  // CHECK: mk_thread.store %[[STATE]] : i32 to {{.*}} bytes(4) if not %{{.*}}
  // CHECK: mk_thread.arrive %[[OTHER]], 256
  mk_thread.pass_turn first(8) words [512] of (%p#0, %p#1) thread(%w)
}
