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
