// A slice that is out of bounds is named by its own line, be it computed only as far as rows of the
// result are asked for.
// REQUIRES: compiler
// RUN: not mk-run --no-optimize %s --bind M=5,N=7 --check 2>&1 | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M, uniform N) (in %a : memref<?x?xf32> [M, N], out %b : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<8x8xf32>
    mk.store %x, %b[%c0, %c0] : tensor<8x8xf32>, memref<?x?xf32>
  }
}

func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  // CHECK: or extents of operands disagree, in line [[#@LINE+1]]
  %x = tensor.extract_slice %a[0, 0] [%m, %n] [2, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  return %x : tensor<?x?xf64>
}
