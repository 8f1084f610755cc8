// The last arguments, as many as results, stand for the outputs' extents.
// REQUIRES: compiler
// RUN: mk-opt --mk-lower-reference='destinations=true' %s | FileCheck %s
// RUN: sed 's/hape: tensor<?x4xf64>/hape: tensor<?x?xf64>/; s/dim \(.*\)tensor<?x4xf64>/dim \1tensor<?x?xf64>/' %s > %t.mlir
// RUN: not mk-opt --mk-lower-reference='destinations=true' %t.mlir 2>&1 | FileCheck %s --check-prefix=TYPE

// TYPE: error: the reference's last arguments must be of its results' types (a number is a dimension of the kernel: say which, as in '%m: index {mk.dim = "M"}')

// One input and one output: what is left of the destination is the output's extent.
// CHECK-LABEL: llvm.func internal @mk_reference.mk_reference_rows
// CHECK: llvm.func @mk_reference(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i64 {
func.func @reference(%a: tensor<?xf64>, %shape: tensor<?x4xf64>) -> tensor<?x4xf64> {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 2.0 : f64
  %m = tensor.dim %shape, %c0 : tensor<?x4xf64>
  %e = tensor.empty(%m) : tensor<?x4xf64>
  %s = linalg.fill ins(%0 : f64) outs(%e : tensor<?x4xf64>) -> tensor<?x4xf64>
  return %s : tensor<?x4xf64>
}
