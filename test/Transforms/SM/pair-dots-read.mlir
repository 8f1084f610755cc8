// RUN: mk-opt %s -mk-sm-pair-dots -canonicalize | FileCheck %s

// What is read of a slot beside a dot is read before the dot starts: the slot is given back before
// the result is used.

// CHECK: scf.for %{{.*}} step %c4
// CHECK: mk_sm.wait
// CHECK: %[[L:.*]] = mk_sm.tile %{{.*}}[1]
// CHECK: %[[T0:.*]] = mk_sm.read %[[L]]
// CHECK: %[[P:.*]] = mk_sm.mma %
// CHECK: mk_sm.wait
// CHECK: %[[T1:.*]] = mk_sm.read
// CHECK: %[[Q:.*]] = mk_sm.mma %
// CHECK-NEXT: %[[P0:.*]] = mk_sm.mma_wait 1, %[[P]]
// CHECK-NEXT: mk_sm.release
// CHECK-NEXT: %[[B:.*]] = mk.broadcast %[[T0]]
// CHECK-NEXT: arith.mulf %[[P0]], %[[B]]
// CHECK: %[[T2:.*]] = mk_sm.read
// CHECK: mk_sm.mma %
// CHECK: %[[Q0:.*]] = mk_sm.mma_wait 1, %[[Q]]
// CHECK-NEXT: mk_sm.release
// CHECK-NEXT: mk.broadcast %[[T1]]

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!list = tensor<64xf32>
!ring = !mk_sm.ring<2, !tile, !list>
!slot = !mk_sm.slot<!tile, !list>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @listed on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        %l = mk_sm.tile %ka[1] : !slot -> !mk_sm.staged<!list>
        %t = mk_sm.read %l : !mk_sm.staged<!list> -> !row
        %scales = mk.broadcast %t dims [1] : !row -> !f
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
