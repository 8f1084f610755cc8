// RUN: mk-opt %s -split-input-file -mk-sm-split-roles '--remarks=split-roles: (passed|missed)' -verify-diagnostics -o %t

// What is loaded through shared memory, and what that costs.

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
    // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded twice, into shared memory for a dot and into registers for other ops: threads read the tile of a dot where each iteration of a loop has another one, and take only elements that each of them has}}
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %w = arith.extf %b : tensor<64x64xbf16> to tensor<64x64xf32>
    %s = arith.addf %g, %w : tensor<64x64xf32>
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
    mk.store %r, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
    %a = mk.load %y[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = mk.load %y[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %s = arith.addf %g, %r : tensor<64x64xf32>
    mk.store %s, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// What threads read takes slots of products, one tile after the other.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @read on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %r : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x32xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<128x32xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x32xbf16>, tensor<128x32xbf16>, tensor<64x128xf32>
    // expected-remark @+1 {{mk-sm-split-roles: passed: comes through ring 0, in 1 slots}}
    %l = mk.load %r[%c0, %c0] staged : memref<?x?xbf16> -> tensor<64x128xbf16>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded by those who use it, since no ring has room for its tile while it is used}}
    %m = mk.load %r[%c0, %c0] staged : memref<?x?xbf16> -> tensor<64x128xbf16>
    %n = arith.addf %l, %m : tensor<64x128xbf16>
    %w = arith.extf %n : tensor<64x128xbf16> to tensor<64x128xf32>
    %s = arith.addf %g, %w : tensor<64x128xf32>
    mk.store %s, %c[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32>
  }
}

// -----

// What meets no product has another layout.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @apart on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %r : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K], out %d : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 1 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded by those who use it, since it meets no product, and is not in the layout of accumulators, in which threads read}}
    %l = mk.load %r[%c0, %c0] staged : memref<?x?xf32> -> tensor<64x64xf32>
    %s = arith.addf %l, %l : tensor<64x64xf32>
    mk.store %s, %d[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// Only the consumer counts.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @last on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %r : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %done = mk.counters(%c1) : !mk.counter<?>
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 1 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %old = mk.count %done[%c0] add %c1 : !mk.counter<?>
    %is_last = arith.cmpi eq, %old, %c1 : index
    %t = scf.if %is_last -> (tensor<64x64xf32>) {
        // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded by those who use it, since its place or whether it is loaded depends on what the producer cannot know ahead: let it depend on scalars that nobody writes}}
      %l = mk.load %r[%c0, %c0] staged : memref<?x?xf32> -> tensor<64x64xf32>
      %s = arith.addf %g, %l : tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    } else {
      scf.yield %g : tensor<64x64xf32>
    }
    mk.store %t, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// A tile that a block gives as it is.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @given on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %r : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %some = arith.cmpi ne, %K, %c0 : index
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 1 tiles in a slot}}
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = scf.if %some -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded by those who use it, since no ring has room}}
      %l = mk.load %r[%c0, %c0] staged : memref<?x?xf32> -> tensor<64x64xf32>
      scf.yield %l : tensor<64x64xf32>
    } else {
      scf.yield %zero : tensor<64x64xf32>
    }
    %s = arith.addf %g, %t : tensor<64x64xf32>
    mk.store %s, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// What an iteration works on comes beside what its dot takes, or is read out of that; loads are moved to each other.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @joined on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %r : memref<?x?xbf16> [K, K], inout %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 3 tiles in a slot}}
      %l = mk.load %r[%c0, %k] staged : memref<?x?xbf16> -> tensor<64x64xbf16>
      %m = arith.addf %l, %l : tensor<64x64xbf16>
      %a = mk.load %x[%c0, %k] staged : memref<?x?xbf16> -> tensor<64x64xbf16>
      %w = arith.addf %a, %m : tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %w, %b, %g0 transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %q = mk.dot %a, %b, %p transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %q : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// The tile is too large for the slots of the dot, and what others see stands in front of the other one.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @large on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %r : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @r ctas(1) {
    %g = scf.for %k = %c0 to %K step %c32 iter_args(%g0 = %zero) -> (tensor<128x128xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<128x32xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<128x32xbf16>
      // expected-remark @+2 {{mk-sm-split-roles: missed: is loaded by those who use it, since it would take too much room beside tiles of a dot, or a use of a tile, or an op that others see, stands between it and these: load it beside them}}
      // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded by those who use it, since no ring has room for its tile while it is used}}
      %l = mk.load %r[%c0, %k] staged : memref<?x?xf32> -> tensor<128x128xf32>
      %q = mk.dot %a, %b, %g0 transpose_b : tensor<128x32xbf16>, tensor<128x32xbf16>, tensor<128x128xf32>
      %h = arith.addf %q, %l : tensor<128x128xf32>
      scf.yield %h : tensor<128x128xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
  }
}
