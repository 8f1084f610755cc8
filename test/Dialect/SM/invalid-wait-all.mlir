// RUN: mk-opt %s --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds something else than one loop: move the rest out of it}}
      mk_sm.wait_all {
        %m = arith.addi %M, %c1 : index
        scf.for %i = %c0 to %m step %c1 {
          mk.wait %s[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds an op that is no scf.for: leave it as it is}}
      mk_sm.wait_all {
        mk.wait %s[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %s = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds an op that does more than to wait: leave it as it is}}
      mk_sm.wait_all {
        scf.for %i = %c0 to %M step %c1 {
          mk.wait %s[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
          memref.store %x, %b[%i] : memref<?xf32>
        }
      }
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
      // expected-error @+1 {{holds an op that waits for nothing: leave it as it is}}
      mk_sm.wait_all {
        scf.for %i = %c0 to %M step %c1 {
          %m = arith.addi %i, %c1 : index
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds an op that carries values from one iteration to the next: leave it as it is}}
      mk_sm.wait_all {
        %last = scf.for %i = %c0 to %M step %c1 iter_args(%n = %c0) -> index {
          mk.wait %s[%n] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
          %next = arith.addi %n, %c1 : index
          scf.yield %next : index
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 8 via link)
mk.kernel @k on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{holds an op that is recorded, wait by wait: leave it as it is}}
      mk_sm.wait_all {
        scf.for %i = %c0 to %M step %c1 {
          mk.wait %s[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
        }
      }
    }
  }
  mk_sm.shared_memory 2048 tracks(1024)
}
