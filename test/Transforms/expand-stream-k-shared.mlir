// RUN: mk-opt %s --mk-assign-ctas=grid=8 --mk-expand-stream-k | FileCheck %s

// Where items are cut alike, all CTAs that have a part of one add up some rows of all parts each.
mk.mesh @mesh (gpu = 1 via link)

// What stands behind the fold works on rows: a bias, a residual, the sum of each row.
// CHECK-LABEL: mk.kernel @rows
// CHECK: scratch %gemm_parts : memref<8x32x8xf32> [8, 32, 8]
// Who has a part stores it, and waits for all parts of the item.
// CHECK: mk.store %{{.*}}, %sums
// CHECK: %[[PART:.*]] = mk.fold
// CHECK: scf.if %{{.*}} {
// CHECK: mk.store %[[PART]], %gemm_parts[%[[W:.*]], %{{.*}}, %{{.*}}]
// CHECK-NEXT: mk.signal %gemm_parts_ready[%[[W]]]
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[PARTS:.*]] : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[PARTS]] step
// CHECK-NEXT: %[[OTHER:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK-NEXT: mk.wait %gemm_parts_ready[%[[OTHER]]] ge
// Of many parts a quarter of the rows at a time (8 at least),
// CHECK: scf.if
// CHECK: %[[OWN:.*]] = arith.subi %[[W]], %[[FIRST]]
// CHECK: scf.for %[[S:.*]] = %[[OWN]] to %c4{{.*}} step %[[PARTS]]
// CHECK: %[[ROW:.*]] = arith.muli %[[S]], %c8
// from the last part to the first, four at once; what is too many is not added.
// CHECK: %[[SUM:.*]] = scf.for %[[P:.*]] = %{{.*}} to %[[PARTS]] step %c4{{.*}} iter_args(%[[SOFAR:.*]] = %{{.*}}) -> (tensor<8x8xf32>)
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK: %[[BACK:.*]] = arith.addi %[[P]], %c0
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[BACK]], %[[PARTS]]
// CHECK: %[[AT:.*]] = arith.subi %[[LAST]], %[[BACK]]
// CHECK: %[[INSIDE:.*]] = arith.maxsi %[[AT]], %[[FIRST]]
// CHECK: %[[LOADED:.*]] = mk.load %gemm_parts[%[[INSIDE]], %[[ROW]], %{{.*}}]
// CHECK-COUNT-3: mk.load %gemm_parts
// CHECK: %[[NEXT:.*]] = arith.addf %[[LOADED]], %[[SOFAR]] : tensor<8x8xf32>
// CHECK: arith.select %[[THERE]], %[[NEXT]], %[[SOFAR]] : tensor<8x8xf32>
// What follows is cut as the sum is.
// CHECK: mk.load %bias[%{{.*}}] : memref<?xf32> -> tensor<8xf32>
// CHECK: mk.broadcast %{{.*}} dims [0] : tensor<8xf32> -> tensor<8x8xf32>
// CHECK: %[[DOWN:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK: mk.load %x[%[[DOWN]], %{{.*}}] : memref<?x?xf32> -> tensor<8x8xf32>
// CHECK: arith.constant dense<2.000000e+00> : tensor<8x8xf32>
// CHECK: arith.maximumf %{{.*}} : tensor<8x8xf32>
// CHECK: mk.reduce add %{{.*}} axis 1 : tensor<8x8xf32> -> tensor<8xf32>
// CHECK: mk.broadcast %{{.*}} dims [1] : tensor<8xf32> -> tensor<8x8xf32>
// CHECK: mk.store %{{.*}}, %c[%{{.*}}, %{{.*}}] : tensor<8x8xf32>
// CHECK: mk.store %{{.*}}, %sums[%{{.*}}] : tensor<8xf32>
// of few a half.
// CHECK: else
// CHECK: scf.for %{{.*}} = %{{.*}} to %c2{{.*}} step %[[PARTS]]
// CHECK: iter_args(%{{.*}} = %{{.*}}) -> (tensor<16x8xf32>)
// CHECK-COUNT-2: mk.load %gemm_parts
// CHECK: mk.store %{{.*}}, %c[%{{.*}}, %{{.*}}] : tensor<16x8xf32>
// Where items are not cut alike their owners finish them.
// CHECK: else
// CHECK: mk.store %{{.*}}, %c[%{{.*}}, %{{.*}}] : tensor<32x8xf32>
mk.kernel @rows on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xf32> [M, K], in %x : memref<?x?xf32> [M, K],
                                                     in %bias : memref<?xf32> [K], out %c : memref<?x?xf32> [M, K],
                                                     out %sums : memref<?xf32> [M]) {
  %zero = arith.constant dense<0.0> : tensor<32x8xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<32x8xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xf32> -> tensor<32x8xf32>
        %n = arith.addf %s, %t : tensor<32x8xf32>
        mk.yield %n : tensor<32x8xf32>
      }
      %row = mk.load %bias[%i] : memref<?xf32> -> tensor<8xf32>
      %b = mk.broadcast %row dims [0] : tensor<8xf32> -> tensor<32x8xf32>
      %r = mk.load %x[%i, %i] : memref<?x?xf32> -> tensor<32x8xf32>
      %two = arith.constant dense<2.0> : tensor<32x8xf32>
      %0 = arith.addf %acc, %b : tensor<32x8xf32>
      %1 = arith.addf %0, %r : tensor<32x8xf32>
      %2 = arith.maximumf %1, %two : tensor<32x8xf32>
      %sum = mk.reduce add %2 axis 1 : tensor<32x8xf32> -> tensor<32xf32>
      %spread = mk.broadcast %sum dims [1] : tensor<32xf32> -> tensor<32x8xf32>
      %3 = arith.subf %2, %spread : tensor<32x8xf32>
      mk.store %3, %c[%i, %i] : tensor<32x8xf32>, memref<?x?xf32>
      mk.store %sum, %sums[%i] : tensor<32xf32>, memref<?xf32>
    }
  }
}

// Rows of the product are columns of what is stored.
// CHECK-LABEL: mk.kernel @transposed
// CHECK: mk.transpose %{{.*}} : tensor<8x8xf32> -> tensor<8x8xf32>
// CHECK: %[[RIGHT:.*]] = arith.addi
// CHECK: mk.store %{{.*}}, %c[%{{.*}}, %[[RIGHT]]] : tensor<8x8xf32>
// CHECK: mk.transpose %{{.*}} : tensor<16x8xf32> -> tensor<8x16xf32>
mk.kernel @transposed on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xf32> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %zero = arith.constant dense<0.0> : tensor<32x8xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<32x8xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xf32> -> tensor<32x8xf32>
        %n = arith.addf %s, %t : tensor<32x8xf32>
        mk.yield %n : tensor<32x8xf32>
      }
      %t = mk.transpose %acc : tensor<32x8xf32> -> tensor<8x32xf32>
      mk.store %t, %c[%i, %i] : tensor<8x32xf32>, memref<?x?xf32>
    }
  }
}
