// One kernel for each row of docs/targets.md; see check_targets.py.
// ROW: tiles of f64, f32, f16, bf16, their arithmetic and reductions
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a0 : memref<64x64xf64> [64, 64], out %b0 : memref<64x64xf64> [64, 64], out %d0 : memref<64xf64> [64],
    in %a1 : memref<64x64xf32> [64, 64], out %b1 : memref<64x64xf32> [64, 64], out %d1 : memref<64xf32> [64],
    in %a2 : memref<64x64xf16> [64, 64], out %b2 : memref<64x64xf16> [64, 64], out %d2 : memref<64xf16> [64],
    in %a3 : memref<64x64xbf16> [64, 64], out %b3 : memref<64x64xbf16> [64, 64], out %d3 : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x0 = mk.load %a0[%c0, %c0] : memref<64x64xf64> -> tensor<64x64xf64>
    %y0 = arith.addf %x0, %x0 : tensor<64x64xf64>
    mk.store %y0, %b0[%c0, %c0] : tensor<64x64xf64>, memref<64x64xf64>
    %r0_0 = mk.reduce max %x0 axis 0 : tensor<64x64xf64> -> tensor<64xf64>
    %r0_1 = mk.reduce add %x0 axis 1 : tensor<64x64xf64> -> tensor<64xf64>
    %s0 = arith.addf %r0_0, %r0_1 : tensor<64xf64>
    mk.store %s0, %d0[%c0] : tensor<64xf64>, memref<64xf64>
    %x1 = mk.load %a1[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %y1 = arith.addf %x1, %x1 : tensor<64x64xf32>
    mk.store %y1, %b1[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    %r1_0 = mk.reduce max %x1 axis 0 : tensor<64x64xf32> -> tensor<64xf32>
    %r1_1 = mk.reduce add %x1 axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %s1 = arith.addf %r1_0, %r1_1 : tensor<64xf32>
    mk.store %s1, %d1[%c0] : tensor<64xf32>, memref<64xf32>
    %x2 = mk.load %a2[%c0, %c0] : memref<64x64xf16> -> tensor<64x64xf16>
    %y2 = arith.addf %x2, %x2 : tensor<64x64xf16>
    mk.store %y2, %b2[%c0, %c0] : tensor<64x64xf16>, memref<64x64xf16>
    %r2_0 = mk.reduce max %x2 axis 0 : tensor<64x64xf16> -> tensor<64xf16>
    %r2_1 = mk.reduce add %x2 axis 1 : tensor<64x64xf16> -> tensor<64xf16>
    %s2 = arith.addf %r2_0, %r2_1 : tensor<64xf16>
    mk.store %s2, %d2[%c0] : tensor<64xf16>, memref<64xf16>
    %x3 = mk.load %a3[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %y3 = arith.addf %x3, %x3 : tensor<64x64xbf16>
    mk.store %y3, %b3[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16>
    %r3_0 = mk.reduce max %x3 axis 0 : tensor<64x64xbf16> -> tensor<64xbf16>
    %r3_1 = mk.reduce add %x3 axis 1 : tensor<64x64xbf16> -> tensor<64xbf16>
    %s3 = arith.addf %r3_0, %r3_1 : tensor<64xbf16>
    mk.store %s3, %d3[%c0] : tensor<64xbf16>, memref<64xbf16>
  }
}

// ROW: tiles of i64, i32, i16, i8 and i1, their arithmetic and reductions
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a0 : memref<64x64xi64> [64, 64], out %b0 : memref<64x64xi64> [64, 64], out %d0 : memref<64xi64> [64],
    in %a1 : memref<64x64xi32> [64, 64], out %b1 : memref<64x64xi32> [64, 64], out %d1 : memref<64xi32> [64],
    in %a2 : memref<64x64xi16> [64, 64], out %b2 : memref<64x64xi16> [64, 64], out %d2 : memref<64xi16> [64],
    in %a3 : memref<64x64xi8> [64, 64], out %b3 : memref<64x64xi8> [64, 64], out %d3 : memref<64xi8> [64],
    in %a4 : memref<64x64xi1> [64, 64], out %b4 : memref<64x64xi1> [64, 64], out %d4 : memref<64xi1> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x0 = mk.load %a0[%c0, %c0] : memref<64x64xi64> -> tensor<64x64xi64>
    %y0 = arith.xori %x0, %x0 : tensor<64x64xi64>
    mk.store %y0, %b0[%c0, %c0] : tensor<64x64xi64>, memref<64x64xi64>
    %r0_0 = mk.reduce max %x0 axis 0 : tensor<64x64xi64> -> tensor<64xi64>
    %r0_1 = mk.reduce add %x0 axis 1 : tensor<64x64xi64> -> tensor<64xi64>
    %s0 = arith.xori %r0_0, %r0_1 : tensor<64xi64>
    mk.store %s0, %d0[%c0] : tensor<64xi64>, memref<64xi64>
    %x1 = mk.load %a1[%c0, %c0] : memref<64x64xi32> -> tensor<64x64xi32>
    %y1 = arith.xori %x1, %x1 : tensor<64x64xi32>
    mk.store %y1, %b1[%c0, %c0] : tensor<64x64xi32>, memref<64x64xi32>
    %r1_0 = mk.reduce max %x1 axis 0 : tensor<64x64xi32> -> tensor<64xi32>
    %r1_1 = mk.reduce add %x1 axis 1 : tensor<64x64xi32> -> tensor<64xi32>
    %s1 = arith.xori %r1_0, %r1_1 : tensor<64xi32>
    mk.store %s1, %d1[%c0] : tensor<64xi32>, memref<64xi32>
    %x2 = mk.load %a2[%c0, %c0] : memref<64x64xi16> -> tensor<64x64xi16>
    %y2 = arith.xori %x2, %x2 : tensor<64x64xi16>
    mk.store %y2, %b2[%c0, %c0] : tensor<64x64xi16>, memref<64x64xi16>
    %r2_0 = mk.reduce max %x2 axis 0 : tensor<64x64xi16> -> tensor<64xi16>
    %r2_1 = mk.reduce add %x2 axis 1 : tensor<64x64xi16> -> tensor<64xi16>
    %s2 = arith.xori %r2_0, %r2_1 : tensor<64xi16>
    mk.store %s2, %d2[%c0] : tensor<64xi16>, memref<64xi16>
    %x3 = mk.load %a3[%c0, %c0] : memref<64x64xi8> -> tensor<64x64xi8>
    %y3 = arith.xori %x3, %x3 : tensor<64x64xi8>
    mk.store %y3, %b3[%c0, %c0] : tensor<64x64xi8>, memref<64x64xi8>
    %r3_0 = mk.reduce max %x3 axis 0 : tensor<64x64xi8> -> tensor<64xi8>
    %r3_1 = mk.reduce add %x3 axis 1 : tensor<64x64xi8> -> tensor<64xi8>
    %s3 = arith.xori %r3_0, %r3_1 : tensor<64xi8>
    mk.store %s3, %d3[%c0] : tensor<64xi8>, memref<64xi8>
    %x4 = mk.load %a4[%c0, %c0] : memref<64x64xi1> -> tensor<64x64xi1>
    %y4 = arith.xori %x4, %x4 : tensor<64x64xi1>
    mk.store %y4, %b4[%c0, %c0] : tensor<64x64xi1>, memref<64x64xi1>
    %r4_0 = mk.reduce max %x4 axis 0 : tensor<64x64xi1> -> tensor<64xi1>
    %r4_1 = mk.reduce add %x4 axis 1 : tensor<64x64xi1> -> tensor<64xi1>
    %s4 = arith.xori %r4_0, %r4_1 : tensor<64xi1>
    mk.store %s4, %d4[%c0] : tensor<64xi1>, memref<64xi1>
  }
}

