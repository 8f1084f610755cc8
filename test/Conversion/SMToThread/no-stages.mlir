// RUN: mk-opt %s -mk-sm-lay-out-shared -convert-mk-sm-to-thread -verify-diagnostics

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
