// RUN: mk-opt %s --mk-resolve-params | FileCheck %s
// RUN: mk-opt %s --canonicalize --cse --mk-resolve-params | FileCheck %s
// RUN: mk-opt %s --mk-bind='set=TM=32,TN=8,S=2,G=4,SEND=3,PUSH=5' --mk-resolve-params | FileCheck %s --check-prefix=SET

!x = tensor<?x16xbf16, #mk.extents<TM>>
!y = tensor<?x16xbf16, #mk.extents<TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!row = tensor<?xf32, #mk.extents<TM>>

mk.mesh @mesh (gpu = 4 via link)

// CHECK-LABEL: mk.kernel @k
// CHECK-NOT: mk.param
// CHECK-NOT: mk.extents
// SET-LABEL: mk.kernel @k
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?x?xbf16> [M, M], out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %0 = arith.constant 0.0 : f32
  %tm = mk.param "TM" = 64
  // A default may be computed from others and from the mesh.
  %world = mk.size
  %half = arith.divui %tm, %c2 : index
  %mixed = arith.muli %half, %world : index
  %tn = mk.param "TN" default(%mixed)
  mk.param "S" = 1
  mk.param "G" = 8
  mk.param "SEND" = 2
  mk.param "PUSH" = 0
  %zero = tensor.splat %0[%tm, %tn] : !acc
  // CHECK-DAG: %[[TM:.*]] = arith.constant 64 : index
  // CHECK-DAG: %[[TN:.*]] = arith.constant 128 : index
  %mt = arith.ceildivui %M, %tm : index
  %nt = arith.ceildivui %M, %tn : index
  // CHECK: mk.role @send ctas(2)
  // SET: mk.role @send ctas(3)
  mk.role @send ctas(param SEND) {}
  // 0 leaves it to the share.
  // CHECK: mk.role @push ctas(share = 1.250000e-01)
  // SET: mk.role @push ctas(5)
  mk.role @push ctas(param PUSH, share = 0.125) {}
  mk.role @r ctas(rest) {
    // CHECK: mk.foreach {{.*}} schedule(ticket) order(raster = 8, stagger)
    // SET: mk.foreach {{.*}} schedule(stream_k, tail = 1) order(raster = 4, stagger)
    mk.foreach (%i, %j) in (%mt, %nt) schedule(param S, tail = 1) order(raster = G, stagger) {
      // CHECK: mk.fold {{.*}} : tensor<64x128xf32> {
      // CHECK: mk.load {{.*}} -> tensor<64x16xbf16>
      // CHECK: mk.dot {{.*}} : tensor<64x16xbf16>, tensor<128x16xbf16>, tensor<64x128xf32>
      // CHECK: mk.yield {{.*}} : tensor<64x128xf32>
      // SET: mk.fold {{.*}} : tensor<32x8xf32> {
      %acc = mk.fold (%k) in (%mt) iter(%s = %zero) combine(@sum) : !acc {
        %x = mk.load %a[%i, %k] : memref<?x?xbf16> -> !x
        %y = mk.load %a[%j, %k] : memref<?x?xbf16> -> !y
        %d = mk.dot %x, %y, %s transpose_b : !x, !y, !acc
        mk.yield %d : !acc
      }
      // CHECK: mk.reduce max {{.*}} : tensor<64x128xf32> -> tensor<64xf32>
      %m = mk.reduce max %acc axis 1 : !acc -> !row
      // CHECK: mk.broadcast {{.*}} : tensor<64xf32> -> tensor<64x128xf32>
      %b = mk.broadcast %m dims [1] : !row -> !acc
      // CHECK: mk.store {{.*}} : tensor<64x128xf32>
      mk.store %b, %c[%i, %j] : !acc, memref<?x?xf32>
    }
  }
}

// CHECK: func.func private @sum(%{{.*}}: tensor<64x128xf32>, %{{.*}}: tensor<64x128xf32>) -> tensor<64x128xf32>
// CHECK: arith.addf {{.*}} : tensor<64x128xf32>
func.func private @sum(%a: !acc, %b: !acc) -> !acc {
  %c = arith.addf %a, %b : !acc
  return %c : !acc
}
