// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --convert-mk-to-host | FileCheck %s

// What is checked is named with where its function is called, and what is from nowhere, too.
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?xi32>
mk.kernel @k on @mesh dims(uniform M) (inout %list : !x [M]) {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  mk.role @r ctas(1) {
    %n = memref.load %list[%c4] : !x loc(callsite("of/f.mlir":8:9 at "of/k.mlir":15:10))
    memref.store %n, %list[%c5] : !x loc(unknown)
  }
}
// CHECK: llvm.mlir.global internal constant @mk_sites("{\22sites\22:[{\22at\22:\22f.mlir:8:9 called at k.mlir:15:10\22,\22op\22:\22memref.load\22},{\22at\22:\22an unknown place\22,\22op\22:\22memref.store\22}]}")
