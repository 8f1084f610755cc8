// RUN: mk-opt %s -mk-sm-split-roles -split-input-file -verify-diagnostics | FileCheck %s

// An accumulator that a branch around its fold carries on is there once: 128 registers, not 256.
// CHECK-LABEL: mk.kernel @branch
// CHECK: scf.if
// CHECK: mk_sm.mma {{.*}} tensor<128x256xf32
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @branch on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %some = arith.cmpi ugt, %K, %c64 : index
  mk.role @r ctas(1) {
    %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (tensor<128x256xf32>) {
      %part = scf.if %some -> (tensor<128x256xf32>) {
        %acc = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %sum) -> (tensor<128x256xf32>) {
          %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
          %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
          %g1 = mk.dot %a, %b, %g0 transpose_b : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
          scf.yield %g1 : tensor<128x256xf32>
        }
        scf.yield %acc : tensor<128x256xf32>
      } else {
        scf.yield %sum : tensor<128x256xf32>
      }
      scf.yield %part : tensor<128x256xf32>
    }
    mk.store %all, %c[%c0, %c0] : tensor<128x256xf32>, memref<?x?xf32>
  }
}

// -----

// So is one that the other branch passes on behind a product of its own.
// CHECK-LABEL: mk.kernel @either
// CHECK-COUNT-2: mk_sm.mma {{.*}} tensor<128x256xf32
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @either on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %some = arith.cmpi ugt, %K, %c64 : index
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<256x64xbf16>
    %sum = mk.dot %a, %b, %zero transpose_b : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
    %all = scf.if %some -> (tensor<128x256xf32>) {
      %d = mk.load %x[%c0, %c64] : memref<?x?xbf16> -> tensor<128x64xbf16>
      %e = mk.load %u[%c0, %c64] : memref<?x?xbf16> -> tensor<256x64xbf16>
      %more = mk.dot %d, %e, %sum transpose_b : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
      scf.yield %more : tensor<128x256xf32>
    } else {
      scf.yield %sum : tensor<128x256xf32>
    }
    mk.store %all, %c[%c0, %c0] : tensor<128x256xf32>, memref<?x?xf32>
  }
}

// -----

// As wide as the other accumulator, but by chance: the width that is advised is for this one
// alone, and with it all fits: 48 of the product, 24 of what is multiplied again, 128.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @twice on @mesh dims(uniform K) (
    in %q : memref<128x256xbf16> [128, 256], in %k : memref<?x256xbf16> [K, 256],
    out %o : memref<128x256xf32> [128, 256]) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  mk.role @r ctas(1) {
    %x = mk.load %q[%c0, %c0] : memref<128x256xbf16> -> tensor<128x256xbf16>
    // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
    %sum = scf.for %j = %c0 to %K step %c256 iter_args(%o0 = %zero) -> (tensor<128x256xf32>) {
      %y = mk.load %k[%j, %c0] : memref<?x256xbf16> -> tensor<256x256xbf16>
      // expected-error @+2 {{needs 320 registers in each thread for the tiles that are live here, a thread of 2 warpgroups of sm_90a has 200 for them: use accumulators of at most 128 x 96}}
      // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
      %s = mk.dot %x, %y, %zero transpose_b : tensor<128x256xbf16>, tensor<256x256xbf16>, tensor<128x256xf32>
      // expected-note @+1 {{'tensor<128x256xbf16>' takes 64: in the iteration before, for a product that still runs here}}
      %p = arith.truncf %s : tensor<128x256xf32> to tensor<128x256xbf16>
      %z = mk.load %k[%j, %c0] : memref<?x256xbf16> -> tensor<256x256xbf16>
      %on = mk.dot %p, %z, %o0 : tensor<128x256xbf16>, tensor<256x256xbf16>, tensor<128x256xf32>
      scf.yield %on : tensor<128x256xf32>
    }
    mk.store %sum, %o[%c0, %c0] : tensor<128x256xf32>, memref<128x256xf32>
  }
}

// -----

