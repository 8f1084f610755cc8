// RUN: mk-opt %s --mk-assign-ctas --mk-expand-stream-k --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      // expected-error @+1 {{has a count that depends on the item, but schedule stream_k divides as many steps for each: compute it before the loop, or use schedule(ticket)}}
      %a = mk.fold (%k) in (%i) iter(%s = %x) combine(add) : tensor<4xf32> {
        mk.yield %s : tensor<4xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %x = arith.constant 0.0 : f32
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      // expected-error @+1 {{carries a scalar (value 0), which schedule stream_k cannot pass between CTAs: carry a tile, or use schedule(ticket)}}
      %a = mk.fold (%k) in (%M) iter(%s = %x) combine(add) : f32 {
        mk.yield %s : f32
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      // expected-error @+1 {{stands before the fold that schedule stream_k splits, and would take effect for each part: move it behind the fold, or use schedule(ticket)}}
      mk.store %x, %c[%i] : tensor<4xf32>, memref<?xf32>
      %a = mk.fold (%k) in (%M) iter(%s = %x) combine(add) : tensor<4xf32> {
        mk.yield %s : tensor<4xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  %one = arith.constant 1.0 : f32
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      // To order twice what was done changes nothing.
      mk.fence
      // expected-error @+1 {{stands before the fold that schedule stream_k splits, and would take effect for each part: move it behind the fold, or use schedule(ticket)}}
      memref.store %one, %c[%i] : memref<?xf32>
      %a = mk.fold (%k) in (%M) iter(%s = %x) combine(add) : tensor<4xf32> {
        mk.yield %s : tensor<4xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @teams on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has order(alternate = 2), but schedule stream_k splits items among CTAs: use schedule(static), or leave alternate out}}
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) order(alternate = 2) {
      %sum = mk.fold (%k) in (%M) iter(%acc = %zero) combine(add) : tensor<128xf32> {
        mk.yield %acc : tensor<128xf32>
      }
    }
  }
}

// -----

func.func private @merge(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      // expected-error @+1 {{combines by @merge, which has no body of one block here}}
      %a = mk.fold (%k) in (%M) iter(%s = %x) combine(@merge) : tensor<4xf32> {
        mk.yield %s : tensor<4xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %some = arith.cmpi ne, %M, %c0 : index
  mk.role @r ctas(rest) {
    scf.if %some {
      // expected-error @+1 {{with schedule stream_k stands inside another op; move it to the role's top level or use schedule(static)}}
      mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
        %a = mk.fold (%k) in (%M) iter(%s = %x) combine(add) : tensor<4xf32> {
          mk.yield %s : tensor<4xf32>
        }
      }
    }
  }
}
