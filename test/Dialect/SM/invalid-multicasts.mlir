// RUN: mk-opt %s --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = 8 via link)
!part = memref<?x?xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (in %a : !part [M, 64] split [(gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      // expected-error @+1 {{goes to 1 peers; use 2 to 4, and several ops for more}}
      mk_sm.multicast also() {
        mk.put %a[%c0, %c0][%c1, %M] to %b[%c0, %c0] on %c1 : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
!part = memref<?x?xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (in %a : !part [M, 64] split [(gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      // expected-error @+1 {{holds something else than one mk.put: move the rest out of it}}
      mk_sm.multicast also(%c0) {
        %n = arith.addi %c0, %c1 : index
        mk.put %a[%c0, %c0][%c1, %M] to %b[%c0, %c0] on %c1 : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
!part = memref<?x?xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (in %a : !part [M, 64] split [(gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      // expected-error @+1 {{holds a put that adds, or has listed rows, which go one by one: leave it as it is}}
      mk_sm.multicast also(%c0) {
        mk.put %a[%c0, %c0][%c1, %M] to %b[%c0, %c0] on %c1 reduce(add) : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
  }
}

// -----

mk.mesh @mesh (node = 2 via net, gpu = 4 via link)
!part = memref<?x?xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (in %a : !part [M, 64] split [(node, gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      // expected-error @+1 {{holds a put that may cross a network: leave it as it is}}
      mk_sm.multicast also(%c0) {
        mk.put %a[%c0, %c0][%c1, %M] to %b[%c0, %c0] on %c1 : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
  }
}

// -----

mk.mesh @mesh (node = 2 via net, gpu = 4 via link)
!part = memref<?x?xbf16, #mk.symmetric>
mk.kernel @k on @mesh dims(uniform M) (in %a : !part [M, 64] split [(node, gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds a put that is not in a mover, whose lanes hold what they load: leave it as it is}}
      mk_sm.multicast also(%c0) {
        mk.put %a[%c0, %c0][%c1, %M] to %b[%c0, %c0] on %c1 via link : !part to !part
      }
    }
  }
}

// -----

// What is wrong around it is said, too.
!part = memref<?x?xbf16, #mk.symmetric>
// expected-error @+1 {{op @k runs on @mesh, which does not exist: declare mk.mesh @mesh (...)}}
mk.kernel @k on @mesh dims(uniform M) (in %a : !part [M, 64], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      mk_sm.multicast also(%c0) {
        mk.put %a[%c0, %c0][%c1, %M] to %b[%c0, %c0] on %c1 : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
  }
}
