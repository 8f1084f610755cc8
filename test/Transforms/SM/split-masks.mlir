// RUN: mk-opt %s -mk-sm-split-masks | FileCheck %s

// Iterations whose tiles are whole need no mask.
// CHECK-LABEL: mk.kernel @split
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @split on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %ninf = arith.constant 0xFF800000 : f32
      // The last iteration in which all columns of a tile are below M.
      // CHECK: %[[FULL:.*]] = arith.floordivsi
      // CHECK: %[[UPTO:.*]] = arith.maxsi
      // CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %[[UPTO]] step %c1
      // CHECK-NOT: mk.mask
      // CHECK: scf.for %{{.*}} = %[[UPTO]] to %M step %c1 iter_args(%{{.*}} = %[[FIRST]])
      // CHECK: %[[MASKED:.*]] = mk.mask
      // CHECK: arith.addf %[[MASKED]]
      // CHECK-NOT: scf.for
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %c64 = arith.constant 64 : index
        %key = arith.muli %j, %c64 : index
        %left = arith.subi %M, %key : index
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c - 1 >= 0)>[%left] else %ninf : tensor<64x64xf32, #acc>
        %n = arith.addf %z, %o : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// A mask of what is the same everywhere, whose places are known, chooses between two values of a
// thread: it costs nothing, in no iteration.
// CHECK-LABEL: mk.kernel @chosen
// CHECK: scf.for
// CHECK: mk.mask
// CHECK-NOT: scf.for
mk.kernel @chosen on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %all = arith.constant dense<true> : tensor<64x64xi1, #acc>
      %false = arith.constant false
      %c32 = arith.constant 32 : index
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %left = mk.mask %all where affine_set<(r, c)[n] : (n - c - 1 >= 0)>[%c32] else %false : tensor<64x64xi1, #acc>
        %n = arith.select %left, %s, %o : tensor<64x64xi1, #acc>, tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// Beside another mask it stays in all iterations: nobody has asked when it holds.
// CHECK-LABEL: mk.kernel @beside
// CHECK: scf.for
// CHECK: %[[TRIANGLE:.*]] = mk.mask %cst
// CHECK-NOT: mk.mask
// CHECK: arith.select %[[TRIANGLE]]
// CHECK: scf.for
// CHECK-COUNT-2: mk.mask
mk.kernel @beside on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %all = arith.constant dense<true> : tensor<64x64xi1, #acc>
      %false = arith.constant false
      %ninf = arith.constant 0xFF800000 : f32
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %below = mk.mask %all where affine_set<(r, c) : (r - c - 1 >= 0)> else %false : tensor<64x64xi1, #acc>
        %left = arith.subi %M, %j : index
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c - 1 >= 0)>[%left] else %ninf : tensor<64x64xf32, #acc>
        %n = arith.select %below, %z, %o : tensor<64x64xi1, #acc>, tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}
