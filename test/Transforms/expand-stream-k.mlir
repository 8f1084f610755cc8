// RUN: mk-opt %s --mk-assign-ctas=grid=8 --mk-expand-stream-k | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)

// One place for each CTA of the role: 7 of 8.
// CHECK-LABEL: mk.kernel @sum
// CHECK: scratch %gemm_parts : memref<7x4x8xf32> [7, 4, 8]
// CHECK: %gemm_parts_ready = mk.signals() : !mk.signal<7, gpu, arrivals = 1>
// CHECK: mk.role @gemm
// Items of whole waves are as they were, with one index.
// CHECK: mk.foreach (%[[T:.*]]) in (%[[WHOLE:.*]]) schedule(static) {
// CHECK: mk.fold (%{{.*}}) in (%[[COUNT:.*]]) iter
// CHECK: mk.store %{{.*}}, %c[
// CHECK: }
// Parts: the carried tile of those that end early is stored and signalled.
// CHECK: mk.foreach (%[[W:.*]]) in (%{{.*}}) schedule(static) {
// CHECK: scf.for
// CHECK: %[[PART:.*]] = mk.fold (%[[STEP:.*]]) in (%{{.*}}) iter
// CHECK-NEXT: arith.addi %{{.*}}, %[[STEP]]
// CHECK: scf.if
// The owner waits for all others,
// CHECK: scf.for
// CHECK-NEXT: %[[FIRST:.*]] = arith.addi
// CHECK-NEXT: mk.wait %gemm_parts_ready[%[[FIRST]]] ge
// and adds what they have stored, from the last to the first: four small tiles at a time,
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} to %{{.*}} step %c4{{.*}} iter_args(%[[BEHIND:.*]] = %[[PART]])
// CHECK: %[[OTHER:.*]] = arith.subi %[[W]], %{{.*}}
// CHECK: %[[LOADED:.*]] = mk.load %gemm_parts[%[[OTHER]],
// CHECK: mk.load %gemm_parts[
// CHECK: mk.load %gemm_parts[
// CHECK: %[[LAST:.*]] = mk.load %gemm_parts[
// CHECK-NEXT: %[[TWO:.*]] = arith.addf %[[LOADED]], %[[BEHIND]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[TWO]]
// CHECK-NEXT: %[[FOUR:.*]] = arith.addf
// CHECK-NEXT: arith.addf %[[LAST]], %[[FOUR]]
// then what is left.
// CHECK: %[[ALL:.*]] = scf.for %{{.*}} iter_args(%[[REST:.*]] = %[[SUM]])
// CHECK: %[[ONE:.*]] = mk.load %gemm_parts[
// CHECK-NEXT: arith.addf %[[ONE]], %[[REST]]
// CHECK: mk.store %[[ALL]], %c[
// CHECK: else
// CHECK: mk.store %[[PART]], %gemm_parts[%[[W]],
// CHECK: mk.signal %gemm_parts_ready[%[[W]]]
mk.kernel @sum on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xf32> [M, K], out %c : memref<?x?xf32> [M, K]) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  mk.role @other ctas(1) {}
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%M, %K) schedule(stream_k, tail = 1) order(raster = 2) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<4x8xf32> {
        %x = mk.load %a[%i, %k] : memref<?x?xf32> -> tensor<4x8xf32>
        %n = arith.addf %s, %x : tensor<4x8xf32>
        mk.yield %n : tensor<4x8xf32>
      }
      mk.store %acc, %c[%i, %j] : tensor<4x8xf32>, memref<?x?xf32>
    }
  }
}

// Two tiles, combined by a function; a name that is taken.
// CHECK-LABEL: mk.kernel @function
// CHECK: scratch %r_parts_1 : memref<8x4xf32> [8, 4],
// CHECK: scratch %r_parts_2 : memref<8x4xi32> [8, 4])
// CHECK: call @merge
mk.kernel @function on @mesh dims(uniform M) (in %r_parts : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  %y = arith.constant dense<0> : tensor<4xi32>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 2) {
      %a, %b = mk.fold (%k) in (%M) iter(%s = %x, %t = %y) combine(@merge) : tensor<4xf32>, tensor<4xi32> {
        mk.yield %s, %t : tensor<4xf32>, tensor<4xi32>
      }
      mk.store %a, %c[%i] : tensor<4xf32>, memref<?xf32>
    }
  }
}

func.func private @merge(%a: tensor<4xf32>, %b: tensor<4xi32>, %c: tensor<4xf32>, %d: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xi32>) {
  %x = arith.addf %a, %c : tensor<4xf32>
  %y = arith.addi %b, %d : tensor<4xi32>
  return %x, %y : tensor<4xf32>, tensor<4xi32>
}

// Where items fill whole waves there is nothing to split.
// CHECK-LABEL: mk.kernel @even
// CHECK-NOT: scratch
// CHECK-NOT: mk.signals
// CHECK: mk.foreach (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) schedule(static) order(raster = 2, alternate = 1) {
// CHECK: mk.fold
// CHECK-NOT: mk.fold
mk.kernel @even on @mesh dims(uniform K) (in %a : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %four = arith.divui %c8, %c2 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%c8, %four) schedule(stream_k, tail = 1) order(raster = 2, alternate = 1) {
      %acc = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<4x8xf32> {
        %t = mk.load %a[%i, %k] : memref<?x?xf32> -> tensor<4x8xf32>
        %n = arith.addf %s, %t : tensor<4x8xf32>
        mk.yield %n : tensor<4x8xf32>
      }
      mk.store %acc, %c[%i, %j] : tensor<4x8xf32>, memref<?x?xf32>
    }
  }
}
