// RUN: mk-opt %s --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = 8 via link)
!part = memref<?x64xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 2>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds mk.wait: it takes signals that are not strong, branches around them and pure scalars; move the rest out of it}}
      mk_sm.signal_all {
        mk.wait %s[%c0] ge %c1 : !mk.signal<1, sys, arrivals = 2>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
!part = memref<?x64xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 2>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<1.0> : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      // expected-error @+1 {{holds arith.negf: it takes signals that are not strong, branches around them and pure scalars; move the rest out of it}}
      mk_sm.signal_all {
        %n = arith.negf %t : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
        mk.signal %s[%c0] on %c1 : !mk.signal<1, sys, arrivals = 2>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
!part = memref<?x64xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 2>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds mk.signal: it takes signals that are not strong}}
      mk_sm.signal_all {
        mk.signal strong %s[%c0] on %c1 : !mk.signal<1, sys, arrivals = 2>
      }
    }
  }
}
