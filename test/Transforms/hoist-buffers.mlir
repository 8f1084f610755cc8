// RUN: mk-opt %s --pass-pipeline='builtin.module(func.func(mk-hoist-buffers))' --split-input-file --verify-diagnostics | FileCheck %s

// One slot at the entry for the allocation of every iteration.
// CHECK-LABEL: func @hoist
// CHECK-NEXT: %[[SLOT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK: scf.for
// CHECK-NEXT: memref.copy %{{.*}}, %[[SLOT]]
// CHECK-NOT: dealloc
func.func @hoist(%a: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.alloc() : memref<8xf32>
    memref.copy %a, %t : memref<8xf32> to memref<8xf32>
    memref.dealloc %t : memref<8xf32>
  }
  return
}

// -----

func.func @dynamic(%n: index) {
  // expected-error @below {{has a size that is only known at run time; tiles have static shapes}}
  %t = memref.alloc(%n) : memref<?xf32>
  return
}
