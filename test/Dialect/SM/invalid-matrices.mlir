// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @fence on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #flat>
      // expected-error @+1 {{is about registers of matrix ops, which have layout #mk_sm.mma, not 'tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 1>>': convert it (mk_sm.convert_layout)}}
      %u = mk_sm.mma_fence %t : tensor<64x64xf32, #flat>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @waits on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #flat>
      // expected-error @+1 {{is about registers of matrix ops, which have layout #mk_sm.mma, not 'tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 1>>': convert it (mk_sm.convert_layout)}}
      %u = mk_sm.mma_wait 0, %t : tensor<64x64xf32, #flat>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @many on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{leaves 0 to 7 ops in flight, not 8}}
      mk_sm.mma_wait 8
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @negative on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{leaves 0 to 7 ops in flight, not -1}}
      mk_sm.mma_wait -1
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @covered on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-note @+1 {{started here}}
      %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      // expected-error @+1 {{names a result that it does not wait for: of the op that gives it and 1 behind that, 2 may stay in flight; leave 1 at most}}
      %f = mk_sm.mma_wait 2, %d : tensor<64x64xf32, #acc>
      %g = mk_sm.mma_wait 0, %e : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @behind on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{operand #0 does not dominate this use}}
      %f = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      // expected-note @+1 {{operand defined here}}
      %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @f16 on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf16, #acc>
      // expected-error @+1 {{accumulates in f32 with layout #mk_sm.mma, not in 'tensor<64x64xf16, #mk_sm.mma<warpgroups = 1>>'}}
      %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf16, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @dealt on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #flat>
      // expected-error @+1 {{accumulates in f32 with layout #mk_sm.mma, not in 'tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 1>>'}}
      %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #flat>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @right on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
      // expected-error @+1 {{takes its right operand from shared memory; 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>' is in registers}}
      %d = mk_sm.mma %x, %r, %z : !mk_sm.staged<!tile>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#flat = #mk_sm.blocked<threads = 128, vector = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @left on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = arith.constant dense<0.0> : tensor<64x64xbf16, #flat>
      // expected-error @+1 {{takes a left operand in registers with the layout of its accumulator, got 'tensor<64x64xbf16, #mk_sm.blocked<threads = 128, vector = 1>>'}}
      %d = mk_sm.mma %r, %x, %z : tensor<64x64xbf16, #flat>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @transposed on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
      // expected-error @+1 {{cannot transpose a left operand in registers}}
      %d = mk_sm.mma %r, %x, %z transpose_a : tensor<64x64xbf16, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @elements on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %r = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{multiplies elements of 'f32' by those of 'bf16': convert one of them}}
      %d = mk_sm.mma %r, %x, %z : tensor<64x64xf32, #acc>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @shapes on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x32xf32, #acc>
      // expected-error @+1 {{multiplies '!mk_sm.staged<tensor<64x64xbf16>>' by '!mk_sm.staged<tensor<64x64xbf16>>' into 'tensor<64x32xf32, #mk_sm.mma<warpgroups = 1>>': the shapes do not fit}}
      %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x32xf32, #acc>
    }
  }
}

// -----

// What is in flight is used by an elementwise op, as a left operand, behind a loop, behind a branch.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @early on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{is in flight when its result is used; wait for it by mk_sm.mma_wait, and use what that gives}}
      %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      // expected-note @+1 {{used here}}
      %e = arith.addf %d, %z : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @loop on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %l = scf.for %i = %c0 to %c1 step %c1 iter_args(%c = %z) -> (tensor<64x64xf32, #acc>) {
        // expected-error @+1 {{is in flight when its result is used; wait for it by mk_sm.mma_wait, and use what that gives}}
        %d = mk_sm.mma %x, %x, %c : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        scf.yield %d : tensor<64x64xf32, #acc>
      }
      // expected-note @+1 {{used here}}
      %e = arith.addf %l, %z : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @next on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %l = scf.for %i = %c0 to %c1 step %c1 iter_args(%c = %z) -> (tensor<64x64xf32, #acc>) {
        // expected-note @+1 {{used here}}
        %e = arith.addf %c, %z : tensor<64x64xf32, #acc>
        // expected-error @+1 {{is in flight when its result is used; wait for it by mk_sm.mma_wait, and use what that gives}}
        %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        scf.yield %d : tensor<64x64xf32, #acc>
      }
      %w = mk_sm.mma_wait 0, %l : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @branch on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %some = arith.constant true
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %l = scf.if %some -> (tensor<64x64xf32, #acc>) {
        // expected-error @+1 {{is in flight when its result is used; wait for it by mk_sm.mma_wait, and use what that gives}}
        %d = mk_sm.mma %x, %x, %z : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        scf.yield %d : tensor<64x64xf32, #acc>
      } else {
        scf.yield %z : tensor<64x64xf32, #acc>
      }
      // expected-note @+1 {{used here}}
      %e = arith.addf %l, %z : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @around on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %some = arith.constant true
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %l = scf.while (%c = %z) : (tensor<64x64xf32, #acc>) -> (tensor<64x64xf32, #acc>) {
        scf.condition(%some) %c : tensor<64x64xf32, #acc>
      } do {
      ^bb0(%c: tensor<64x64xf32, #acc>):
        // expected-error @+1 {{is in flight when its result is used; wait for it by mk_sm.mma_wait, and use what that gives}}
        %d = mk_sm.mma %x, %x, %c : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        // expected-note @+1 {{used here}}
        scf.yield %d : tensor<64x64xf32, #acc>
      }
    }
  }
}
