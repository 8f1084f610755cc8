// RUN: mk-opt %s -mk-sm-split-roles -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @extract on @mesh (in %x : memref<64xf32> [64], out %c : memref<1xf32> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0] : memref<64xf32> -> tensor<64xf32>
    // expected-error @+1 {{takes one element of a tile, which for sm_90a lies in some other thread: read it from memory by memref.load}}
    %v = tensor.extract %a[%c0] : tensor<64xf32>
    memref.store %v, %c[%c0] : memref<1xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @dim on @mesh (in %x : memref<64xf32> [64], out %c : memref<1xindex> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0] : memref<64xf32> -> tensor<64xf32>
    // expected-error @+1 {{works on tiles, but has no lowering for sm_90a: use mk ops, elementwise arith and math, and constants (docs/targets.md)}}
    %v = tensor.dim %a, %c0 : tensor<64xf32>
    memref.store %v, %c[%c0] : memref<1xindex>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @steps on @mesh (in %x : memref<64x24xbf16> [64, 24], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x24xbf16> -> tensor<64x24xbf16>
    // expected-error @+1 {{has K = 24, but the tensor cores of sm_90a take steps of 16 of 'bf16': use tiles of K = 32; where K is a size of the arguments, as that of a head, pad these with zeros to as much}}
    %d = mk.dot %a, %a, %zero transpose_b : tensor<64x24xbf16>, tensor<64x24xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @tall on @mesh (in %x : memref<65536x64xbf16> [65536, 64], out %c : memref<65536x64xf32> [65536, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<65536x64xf32>
  mk.role @r ctas(1) {
    // expected-error @+1 {{is staged for a mk.dot of sm_90a: a staged tile has 1 to 65535 rows and columns, 'tensor<65536x64xbf16>' has not}}
    %a = mk.load %x[%c0, %c0] : memref<65536x64xbf16> -> tensor<65536x64xbf16>
    %b = mk.load %x[%c0, %c0] : memref<65536x64xbf16> -> tensor<64x64xbf16>
    %d = mk.dot %a, %b, %zero transpose_b : tensor<65536x64xbf16>, tensor<64x64xbf16>, tensor<65536x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<65536x64xf32>, memref<65536x64xf32>
  }
}

// -----

// Folds are loops before roles are split.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fold on @mesh dims(uniform K) (in %x : memref<64x?xbf16> [64, K], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    // expected-error @+1 {{holds a part of a role, which cannot be split between the warps of sm_90a: use scf.for, scf.while and scf.if}}
    %d = mk.fold (%k) in (%K) iter(%s = %zero) : tensor<64x64xf32> {
      %a = mk.load %x[%c0, %k] : memref<64x?xbf16> -> tensor<64x64xbf16>
      %t = mk.dot %a, %a, %s transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.yield %t : tensor<64x64xf32>
    }
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @long on @mesh (in %x : memref<65536xf32> [65536], out %c : memref<65536xf32> [65536]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-error @+2 {{needs 256 registers in each thread for the tiles that are live here, a thread of 2 warpgroups of sm_90a has 216 for them: use fewer or smaller tiles; no other width or height of this one alone is enough}}
    // expected-note @+1 {{'tensor<65536xf32>' takes 256}}
    %a = mk.load %x[%c0] : memref<65536xf32> -> tensor<65536xf32>
    %d = math.exp2 %a : tensor<65536xf32>
    %e = arith.mulf %d, %a : tensor<65536xf32>
    mk.store %e, %c[%c0] : tensor<65536xf32>, memref<65536xf32>
    mk.store %d, %c[%c0] : tensor<65536xf32>, memref<65536xf32>
  }
}
