// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-verify-phase=phase=overlapped -verify-diagnostics

// What passes that overlap matrix ops promise.

// Matrix ops in flight are fine.
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
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @beside on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{stands in a role beside its partitions, where nobody does it: run mk-sm-split-roles, or move it into a partition}}
    %i = arith.addi %M, %M : index
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @unfilled on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a ring that is read but never filled: the role would not end}}
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {

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

// Registers that nobody fills, where the first product ignores them.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @ignored on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %p = ub.poison : tensor<64x64xf32, #acc>
      %l = scf.for %i = %c0 to %M step %c1 iter_args(%acc = %p) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ring : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
        %behind = arith.cmpi ne, %i, %c0 : index
        %d = mk_sm.mma %x, %x, %acc accumulate(%behind) : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        mk_sm.mma_wait 0
        mk_sm.release %ring : !ring
        scf.yield %d : tensor<64x64xf32, #acc>
      }
      %e = mk_sm.mma_wait 0, %l : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @poison on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %p = ub.poison : tensor<64x64xf32, #acc>
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      // expected-error @+1 {{uses a fragment that nobody has filled other than as the accumulator of an mk_sm.mma that says when it counts (accumulate): start from zeros}}
      %d = mk_sm.mma %x, %x, %p transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
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
mk.kernel @poison_loop on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %p = ub.poison : tensor<64x64xf32, #acc>
      // expected-error @+1 {{uses a fragment that nobody has filled other than as the accumulator of an mk_sm.mma that says when it counts (accumulate): start from zeros}}
      %l = scf.for %i = %c0 to %M step %c1 iter_args(%acc = %p) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ring : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
        %d = mk_sm.mma %x, %x, %acc : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
        mk_sm.mma_wait 0
        mk_sm.release %ring : !ring
        scf.yield %d : tensor<64x64xf32, #acc>
      }
      %e = mk_sm.mma_wait 0, %l : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @teams on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    // expected-error @+1 {{has teams that wait for slots without a turn, and would take one another's: run mk-sm-alternate-items}}
    mk_sm.partition consumer warps(8) registers(168) teams(2) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      mk_sm.release %ring : !ring
    }
  }
}
