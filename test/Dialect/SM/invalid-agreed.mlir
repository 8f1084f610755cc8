// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @warp on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{is one warp and 'agrees' behind its waits: it does where it loads}}
    mk_sm.partition producer warps(1) registers(40) agrees {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @load on @mesh (scratch %list : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has mk_sm.agreed, which scf.while may have, and memref.load in a producer, in a mover and in a consumer that 'agrees': leave it out, or let the consumer agree}}
      %v = memref.load %list[%c0] {mk_sm.agreed} : memref<1xi32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @tickets on @mesh () {
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has mk_sm.agreed, but draws items, of which none are left after a failure: leave it out}}
      scf.while : () -> () {
        %t = mk_sm.ticket loop(0)
        %more = arith.cmpi ult, %t, %c8 : index
        scf.condition(%more)
      } do {
        scf.yield
      } attributes {mk_sm.agreed}
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @value on @mesh (scratch %list : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{has false for mk_sm.agreed, which takes no value: write the name alone}}
      %v = memref.load %list[%c0] {mk_sm.agreed = false} : memref<1xi32>
    }
  }
}
