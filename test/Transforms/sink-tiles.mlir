// RUN: mk-opt %s -mk-sink-tiles | FileCheck %s

// Tiles that stand beside the roles are computed in each role that uses them: vectors at its start, matrices where they are used. Constants
// and tiles of one value stay.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @common
// CHECK: %[[ONES:.*]] = tensor.splat
// CHECK-NOT: mk.broadcast
// CHECK: mk.role @first
// CHECK-NEXT: %[[WIDE:.*]] = mk.broadcast %[[ONES]]
// CHECK-NEXT: %[[LOWER:.*]] = mk.mask %[[WIDE]]
// CHECK-NEXT: %[[SUM:.*]] = mk.reduce add %[[LOWER]]
// CHECK: mk.foreach
// CHECK: mk.load
// CHECK: %[[ALL:.*]] = mk.broadcast %[[SUM]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[ALL]]
// CHECK: mk.role @second
// CHECK-NEXT: mk.broadcast
// CHECK-NEXT: mk.mask
// CHECK-NEXT: %[[AGAIN:.*]] = mk.reduce
// CHECK-NEXT: mk.store %[[AGAIN]]
mk.kernel @common on @mesh dims(uniform N) (in %x : memref<64x64xf32> [64, 64], out %y : memref<64x64xf32> [64, 64], out %z : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  %n = arith.index_cast %N : index to i32
  %one = arith.sitofp %n : i32 to f32
  %0 = arith.constant 0.0 : f32
  %ones = tensor.splat %one : tensor<64xf32>
  %wide = mk.broadcast %ones dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %lower = mk.mask %wide where affine_set<(r, c) : (r - c >= 0)> else %0 : tensor<64x64xf32>
  %sum = mk.reduce add %lower axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  %all = mk.broadcast %sum dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  mk.role @first ctas(1) {
    mk.foreach (%i) in (%N) {
      %t = mk.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
      %o = arith.addf %t, %all : tensor<64x64xf32>
      mk.store %o, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    }
  }
  mk.role @second ctas(1) {
    mk.store %sum, %z[%c0] : tensor<64xf32>, memref<64xf32>
  }
}
