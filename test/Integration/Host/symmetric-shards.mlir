// An address of one rank names the same element at another: what peers write to has rows
// of one length. An input has no such rule.
// REQUIRES: compiler
// RUN: not mk-run %s --gpus 2 --bind N=5 2>&1 | FileCheck %s
// CHECK: symmetric argument 'a' has 3 elements in dimension 1 on rank 0 and 2 on rank 1: only its first dimension may be split unevenly, or that of an argument of kind in
// RUN: sed 's/out %a/in %a/' %s > %t.mlir
// RUN: mk-run %t.mlir --gpus 2 --bind N=5

mk.mesh @mesh (gpu = ? via link)
mk.kernel @rows on @mesh dims(uniform N) (
    out %a : memref<?x?xf32, #mk.symmetric> [4, N] split [(), (gpu)]) {
  mk.role @r ctas(1) {}
}