// ROW: tiles of f8E4M3FN and f8E5M2: loads, stores, conversions, products
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf8E4M3FN> [64, 64], out %b : memref<64x64xf8E5M2> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %x, %zero transpose_b : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    %w = arith.extf %x : tensor<64x64xf8E4M3FN> to tensor<64x64xf32>
    %y = arith.truncf %w : tensor<64x64xf32> to tensor<64x64xf8E5M2>
    mk.store %y, %b[%c0, %c0] : tensor<64x64xf8E5M2>, memref<64x64xf8E5M2>
  }
}

// ROW: arithmetic in fp8
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf8E4M3FN> [64, 64], out %b : memref<64x64xf8E4M3FN> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %y = arith.addf %x, %x : tensor<64x64xf8E4M3FN>
    mk.store %y, %b[%c0, %c0] : tensor<64x64xf8E4M3FN>, memref<64x64xf8E4M3FN>
  }
}

// ROW: reductions of fp8
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf8E5M2> [64, 64], out %b : memref<64xf8E5M2> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf8E5M2> -> tensor<64x64xf8E5M2>
    %y = mk.reduce add %x axis 1 : tensor<64x64xf8E5M2> -> tensor<64xf8E5M2>
    mk.store %y, %b[%c0] : tensor<64xf8E5M2>, memref<64xf8E5M2>
  }
}

