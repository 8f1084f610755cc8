// An address of one rank names the same element at another: what peers write to has rows
// of one length. An input has no such rule.
// REQUIRES: compiler
// RUN: not mk-run %s --gpus 2 --bind N=5 2>&1 | FileCheck %s
// CHECK: symmetric-shards.mlir:{{[0-9]+}}:1: error: 'mk.kernel' op symmetric argument 'a' has 5 elements in dimension 1, of which 2 ranks have different numbers
// RUN: mk-opt --target=host --bind gpu=2 %s -o %t.mkpkg
// RUN: mk-run %t.mkpkg --bind N=6
// RUN: not mk-run %t.mkpkg --bind N=5 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: symmetric argument 'a' has 3 elements in dimension 1 on rank 0 and 2 on rank 1: only its first dimension may be split unevenly, or that of an argument of kind in, which peers do not write; give a multiple of the ranks, or let peers write to scratch of whole shards
// RUN: sed 's/out %a/in %a/' %s > %t.mlir
// RUN: mk-run %t.mlir --gpus 2 --bind N=5

mk.mesh @mesh (gpu = ? via link)
mk.kernel @rows on @mesh dims(uniform N) (
    out %a : memref<?x?xf32, #mk.symmetric> [4, N] split [(), (gpu)]) {
  mk.role @r ctas(1) {}
}
