// RUN: mk-opt %s -split-input-file -mk-sm-split-roles '--remarks=split-roles: analysis' -verify-diagnostics -o %t

// What the split of roles finds out.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @loops on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @+2 {{mk-sm-split-roles: analysis: has dots in 1 team of 1 warpgroup (in role 'r')}}
  // expected-remark-re @+1 {{mk-sm-split-roles: analysis: holds tiles in {{[0-9]+}} of {{[0-9]+}} registers of a thread; a producer's has {{[0-9]+}}}}
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %s = scf.for %k = %c0 to %K step %c64 iter_args(%t = %zero) -> (tensor<64x64xf32>) {
      %b = mk.load %u[%k, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      // expected-remark @+1 {{mk-sm-split-roles: analysis: has operands in slots of their own: they are loaded in different loops or branches}}
      %g = mk.dot %a, %b, %t transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %g : tensor<64x64xf32>
    }
    mk.store %s, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// A vector that is repeated along rows and along columns.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @both on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K], in %v : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @+2 {{mk-sm-split-roles: analysis: has dots in 1 team of 1 warpgroup}}
  // expected-remark-re @+1 {{mk-sm-split-roles: analysis: holds tiles in {{[0-9]+}} of {{[0-9]+}} registers of a thread; a producer's has {{[0-9]+}}}}
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    // expected-remark @+1 {{mk-sm-split-roles: analysis: moves elements between threads, from tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>> to tensor<64xf32, #mk_sm.slice<axis = 0, of = #mk_sm.mma<warpgroups = 1>>>}}
    %r = mk.load %v[%c0] : memref<64xf32> -> tensor<64xf32>
    %p = mk.broadcast %r dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %q = mk.broadcast %r dims [0] : tensor<64xf32> -> tensor<64x64xf32>
    %m = arith.mulf %p, %q : tensor<64x64xf32>
    %s = arith.addf %g, %m : tensor<64x64xf32>
    mk.store %s, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @elements on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @+2 {{mk-sm-split-roles: analysis: stages no tiles: it has no producer}}
  // expected-remark-re @+1 {{mk-sm-split-roles: analysis: holds tiles in {{[0-9]+}} of {{[0-9]+}} registers of a thread; a producer's has {{[0-9]+}}}}
  mk.role @r ctas(1) {
    %x0 = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %w = arith.extf %x0 : tensor<64x64xbf16> to tensor<64x64xf32>
    mk.store %w, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}
