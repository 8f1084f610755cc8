// RUN: mk-opt %s -mk-sm-take-turns | FileCheck %s

// A warpgroup has the turn from its first product to the last one before it waits.

// CHECK: scf.for
// CHECK:      mk_sm.turn_wait
// CHECK-NEXT: mk_sm.mma
// CHECK-NEXT: %[[LAST:.*]] = mk_sm.mma
// CHECK-NEXT: mk_sm.turn_pass
// CHECK-NEXT: mk_sm.mma_wait 1
// CHECK-NOT:  mk_sm.turn
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
!tile = tensor<128x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @turns on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %us = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %va = mk_sm.wait %us : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        %V = mk_sm.tile %va[0] : !mk_sm.slot<tensor<64x64xbf16>> -> !mk_sm.staged<tensor<64x64xbf16>>
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %V, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<tensor<64x64xbf16>>, tensor<128x64xf32, #acc>
        %n0 = mk_sm.mma %K, %V, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<tensor<64x64xbf16>>, tensor<128x64xf32, #acc>
        %s = mk_sm.mma_wait 1, %s0 : tensor<128x64xf32, #acc>
        %e = math.exp2 %s : tensor<128x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<128x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n : tensor<128x64xf32, #acc>
      }
    }
  }
}
