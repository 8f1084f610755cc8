// RUN: mk-opt %s --pass-pipeline='builtin.module(func.func(mk-lower-copies))' | FileCheck %s

// Copies become linalg ops, a copy onto itself disappears.
// CHECK-LABEL: func @copies(
// CHECK-SAME: %[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>)
// CHECK-NEXT: linalg.copy ins(%[[A]] : memref<8xf32>) outs(%[[B]] : memref<8xf32>)
// CHECK-NEXT: return
func.func @copies(%a: memref<8xf32>, %b: memref<8xf32>) {
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  memref.copy %b, %b : memref<8xf32> to memref<8xf32>
  return
}
