// RUN: mk-opt %s -mk-sm-defer-waits --remarks=defer-waits -verify-diagnostics | FileCheck %s

// What takes nothing of the dot is done while it runs, in front of it or behind it in the loop.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!fragment = tensor<64x64xbf16, #acc>
!sum = tensor<64x64xf32, #acc>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<4, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @beside on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !sum
      // CHECK: %[[L:.*]]:2 = scf.for %{{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
      // CHECK-NEXT: mk_sm.wait
      // CHECK-NEXT: %[[K:.*]] = mk_sm.tile
      // CHECK-NEXT: %[[LATER:.*]] = arith.cmpi ne
      // CHECK-NEXT: mk_sm.mma_fence none
      // CHECK-NEXT: %[[D:.*]] = mk_sm.mma %[[K]], %[[K]], %[[O]] accumulate(%[[LATER]])
      // CHECK-NEXT: %[[X:.*]] = mk_sm.read %[[K]]
      // CHECK-NEXT: %[[W:.*]] = arith.extf %[[X]]
      // CHECK-NEXT: %[[S:.*]] = arith.mulf %[[W]], %[[W]]
      // CHECK-NEXT: %[[N:.*]] = arith.addf %[[Q]], %[[S]]
      // CHECK-NEXT: mk_sm.mma_wait 1
      // CHECK-NEXT: scf.if %[[LATER]]
      // CHECK-NEXT: mk_sm.release %{{.*}} read
      // CHECK-NEXT: }
      // CHECK-NEXT: scf.yield %[[D]], %[[N]]
      // CHECK: mk_sm.mma_wait 0, %[[L]]#0
      // CHECK-NEXT: mk_sm.release %{{.*}} read
      // expected-remark @+1 {{mk-sm-defer-waits: passed: keeps 1 dots in flight until those of the next iteration have begun}}
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %q = %zero) -> (!sum, !sum) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        %x = mk_sm.read %K : !staged -> !fragment
        %w = arith.extf %x : !fragment to !sum
        %f = mk_sm.mma_fence %o : !sum
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !staged, !staged, !sum
        %n = mk_sm.mma_wait 0, %n0 : !sum
        mk_sm.release %ks read : !ring
        %s = arith.mulf %w, %w : !sum
        %q1 = arith.addf %q, %s : !sum
        scf.yield %n, %q1 : !sum, !sum
      }
    }
  }
}
