// RUN: mk-opt %s --mk-divide-items --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(6) {
    // expected-error @+1 {{'mk.foreach' op is done by 6 of 6 CTAs from number 0 on, which are no whole clusters of 4: change its number, or use fewer parts}}
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      mk.store %a, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(8) {
    // expected-error @+1 {{'mk.foreach' op has teams that take items in turn, but its items are divided: leave alternate out, or parts}}
    mk_sm.items (%i) round(%n) of %M teams(2) parts(4) {
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      mk.store %a, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(8) {
    // expected-error @+1 {{'mk.foreach' op needs exactly one mk.fold directly in its body, which parts divide, but has 2: take it out of scf.if and of other loops, or leave parts out}}
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      %b = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      mk.store %a, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      // expected-error @+1 {{stands before the fold that parts divide, and would take effect for each part: move it behind the fold, or use schedule(ticket)}}
      mk.store %x, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      mk.store %a, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x72xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x72xbf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      // expected-error @+1 {{carries 'tensor<64x72xf32>', of which 4 CTAs cannot have parts: use a multiple of 32 columns, or fewer parts}}
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x72xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x72xbf16>, tensor<64x72xf32>
        mk.yield %d : tensor<64x72xf32>
      }
      mk.store %a, %c[%i, %c0] : tensor<64x72xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      // expected-error @+1 {{works on more than one column at a time, so parts of items cannot be finished column by column: use another schedule, or leave parts out}}
      %m = mk.reduce add %a axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  mk.prepare {
    // expected-error @+1 {{stands in mk.prepare, where no item is divided: leave parts out}}
    mk_sm.items (%i) round(%n) of %M parts(4) {
    }
  }
  mk.role @r ctas(8) {
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %x = arith.constant 0.0 : f32
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      // expected-error @+1 {{carries what are no matrices of as many columns, so parts of items cannot be finished column by column: use another schedule, or leave parts out}}
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : f32 {
        mk.yield %s : f32
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      // expected-error @+1 {{does not say how parts are put together: add combine(...)}}
      %a = mk.fold (%k) in (%K) iter(%s = %x) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
    }
  }
}
// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      // expected-error @+1 {{has no mk.dot, but CTAs have parts of what products add up to: leave parts out}}
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        mk.yield %s : tensor<64x64xf32>
      }
    }
  }
}

// -----

// Rows are summed: nothing is left of the columns.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      %v = mk.reduce add %a axis 0 : tensor<64x64xf32> -> tensor<64xf32>
      // expected-error @+1 {{works on more than one element at a time, so parts of items cannot be finished column by column}}
      %m = mk.reduce add %v axis 0 : tensor<64xf32> -> tensor<f32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = arith.constant dense<0.0> : tensor<64x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x64xbf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf32> {
        %d = mk.dot %l, %r, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      // expected-error @+1 {{asks where elements are in the whole tile, so parts of items cannot be finished column by column}}
      %m = mk.mask %a where affine_set<(r, c)[n] : (n - 1 - r >= 0)>[%M] else %zero : tensor<64x64xf32>
      mk.store %m, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %x = arith.constant dense<0.0> : tensor<64x64xf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      // expected-error @+1 {{carries 'tensor<64x64xf16>', of which 4 CTAs cannot have parts: use matrices of elements of 32 bits, and vectors of as many as these have rows, or leave parts out}}
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<64x64xf16> {
        mk.yield %s : tensor<64x64xf16>
      }
    }
  }
}

// -----

// Computed transposed: rows and columns are those of the file.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform K) (out %c : memref<?x?xf32> [M, K]) {
  %x = arith.constant dense<0.0> : tensor<128x8xf32>
  %l = arith.constant dense<0.0> : tensor<128x16xbf16>
  %r = arith.constant dense<0.0> : tensor<16x8xbf16>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      // expected-error @+1 {{carries 'tensor<8x128xf32>', of which 4 CTAs cannot have parts: use a multiple of 32 rows, or fewer parts}}
      %a = mk.fold (%k) in (%K) iter(%s = %x) combine(add) : tensor<128x8xf32> {
        %d = mk.dot %l, %r, %s swapped : tensor<128x16xbf16>, tensor<16x8xbf16>, tensor<128x8xf32>
        mk.yield %d : tensor<128x8xf32>
      }
    }
  }
}

// -----

// A vector is there of all rows, for all columns.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @columns on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %x, %y = mk.fold (%k) in (%K) iter(%s = %zero, %q = %none) combine(add) : tensor<64x64xf32>, tensor<64xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<64x16xbf16>
        %u = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
        %next = mk.dot %t, %u, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %next, %q : tensor<64x64xf32>, tensor<64xf32>
      }
      // expected-error @+1 {{needs a part of a vector that is carried whole, so parts of items cannot be finished column by column: use another schedule, or leave parts out}}
      %all = mk.broadcast %y dims [0] : tensor<64xf32> -> tensor<64x64xf32>
      %sum = arith.addf %x, %all : tensor<64x64xf32>
      mk.store %sum, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @whole on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %x, %y = mk.fold (%k) in (%K) iter(%s = %zero, %q = %none) combine(add) : tensor<64x64xf32>, tensor<64xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<64x16xbf16>
        %u = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
        %next = mk.dot %t, %u, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %next, %q : tensor<64x64xf32>, tensor<64xf32>
      }
      mk.store %x, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
      // expected-error @+1 {{stores what is carried whole, as all CTAs of an item would, so parts of items cannot be finished column by column: use another schedule, or leave parts out}}
      mk.store %y, %c[%i, %c0] : tensor<64xf32>, memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @waits on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %there = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %x, %y = mk.fold (%k) in (%K) iter(%s = %zero, %q = %none) combine(add) : tensor<64x64xf32>, tensor<64xf32> {
        %first = arith.cmpi eq, %k, %c0 : index
        scf.if %first {
          // expected-error @+1 {{is executed in some steps of a fold that parts divide, and not by CTAs that have others: wait in each step, or in front of the fold}}
          mk.wait %there[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
        }
        %t = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<64x16xbf16>
        %u = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
        %next = mk.dot %t, %u, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %next, %q : tensor<64x64xf32>, tensor<64xf32>
      }
      %all = mk.broadcast %y dims [0] : tensor<64xf32> -> tensor<64x64xf32>
      %sum = arith.addf %x, %all : tensor<64x64xf32>
      mk.store %sum, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}
