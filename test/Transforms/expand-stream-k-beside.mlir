// RUN: mk-opt %s --mk-assign-ctas=grid=8 --mk-expand-stream-k | FileCheck %s

// Items that differ in a last dimension of as many as CTAs of a cluster are cut side by side where all are cut alike: CTAs
// 2 i and 2 i + 1 have the same part of items 2 j and 2 j + 1.
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @pairs
// CHECK: %[[OFITEM:.*]] = arith.minsi %{{.*}}, %c16
// CHECK: %[[ALIKE:.*]] = arith.cmpi sge, %[[OFITEM]], %c2
// CHECK: mk.foreach (%[[W:.*]]) in (%{{.*}}) schedule(static)
// CHECK: scf.if %[[ALIKE]] {
// CHECK: %[[PAIR:.*]] = arith.divsi %[[W]], %[[TWO:.*]] : index
// CHECK: %[[PLACE:.*]] = arith.remsi %[[W]], %[[TWO]] : index
// CHECK: %[[GROUP:.*]] = arith.divsi %[[PAIR]], %[[OFITEM]] : index
// CHECK: %[[NUMBER:.*]] = arith.remsi %[[PAIR]], %[[OFITEM]] : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[TWO]] : index
// CHECK: %[[ITEM:.*]] = arith.addi %[[FIRST]], %[[PLACE]] : index
// CHECK: mk.fold
// Parts have the numbers that they have without clusters.
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ITEM]], %[[OFITEM]] : index
// CHECK: %[[PART:.*]] = arith.addi %[[BEFORE]], %[[NUMBER]] : index
// CHECK: mk.store %{{.*}}, %gemm_parts[%[[PART]], %{{.*}}, %{{.*}}]
// CHECK: mk.signal %gemm_parts_ready[%[[PART]]]
// CHECK: mk.wait
// CHECK: else
// CHECK: mk.fold
mk.kernel @pairs on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xf32> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<32x8xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j, %l) in (%M, %c2, %c1) schedule(stream_k, tail = 1) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<32x8xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xf32> -> tensor<32x8xf32>
        %n = arith.addf %s, %t : tensor<32x8xf32>
        mk.yield %n : tensor<32x8xf32>
      }
      mk.store %acc, %c[%i, %j] : tensor<32x8xf32>, memref<?x?xf32>
    }
  }
}

// Where the owner of an item finishes it, and where the last dimension has another extent, parts follow each other.
// CHECK-LABEL: mk.kernel @owner
// CHECK-COUNT-2: mk.fold
// CHECK-NOT: mk.fold
// CHECK-LABEL: mk.kernel @three
// CHECK-COUNT-2: mk.fold
// CHECK-NOT: mk.fold
mk.kernel @owner on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xf32> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<32x8xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%M, %c2) schedule(stream_k, tail = 1) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<32x8xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xf32> -> tensor<32x8xf32>
        %n = arith.addf %s, %t : tensor<32x8xf32>
        mk.yield %n : tensor<32x8xf32>
      }
      %sum = mk.reduce add %acc axis 0 : tensor<32x8xf32> -> tensor<8xf32>
      %all = mk.broadcast %sum dims [0] : tensor<8xf32> -> tensor<32x8xf32>
      mk.store %all, %c[%i, %j] : tensor<32x8xf32>, memref<?x?xf32>
    }
  }
}
mk.kernel @three on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xf32> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<32x8xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%M, %c3) schedule(stream_k, tail = 1) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<32x8xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xf32> -> tensor<32x8xf32>
        %n = arith.addf %s, %t : tensor<32x8xf32>
        mk.yield %n : tensor<32x8xf32>
      }
      mk.store %acc, %c[%i, %j] : tensor<32x8xf32>, memref<?x?xf32>
    }
  }
}
