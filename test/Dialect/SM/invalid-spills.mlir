// RUN: mk-opt %s --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @bits on @mesh dims(uniform M) (scratch %parts : memref<8x64x64xbf16> [8, 64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
      // expected-error @+1 {{takes tiles with layout #mk_sm.mma, or transposed, of elements of 32 bits, not 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>': use mk.store and mk.load}}
      mk_sm.spill %t, %parts[%M] : tensor<64x64xbf16, #acc>, memref<8x64x64xbf16>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @other on @mesh dims(uniform M) (scratch %parts : memref<8x64x32xf32> [8, 64, 32]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{keeps 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' in 'memref<8x64x32xf32>', whose last dimensions must be the tile, and all of known extent}}
      mk_sm.spill %t, %parts[%M] : tensor<64x64xf32, #acc>, memref<8x64x32xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @open on @mesh dims(uniform M) (scratch %parts : memref<?x64x64xf32> [M, 64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(240) {
      // expected-error @+1 {{keeps 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' in 'memref<?x64x64xf32>', whose last dimensions must be the tile}}
      %t = mk_sm.reload %parts[%M] : memref<?x64x64xf32> -> tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @index on @mesh dims(uniform M) (scratch %parts : memref<8x64x64xf32> [8, 64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(240) {
      // expected-error @+1 {{has 2 indices, but 'memref<8x64x64xf32>' has 1 dimensions in front of the tile's}}
      %t = mk_sm.reload %parts[%M, %M] : memref<8x64x64xf32> -> tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @producer on @mesh dims(uniform M) (scratch %parts : memref<8x64x64xf32> [8, 64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer}}
      %t = mk_sm.reload %parts[%M] : memref<8x64x64xf32> -> tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @inside on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{is 'inside', which is about indices in front of the tile's dimensions, but has none: leave it out}}
      mk_sm.store %t, %c[%c0, %c0] through %out inside : tensor<64x64xf32, #acc>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}
