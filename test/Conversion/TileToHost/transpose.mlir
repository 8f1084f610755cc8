// RUN: mk-opt %s -convert-mk-to-host | FileCheck %s

// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<8x16xf32>
// CHECK: linalg.transpose ins(%{{.*}} : tensor<16x8xf32>) outs(%[[EMPTY]] : tensor<8x16xf32>) permutation = [1, 0]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @turn on @mesh (in %a : memref<16x8xf32> [16, 8], out %b : memref<8x16xf32> [8, 16]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32>
    %y = mk.transpose %x : tensor<16x8xf32> -> tensor<8x16xf32>
    mk.store %y, %b[%c0, %c0] : tensor<8x16xf32>, memref<8x16xf32>
  }
}
