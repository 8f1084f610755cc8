// RUN: mk-opt %s -split-input-file -mk-sm-split-roles '--remarks=split-roles: (passed|missed)' -verify-diagnostics -o %t

// What goes through shared memory, and each reason why not.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @stores on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K], out %i : memref<?x64xi32> [K, 64], out %l : memref<?xf32> [K],
    out %d : memref<1x1x1x1x64x64xf32> [1, 1, 1, 1, 64, 64], scratch %p : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: leaves through shared memory and the copy engine}}
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is stored from registers: the copy engine takes buffers of at most 5 dimensions}}
    mk.store %g, %d[%c0, %c0, %c0, %c0, %c0, %c0] : tensor<64x64xf32>, memref<1x1x1x1x64x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: is stored from registers: to scratch of known extents, in whole sectors}}
    mk.store %g, %p[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    %w = arith.fptosi %g : tensor<64x64xf32> to tensor<64x64xi32>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is stored from registers: its elements are no floating-point numbers of 16 or 32 bits, which shared memory takes in order}}
    mk.store %w, %i[%c0, %c0] : tensor<64x64xi32>, memref<?x64xi32>
    %s = mk.reduce add %g axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is stored from registers: its tile has not the layout of accumulators}}
    mk.store %s, %l[%c0] : tensor<64xf32>, memref<?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @narrow on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], inout %n : memref<?x24xf32> [K, 24], inout %m : memref<?x72xf32> [K, 72]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %thin = arith.constant dense<0.0> : tensor<64x24xf32>
  %wide = arith.constant dense<0.0> : tensor<64x72xf32>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<24x64xbf16>
    %g = mk.dot %a, %b, %thin transpose_b : tensor<64x64xbf16>, tensor<24x64xbf16>, tensor<64x24xf32>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is stored from registers: its 24 columns are no multiple of 32}}
    mk.store %g, %n[%c0, %c0] : tensor<64x24xf32>, memref<?x24xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 1, 2 tiles in a slot}}
    %p = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %q = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<72x64xbf16>
    %h = mk.dot %p, %q, %wide transpose_b : tensor<64x64xbf16>, tensor<72x64xbf16>, tensor<64x72xf32>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is stored from registers: its 72 columns are added and no multiple of 32}}
    mk.store %h, %m[%c0, %c0] reduce(add) : tensor<64x72xf32>, memref<?x72xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @twice on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded twice, into shared memory for a dot and into registers for other ops, since a staged tile is read by dots only}}
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %w = arith.extf %b : tensor<64x64xbf16> to tensor<64x64xf32>
    %s = arith.addf %g, %w : tensor<64x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: leaves through shared memory and the copy engine}}
    mk.store %s, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @slots on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %done = mk.counters(%c1) : !mk.counter<?>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 1 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %old = mk.count %done[%c0] add %c1 : !mk.counter<?>
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 1, 1 tiles in a slot}}
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    // expected-remark @+1 {{mk-sm-split-roles: missed: has operands in slots of their own, which costs a barrier more: between their loads stands a use of a staged tile or an op that others see; load them one after the other}}
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: leaves through shared memory and the copy engine}}
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @waits on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], scratch %t : memref<64x64xf32> [64, 64], scratch %y : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %full = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: missed: is waited for by both partitions: what the consumer reads or does behind it is not held back by slots that are filled behind it}}
    mk.wait %full[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    %r = mk.load %t[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: leaves through shared memory and the copy engine}}
    mk.store %r, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
    %a = mk.load %y[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = mk.load %y[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %s = arith.addf %g, %r : tensor<64x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: leaves through shared memory and the copy engine}}
    mk.store %s, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @transposed on @mesh (
    in %a : memref<16x64xbf16> [16, 64], in %b : memref<64x64xbf16> [64, 64],
    out %c : memref<16x64xf32> [16, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
    %y = mk.load %b[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %x = mk.load %a[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
    %s = mk.dot %y, %x, %zero transpose_b : tensor<64x64xbf16>, tensor<16x64xbf16>, tensor<64x16xf32>
    %t = mk.transpose %s : tensor<64x16xf32> -> tensor<16x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is stored from registers: transposed tiles leave through shared memory where their elements have 16 bits, and their rows are at most 64 or a multiple of 64}}
    mk.store %t, %c[%c0, %c0] : tensor<16x64xf32>, memref<16x64xf32>
  }
}
