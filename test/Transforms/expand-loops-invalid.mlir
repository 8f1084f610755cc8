// RUN: mk-opt %s -mk-expand-loops -mk-expand-folds -mk-expand-ranks -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @stream_k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  mk.role @r ctas(rest) {
    // expected-error @+1 {{with schedule stream_k reaches the expansion of loops whole; a pass before it splits such loops into parts: run it, or use schedule(ticket)}}
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %sum = mk.fold (%k) in (%M) iter(%acc = %zero) combine(add) : tensor<128xf32> {
        mk.yield %acc : tensor<128xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @inside on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    scf.for %i = %c0 to %M step %c1 {
      // expected-error @+1 {{with schedule(ticket) stands inside 'scf.for', so that its items would be used up by the first pass; move it to the role's top level or use schedule(static)}}
      mk.foreach (%j) in (%M) schedule(ticket) {
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @prepare on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.prepare {
    // expected-error @+1 {{stands in mk.prepare, which has no tickets; use schedule(static)}}
    mk.foreach (%j) in (%M) schedule(ticket) {
    }
  }
  mk.role @r ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @unbound on @mesh (in %c : memref<4xf32> [4]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{goes along axis 'gpu' of unknown size: bind it (--bind gpu=N)}}
    mk.foreach_peer (%p) along gpu {
    }
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
// expected-error @+1 {{runs on mesh @mesh (axis 'gpu'), a size of which is unknown: bind it (--bind AXIS=N)}}
mk.kernel @unbound on @mesh (in %c : memref<4xf32> [4]) {
  %me = mk.rank
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @teams on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has order(alternate = 2), but draws its items one by one: use schedule(static) at the role's top level, or leave alternate out}}
    mk.foreach (%j) in (%M) schedule(ticket) order(alternate = 2) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @inner_teams on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    %some = arith.cmpi eq, %M, %M : index
    scf.if %some {
      // expected-error @+1 {{has order(alternate = 2), but is no loop of a role over its items: use schedule(static) at the role's top level, or leave alternate out}}
      mk.foreach (%i) in (%M) order(alternate = 2) {
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @queue on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = mk.queue(%M) : !mk.queue<?x1xi32>
  mk.role @r ctas(rest) {
    scf.for %i = %c0 to %M step %c1 {
      // expected-error @+1 {{over a queue stands inside 'scf.for', so that its items would be used up by the first pass; move it to the role's top level}}
      mk.foreach_item (%x) of %q count(%c1) : !mk.queue<?x1xi32> {
      }
    }
  }
}

// -----

!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @other_way on @mesh (in %a : !a [8], scratch %b : !a [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    mk.foreach_peer (%p) along node {
      // expected-error @+1 {{goes via link to peers that are reached via net: leave 'via' out}}
      mk.put %a[%c0][%c8] to %b[%c0] on %p via link : !a to !a
    }
  }
}
