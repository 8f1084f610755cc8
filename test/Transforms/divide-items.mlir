// RUN: mk-opt %s --mk-divide-items -split-input-file | FileCheck %s

// Four CTAs do an item: each some steps of the fold, and some columns of what all have.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @four
// CHECK: %[[TOTAL:.*]] = arith.muli %M, %c4
// CHECK: mk_sm.items (%[[OWN:.*]]) round(%{{.*}}) of %[[TOTAL]] {
// CHECK: %[[SIZE:.*]] = arith.constant 4 : index
// CHECK: %[[ITEM:.*]] = arith.divsi %[[OWN]], %[[SIZE]] : index
// CHECK: %[[PART:.*]] = arith.remsi %[[OWN]], %[[SIZE]] : index
// CHECK: %[[STEPS:.*]] = arith.maxsi %K, %{{.*}} : index
// CHECK: %[[A:.*]] = arith.muli %[[PART]], %[[STEPS]] : index
// CHECK: %[[FROM:.*]] = arith.divsi %[[A]], %{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.subi %{{.*}}, %[[FROM]] : index
// CHECK: %[[SUM:.*]] = mk.fold (%[[K:.*]]) in (%[[COUNT]])
// CHECK: %[[AT:.*]] = arith.addi %[[FROM]], %[[K]] : index
// CHECK: mk.load %a[%[[ITEM]], %[[AT]]]
// CHECK: %[[P:.*]]:4 = mk_sm.swap_parts %[[SUM]] : tensor<64x64xf32> -> tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
// CHECK: %[[S1:.*]] = arith.addf %[[P]]#0, %[[P]]#1 : tensor<64x16xf32>
// CHECK: %[[S2:.*]] = arith.addf %[[S1]], %[[P]]#2 : tensor<64x16xf32>
// CHECK: %[[S3:.*]] = arith.addf %[[S2]], %[[P]]#3 : tensor<64x16xf32>
// CHECK: %[[COLUMN:.*]] = arith.muli %[[PART]], %c16
// What stands behind the fold has these columns, also of what it loads.
// CHECK: %[[BIAS:.*]] = arith.addi %c0, %[[COLUMN]] : index
// CHECK: mk.load %b[%[[BIAS]]] : memref<?xf32> -> tensor<16xf32>
// CHECK: mk.broadcast %{{.*}} : tensor<16xf32> -> tensor<64x16xf32>
// CHECK: %[[OUT:.*]] = arith.truncf %{{.*}} : tensor<64x16xf32> to tensor<64x16xbf16>
// CHECK: %[[TO:.*]] = arith.addi %c0, %[[COLUMN]] : index
// CHECK: mk.store %[[OUT]], %c[%[[ITEM]], %[[TO]]]
// CHECK-NOT: mk.fold
mk.kernel @four on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], in %b : memref<?xf32> [K], out %c : memref<?x?xbf16> [M, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @gemm ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<64x64xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<64x16xbf16>
        %u = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
        %next = mk.dot %t, %u, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %next : tensor<64x64xf32>
      }
      %bias = mk.load %b[%c0] : memref<?xf32> -> tensor<64xf32>
      %all = mk.broadcast %bias dims [0] : tensor<64xf32> -> tensor<64x64xf32>
      %sum = arith.addf %acc, %all : tensor<64x64xf32>
      %out = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
      mk.store %out, %c[%i, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
    }
  }
}

// -----

// Several tiles, and another reduction.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @two
// CHECK: mk_sm.swap_parts %{{.*}}#0
// CHECK: arith.maximumf
// CHECK: mk_sm.swap_parts %{{.*}}#1
// CHECK: arith.maximumf
mk.kernel @two on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %low = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  mk.role @gemm ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(2) {
      %x, %y = mk.fold (%k) in (%K) iter(%s = %low, %r = %low) combine(max) : tensor<64x64xf32>, tensor<64x64xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<64x16xbf16>
        %u = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
        %d = mk.dot %t, %u, %zero : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        %next = arith.maximumf %s, %d : tensor<64x64xf32>
        mk.yield %next, %r : tensor<64x64xf32>, tensor<64x64xf32>
      }
      %sum = arith.addf %x, %y : tensor<64x64xf32>
      mk.store %sum, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

// No step, no part.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @none
// CHECK: mk_sm.items (%{{.*}}) round(%{{.*}}) of %M {
// CHECK-NOT: mk_sm.swap_parts
mk.kernel @none on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @gemm ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(2) {
      %x = mk.fold (%k) in (%c0) iter(%s = %zero) combine(add) : tensor<64x64xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<64x16xbf16>
        %u = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
        %next = mk.dot %t, %u, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        mk.yield %next : tensor<64x64xf32>
      }
      mk.store %x, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

// A vector of rows is carried beside the product: every CTA gets all of it, by way of columns that are alike.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @rows
// CHECK: %[[BOTH:.*]]:2 = mk.fold
// CHECK: mk_sm.swap_parts %[[BOTH]]#0 : tensor<64x64xf32> -> tensor<64x32xf32>, tensor<64x32xf32>
// CHECK: %[[WIDE:.*]] = mk.broadcast %[[BOTH]]#1 dims [1] : tensor<64xf32> -> tensor<64x16xf32>
// CHECK: %[[P:.*]]:2 = mk_sm.swap_parts %[[WIDE]] : tensor<64x16xf32> -> tensor<64x8xf32>, tensor<64x8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[P]]#0, %[[P]]#1 : tensor<64x8xf32>
// CHECK: %[[ROWS:.*]] = mk.reduce max %[[SUM]] axis 1 : tensor<64x8xf32> -> tensor<64xf32>
// CHECK: mk.broadcast %[[ROWS]] dims [1] : tensor<64xf32> -> tensor<64x32xf32>
mk.kernel @rows on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  mk.role @gemm ctas(8) {
    mk_sm.items (%i) round(%n) of %M parts(2) {
      %x, %y = mk.fold (%k) in (%K) iter(%s = %zero, %q = %none) combine(add) : tensor<64x64xf32>, tensor<64xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<64x16xbf16>
        %u = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
        %next = mk.dot %t, %u, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
        %w = arith.extf %t : tensor<64x16xbf16> to tensor<64x16xf32>
        %r = mk.reduce add %w axis 1 : tensor<64x16xf32> -> tensor<64xf32>
        %q_next = arith.addf %q, %r : tensor<64xf32>
        mk.yield %next, %q_next : tensor<64x64xf32>, tensor<64xf32>
      }
      %all = mk.broadcast %y dims [1] : tensor<64xf32> -> tensor<64x64xf32>
      %out = arith.mulf %x, %all : tensor<64x64xf32>
      mk.store %out, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}
