// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --mk-expand-loops --mk-expand-folds --mk-expand-ranks --convert-mk-to-host --canonicalize --cse --split-input-file | FileCheck %s

// A load is a private copy: whole tiles have constant sizes, others are padded.
// CHECK-LABEL: func @mk_role_0
// CHECK: %[[BUF:.*]] = memref.alloc() : memref<16x8xf32>
// CHECK: scf.if
// CHECK: memref.subview %{{.*}} [16, 8] [1, 1]
// CHECK: memref.copy
// CHECK: else
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[BUF]]
// CHECK: memref.copy
// CHECK: bufferization.to_tensor %[[BUF]] restrict writable
// CHECK: linalg.reduce
// CHECK-SAME: dimensions = [1]
// CHECK: linalg.broadcast
// CHECK: linalg.generic
// CHECK: linalg.index 0
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.mulf
// CHECK: scf.if
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable
// CHECK: else
// CHECK: %[[PART:.*]] = tensor.extract_slice
// CHECK: bufferization.materialize_in_destination %[[PART]] in restrict writable
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @tiles on @mesh dims(uniform M, uniform K) (
    in %a : memref<?x?xf32> [M, K], out %b : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] pad(%ninf : f32) : memref<?x?xf32> -> tensor<16x8xf32>
    %m = mk.reduce max %x axis 1 : tensor<16x8xf32> -> tensor<16xf32>
    %y = mk.broadcast %m dims [1] : tensor<16xf32> -> tensor<16x8xf32>
    %z = mk.mask %y where affine_set<(r, c)[d] : (r - c + d >= 0)>[%M] else %ninf : tensor<16x8xf32>
    %d = mk.dot %x, %z, %zero transpose_b : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x16xf32>
    mk.store %d, %b[%c0, %c0] : tensor<16x16xf32>, memref<?x?xf32>
  }
}

// -----

// A load after a wait copies after the wait, and nothing is shared with the load
// before it.
// CHECK-LABEL: func @mk_role_0
// CHECK: memref.copy
// CHECK: call @mkrt_wait
// CHECK: memref.alloc
// CHECK: memref.copy
// CHECK: arith.addf
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @snapshot on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], out %b : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0] : memref<8xf32, #mk.symmetric> -> tensor<8xf32>
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    %y = mk.load %a[%c0] : memref<8xf32, #mk.symmetric> -> tensor<8xf32>
    %z = arith.addf %x, %y : tensor<8xf32>
    mk.store %z, %b[%c0] : tensor<8xf32>, memref<8xf32>
  }
}
