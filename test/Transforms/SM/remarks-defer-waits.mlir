// RUN: mk-opt %s -split-input-file -mk-sm-defer-waits --remarks=defer-waits -verify-diagnostics -o %t

// What stays in flight over iterations, and each reason why not.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @deferred on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-defer-waits: passed: keeps 1 dots in flight until those of the next iteration have begun}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

// Others have moved its waits: nothing to say.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @other on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        mk_sm.mma_wait 1
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
mk.kernel @used on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-defer-waits: missed: carries a tile that its iterations use besides adding to it}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %u = arith.addf %o, %o : tensor<64x64xf32, #acc>
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
mk.kernel @swapped on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-defer-waits: missed: carries an accumulator on in the place of another one}}
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %o2 = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %o2, %n : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
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
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        // expected-remark @+1 {{mk-sm-defer-waits: missed: fences an accumulator for several dots}}
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %u = arith.addf %f, %f : tensor<64x64xf32, #acc>
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
mk.kernel @taken on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        // expected-remark @+1 {{mk-sm-defer-waits: missed: takes what the loop accumulates, which then has to be complete: move it behind the loop}}
        %h = arith.mulf %o, %zero : tensor<64x64xf32, #acc>
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %h : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
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
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %h = arith.truncf %zero : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
        // expected-remark @+1 {{mk-sm-defer-waits: missed: has a left operand in registers, which the next iteration overwrites: load it from memory}}
        %n0 = mk_sm.mma %h, %K, %o : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
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
mk.kernel @waited on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        // expected-remark @+1 {{mk-sm-defer-waits: missed: is not waited for at once, so it has been moved already}}
        %n = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      %w = mk_sm.mma_wait 0, %r : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @idle on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-defer-waits: passed: keeps 1 dots in flight until those of the next iteration have begun}}
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %o2 = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n, %o2 : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
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
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-defer-waits: missed: is control flow in a loop of dots: move it out of the loop}}
        scf.if %some {
          mk_sm.at_item loop(0) [%j]
        }
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
mk.kernel @work on @mesh dims(uniform M) (out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-defer-waits: missed: works on tiles in registers between dots, which are waited for: use several warpgroups or two teams}}
        mk.store %zero, %c[%j, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
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
      // expected-remark @+1 {{mk-sm-defer-waits: missed: has more dots than the 7 that can be waited for apart: use larger tiles}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %d00 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d0 = mk_sm.mma_wait 0, %d00 : tensor<64x64xf32, #acc>
        %d10 = mk_sm.mma %K, %K, %d0 transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d1 = mk_sm.mma_wait 0, %d10 : tensor<64x64xf32, #acc>
        %d20 = mk_sm.mma %K, %K, %d1 transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d2 = mk_sm.mma_wait 0, %d20 : tensor<64x64xf32, #acc>
        %d30 = mk_sm.mma %K, %K, %d2 transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d3 = mk_sm.mma_wait 0, %d30 : tensor<64x64xf32, #acc>
        %d40 = mk_sm.mma %K, %K, %d3 transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d4 = mk_sm.mma_wait 0, %d40 : tensor<64x64xf32, #acc>
        %d50 = mk_sm.mma %K, %K, %d4 transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d5 = mk_sm.mma_wait 0, %d50 : tensor<64x64xf32, #acc>
        %d60 = mk_sm.mma %K, %K, %d5 transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d6 = mk_sm.mma_wait 0, %d60 : tensor<64x64xf32, #acc>
        %d70 = mk_sm.mma %K, %K, %d6 transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        %d7 = mk_sm.mma_wait 0, %d70 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %d7 : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

// Of slots of 64 KiB there are three.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!large = tensor<64x512xbf16>
!ring = !mk_sm.ring<2, !large>
!slot = !mk_sm.slot<!large>
mk.kernel @large on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-defer-waits: missed: would keep a slot while work on tiles runs beside its dot, and rings have too few: use smaller tiles}}
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %q = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!large>
        %f = mk_sm.mma_fence %o : tensor<64x64xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %f transpose_b : !mk_sm.staged<!large>, !mk_sm.staged<!large>, tensor<64x64xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %q1 = arith.addf %q, %q : tensor<64x64xf32, #acc>
        scf.yield %n, %q1 : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
      }
    }
  }
}
