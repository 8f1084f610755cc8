// RUN: mk-opt %s -mk-sm-pair-dots -canonicalize | FileCheck %s

// Where it is known how many iterations there are, here 43, ten go together, and behind them what is
// left: no iteration is by itself. The last three take what the fourth ten loaded ahead: the last three
// of all.

// CHECK-LABEL: mk.kernel @known
// CHECK: %[[TENS:.*]]:11 = scf.for %[[J:.*]] = %c0 to %c40 step %c10 iter_args(
// The fourth ten load 33 to 42.
// CHECK: %[[J10:.*]] = arith.addi %[[J]], %c10
// CHECK: arith.minsi %[[J10]], %c33
// CHECK-COUNT-9: mk_sm.mma_wait 1
// CHECK: mk_sm.mma_wait 0
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK: %[[P:.*]] = mk_sm.mma %
// CHECK: %[[Q:.*]] = mk_sm.mma %
// CHECK: mk_sm.mma_wait 1, %[[P]]
// CHECK: tensor.splat %[[TENS]]#8
// CHECK: arith.addf %[[TENS]]#0
// CHECK: %[[P:.*]] = mk_sm.mma %
// CHECK: mk_sm.mma_wait 1, %[[Q]]
// CHECK: tensor.splat %[[TENS]]#9
// CHECK: mk_sm.mma_wait 0, %[[P]]
// CHECK: tensor.splat %[[TENS]]#10
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NOT: memref.load
// CHECK: mk.store %[[SUM]]

// One that is left is done before: a turn has two at least.
// CHECK-LABEL: mk.kernel @one_left
// CHECK: mk_sm.mma %
// CHECK-NEXT: mk_sm.mma_wait 0
// CHECK: scf.for %{{.*}} = %c1 to %c41 step %c10 iter_args(
// CHECK-COUNT-10: mk_sm.mma %
// CHECK-NOT: mk_sm.mma %

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
mk.kernel @known on @mesh dims(uniform M) (in %n : memref<?xf32> [M], out %o : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c43 = arith.constant 43 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %c43 step %c1 iter_args(%s = %zero) -> (!f) {
        %number = memref.load %n[%j] : memref<?xf32>
        %scales = tensor.splat %number : !f
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %x = arith.mulf %p, %scales : !f
        %t = arith.addf %s, %x : !f
        scf.yield %t : !f
      }
      mk.store %r, %o[%c0, %c0] : !f, memref<?x64xf32>
    }
  }
}

mk.kernel @one_left on @mesh dims(uniform M) (in %n : memref<?xf32> [M], out %o : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c41 = arith.constant 41 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %c41 step %c1 iter_args(%s = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %t = arith.addf %s, %p : !f
        scf.yield %t : !f
      }
      mk.store %r, %o[%c0, %c0] : !f, memref<?x64xf32>
    }
  }
}