// ROW: functions of `math` and `arith.remf` in f64
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf64> [64, 64], out %b : memref<64x64xf64> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf64> -> tensor<64x64xf64>
    %y = math.exp %x : tensor<64x64xf64>
    mk.store %y, %b[%c0, %c0] : tensor<64x64xf64>, memref<64x64xf64>
  }
}

// ROW: `arith.truncf` with a rounding mode
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf32> [64, 64], out %b : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %y = arith.truncf %x toward_zero : tensor<64x64xf32> to tensor<64x64xbf16>
    mk.store %y, %b[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16>
  }
}

// ROW: `math.tan` and other functions that the special function unit lacks
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf32> [64, 64], out %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %y = math.tan %x : tensor<64x64xf32>
    mk.store %y, %b[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: tiles of one element
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<f32> [], out %b : memref<f32> []) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[] : memref<f32> -> tensor<f32>
    %y = arith.addf %x, %x : tensor<f32>
    mk.store %y, %b[] : tensor<f32>, memref<f32>
  }
}

// ROW: a column of row statistics (M x 1), stored and loaded
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x1xf32> [64, 1], in %c : memref<64x1xf32> [64, 1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %x, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %s = mk.reduce max %d axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %column = mk.broadcast %s dims [1] : tensor<64xf32> -> tensor<64x1xf32>
    %l = mk.load %c[%c0, %c0] : memref<64x1xf32> -> tensor<64x1xf32>
    %y = arith.addf %l, %column : tensor<64x1xf32>
    mk.store %y, %b[%c0, %c0] : tensor<64x1xf32>, memref<64x1xf32>
  }
}

// ROW: row statistics repeated to any width
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x12xf32> [64, 12]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %x, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %s = mk.reduce max %d axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %y = mk.broadcast %s dims [1] : tensor<64xf32> -> tensor<64x12xf32>
    mk.store %y, %b[%c0, %c0] : tensor<64x12xf32>, memref<64x12xf32>
  }
}

// ROW: row statistics reduced to one number
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], out %b : memref<f32> []) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %x, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %s = mk.reduce max %d axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %y = mk.reduce max %s axis 0 : tensor<64xf32> -> tensor<f32>
    mk.store %y, %b[] : tensor<f32>, memref<f32>
  }
}

// ROW: `tensor.extract`
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf32> [64, 64], out %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %e = tensor.extract %x[%c0, %c1] : tensor<64x64xf32>
    %y = tensor.splat %e : tensor<64x64xf32>
    mk.store %y, %b[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: constant tiles whose elements differ
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<2xf32> [2], out %b : memref<2xf32> [2]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %y = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    mk.store %y, %b[%c0] : tensor<2xf32>, memref<2xf32>
  }
}

// ROW: products of integers, as i8 by i8
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xi8> [64, 64], out %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xi8> -> tensor<64x64xi8>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %y = mk.dot %x, %x, %zero transpose_b : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xf32>
    mk.store %y, %b[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: accumulators of more than 256 columns that are no multiple of 64
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], in %b : memref<264x64xbf16> [264, 64], out %c : memref<64x264xf32> [64, 264]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %w = mk.load %b[%c0, %c0] : memref<264x64xbf16> -> tensor<264x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x264xf32>
    %d = mk.dot %x, %w, %zero transpose_b : tensor<64x64xbf16>, tensor<264x64xbf16>, tensor<64x264xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x264xf32>, memref<64x264xf32>
  }
}

// ROW: products of f32 in full precision
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf32> [64, 64], in %b : memref<64x64xf32> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %w = mk.load %b[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %w, %zero transpose_b : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: products with the right operand computed in registers
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], in %b : memref<64x64xbf16> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %w = mk.load %b[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %w2 = arith.addf %w, %w : tensor<64x64xbf16>
    %d = mk.dot %x, %w2, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: products with a left operand of 8 or 32 bits computed in registers
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf32> [64, 64], in %b : memref<64x64xf32> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %w = mk.load %b[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x2 = arith.addf %x, %x : tensor<64x64xf32>
    %d = mk.dot %x2, %w, %zero transpose_b precision = tf32 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: products with `transpose_a` of a left operand computed in registers
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %y = arith.mulf %x, %x : tensor<64x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %y, %x, %zero transpose_a : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %b[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: products of 8 or 32 bits whose operands are not K-major
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf8E4M3FN> [64, 64], in %b : memref<64x64xf8E4M3FN> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %w = mk.load %b[%c0, %c0] : memref<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %w, %zero  : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: accumulators of rows that are no multiple of 64, where columns are none either
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<96x64xbf16> [96, 64], in %b : memref<72x64xbf16> [72, 64], out %c : memref<96x72xf32> [96, 72]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<96x64xbf16> -> tensor<96x64xbf16>
    %w = mk.load %b[%c0, %c0] : memref<72x64xbf16> -> tensor<72x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<96x72xf32>
    %d = mk.dot %x, %w, %zero transpose_b : tensor<96x64xbf16>, tensor<72x64xbf16>, tensor<96x72xf32>
    mk.store %d, %c[%c0, %c0] : tensor<96x72xf32>, memref<96x72xf32>
  }
}

// ROW: accumulators of columns that are no multiple of 8
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], in %b : memref<12x64xbf16> [12, 64], out %c : memref<64x12xf32> [64, 12]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %w = mk.load %b[%c0, %c0] : memref<12x64xbf16> -> tensor<12x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x12xf32>
    %d = mk.dot %x, %w, %zero transpose_b : tensor<64x64xbf16>, tensor<12x64xbf16>, tensor<64x12xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x12xf32>, memref<64x12xf32>
  }
}

