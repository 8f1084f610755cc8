// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{stands in mk_sm.partition, and is about a loop: put it into an scf.for}}
      mk_sm.keep_words
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @work ctas(2) {
    scf.for %i = %c0 to %M step %c1 {
      // expected-error @+1 {{is about a loop outside of partitions, where no code is made for threads: put it into a loop of a partition}}
      mk_sm.keep_words
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %i = %c0 to %M step %c1 {
        mk_sm.keep_words
        // expected-error @+1 {{says of its loop what another one says: remove one of them}}
        mk_sm.keep_words
      }
    }
  }
}
