// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-verify-phase=phase=sized -verify-diagnostics

// What the sizing of rings promises.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @fine on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] shared(2) : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @depth on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a ring of unknown depth when sizes are fixed: run mk-sm-size-rings, or write a number}}
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @odd on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(3) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{needs clusters of 2 CTAs, but its role has 3 of 3 from number 0 on: all of these have to be multiples of 2}}
      mk_sm.copy %a[%c0, %c0] to %s[0] shared(2) : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @sizes on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] shared(4) : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{is done by 2 CTAs and another op by 4: a kernel has clusters of one size}}
      %x:2 = mk_sm.swap_parts %z : tensor<64x64xf32, #acc> -> tensor<64x32xf32, #acc>, tensor<64x32xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// expected-error @+1 {{roles of kernel 'grid' need 16 CTAs on a grid of 8: 'r' 16; give roles fewer CTAs or the kernel a larger grid}}
mk.kernel @grid on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(16) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}
