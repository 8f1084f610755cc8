// RUN: mk-opt %s --convert-mk-to-host=grid=4 --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = ? via link)
// expected-error @below {{runs on mesh @mesh, which has an axis of unknown size; bind it (mk-bind, or --bind AXIS=N)}}
mk.kernel @unbound on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @stream_k on @mesh (in %a : memref<4xf32> [4]) {
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  mk.role @r ctas(1) {
    // expected-error @below {{with schedule stream_k is lowered as ordinary loops: run mk-expand-stream-k before}}
    mk.foreach (%i) in (%c4) schedule(stream_k, tail = 1) {
      %acc = mk.fold (%k) in (%c4) iter(%c = %zero) combine(add) : tensor<16x16xf32> {
        mk.yield %c : tensor<16x16xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nested on @mesh (in %a : memref<4xf32> [4]) {
  %c4 = arith.constant 4 : index
  %true = arith.constant true
  mk.role @r ctas(1) {
    scf.if %true {
      // expected-error @below {{with schedule(ticket) stands inside another op}}
      mk.foreach (%i) in (%c4) schedule(ticket) {
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @prepared on @mesh (in %a : memref<4xf32> [4]) {
  %c4 = arith.constant 4 : index
  mk.prepare {
    // expected-error @below {{with schedule(ticket) stands in mk.prepare, which has no tickets; use schedule(static)}}
    mk.foreach (%i) in (%c4) schedule(ticket) {
    }
  }
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @contents on @mesh dims(uniform M) (in %a : memref<?x4xf32> [M, 4]) {
  // expected-error @below {{depends on the contents of an argument}}
  %n = memref.dim %a, %M : memref<?x4xf32>
  %s = mk.counters(%n) : !mk.counter<?>
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @below {{need}}
mk.kernel @grid on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(5) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @one on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}
// expected-error @below {{is the second kernel of the module; a package has one, choose it with --kernel}}
mk.kernel @two on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}
