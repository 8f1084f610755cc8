// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=1 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand -canonicalize | FileCheck %s

// Transposed tiles through the copy engine: 24 rows of 64 columns are three blocks of 8, two at a time. What waits for the
// store is computed a block at a time.

#acc = #mk_sm.mma<warpgroups = 1>
#turned = #mk_sm.transposed<of = #acc>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-NOT: bytes(4)
// CHECK-COUNT-2: mk_thread.stmatrix {{.*}} transpose
// CHECK-NOT: mk_thread.stmatrix
// CHECK: mk_thread.store_tensor
mk.kernel @staged on @mesh (in %a : memref<64x24xf32> [64, 24], out %b : memref<24x64xbf16> [24, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<1>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x24xf32> -> tensor<64x24xf32, #acc>
      %t = mk.transpose %x : tensor<64x24xf32, #acc> -> tensor<24x64xf32, #turned>
      %n = arith.truncf %t : tensor<24x64xf32, #turned> to tensor<24x64xbf16, #turned>
      mk_sm.store %n, %b[%c0, %c0] through %out : tensor<24x64xbf16, #turned>, memref<24x64xbf16>, !mk_sm.staging<1>
    }
  }
}

// -----

// From registers each element goes by itself: what lies beside it in a row another thread has.

#acc = #mk_sm.mma<warpgroups = 1>
#turned = #mk_sm.transposed<of = #acc>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-COUNT-4: mk_thread.store {{.*}} : i64 bytes(4)
// CHECK-NOT: mk_thread.store {{.*}} : i64 bytes
mk.kernel @direct on @mesh (in %a : memref<8x64xf32> [8, 64], out %b : memref<8x64xf32> [8, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<8x64xf32> -> tensor<8x64xf32, #turned>
      %y = arith.negf %x : tensor<8x64xf32, #turned>
      mk.store %y, %b[%c0, %c0] : tensor<8x64xf32, #turned>, memref<8x64xf32>
    }
  }
}

// -----

// Where layouts do not belong to each other, through shared memory: written by rows, read by columns.

#flat = #mk_sm.blocked<threads = 128, vector = 4>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: mk_thread.sync %
// CHECK-COUNT-2: mk_thread.store %{{.*}}, %{{.*}} : i32, i32 to %{{.*}} : i32 bytes(8)
// CHECK: mk_thread.sync %
// CHECK-COUNT-4: mk_thread.load %{{.*}}, 4 {{.*}}: i32 -> i32
mk.kernel @exchanged on @mesh (in %a : memref<16x32xf32> [16, 32], out %b : memref<32x16xf32> [32, 16]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<16x32xf32> -> tensor<16x32xf32, #flat>
      %t = mk.transpose %x : tensor<16x32xf32, #flat> -> tensor<32x16xf32, #flat>
      mk.store %t, %b[%c0, %c0] : tensor<32x16xf32, #flat>, memref<32x16xf32>
    }
  }
}
