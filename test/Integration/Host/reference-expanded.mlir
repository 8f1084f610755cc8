// A reference may split a dimension into several whose extents are known only when it runs, and
// the product of these has to be what there is. Slices of one value that turn out to be the same
// are computed once.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: cat %t/kernel.mlir %t/pairs.mlir > %t/a.mlir
// RUN: mk-run %t/a.mlir --bind M=12,N=4 --check | FileCheck %s --check-prefix=SAME
// RUN: not mk-run %t/a.mlir --bind M=13,N=4 --check 2>&1 | FileCheck %s
// RUN: cat %t/kernel.mlir %t/flat.mlir > %t/a.mlir
// RUN: mk-run %t/a.mlir --bind M=13,N=5 --check | FileCheck %s --check-prefix=SAME
// RUN: mk-run %t/slices.mlir --bind M=1,N=1 --check | FileCheck %s --check-prefix=SAME
// SAME: check: PASS {{.*}}c
// CHECK: --check: the reference of kernel 'copy': an index or a slice lies outside of its tensor, or extents of operands disagree, in line [[#]]

//--- kernel.mlir
mk.mesh @mesh (gpu = ? via link)
mk.kernel @copy on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x?xf32> [M, N], out %c : memref<?x?xf32> [M, N]) {
  mk.role @r ctas(1) {
    mk.foreach (%i, %j) in (%M, %N) {
      %x = mk.load %a[%i, %j] : memref<?x?xf32> -> tensor<1x1xf32>
      mk.store %x, %c[%i, %j] : tensor<1x1xf32>, memref<?x?xf32>
    }
  }
}

//--- pairs.mlir
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %half = arith.divui %m, %c2 : index
  %pairs = tensor.expand_shape %a [[0, 1], [2]] output_shape [%half, %c2, %n] : tensor<?x?xf64> into tensor<?x?x?xf64>
  %up = arith.addf %pairs, %pairs : tensor<?x?x?xf64>
  %same = arith.subf %up, %pairs : tensor<?x?x?xf64>
  %r = tensor.collapse_shape %same [[0, 1], [2]] : tensor<?x?x?xf64> into tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

//--- flat.mlir
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf64> into tensor<?xf64>
  %r = tensor.expand_shape %flat [[0, 1]] output_shape [%m, %n] : tensor<?xf64> into tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

//--- slices.mlir
mk.mesh @mesh (gpu = ? via link)
mk.kernel @first on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x?xf32> [M, N], out %b : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant dense<0.0> : tensor<1xf32>
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<1xf32>
    mk.store %x, %b[%c0] : tensor<1xf32>, memref<?xf32>
    mk.store %0, %c[%c0] : tensor<1xf32>, memref<?xf32>
  }
}
func.func @reference(%a: tensor<?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %up = arith.addf %a, %a : tensor<?x?xf64>
  %p = arith.subf %up, %a : tensor<?x?xf64>
  %row = tensor.empty(%m) : tensor<?xf64>
  %none = linalg.fill ins(%0 : f64) outs(%row : tensor<?xf64>) -> tensor<?xf64>
  %sum = linalg.reduce { arith.addf } ins(%p : tensor<?x?xf64>) outs(%none : tensor<?xf64>) dimensions = [1]
  %diagonal = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%row : tensor<?xf64>) {
  ^bb0(%o: f64):
    %i = linalg.index 0 : index
    %v = tensor.extract %p[%i, %i] : tensor<?x?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  %rest = arith.subf %sum, %diagonal : tensor<?xf64>
  return %sum, %rest : tensor<?xf64>, tensor<?xf64>
}