// ROW: products whose K is no multiple of 32 bytes
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x24xbf16> [64, 24], in %b : memref<64x24xbf16> [64, 24], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x24xbf16> -> tensor<64x24xbf16>
    %w = mk.load %b[%c0, %c0] : memref<64x24xbf16> -> tensor<64x24xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %w, %zero transpose_b : tensor<64x24xbf16>, tensor<64x24xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: products of fp8 with more than 128 of K
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x256xf8E4M3FN> [64, 256], in %b : memref<64x256xf8E4M3FN> [64, 256], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x256xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %w = mk.load %b[%c0, %c0] : memref<64x256xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %w, %zero transpose_b : tensor<64x256xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: accumulators that do not fit the registers
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<128x64xbf16> [128, 64], in %b : memref<512x64xbf16> [512, 64], out %c : memref<128x512xf32> [128, 512]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<128x64xbf16> -> tensor<128x64xbf16>
    %w = mk.load %b[%c0, %c0] : memref<512x64xbf16> -> tensor<512x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<128x512xf32>
    %d = mk.dot %x, %w, %zero transpose_b : tensor<128x64xbf16>, tensor<512x64xbf16>, tensor<128x512xf32>
    mk.store %d, %c[%c0, %c0] : tensor<128x512xf32>, memref<128x512xf32>
  }
}

// ROW: tiles for products that are chosen by a counter
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = mk.counters() : !mk.counter<1>
  mk.role @r ctas(1) {
    %old = mk.count %n[%c0] add %c1 : !mk.counter<1>
    %x = mk.load %a[%old, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = mk.dot %x, %x, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %b[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// ROW: `scf.while` that carries tiles
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<16x64xf32> [16, 64], out %b : memref<16x64xf32> [16, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32>
    %r, %n = scf.while (%u = %x, %k = %c0) : (tensor<16x64xf32>, index) -> (tensor<16x64xf32>, index) {
      %go = arith.cmpi slt, %k, %c4 : index
      scf.condition(%go) %u, %k : tensor<16x64xf32>, index
    } do {
    ^bb0(%u: tensor<16x64xf32>, %k: index):
      %sum = arith.addf %u, %x : tensor<16x64xf32>
      %next = arith.addi %k, %c1 : index
      scf.yield %sum, %next : tensor<16x64xf32>, index
    }
    mk.store %r, %b[%c0, %c0] : tensor<16x64xf32>, memref<16x64xf32>
  }
}

// ROW: additions of fp8 in memory
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xf8E4M3FN> [64, 64], inout %b : memref<64x64xf8E4M3FN> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    mk.store %x, %b[%c0, %c0] reduce(add) : tensor<64x64xf8E4M3FN>, memref<64x64xf8E4M3FN>
  }
}

// ROW: additions of i16, i8 and i1 in memory
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<64x64xi8> [64, 64], inout %b : memref<64x64xi8> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xi8> -> tensor<64x64xi8>
    mk.store %x, %b[%c0, %c0] reduce(add) : tensor<64x64xi8>, memref<64x64xi8>
  }
}

// ROW: puts of listed rows of buffers whose rank is not 2
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<4x4x4xf32, #mk.symmetric> [4, 4, 4], in %i : memref<4xi32> [4], out %b : memref<4x4x4xf32, #mk.symmetric> [4, 4, 4]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %l = mk.load %i[%c0] : memref<4xi32> -> tensor<4xi32>
    mk.put %a[%c0, %c0, %c0][%c4, %c4, %c4] rows(%l : tensor<4xi32>) to %b[%c0, %c0, %c0] on %c0
        : memref<4x4x4xf32, #mk.symmetric> to memref<4x4x4xf32, #mk.symmetric>
  }
}
