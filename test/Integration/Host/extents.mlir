// An extent below 0 is named as it is written, with the sizes that make it so; elements that no package
// holds are refused with those that one can.
// REQUIRES: compiler
// RUN: not mk-run %s --kernel=rest --bind M=8 2>&1 | FileCheck %s --check-prefix=KNOWN
// RUN: mk-opt --emit=package --kernel=rest %s -o %t.mkpkg
// RUN: not mk-run %t.mkpkg --bind M=8 2>&1 | FileCheck %s
// RUN: not mk-opt --emit=package --kernel=numbers %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=TYPE
// KNOWN: error: 'mk.kernel' op argument 'c' has -92 elements in dimension 0 (M + -100): extents are at least 0; bind other sizes
// CHECK: kernel 'rest': argument 'c' [M + -100] would be -92 on rank 0 (M = 8): extents have to be at least 0
// TYPE: error: argument 'c' has elements of type 'index', which packages cannot hold: use f64, f32, f16, bf16, f8E4M3FN, f8E5M2, or i64 to i1 (for index, i64)
mk.mesh @mesh (gpu = 1 via link)

mk.kernel @rest on @mesh dims(uniform M) (in %a : memref<?xi32> [M], out %c : memref<?xi32> [M - 100]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %k = mk.load %a[%c0] : memref<?xi32> -> tensor<8xi32>
    mk.store %k, %c[%c0] : tensor<8xi32>, memref<?xi32>
  }
}

mk.kernel @numbers on @mesh (out %c : memref<8xindex> [8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    memref.store %c0, %c[%c0] : memref<8xindex>
  }
}
