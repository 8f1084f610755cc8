// RUN: mk-opt %s -split-input-file -mk-sm-overlap-dots --remarks=overlap-dots -verify-diagnostics -o %t

// What is overlapped, and each reason why not.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @overlapped on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: passed: runs together with 1 dots of the next iteration}}
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

// One dot: nothing to say.
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
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %s : tensor<64x64xf32, #acc>
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
      // expected-remark @+1 {{mk-sm-overlap-dots: missed: has dots in a loop whose step is not 1: count iterations}}
      %r = scf.for %j = %c0 to %M step %c2 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @many on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-overlap-dots: missed: has more dots than the 7 that can be waited for apart: use larger tiles}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        %d00 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d0 = mk_sm.mma_wait 0, %d00 : tensor<64x64xf32, #acc>
        %d10 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d1 = mk_sm.mma_wait 0, %d10 : tensor<64x64xf32, #acc>
        %d20 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d2 = mk_sm.mma_wait 0, %d20 : tensor<64x64xf32, #acc>
        %d30 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d3 = mk_sm.mma_wait 0, %d30 : tensor<64x64xf32, #acc>
        %d40 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d4 = mk_sm.mma_wait 0, %d40 : tensor<64x64xf32, #acc>
        %d50 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d5 = mk_sm.mma_wait 0, %d50 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @moved on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: is not waited for at once and by itself, so it has been moved already}}
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s, %s9 = mk_sm.mma_wait 0, %s0, %zero : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @left on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %h = arith.truncf %zero : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: has a left operand in registers, which is computed first: load it from memory, or do this dot last}}
        %s0 = mk_sm.mma %h, %K, %zero transpose_b : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @adds on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %one = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: adds to an accumulator; only dots that start from zero can begin early: add its result by arith.addf}}
        %s0 = mk_sm.mma %K, %K, %one transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @carries on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %one = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %q = %one)
          -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: adds to an accumulator that the loop carries; only dots that start from zero can begin early, and to add their results takes as many registers again: leave it as it is (mk-sm-defer-waits keeps such dots in flight)}}
        %s0 = mk_sm.mma %K, %K, %q transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
        scf.yield %n, %s : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
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
mk.kernel @late_moved on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: is not waited for at once and by itself, so it has been moved already}}
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n, %n9 = mk_sm.mma_wait 0, %n0, %zero : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @late_used on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: gives a result that its iteration uses, too; only one that is carried to the next iteration can come late}}
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
        %n8 = arith.addf %n, %zero : tensor<64x64xf32, #acc>
        scf.yield %n8 : tensor<64x64xf32, #acc>
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
mk.kernel @fence on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %V9 = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %V9[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: shares the fence of its operands with other dots}}
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
        %w = arith.extf %g#0 : tensor<64x64xbf16, #acc> to tensor<64x64xf32, #acc>
        %w2 = arith.addf %w, %w : tensor<64x64xf32, #acc>
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
mk.kernel @slot on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: reads a tile that comes in one slot with those of other dots, or that others read, and the slot cannot be kept: load its tile apart}}
        %n0 = mk_sm.mma %g#0, %K, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
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
mk.kernel @ring on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %ks : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: takes slots of a ring that others take slots of in the same iteration}}
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
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
mk.kernel @effects on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: takes the accumulator of the last dot and has effects or control flow, so it cannot be put off with that}}
        %of = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %of : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @two_places on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %o2 = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: has an accumulator that the loop carries on in another place, too}}
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
        scf.yield %n, %o : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
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
mk.kernel @behind on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %h = arith.addf %zero, %zero : tensor<64x64xf32, #acc>
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: stands behind work on tiles in registers: move it in front of that}}
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
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
mk.kernel @control on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %some = arith.constant true
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %kas = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %kas[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %p = math.exp2 %s : tensor<64x64xf32, #acc>
        %pt = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        // expected-remark @+1 {{mk-sm-overlap-dots: missed: is control flow between dots: compute both ways and select}}
        scf.if %some {
          mk_sm.at_item loop(0) [%j]
        }
        %va = mk_sm.wait %vs : !ring -> !slot
        %V = mk_sm.tile %va[0] : !slot -> !mk_sm.staged<!tile>
        %g:2 = mk_sm.mma_fence %pt, %o : tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %g#0, %V, %g#1 : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %vs : !ring
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}
