// RUN: mk-opt %s -mk-expand-loops -mk-sm-reverse-folds -split-input-file | FileCheck %s

// Folds with a reduction go backwards in a CTA's second, fourth, ... item.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @static_order
mk.kernel @static_order on @mesh dims(uniform N, uniform K) (
    in %a : memref<?x?xf32> [N, K], out %c : memref<?xf32> [N]) {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(rest) {
    // CHECK: mk_sm.items (%{{.*}}) round(%[[ROUND:.*]]) of
    mk.foreach (%n) in (%N) {
      // CHECK: %[[ODD:.*]] = arith.andi %[[ROUND]]
      // CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %{{.*}}
      // CHECK: %[[FIRST:.*]] = arith.muli %[[ODD]], %[[LAST]]
      // CHECK: %[[BACK:.*]] = arith.muli %[[ODD]]
      // CHECK: %[[STEP:.*]] = arith.subi %{{.*}}, %[[BACK]]
      // CHECK: mk.fold (%[[K:.*]]) in {{.*}} iter
      // CHECK-NEXT: %[[WALKED:.*]] = arith.muli %[[K]], %[[STEP]]
      // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[FIRST]], %[[WALKED]]
      %sum = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<64xf32> {
        // CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %[[AT]]
        %column = arith.muli %k, %c64 : index
        // CHECK-NEXT: mk.load %{{.*}}[%{{.*}}, %[[COLUMN]]]
        %x = mk.load %a[%n, %column] : memref<?x?xf32> -> tensor<64xf32>
        %next = arith.addf %s, %x : tensor<64xf32>
        mk.yield %next : tensor<64xf32>
      }
      mk.store %sum, %c[%n] : tensor<64xf32>, memref<?xf32>
    }
  }
}

// -----

// Without combine, or with a function that tells left from right, the order stays; so it does
// where items are drawn one by one: neighbours need not walk alike.

mk.mesh @mesh (gpu = 1 via link)

func.func private @merge(%l: tensor<64xf32>, %r: tensor<64xf32>) -> tensor<64xf32> {
  %s = arith.addf %l, %r : tensor<64xf32>
  return %s : tensor<64xf32>
}

// CHECK-LABEL: mk.kernel @in_order
// CHECK-NOT: arith.andi
// CHECK: func.func
mk.kernel @in_order on @mesh dims(uniform N, uniform K) (
    in %a : memref<?x?xf32> [N, K], out %c : memref<?xf32> [N]) {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  mk.role @plain ctas(16) {
    mk.foreach (%n) in (%N) {
      %sum = mk.fold (%k) in (%K) iter(%s = %zero) : tensor<64xf32> {
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %next = arith.addf %s, %x : tensor<64xf32>
        mk.yield %next : tensor<64xf32>
      }
      mk.store %sum, %c[%n] : tensor<64xf32>, memref<?xf32>
    }
  }
  mk.role @function ctas(16) {
    mk.foreach (%n) in (%N) {
      %sum = mk.fold (%k) in (%K) iter(%s = %zero) combine(@merge) : tensor<64xf32> {
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %next = arith.addf %s, %x : tensor<64xf32>
        mk.yield %next : tensor<64xf32>
      }
      mk.store %sum, %c[%n] : tensor<64xf32>, memref<?xf32>
    }
  }
  mk.role @tickets ctas(rest) {
    mk.foreach (%n) in (%N) schedule(ticket) {
      %sum = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<64xf32> {
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %next = arith.addf %s, %x : tensor<64xf32>
        mk.yield %next : tensor<64xf32>
      }
      mk.store %sum, %c[%n] : tensor<64xf32>, memref<?xf32>
    }
  }
}
func.func @behind() { return }

// -----

// What a step waits for may come in this order.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @waits
// CHECK-NOT: arith.andi
// CHECK: func.func
mk.kernel @waits on @mesh dims(uniform N, uniform K) (
    in %a : memref<?x?xf32> [N, K], out %c : memref<?xf32> [N]) {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %c1 = arith.constant 1 : index
  %there = mk.signals(%K) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    mk.foreach (%n) in (%N) {
      %sum = mk.fold (%k) in (%K) iter(%s = %zero) combine(add) : tensor<64xf32> {
        mk.wait %there[%k] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %next = arith.addf %s, %x : tensor<64xf32>
        mk.yield %next : tensor<64xf32>
      }
      mk.store %sum, %c[%n] : tensor<64xf32>, memref<?xf32>
    }
  }
}
func.func @behind() { return }
