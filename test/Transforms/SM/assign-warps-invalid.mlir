// RUN: mk-opt %s -mk-sm-lay-out-shared -mk-sm-assign-warps -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{needs 66560 registers (128 threads of 40, 256 of 240); 384 threads have 64512: give the consumer 232}}
mk.kernel @registers on @mesh (in %a : memref<256x64xbf16> [256, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {}
    mk_sm.partition consumer warps(8) registers(240) {}
  }
}

// -----

// CTAs that help have no place in the role.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @place on @mesh (in %a : memref<64xf32> [64]) {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{helper declared here}}
  mk.role @first ctas(1) then @second {
    mk_sm.partition consumer warps(4) registers(168) {}
  }
  mk.role @second ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has no value where CTAs of role 'first' help role 'second': draw tickets, or drop 'then'}}
      mk_sm.items (%i) round(%n) of %c1 {
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @three on @mesh () {
  mk.role @a ctas(1 beside @r) {}
  mk.role @b ctas(1 beside @r) {}
  // expected-error @+1 {{'c' is role 3 that is run beside others; a CTA has warps for 2: put two of them into one, or give it CTAs of its own}}
  mk.role @c ctas(1 beside @r) {}
  mk.role @r ctas(1) {}
}
