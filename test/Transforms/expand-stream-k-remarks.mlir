// RUN: mk-opt %s --remarks --mk-assign-ctas=grid=8 --mk-expand-stream-k -o /dev/null -verify-diagnostics

// Where one CTA adds up all parts of a split item, and why.
mk.mesh @mesh (gpu = 1 via link)

!t = tensor<32x8xf32>
!v = memref<?x?xf32>

func.func private @merge(%a: !t, %b: !t) -> !t {
  %x = arith.addf %a, %b : !t
  return %x : !t
}

mk.kernel @function on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      // expected-remark @+1 {{is combined by a function, so one CTA adds up all parts of a split item}}
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(@merge) : !t {
        mk.yield %s : !t
      }
      mk.store %a, %c[%i, %i] : !t, !v
    }
  }
}

mk.kernel @extents on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  %one = arith.constant dense<0.0> : tensor<16xf32>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      // expected-remark @+1 {{carries tiles of different numbers of rows, so}}
      %a, %b = mk.fold (%k) in (%M) iter(%s = %zero, %u = %one) combine(add) : !t, tensor<16xf32> {
        mk.yield %s, %u : !t, tensor<16xf32>
      }
      mk.store %a, %c[%i, %i] : !t, !v
    }
  }
}

mk.kernel @branch on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      %first = arith.cmpi eq, %i, %c0 : index
      // expected-remark @+1 {{has control flow, so}}
      scf.if %first {
        mk.store %a, %c[%i, %i] : !t, !v
      }
    }
  }
}

mk.kernel @other on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{stores what does not follow from the fold, so}}
      mk.store %zero, %c[%i, %i] : !t, !v
    }
  }
}

mk.kernel @valid on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  %c4 = arith.constant 4 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{stores a tile with a limit of its own, so}}
      mk.store %a, %c[%i, %i] valid(%c4, %c4) : !t, !v
    }
  }
}

mk.kernel @adds on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{adds to what is stored, so}}
      mk.store %a, %c[%i, %i] reduce(add) : !t, !v
    }
  }
}

mk.kernel @signalled on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  %c0 = arith.constant 0 : index
  %done = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      mk.store %a, %c[%i, %i] : !t, !v
      // expected-remark @+1 {{would take effect for each slice, so}}
      mk.signal %done[%c0] : !mk.signal<1, gpu, arrivals = 1>
    }
  }
}

mk.kernel @columns on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %zero = arith.constant dense<0.0> : !t
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{works on more than one row at a time, so}}
      %r = mk.reduce add %a axis 0 : !t -> tensor<8xf32>
      mk.store %r, %c[%i] : tensor<8xf32>, memref<?xf32>
    }
  }
}

mk.kernel @front on @mesh dims(uniform M) (in %x : !v [M, M], out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %b = mk.load %x[%i, %i] : !v -> !t
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{computes with a tile from in front of the fold, so}}
      %r = arith.addf %a, %b : !t
      mk.store %r, %c[%i, %i] : !t, !v
    }
  }
}

mk.kernel @limit on @mesh dims(uniform M) (in %x : !v [M, M], out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  %c4 = arith.constant 4 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{loads a tile with a limit of its own, so}}
      %b = mk.load %x[%i, %i] valid(%c4, %c4) : !v -> !t
      %r = arith.addf %a, %b : !t
      mk.store %r, %c[%i, %i] : !t, !v
    }
  }
}

!q = tensor<16x16xf32>
mk.kernel @square on @mesh dims(uniform M) (out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !q
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !q {
        mk.yield %s : !q
      }
      %t = mk.transpose %a : !q -> !q
      // expected-remark @+1 {{joins tiles that are cut along different dimensions, so}}
      %r = arith.addf %a, %t : !q
      mk.store %r, %c[%i, %i] : !q, !v
    }
  }
}

// The same numbers for rows and for columns.
mk.kernel @both on @mesh dims(uniform M) (in %x : memref<?xf32> [M], out %c : !v [M, M]) {
  %zero = arith.constant dense<0.0> : !q
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !q {
        mk.yield %s : !q
      }
      %v = mk.load %x[%i] : memref<?xf32> -> tensor<16xf32>
      // expected-remark @+1 {{needs tiles whole that are cut for another op, so}}
      %rows = mk.broadcast %v dims [0] : tensor<16xf32> -> !q
      %columns = mk.broadcast %v dims [1] : tensor<16xf32> -> !q
      %r = arith.addf %a, %rows : !q
      %r1 = arith.addf %r, %columns : !q
      mk.store %r1, %c[%i, %i] : !q, !v
    }
  }
}

!far = memref<?x?xf32, #mk.symmetric>
mk.kernel @sends on @mesh dims(uniform M) (out %c : !far [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  %me = mk.rank
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{stores at a peer, so}}
      mk.store %a, %c[%i, %i] on %me : !t, !far
    }
  }
}

mk.kernel @tells on @mesh dims(uniform M) (out %c : !far [M, M]) {
  %zero = arith.constant dense<0.0> : !t
  %done = mk.signals(%M) : !mk.signal<?, sys, arrivals = 1>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %a = mk.fold (%k) in (%M) iter(%s = %zero) combine(add) : !t {
        mk.yield %s : !t
      }
      // expected-remark @+1 {{raises a signal with its store, so}}
      mk.store %a, %c[%i, %i] signal %done[%i] : !t, !far, !mk.signal<?, sys, arrivals = 1>
    }
  }
}
