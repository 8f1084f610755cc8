// A result whose map has a constant is no permutation of loops: it is computed whole, and nothing
// is said of it.
// REQUIRES: compiler
// RUN: mk-opt --mk-lower-reference %s 2>&1 | FileCheck %s --implicit-check-not=error
// CHECK: llvm.func @mk_reference(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i64 {
func.func @reference(%a: tensor<?x8xf64>) -> tensor<?x1xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x8xf64>
  %e = tensor.empty(%m) : tensor<?x1xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?x1xf64>) -> tensor<?x1xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, 0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x8xf64>) outs(%z : tensor<?x1xf64>) {
  ^bb0(%x: f64, %s: f64):
    %t = arith.addf %x, %s : f64
    linalg.yield %t : f64
  } -> tensor<?x1xf64>
  return %r : tensor<?x1xf64>
}
