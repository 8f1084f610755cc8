// RUN: mk-opt %S/../../Dialect/SM/gemm.mlir -mk-sm-defer-waits -canonicalize | FileCheck %s

// The wait for an iteration's dot stands behind the next one's; the first dot
// ignores its accumulator, which nothing fills.

// CHECK: mk_sm.partition consumer
// CHECK: %[[SOME:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[SOME]]
// CHECK-NEXT: %[[LOOP:.*]] = scf.for %[[K:.*]] = %c0 {{.*}} iter_args(%[[ACC:.*]] = %[[POISON:[0-9]+]])
// CHECK-NOT: mma_wait 0
// CHECK: %[[NEXT:.*]] = arith.cmpi ne, %[[K]], %c0
// CHECK: mk_sm.mma_fence none
// CHECK: %[[D:.*]] = mk_sm.mma %{{.*}}, %{{.*}}, %[[ACC]] accumulate(%[[NEXT]]) transpose_b
// CHECK-NEXT: mk_sm.mma_wait 1{{$}}
// CHECK-NEXT: scf.if %[[NEXT]] {
// CHECK-NEXT: mk_sm.release
// CHECK: scf.yield %[[D]]
// CHECK: %[[DONE:.*]] = mk_sm.mma_wait 0, %[[LOOP]]
// CHECK-NEXT: mk_sm.release
// CHECK-NEXT: scf.yield %[[DONE]]
// CHECK: else
// CHECK-NEXT: scf.yield %cst
