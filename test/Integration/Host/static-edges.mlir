// Tiles over the edge of arguments whose extents the types say, at constant offsets: what lies in
// the argument is read and written, as where extents are known later.
// REQUIRES: compiler
// RUN: mk-run --no-optimize %s --check | FileCheck %s
// CHECK: check: PASS b, c, d

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @edges on @mesh (in %a : memref<33x40xf32> [33, 40], out %b : memref<33x40xf32> [33, 40],
                           inout %c : memref<33x40xf32> [33, 40], out %d : memref<2x33xf32> [2, 33]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %c30 = arith.constant 30 : index
  %c64 = arith.constant 64 : index
  %minus = arith.constant -3 : index
  mk.role @r ctas(1) {
    // Larger than all of it.
    %x = mk.load %a[%c0, %c0] : memref<33x40xf32> -> tensor<64x64xf32>
    mk.store %x, %b[%c0, %c0] : tensor<64x64xf32>, memref<33x40xf32>
    // Over the end of both dimensions, before the beginning of one, and not in it at all.
    %y = mk.load %a[%c20, %c30] : memref<33x40xf32> -> tensor<16x16xf32>
    mk.store %y, %c[%c20, %c30] : tensor<16x16xf32>, memref<33x40xf32>
    %z = mk.load %a[%minus, %c0] : memref<33x40xf32> -> tensor<8x8xf32>
    mk.store %z, %c[%minus, %c0] : tensor<8x8xf32>, memref<33x40xf32>
    %none = mk.load %a[%c64, %c0] : memref<33x40xf32> -> tensor<8x8xf32>
    mk.store %none, %c[%c64, %c0] : tensor<8x8xf32>, memref<33x40xf32>
    // With a dimension in front of the tile's; the second row is of what does not exist.
    %v = mk.load %a[%c1, %c0] : memref<33x40xf32> -> tensor<64xf32>
    mk.store %v, %d[%c0, %c0] : tensor<64xf32>, memref<2x33xf32>
    %w = mk.load %a[%c64, %c0] : memref<33x40xf32> -> tensor<64xf32>
    mk.store %w, %d[%c1, %c0] : tensor<64xf32>, memref<2x33xf32>
  }
}

func.func @reference(%a: tensor<33x40xf64>, %c: tensor<33x40xf64>)
    -> (tensor<33x40xf64>, tensor<33x40xf64>, tensor<2x33xf64>) {
  %0 = arith.constant 0.0 : f64
  %y = tensor.extract_slice %a[20, 30] [13, 10] [1, 1] : tensor<33x40xf64> to tensor<13x10xf64>
  %z = tensor.extract_slice %a[0, 0] [5, 8] [1, 1] : tensor<33x40xf64> to tensor<5x8xf64>
  %c1 = tensor.insert_slice %y into %c[20, 30] [13, 10] [1, 1] : tensor<13x10xf64> into tensor<33x40xf64>
  %c2 = tensor.insert_slice %z into %c1[0, 0] [5, 8] [1, 1] : tensor<5x8xf64> into tensor<33x40xf64>
  %v = tensor.extract_slice %a[1, 0] [1, 33] [1, 1] : tensor<33x40xf64> to tensor<1x33xf64>
  %e = tensor.empty() : tensor<2x33xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%e : tensor<2x33xf64>) -> tensor<2x33xf64>
  %d = tensor.insert_slice %v into %zero[0, 0] [1, 33] [1, 1] : tensor<1x33xf64> into tensor<2x33xf64>
  return %a, %c2, %d : tensor<33x40xf64>, tensor<33x40xf64>, tensor<2x33xf64>
}
