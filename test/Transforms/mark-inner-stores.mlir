// RUN: mk-opt %s -mk-mark-inner-stores --remarks=mark-inner-stores -verify-diagnostics -o %t && FileCheck %s --input-file=%t

// Stores whose indices in front of the tile's dimensions are known to exist.

mk.mesh @mesh (node = 2 via net, gpu = 4 via link)
!t = tensor<8x8xf32>
!a = memref<?x?x?xf32>
!sums = memref<2x?x?xf32, #mk.symmetric>

// CHECK-LABEL: mk.kernel @k
mk.kernel @k on @mesh dims(uniform L, uniform M, uniform N) (
    in %at : memref<?xi32> [M], out %c : !a [L, M, M], out %part : !a [L, M, M] split [(gpu), (), ()],
    out %wide : !a [L + 1, M, M], scratch %sum : !sums [2, M, M] , out %two : memref<?x?x?x?xf32> [L, M, M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = arith.constant dense<0.0> : !t
  mk.role @r ctas(1) {
    %node = mk.coord node
    %gpu = mk.coord gpu
    %own = memref.dim %part, %c0 : !a
    %read = memref.load %at[%c0] : memref<?xi32>
    %any = arith.index_cast %read : i32 to index
    mk.foreach (%l, %m) in (%L, %M) {
      // What the loop counts to, which is as much as there is.
      // CHECK: mk.store %{{.*}}, %c[%{{.*}}] inside :
      mk.store %t, %c[%l, %c0, %c0] : !t, !a
      // Another number.
      // CHECK: mk.store %{{.*}}, %c[%{{.*}}] : tensor
      // expected-remark @+1 {{mk-mark-inner-stores: missed: checks whether index 0 exists: let it be that of a loop that ends with the extent, a coordinate, or what a remainder by the extent leaves (in role 'r')}}
      mk.store %t, %c[%m, %c0, %c0] : !t, !a
      // A rank has a part of it.
      // CHECK: mk.store %{{.*}}, %part[%{{.*}}] : tensor
      // expected-remark @+1 {{mk-mark-inner-stores: missed: checks whether index 0 exists: let it be that of a loop that ends with the extent, a coordinate, or what a remainder by the extent leaves (in role 'r')}}
      mk.store %t, %part[%l, %c0, %c0] : !t, !a
      // Both of two.
      // CHECK: mk.store %{{.*}}, %two[%{{.*}}] inside :
      mk.store %t, %two[%l, %m, %c0, %c0] : !t, memref<?x?x?x?xf32>
      // CHECK: mk.store %{{.*}}, %two[%{{.*}}] : tensor
      // expected-remark @+1 {{mk-mark-inner-stores: missed: checks whether index 0 exists: let it be that of a loop that ends with the extent, a coordinate, or what a remainder by the extent leaves (in role 'r')}}
      mk.store %t, %two[%m, %m, %c0, %c0] : !t, memref<?x?x?x?xf32>
      // A quotient, a remainder.
      %q = arith.divui %l, %c2 : index
      // CHECK: mk.store %{{.*}}, %c[%{{.*}}] inside :
      mk.store %t, %c[%q, %c0, %c0] : !t, !a
      %r = arith.remui %any, %L : index
      // CHECK: mk.store %{{.*}}, %c[%{{.*}}] inside :
      mk.store %t, %c[%r, %c0, %c0] : !t, !a
      // At most what there is.
      %least = arith.minui %any, %l : index
      // CHECK: mk.store %{{.*}}, %c[%{{.*}}] inside :
      mk.store %t, %c[%least, %c0, %c0] : !t, !a
      // No one knows what is read.
      // CHECK: mk.store %{{.*}}, %c[%{{.*}}] : tensor
      // expected-remark @+1 {{mk-mark-inner-stores: missed: checks whether index 0 exists: let it be that of a loop that ends with the extent, a coordinate, or what a remainder by the extent leaves (in role 'r')}}
      mk.store %t, %c[%any, %c0, %c0] : !t, !a
      // Fewer than there are.
      // CHECK: mk.store %{{.*}}, %wide[%{{.*}}] : tensor
      // expected-remark @+1 {{mk-mark-inner-stores: missed: checks whether index 0 exists: let it be that of a loop that ends with the extent, a coordinate, or what a remainder by the extent leaves (in role 'r')}}
      mk.store %t, %wide[%l, %c0, %c0] : !t, !a
    }
    scf.for %i = %c0 to %own step %c1 {
      // CHECK: mk.store %{{.*}}, %part[%{{.*}}] inside :
      mk.store %t, %part[%i, %c0, %c0] : !t, !a
    }
    // Coordinates, of two nodes and four GPUs; a constant.
    // CHECK: mk.store %{{.*}}, %sum[%{{.*}}] inside :
    mk.store %t, %sum[%node, %c0, %c0] : !t, !sums
    // CHECK: mk.store %{{.*}}, %sum[%{{.*}}] : tensor
    // expected-remark @+1 {{mk-mark-inner-stores: missed: checks whether index 0 exists: let it be that of a loop that ends with the extent, a coordinate, or what a remainder by the extent leaves (in role 'r')}}
    mk.store %t, %sum[%gpu, %c0, %c0] : !t, !sums
    // CHECK: mk.store %{{.*}}, %sum[%{{.*}}] inside :
    mk.store %t, %sum[%c1, %c0, %c0] : !t, !sums
    // CHECK: mk.store %{{.*}}, %sum[%{{.*}}] : tensor
    // expected-remark @+1 {{mk-mark-inner-stores: missed: checks whether index 0 exists: let it be that of a loop that ends with the extent, a coordinate, or what a remainder by the extent leaves (in role 'r')}}
    mk.store %t, %sum[%c2, %c0, %c0] : !t, !sums
    // Of another rank, which may have more.
    // CHECK: mk.store %{{.*}}, %sum[%{{.*}}] on %{{.*}} : tensor
    mk.store %t, %sum[%node, %c0, %c0] on %c0 : !t, !sums
  }
}
