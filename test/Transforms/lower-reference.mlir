// A reference becomes one function that computes only the rows asked for.
// REQUIRES: compiler
// RUN: mk-opt --mk-lower-reference %s | FileCheck %s
// RUN: not mk-opt --mk-lower-reference=function=nothing %s 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: there is no function @nothing to lower as the reference

// Nothing of the intermediate is computed but the slice: one allocation at most,
// and loops over the rows asked for.
// CHECK-LABEL: llvm.func internal @mk_reference.mk_reference_rows
// CHECK-SAME: llvm.noalias
// CHECK-NOT: memrefCopy
// CHECK: llvm.intr.tan(
// CHECK: llvm.func @mk_reference(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i64 {
func.func @reference(%a: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x8xf64>
  %e = tensor.empty(%m) : tensor<?x8xf64>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x8xf64>) outs(%e : tensor<?x8xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = math.tan %x : f64
    linalg.yield %y : f64
  } -> tensor<?x8xf64>
  %s = linalg.add ins(%t, %a : tensor<?x8xf64>, tensor<?x8xf64>) outs(%e : tensor<?x8xf64>) -> tensor<?x8xf64>
  // Arithmetic on whole tensors is sliced too.
  %d = arith.addf %s, %s : tensor<?x8xf64>
  return %d : tensor<?x8xf64>
}
