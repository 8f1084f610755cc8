// Stacks of CTAs are of fixed size.
// REQUIRES: compiler
// RUN: not mk-opt --emit=package %s 2>&1 | FileCheck %s
// CHECK: error: 'llvm.alloca' op takes an amount of stack that is known only at run time; stacks of CTAs are of fixed size
module {
  llvm.mlir.global internal constant @mk_metadata("{}")
  llvm.func @mk_role_0(%cta: !llvm.ptr) {
    %0 = llvm.load %cta : !llvm.ptr -> i64
    %1 = llvm.alloca %0 x f32 : (i64) -> !llvm.ptr
    llvm.store %0, %1 : i64, !llvm.ptr
    llvm.return
  }
}
