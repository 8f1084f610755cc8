// RUN: mk-opt %s -split-input-file -mk-sm-take-turns --remarks=take-turns -verify-diagnostics -o %t

// Where warpgroups take turns, and each reason why not.

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
      // expected-remark @+1 {{mk-sm-take-turns: passed: has two warpgroups issue dots in turn}}
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

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @waits on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-take-turns: missed: waits for each dot at once, so warpgroups have nothing to compute while dots of the other one run}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %e = math.exp2 %s : tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
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
mk.kernel @teams on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) teams(2) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-take-turns: missed: is run by teams, which take turns over items}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 1, %s0 : tensor<64x64xf32, #acc>
        %e = math.exp2 %s : tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
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
mk.kernel @one on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-take-turns: missed: is run by 1 warpgroup; two take turns: use tiles of 128 rows}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 1, %s0 : tensor<64x64xf32, #acc>
        %e = math.exp2 %s : tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}
