// Offsets that are constants below zero: what lies in the buffer is read and written, what lies in front of it is
// padding and dropped. A row in front of the first does not exist.
// REQUIRES: compiler
// RUN: mk-run --no-optimize %s --bind C=20 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --bind C=7 --check --seed 3 | FileCheck %s
// CHECK: check: PASS b, c, d

mk.mesh @mesh (gpu = ? via link)

mk.kernel @k on @mesh dims(uniform C) (
    in %a : memref<?x?xf32> [2, C],
    out %b : memref<?x?xf32> [2, C],
    out %c : memref<?xf32> [C],
    out %d : memref<?x?xf32> [2, C]) {
  %m2 = arith.constant -2 : index
  %m1 = arith.constant -1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk.foreach (%i) in (%c1) {
      // One element to the right.
      %x = mk.load %a[%c0, %m1] : memref<?x?xf32> -> tensor<2x32xf32>
      mk.store %x, %b[%c0, %c0] : tensor<2x32xf32>, memref<?x?xf32>
      // There is no such row.
      %y = mk.load %a[%m1, %m2] : memref<?x?xf32> -> tensor<32xf32>
      mk.store %y, %c[%c0] : tensor<32xf32>, memref<?xf32>
      // One element to the left, and the rows in the other order.
      %z = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<2x32xf32>
      %before = arith.subi %i, %c1 : index // a constant when there is no loop any more
      mk.store %z, %d[%c1, %before] : tensor<2x32xf32>, memref<?x?xf32>
      mk.store %z, %d[%m1, %m1] : tensor<2x32xf32>, memref<?x?xf32>
    }
  }
}

func.func @reference(%a: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = arith.constant 0.0 : f64
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %p = tensor.pad %a low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %0 : f64
  } : tensor<?x?xf64> to tensor<?x?xf64>
  %b = tensor.extract_slice %p[0, 0] [%c2, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %c = tensor.splat %0[%n] : tensor<?xf64>
  %first = tensor.extract_slice %p[0, 2] [%c1, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %second = tensor.extract_slice %p[1, 2] [%c1, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %d = tensor.concat dim(0) %second, %first : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %b, %c, %d : tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>
}
