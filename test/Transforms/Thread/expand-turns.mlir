// RUN: mk-opt %s -mk-thread-expand-turns | FileCheck %s

// A warpgroup waits at barrier 8 or 9, and arrives at the other one. It reads the word that the other one has written, and
// writes its own.
// CHECK-LABEL: mk_thread.kernel @turns
mk_thread.kernel @turns threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: %[[NUMBER:.*]] = mk_thread.thread_id
  // CHECK: %[[WARPGROUP:.*]] = arith.shrui %[[NUMBER]], %c7_i32
  // CHECK: %[[GROUP:.*]] = arith.subi %[[WARPGROUP]], %c1_i32
  // CHECK: %[[OWN:.*]] = arith.addi %[[GROUP]], %c8_i32
  // CHECK: mk_thread.sync %[[OWN]], 256
  // CHECK: %[[OTHER:.*]] = arith.xori %[[GROUP]], %c1_i32
  // CHECK: %[[BYTES:.*]] = arith.shli %[[OTHER]], %c2_i32
  // CHECK: %[[OFFSET:.*]] = arith.addi %[[BYTES]], %c512_i32
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
  // CHECK: %[[FROM:.*]] = llvm.inttoptr %[[AT]]
  // CHECK: %[[WORD:.*]] = llvm.load %[[FROM]]
  // CHECK: %[[STAGE:.*]] = arith.shrui %[[WORD]], %c1_i32
  // CHECK: %[[PARITY:.*]] = arith.andi %[[WORD]], %c1_i32
  %p:2 = mk_thread.take_turn first(8) words [512] : i32, i32
  // CHECK: %[[NUMBER2:.*]] = mk_thread.thread_id
  // CHECK: %[[WARPGROUP2:.*]] = arith.shrui %[[NUMBER2]], %c7_i32
  // CHECK: %[[GROUP2:.*]] = arith.subi %[[WARPGROUP2]], %c1_i32
  // CHECK: %[[HIGH:.*]] = arith.shli %[[STAGE]], %c1_i32
  // CHECK: %[[STATE:.*]] = arith.ori %[[HIGH]], %[[PARITY]]
  // CHECK: %[[BYTES2:.*]] = arith.shli %[[GROUP2]], %c2_i32
  // CHECK: %[[OFFSET2:.*]] = arith.addi %[[BYTES2]], %c512_i32
  // CHECK: %[[TO:.*]] = arith.addi %{{.*}}, %[[OFFSET2]]
  // CHECK: mk_thread.store %[[STATE]] : i32 to %[[TO]] {{.*}}bytes(4) if not %{{.*}}
  // CHECK: %[[NEXT:.*]] = arith.subi %c9_i32{{.*}}, %[[GROUP2]]
  // CHECK: mk_thread.arrive %[[NEXT]], 256
  mk_thread.pass_turn first(8) words [512] of (%p#0, %p#1) thread(%w)
}
