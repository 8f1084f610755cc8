// RUN: mk-opt %s -split-input-file -mk-sm-pair-dots --remarks=pair-dots -verify-diagnostics -o %t

// Which dots run while results are used, and each reason why not.

// The dot of one iteration is under way while the result of another is used.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @paired on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        // expected-remark @+1 {{mk-sm-pair-dots: passed: is under way while the result of the one before is used, but for one of 4 iterations}}
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %s = arith.addf %o, %p : !f
        scf.yield %s : !f
      }
    }
  }
}

// -----

// Nothing is done with its result: mk-sm-defer-waits keeps it in flight.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @carried on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        scf.yield %p : !f
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
!staged = !mk_sm.staged<!tile>
!f = tensor<64x128xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @large on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %ws = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        %wa = mk_sm.wait %ws : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
        %W = mk_sm.tile %wa[0] : !mk_sm.slot<tensor<128x64xbf16>> -> !mk_sm.staged<tensor<128x64xbf16>>
        mk_sm.mma_fence none
        // expected-remark @+1 {{mk-sm-pair-dots: missed: is waited for before its result is used: to have another one under way takes 192 registers of 136; use smaller tiles, or more warpgroups}}
        %p0 = mk_sm.mma %K, %W, %zero transpose_b : !staged, !mk_sm.staged<tensor<128x64xbf16>>, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        mk_sm.release %ws : !mk_sm.ring<2, tensor<128x64xbf16>>
        %s = arith.addf %o, %p : !f
        scf.yield %s : !f
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
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @registers on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %x = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        // expected-remark @+1 {{mk-sm-pair-dots: missed: has a left operand in registers, which is computed first: load it from memory}}
        %p0 = mk_sm.mma %x, %K, %zero transpose_b : tensor<64x64xbf16, #acc>, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %s = arith.addf %o, %p : !f
        scf.yield %s : !f
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
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @outside on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %oa = mk_sm.wait %vs : !ring -> !slot
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        %V = mk_sm.tile %oa[0] : !slot -> !staged
        mk_sm.mma_fence none
        // expected-remark @+1 {{mk-sm-pair-dots: missed: reads a tile of a slot that is waited for outside of the loop: load it in the loop, or keep its slot outside}}
        %p0 = mk_sm.mma %K, %V, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %s = arith.addf %o, %p : !f
        scf.yield %s : !f
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
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @branch on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %c = arith.cmpi eq, %j, %c0 : index
        // expected-remark @+1 {{mk-sm-pair-dots: missed: is control flow in a loop of dots: compute both ways and select}}
        %q = scf.if %c -> (!f) {
          scf.yield %p : !f
        } else {
          scf.yield %zero : !f
        }
        %s = arith.addf %o, %q : !f
        scf.yield %s : !f
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
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @acts on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M], out %y : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %t = mk.reduce add %p axis 1 : !f -> !row
        // expected-remark @+1 {{mk-sm-pair-dots: missed: acts on what others see between dots, which are waited for: do it behind the loop}}
        mk.store %t, %y[%j] : !row, memref<?xf32>
        %s = arith.addf %o, %p : !f
        scf.yield %s : !f
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
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @others on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-pair-dots: missed: is about slots of another ring than the dot's}}
        %va = mk_sm.wait %vs : !ring -> !slot
        mk_sm.release %vs : !ring
        %s = arith.addf %o, %p : !f
        scf.yield %s : !f
      }
    }
  }
}

// -----

// Two dots, each of which is waited for.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @several on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        // expected-remark @+1 {{mk-sm-pair-dots: missed: is waited for before its result is used: its loop has several dots, of which none runs beside another one; use a loop for each}}
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.mma_fence none
        %q0 = mk_sm.mma %K, %K, %zero : !staged, !staged, !f
        %q = mk_sm.mma_wait 0, %q0 : !f
        mk_sm.release %ks : !ring
        %t = arith.mulf %p, %q : !f
        %s = arith.addf %o, %t : !f
        scf.yield %s : !f
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
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @step on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c2 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        // expected-remark @+1 {{mk-sm-pair-dots: missed: is waited for before its result is used: its loop does not count by one; count by one, and multiply}}
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %s = arith.addf %o, %p : !f
        scf.yield %s : !f
      }
    }
  }
}

// -----

// Loads that do not go with the dot.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @loads on @mesh dims(uniform M) (in %n : memref<?xf32> [M], inout %y : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %at = %c0) -> (!f, index) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        // expected-remark @+1 {{mk-sm-pair-dots: passed: is under way while the result of the one before is used, but for one of 4 iterations}}
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-pair-dots: missed: does not go with the dot, and is waited for: its buffer may be written meanwhile; load it in front of the loop}}
        %t = mk.load %y[%j] : memref<?xf32> -> !row
        // expected-remark @+1 {{mk-sm-pair-dots: missed: does not go with the dot, and is waited for: its place does not follow from the iteration alone; compute it from that}}
        %number = memref.load %n[%at] : memref<?xf32>
        %ns = tensor.splat %number : !row
        %u = arith.mulf %t, %ns : !row
        %scales = mk.broadcast %u dims [1] : !row -> !f
        %x = arith.mulf %p, %scales : !f
        %s = arith.addf %o, %x : !f
        %double = arith.addi %at, %j : index
        scf.yield %s, %double : !f, index
      }
    }
  }
}
