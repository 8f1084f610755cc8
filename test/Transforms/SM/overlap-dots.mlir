// RUN: mk-opt %S/../../Dialect/SM/attention.mlir -mk-sm-overlap-dots -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: mk-opt %S/../../Dialect/SM/attention.mlir -mk-sm-overlap-dots -mk-sm-split-masks -mk-sm-take-turns -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: mk-opt %S/../../Dialect/SM/gemm.mlir -mk-sm-overlap-dots -mk-sm-split-masks -mk-sm-take-turns | FileCheck %s --check-prefix=SAME

// The second dot of an iteration runs beside the first one of the next.

// CHECK: mk_sm.partition consumer
// CHECK: scf.if
// The first iteration, without its second dot.
// CHECK: mk_sm.mma {{.*}} transpose_b
// CHECK-NEXT: mk_sm.mma_wait 0
// CHECK: mk.mask
// CHECK-NOT: = mk_sm.mma 
// CHECK: scf.for
// ALL: mk_sm.turn_wait
// CHECK: mk_sm.mma_fence
// CHECK: %[[S:.*]] = mk_sm.mma {{.*}} transpose_b
// CHECK: mk_sm.wait
// CHECK: %[[O:.*]] = mk_sm.mma %
// ALL-NEXT: mk_sm.turn_pass
// CHECK-NEXT: mk_sm.mma_wait 1, %[[S]]
// CHECK-NEXT: mk_sm.release
// ONE: mk.mask
// ALL-NOT: = mk.mask
// CHECK: mk.reduce max
// CHECK-NEXT: mk_sm.mma_wait 0, %[[O]]
// CHECK-NEXT: mk_sm.release
// CHECK: mk.reduce add
// CHECK: arith.truncf
// CHECK: scf.yield

// The iterations that need the mask.
// ALL: scf.for
// ALL: mk_sm.turn_wait
// ALL: mk_sm.mma_wait 1
// ALL: mk.mask
// ALL: scf.yield

// The last dot.
// CHECK: mk_sm.mma_fence
// CHECK: = mk_sm.mma %
// CHECK-NEXT: mk_sm.mma_wait 0
// CHECK-NEXT: mk_sm.release
// CHECK: else

// A loop with one dot is none of their business.
// SAME-NOT: turn_wait
// SAME: mk_sm.mma_wait 0
