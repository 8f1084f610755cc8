// RUN: mk-opt %s -mk-expand-folds | FileCheck %s

// Folds are loops, one after the other; what they carry and their order stay.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @k
mk.kernel @k on @mesh dims(uniform K, uniform N) (in %a : memref<?xf32> [K], out %b : memref<4xf32> [4]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  mk.role @r ctas(1) {
    // CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %K step %{{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (tensor<4xf32>)
    %sum = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<4xf32> {
      // CHECK: mk.load %a[%[[K]]]
      %x = mk.load %a[%k] : memref<?xf32> -> tensor<4xf32>
      // CHECK: %[[INNER:.*]] = scf.for {{.*}} to %N {{.*}} iter_args(%{{.*}} = %[[S]])
      %t = mk.fold (%n) in (%N) iter(%u = %s) : tensor<4xf32> {
        %v = arith.addf %u, %x : tensor<4xf32>
        // CHECK: scf.yield
        mk.yield %v : tensor<4xf32>
      }
      // CHECK: scf.yield %[[INNER]]
      mk.yield %t : tensor<4xf32>
    }
    // CHECK-NOT: mk.fold
    // CHECK: mk.store %[[SUM]]
    mk.store %sum, %b[%c0] : tensor<4xf32>, memref<4xf32>
  }
}
