// RUN: mk-opt %s -split-input-file -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has no stage and parity: run mk-sm-assign-stages}}
      mk_sm.release %ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @put on @mesh (in %a : memref<64x64xf32> [64, 64], scratch %b : memref<64x64xf32, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has no cursors of its slots: run mk-sm-assign-stages}}
      mk.put %a[%c0, %c0][%c64, %c64] to %b[%c0, %c0] on %c0 : memref<64x64xf32> to memref<64x64xf32, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @padding on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %s = arith.constant 0 : i32
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring at(%s, %s) : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
      // expected-error @+1 {{has no cursor of its padding: run mk-sm-assign-stages}}
      mk_sm.copy %a[%c0, %c0] valid(%c64, %c64) to %slot[0] : memref<64x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @swapped on @mesh (out %s : memref<64x64xf32> [64, 64]) {
  mk.role @r ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has no cursor that counts it: run mk-sm-assign-stages}}
      %a, %b = mk_sm.swap_parts %t : tensor<64x64xf32, #acc> -> tensor<64x32xf32, #acc>, tensor<64x32xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @posted on @mesh (out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      // expected-error @+1 {{has no cursor of what its partition posts: run mk-sm-assign-stages}}
      mk_sm.store %t, %s[%c0, %c0] on %c0 posted through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}
