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
      // expected-error @+1 {{stands where threads do not agree on a failure: use memref.load, or write 'agrees' at the consumer}}
      %v = mk_sm.load_agreed %list[%c0] : memref<1xi32>
    }
  }
}

// -----

func.func @indices(%list : memref<1xi32>) {
  // expected-error @+1 {{has 0 indices, but 'memref<1xi32>' has 1 dimensions: give one for each}}
  %v = mk_sm.load_agreed %list[] : memref<1xi32>
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @tickets on @mesh () {
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.while : () -> () {
        %t = mk_sm.ticket loop(0)
        %more = arith.cmpi ult, %t, %c8 : index
        // expected-error @+1 {{ends a loop that draws items, of which none are left after a failure: leave it out}}
        %goes_on = mk_sm.until_failed %more
        scf.condition(%goes_on)
      } do {
        scf.yield
      }
    }
  }
}

// -----

func.func @elsewhere(%more : i1) -> i1 {
  // expected-error @+1 {{is about a loop's end, but its result is not the condition of an scf.while alone: give it to scf.condition}}
  %goes_on = mk_sm.until_failed %more
  return %goes_on : i1
}
