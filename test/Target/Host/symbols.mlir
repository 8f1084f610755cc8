// Compiled code may call the runtime, memory functions and mathematics only.
// REQUIRES: compiler
// RUN: not mk-opt --emit=package %s 2>&1 | FileCheck %s
// CHECK: error: compiled code needs 'system', which is neither a runtime entry point nor a C library function that a package may use; the op that calls it cannot be used on the host target
module {
  llvm.mlir.global internal constant @mk_metadata("{}")
  llvm.func @system(!llvm.ptr) -> i32
  llvm.func @exp(f64) -> f64
  llvm.func @mk_plan(%launch: !llvm.ptr, %out: !llvm.ptr) -> i64 {
    %0 = llvm.call @system(%out) : (!llvm.ptr) -> i32
    %1 = llvm.mlir.constant(1.5 : f64) : f64
    %2 = llvm.load %launch : !llvm.ptr -> f64
    %3 = llvm.call @exp(%2) : (f64) -> f64
    llvm.store %3, %out : f64, !llvm.ptr
    %4 = llvm.sext %0 : i32 to i64
    llvm.return %4 : i64
  }
}
