// A reference that is NaN says nothing, of some elements or of all.
// REQUIRES: compiler
// RUN: not mk-run %s --kernel some --check | FileCheck %s --check-prefix=SOME
// RUN: not mk-run %s --kernel all --check | FileCheck %s --check-prefix=ALL
// SOME: y[3] on rank 0: got nan, and the reference is NaN there: nothing can be compared with that
// SOME: check: FAIL y
// ALL: y: @reference gives NaN for all that is compared, or has written nothing to it: nothing can be compared with that
// ALL: check: FAIL y
mk.mesh @mesh (gpu = 1 via link)

mk.kernel @some on @mesh (out %y : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
    mk.store %t, %y[%c0] : tensor<8xf32>, memref<8xf32>
  }
}
func.func @some_reference() -> tensor<8xf64> {
  %t = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf64>
  return %t : tensor<8xf64>
}

mk.kernel @all on @mesh (out %y : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = arith.constant dense<1.0> : tensor<8xf32>
    mk.store %t, %y[%c0] : tensor<8xf32>, memref<8xf32>
  }
}
func.func @all_reference() -> tensor<8xf64> {
  %t = arith.constant dense<0x7FF8000000000000> : tensor<8xf64>
  return %t : tensor<8xf64>
}
