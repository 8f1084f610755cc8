// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @place on @mesh () {
  %s = arith.constant 0 : i32
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{is at 1 numbers: a place in a channel is a stage and a parity}}
      mk_sm.release %ring at(%s) : !mk_sm.ring<2, tensor<64x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @outside on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    // expected-error @+1 {{counts what a partition does: put it at the beginning of one}}
    %c = mk_sm.cursor %ring parity(0) : !mk_sm.ring<2, tensor<64x64xbf16>>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @depth on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<?, tensor<64x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{counts slots of a ring of unknown depth: run mk-sm-size-rings first}}
      %c = mk_sm.cursor %ring parity(0) : !mk_sm.ring<?, tensor<64x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @neither on @mesh () {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{counts slots of a channel, or so many of its partition's own: give it one of the two}}
      %c = mk_sm.cursor parity(0)
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @two on @mesh () {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %c = mk_sm.cursor slots(3) parity(0)
      // expected-error @+1 {{holds something else than one mk.put: move the rest out of it}}
      mk_sm.pipeline_put load(%c) store(%c) {
        mk.fence
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @slots on @mesh (in %a : memref<64xf32> [64], scratch %b : memref<64xf32, #mk.symmetric> [64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %c = mk_sm.cursor slots(3) parity(0)
      %d = mk_sm.cursor slots(2) parity(0)
      // expected-error @+1 {{has a cursor that does not count the 6 slots of puts: delete it, and run mk-sm-assign-stages}}
      mk_sm.pipeline_put load(%c) store(%d) {
        mk.put %a[%c0][%c0] to %b[%c0] on %c0 : memref<64xf32> to memref<64xf32, #mk.symmetric>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @padding on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %c = mk_sm.cursor slots(3) parity(0)
      %s = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
      // expected-error @+1 {{has a cursor that does not count the 1 barrier of tiles that land: delete it, and run mk-sm-assign-stages}}
      mk_sm.copy %a[%c0, %c0] to %s[0] padding(%c) : memref<64x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
    }
  }
}
