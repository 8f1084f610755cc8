// RUN: mk-opt %s -split-input-file -convert-mk-sm-to-llvm=grid=1 | FileCheck %s

// A thread has 4 elements that lie one behind the other. They go together where addresses
// allow it, else one by one. What has waited for the store is computed once, in front of
// both ways.

#dealt = #mk_sm.blocked<threads = 128, vector = 4>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: llvm.func @mk_kernel
// CHECK-COUNT-4: llvm.intr.fabs
// CHECK-NOT: llvm.intr.fabs
// CHECK: scf.if %{{.*}} {
// CHECK: st.global.v4.b32
// CHECK: } else {
// CHECK-COUNT-4: st.global.b32
// CHECK: }
// CHECK-NOT: llvm.intr.fabs
mk.kernel @dear on @mesh (in %a : memref<64x8xf32> [64, 8], out %b : memref<64x8xf32> [64, 8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x8xf32> -> tensor<64x8xf32, #dealt>
      %0 = arith.negf %x : tensor<64x8xf32, #dealt>
      %1 = arith.mulf %0, %0 : tensor<64x8xf32, #dealt>
      %2 = arith.addf %0, %1 : tensor<64x8xf32, #dealt>
      %3 = math.absf %2 : tensor<64x8xf32, #dealt>
      mk.store %3, %b[%c0, %c0] : tensor<64x8xf32, #dealt>, memref<64x8xf32>
    }
  }
}

// -----

// Few ops are computed for each way: their results would live across the choice.

#dealt = #mk_sm.blocked<threads = 128, vector = 4>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: llvm.func @mk_kernel
// CHECK: st.global.v4.b32
// CHECK: } else {
// CHECK: arith.negf
// CHECK: st.global.b32
mk.kernel @cheap on @mesh (in %a : memref<64x8xf32> [64, 8], out %b : memref<64x8xf32> [64, 8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x8xf32> -> tensor<64x8xf32, #dealt>
      %y = arith.negf %x : tensor<64x8xf32, #dealt>
      mk.store %y, %b[%c0, %c0] : tensor<64x8xf32, #dealt>, memref<64x8xf32>
    }
  }
}
