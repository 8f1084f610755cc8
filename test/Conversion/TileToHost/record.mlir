// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --mk-expand-loops --mk-expand-folds --mk-expand-ranks --convert-mk-to-host=record=true --canonicalize --cse | FileCheck %s
// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --mk-expand-loops --mk-expand-folds --mk-expand-ranks --convert-mk-to-host --canonicalize --cse | FileCheck %s --check-prefix=PLAIN

// Code that is to be checked for races says which lines and accesses it executes.

// PLAIN-NOT: mkrt_line
// PLAIN-NOT: mkrt_access

mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: func @mk_role_0
mk.kernel @record on @mesh (inout %a : memref<16x8xf32, #mk.symmetric> [16, 8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @r ctas(1) {
    // CHECK: call @mkrt_line(%arg0, %c[[#@LINE+5]]_i32)
    // CHECK: call @mkrt_wait
    // CHECK: call @mkrt_line(%arg0, %c[[#@LINE+4]]_i32)
    // CHECK: call @mkrt_access(%arg0, %{{.*}}, %c2_i32, %{{.*}}, %c0_i32)
    // CHECK: call @mkrt_access(%arg0, %{{.*}}, %c1_i32, %{{.*}}, %c1_i32)
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    %t = mk.load %a[%c0, %c0] : memref<16x8xf32, #mk.symmetric> -> tensor<4x8xf32>
    %l = mk.load %a[%c1, %c0] : memref<16x8xf32, #mk.symmetric> -> tensor<8xf32>
    mk.store %l, %a[%c0, %c0] : tensor<8xf32>, memref<16x8xf32, #mk.symmetric>
    // A store to a peer is known by its call.
    // CHECK: call @mkrt_line
    // CHECK-NOT: mkrt_access
    // CHECK: call @mkrt_store
    %p = mk.rank(gpu = %c1)
    mk.store %t, %a[%c0, %c0] on %p : tensor<4x8xf32>, memref<16x8xf32, #mk.symmetric>
  }
}
