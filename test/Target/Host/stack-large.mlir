// Tiles of a CTA are on its stack, which has a limit.
// REQUIRES: compiler
// RUN: not mk-opt --emit=package %s 2>&1 | FileCheck %s
// CHECK: error: 'llvm.alloca' op and what comes before it need {{[0-9]+}} bytes of stack for tiles; a CTA has at most 4 GiB: use smaller tiles
module {
  llvm.mlir.global internal constant @mk_metadata("{}")
  llvm.func @mk_role_0(%cta: !llvm.ptr) {
    %c = llvm.mlir.constant(1073741824 : i64) : i64
    %0 = llvm.load %cta : !llvm.ptr -> i64
    %1 = llvm.alloca %c x f32 : (i64) -> !llvm.ptr
    llvm.store %0, %1 : i64, !llvm.ptr
    llvm.return
  }
}
