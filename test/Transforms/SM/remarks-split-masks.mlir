// RUN: mk-opt %s -split-input-file -mk-sm-split-masks --remarks=split-masks -verify-diagnostics -o %t

// Which masks are split off, and each reason why not.

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
      // expected-remark @+1 {{mk-sm-split-masks: passed: is split into iterations without masks and some with 1}}
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

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @step on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %ninf = arith.constant 0xFF800000 : f32
      // expected-remark @+1 {{mk-sm-split-masks: missed: has masks in a loop whose step is not 1: count iterations}}
      %r = scf.for %j = %c0 to %M step %c2 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c - 1 >= 0)>[%M] else %ninf : tensor<64x64xf32, #acc>
        %n = arith.addf %z, %o : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @equation on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %ninf = arith.constant 0xFF800000 : f32
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-split-masks: missed: has an equation, which holds for no whole tile}}
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c == 0)>[%M] else %ninf : tensor<64x64xf32, #acc>
        %n = arith.addf %z, %o : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @division on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %ninf = arith.constant 0xFF800000 : f32
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-split-masks: missed: has a constraint with divisions or remainders: write it with sums and constant factors}}
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c floordiv 2 >= 0)>[%M] else %ninf : tensor<64x64xf32, #acc>
        %n = arith.addf %z, %o : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @product on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %ninf = arith.constant 0xFF800000 : f32
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %square = arith.muli %j, %j : index
        // expected-remark @+1 {{mk-sm-split-masks: missed: depends on a number that is no sum of multiples of the loop's variable and of values outside of it}}
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c >= 0)>[%square] else %ninf : tensor<64x64xf32, #acc>
        %n = arith.addf %z, %o : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @grows on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %ninf = arith.constant 0xFF800000 : f32
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-split-masks: missed: leaves more of a tile the further the loop goes; only its last iterations can be split off: go through the loop from its end}}
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c >= 0)>[%j] else %ninf : tensor<64x64xf32, #acc>
        %n = arith.addf %z, %o : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}
