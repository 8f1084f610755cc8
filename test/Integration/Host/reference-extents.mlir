// An op of a reference whose operands have different extents is reported, with its line, also
// where only rows of its result are computed and where it is but a copy: the transpose of what
// should be there passes for nothing else.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: cat %t/kernel.mlir %t/copy.mlir > %t/a.mlir
// RUN: mk-run %t/a.mlir --bind M=4,N=4 --check | FileCheck %s --check-prefix=SQUARE
// RUN: not mk-run %t/a.mlir --bind M=5,N=3 --check 2>&1 | FileCheck %s
// RUN: cat %t/kernel.mlir %t/helper.mlir > %t/a.mlir
// RUN: mk-run %t/a.mlir --bind M=4,N=4 --check | FileCheck %s --check-prefix=SQUARE
// RUN: not mk-run %t/a.mlir --bind M=5,N=3 --check 2>&1 | FileCheck %s
// RUN: cat %t/kernel.mlir %t/sum.mlir > %t/a.mlir
// RUN: mk-run %t/a.mlir --bind M=4,N=4 --check | FileCheck %s --check-prefix=SQUARE
// RUN: not mk-run %t/a.mlir --bind M=5,N=3 --check 2>&1 | FileCheck %s
// SQUARE: check: PASS c
// CHECK: --check: the reference of kernel 'copy': an index or a slice lies outside of its tensor, or extents of operands disagree, in line [[#]]

// Of the contraction only rows are computed, and its destination is nowhere needed whole.
// RUN: sed 's/tensor.empty(%m, %n)/tensor.empty(%n, %m)/' %examples/gemm.mlir > %t/a.mlir
// RUN: mk-run %t/a.mlir --kernel gemm_nt --bind M=40,N=40,K=20 --check | FileCheck %s --check-prefix=SQUARE
// RUN: not mk-run %t/a.mlir --kernel gemm_nt --bind M=40,N=30,K=20 --check 2>&1 | FileCheck %s --check-prefix=GEMM
// GEMM: the reference of kernel 'gemm_nt': an index or a slice lies outside of its tensor, or extents of operands disagree, in line [[#]]

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
#same = affine_map<(i, j) -> (i, j)>

//--- copy.mlir
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%x: f64, %o: f64):
    linalg.yield %x : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

//--- helper.mlir
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64>
  %c = func.call @copy_to(%a, %e) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
func.func @copy_to(%a: tensor<?x?xf64>, %e: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c = linalg.copy ins(%a : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

//--- sum.mlir
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64>
  %0 = arith.constant 0.0 : f64
  %z = linalg.fill ins(%0 : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = arith.addf %a, %z : tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