// Two tiles of which the accumulator is one, where no product runs any more: both are kept
// for the reduction, and what is compared for the selection.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @behind on @mesh (
    in %q : memref<128x64xbf16> [128, 64], in %k : memref<256x64xbf16> [256, 64],
    out %o : memref<128xf32> [128], out %p : memref<128xf32> [128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  mk.role @r ctas(1) {
    %x = mk.load %q[%c0, %c0] : memref<128x64xbf16> -> tensor<128x64xbf16>
    %y = mk.load %k[%c0, %c0] : memref<256x64xbf16> -> tensor<256x64xbf16>
    // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
    %s = mk.dot %x, %y, %zero transpose_b : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
    // expected-error @+2 {{needs 256 registers in each thread for the tiles that are live here, a thread of 2 warpgroups of sm_90a has 216 for them: use tiles of at most 128 x 208}}
    // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
    %t = math.exp %s : tensor<128x256xf32>
    %a = mk.reduce add %t axis 1 : tensor<128x256xf32> -> tensor<128xf32>
    %u = arith.mulf %s, %t : tensor<128x256xf32>
    %b = mk.reduce add %u axis 1 : tensor<128x256xf32> -> tensor<128xf32>
    mk.store %a, %o[%c0] : tensor<128xf32>, memref<128xf32>
    mk.store %b, %p[%c0] : tensor<128xf32>, memref<128xf32>
  }
}

// -----

// Products of 8 bits are added to a sum of their own, which is not where it begins.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @apart on @mesh dims(uniform K) (
    in %q : memref<128x?xf8E4M3FN> [128, K], in %k : memref<256x?xf8E4M3FN> [256, K],
    out %o : memref<128x256xf32> [128, 256]) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  mk.role @r ctas(1) {
    %n = scf.for %i = %c0 to %K step %c128 iter_args(%a = %zero) -> (tensor<128x256xf32>) {
      %x = mk.load %q[%c0, %i] : memref<128x?xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
      %y = mk.load %k[%c0, %i] : memref<256x?xf8E4M3FN> -> tensor<256x128xf8E4M3FN>
      // expected-error @+3 {{needs 256 registers in each thread for the tiles that are live here}}
      // expected-note @+2 {{'tensor<128x256xf32>' takes 128: the sum that the product is added to}}
      // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
      %s = mk.dot %x, %y, %a transpose_b : tensor<128x128xf8E4M3FN>, tensor<256x128xf8E4M3FN>, tensor<128x256xf32>
      scf.yield %s : tensor<128x256xf32>
    }
    mk.store %n, %o[%c0, %c0] : tensor<128x256xf32>, memref<128x256xf32>
  }
}

// -----

// What stands nowhere in the file is shown where it is used.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nowhere on @mesh (
    in %q : memref<128x64xbf16> [128, 64], in %k : memref<256x64xbf16> [256, 64],
    out %o : memref<128xf32> [128], out %p : memref<128xf32> [128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  mk.role @r ctas(1) {
    %x = mk.load %q[%c0, %c0] : memref<128x64xbf16> -> tensor<128x64xbf16>
    %y = mk.load %k[%c0, %c0] : memref<256x64xbf16> -> tensor<256x64xbf16>
    %s = mk.dot %x, %y, %zero transpose_b : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32> loc(unknown)
    // expected-error @+2 {{needs 256 registers in each thread for the tiles that are live here}}
    // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
    %t = math.exp %s : tensor<128x256xf32>
    %a = mk.reduce add %t axis 1 : tensor<128x256xf32> -> tensor<128xf32>
    // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
    %u = arith.mulf %s, %t : tensor<128x256xf32>
    %b = mk.reduce add %u axis 1 : tensor<128x256xf32> -> tensor<128xf32>
    mk.store %a, %o[%c0] : tensor<128xf32>, memref<128xf32>
    mk.store %b, %p[%c0] : tensor<128xf32>, memref<128xf32>
  }
}

// -----

// What comes in the slot of a dot, and is taken behind it, is read behind it: it takes no registers beside the sums.
// CHECK-LABEL: mk.kernel @read_behind
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x32xbf16>, tensor<128x32xbf16>, tensor<64x128xf32>>
// CHECK: mk_sm.partition consumer
// CHECK: mk_sm.read
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @read_behind on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %s : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %other = arith.constant dense<1.0> : tensor<64x96xf32>
  mk.role @r ctas(1) {
    %g:2 = scf.for %k = %c0 to %K step %c32 iter_args(%g0 = %zero, %e0 = %other) -> (tensor<64x128xf32>, tensor<64x96xf32>) {
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x32xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<128x32xbf16>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x32xbf16>, tensor<128x32xbf16>, tensor<64x128xf32>
      %n = mk.load %s[%c0, %k] staged : memref<?x?xf32> -> tensor<64x128xf32>
      %h = arith.addf %p, %n : tensor<64x128xf32>
      %t = arith.addf %g0, %h : tensor<64x128xf32>
      %e = arith.addf %e0, %e0 : tensor<64x96xf32>
      scf.yield %t, %e : tensor<64x128xf32>, tensor<64x96xf32>
    }
    mk.store %g#0, %c[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32>
    mk.store %g#1, %c[%c32, %c0] : tensor<64x96xf32>, memref<?x?xf32>
  }
}
