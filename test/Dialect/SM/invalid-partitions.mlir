// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<256x64xbf16> [256, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{is the second producer of its role}}
    mk_sm.partition producer warps(1) registers(40) {
    }
    mk_sm.partition producer warps(1) registers(40) {
    }
  }
}

// -----

// The other partition is verified later and has no kind.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<256x64xbf16> [256, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
    }
    // expected-error @+1 {{requires attribute 'kind'}}
    "mk_sm.partition"() <{registers = 240 : i64, warps = 8 : i64}> ({
    ^bb0:
    }) : () -> ()
  }
}
