// RUN: mk-opt %s -mk-sm-pair-dots -canonicalize | FileCheck %s

// Four iterations go together, with two products in turn; those that start another one load for the
// next four, two each. What is no multiple of four is done before, in the loop as it was.

// CHECK: %[[LEFT:.*]] = arith.remui %{{.*}}, %c4
// CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %[[LEFT]] step %c1
// CHECK: mk_sm.mma_wait 0

// What the first four take, if there are any.
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LEFT]], %M
// CHECK: %[[AHEAD:.*]]:8 = scf.if %[[SOME]]
// CHECK-NEXT: mk.load %a[%[[LEFT]], %c0]
// CHECK-NEXT: memref.load %n[%[[LEFT]]]
// CHECK-COUNT-3: memref.load
// CHECK: } else {
// CHECK-NEXT: scf.yield %cst{{.*}}, %cst

// CHECK: scf.for %[[J:.*]] = %[[LEFT]] to %M step %c4 iter_args(%[[O:.*]] = %[[FIRST]], %[[S0:.*]] = %[[AHEAD]]#0, %[[N0:.*]] = %[[AHEAD]]#1, %[[S1:.*]] = %[[AHEAD]]#2,
// The last four load their own again.
// CHECK: %[[LAST4:.*]] = arith.subi %M, %c4
// CHECK: %[[J4:.*]] = arith.addi %[[J]], %c4
// CHECK: %[[NEXT:.*]] = arith.minsi %[[J4]], %[[LAST4]]
// CHECK: %[[P:.*]] = mk_sm.mma %
// CHECK: %[[Q:.*]] = mk_sm.mma %
// CHECK-NEXT: %[[P0:.*]] = mk_sm.mma_wait 1, %[[P]]
// CHECK-NEXT: mk_sm.release
// CHECK-NEXT: %[[SPLAT:.*]] = tensor.splat %[[N0]]
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[S0]], %[[SPLAT]]
// CHECK-NEXT: %[[B:.*]] = mk.broadcast %[[T]]
// CHECK-NEXT: %[[X:.*]] = arith.mulf %[[P0]], %[[B]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[O]], %[[X]]
// CHECK-NEXT: %[[T0:.*]] = mk.load %a[%[[NEXT]], %c0]
// CHECK-NEXT: %[[M0:.*]] = memref.load %n[%[[NEXT]]]
// CHECK-NEXT: %[[NEXT1:.*]] = arith.addi %[[NEXT]], %c1
// CHECK-NEXT: %[[T1:.*]] = mk.load %a[%[[NEXT1]], %c0]
// CHECK-NEXT: memref.load %n[%[[NEXT1]]]
// CHECK-NEXT: mk_sm.wait
// CHECK-NEXT: mk_sm.tile
// CHECK-NEXT: %[[SUM1:.*]] = mk_sm.mma_fence %[[SUM]]
// CHECK-NEXT: %[[P:.*]] = mk_sm.mma %
// CHECK: %[[Q0:.*]] = mk_sm.mma_wait 1, %[[Q]]
// CHECK: arith.addf %[[SUM1]]
// CHECK-COUNT-2: mk.load %a
// CHECK: %[[Q:.*]] = mk_sm.mma %
// CHECK: mk_sm.mma_wait 1, %[[P]]
// CHECK-NOT: mk_sm.mma %
// CHECK-NOT: mk.load
// CHECK: mk_sm.mma_wait 0, %[[Q]]
// CHECK-NEXT: mk_sm.release
// CHECK: %[[LAST:.*]] = arith.addf
// CHECK: scf.yield %[[LAST]], %[[T0]], %[[M0]], %[[T1]],

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @scaled on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %t = mk.load %a[%j, %c0] : memref<?x64xf32> -> !row
        %number = memref.load %n[%j] : memref<?xf32>
        %ns = tensor.splat %number : !row
        %u = arith.mulf %t, %ns : !row
        %scales = mk.broadcast %u dims [1] : !row -> !f
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %x = arith.mulf %p, %scales : !f
        %s = arith.addf %o, %x : !f
        scf.yield %s : !f
      }
    }
  }
}
