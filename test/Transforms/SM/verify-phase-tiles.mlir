// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-verify-phase=phase=tiles -verify-diagnostics

// What the split of roles needs.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fine on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %some = arith.constant true
  mk.role @r ctas(rest) {
    mk_sm.items (%i) round(%n) of %M {
      mk_sm.at_item loop(0) [%i]
      %x = mk.load %a[%i, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
      scf.if %some {
        mk.store %x, %b[%i, %c0] : tensor<64x64xbf16>, memref<64x64xbf16>
      }
    }
  }
}

// -----

// A role that is split is not looked at.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @split on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @foreach on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{is a loop of the tile level in front of the split of roles: expand it by mk-expand-loops}}
    mk.foreach (%i) in (%M) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fold on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  mk.role @r ctas(rest) {
    mk_sm.items (%i) round(%n) of %M {
      // expected-error @+1 {{is a fold in front of the split of roles: expand it by mk-expand-folds}}
      %s = mk.fold (%k) in (%M) iter(%t = %zero) : tensor<64xf32> {
        mk.yield %t : tensor<64xf32>
      }
      mk.store %s, %b[%i] : tensor<64xf32>, memref<?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
func.func private @twice(%n: index) -> index {
  %m = arith.addi %n, %n : index
  return %m : index
}
mk.kernel @call on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{is a call in front of the split of roles: inline it by mk-inline-calls}}
    %n = func.call @twice(%M) : (index) -> index
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @channel on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{is of a phase behind the split, in a role that is not split: put it into a partition}}
    %channel = mk_sm.create_ring : !ring
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @layout on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{gives 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>' in front of the split of roles, where tiles have extents that are numbers and no layout: run mk-resolve-params, and leave the layout out}}
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16, #acc>
    mk.store %x, %b[%c0, %c0] : tensor<64x64xbf16, #acc>, memref<64x64xbf16>
  }
}
