// RUN: mk-opt %s -canonicalize -cse -canonicalize -cse | FileCheck %s

// What upstream passes may and may not do with loads and communication.

// CHECK-LABEL: func.func @unused_load_goes
func.func @unused_load_goes(%m: memref<?xf32>, %i: index) {
  // CHECK-NEXT: return
  %t = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @equal_loads_merge
func.func @equal_loads_merge(%m: memref<?xf32>, %i: index) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[T:.*]] = mk.load
  // CHECK-NOT: mk.load
  // CHECK: return %[[T]], %[[T]]
  %a = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  %b = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @not_across_wait
func.func @not_across_wait(%m: memref<?xf32>, %i: index, %s: !mk.signal<?, sys, arrivals = 1>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = mk.load
  // CHECK: mk.wait
  // CHECK: %[[B:.*]] = mk.load
  // CHECK: return %[[A]], %[[B]]
  %a = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  mk.wait %s[%i] ge %i : !mk.signal<?, sys, arrivals = 1>
  %b = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// The wait need not happen to be in the way.
// CHECK-LABEL: func.func @not_across_wait_in_if
func.func @not_across_wait_in_if(%m: memref<?xf32>, %i: index, %c: i1, %s: !mk.signal<?, sys, arrivals = 1>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = mk.load
  // CHECK: scf.if
  // CHECK: mk.wait
  // CHECK: %[[B:.*]] = mk.load
  // CHECK: return %[[A]], %[[B]]
  %a = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  scf.if %c {
    mk.wait %s[%i] ge %i : !mk.signal<?, sys, arrivals = 1>
  }
  %b = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Nor in a loop: the effects of its body count.
// CHECK-LABEL: func.func @not_across_loop
func.func @not_across_loop(%m: memref<?xf32>, %i: index, %s: !mk.signal<?, sys, arrivals = 1>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = mk.load
  // CHECK: mk.foreach
  // CHECK: mk.wait
  // CHECK: %[[B:.*]] = mk.load
  // CHECK: return %[[A]], %[[B]]
  %a = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  mk.foreach (%j) in (%i) {
    mk.wait %s[%j] ge %i : !mk.signal<?, sys, arrivals = 1>
  }
  %b = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @not_across_store
func.func @not_across_store(%m: memref<?xf32>, %i: index, %t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = mk.load
  // CHECK: mk.store
  // CHECK: %[[B:.*]] = mk.load
  // CHECK: return %[[A]], %[[B]]
  %a = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  mk.store %t, %m[%i] : tensor<4xf32>, memref<?xf32>
  %b = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A loop-invariant load stays behind the wait of its iteration.
// CHECK-LABEL: func.func @stays_in_loop
func.func @stays_in_loop(%m: memref<?xf32>, %i: index, %t: tensor<4xf32>, %s: !mk.signal<?, sys, arrivals = 1>) -> tensor<4xf32> {
  // CHECK: mk.fold
  // CHECK: mk.wait
  // CHECK-NEXT: mk.load
  %r = mk.fold (%k) in (%i) iter(%sum = %t) : tensor<4xf32> {
    mk.wait %s[%k] ge %i : !mk.signal<?, sys, arrivals = 1>
    %x = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
    %n = arith.addf %sum, %x : tensor<4xf32>
    mk.yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @equal_ops_stay
func.func @equal_ops_stay(%m: memref<?xf32, #mk.symmetric>, %i: index, %t: tensor<4xf32>,
                          %s: !mk.signal<?, sys, arrivals = 4>, %c: !mk.counter<?>, %q: !mk.queue<?x1xi32>) {
  // CHECK-NEXT: mk.wait
  // CHECK-NEXT: mk.wait
  mk.wait %s[%i] ge %i : !mk.signal<?, sys, arrivals = 4>
  mk.wait %s[%i] ge %i : !mk.signal<?, sys, arrivals = 4>
  // CHECK-NEXT: mk.signal %
  // CHECK-NEXT: mk.signal %
  mk.signal %s[%i] : !mk.signal<?, sys, arrivals = 4>
  mk.signal %s[%i] : !mk.signal<?, sys, arrivals = 4>
  // CHECK-NEXT: mk.put
  // CHECK-NEXT: mk.put
  mk.put %m[%i][%i] to %m[%i] on %i : memref<?xf32, #mk.symmetric> to memref<?xf32, #mk.symmetric>
  mk.put %m[%i][%i] to %m[%i] on %i : memref<?xf32, #mk.symmetric> to memref<?xf32, #mk.symmetric>
  // CHECK-NEXT: mk.fence
  // CHECK-NEXT: mk.settle
  mk.fence
  mk.settle
  // CHECK-NEXT: mk.count %
  // CHECK-NEXT: mk.count %
  %a = mk.count %c[%i] add %i : !mk.counter<?>
  %b = mk.count %c[%i] add %i : !mk.counter<?>
  // CHECK-NEXT: mk.push
  // CHECK-NEXT: mk.push
  mk.push %q, (%i) : !mk.queue<?x1xi32>
  mk.push %q, (%i) : !mk.queue<?x1xi32>
  // CHECK-NEXT: mk.store
  // CHECK-NEXT: mk.store
  mk.store %t, %m[%i] on %i signal %s[%i] : tensor<4xf32>, memref<?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 4>
  mk.store %t, %m[%i] on %i signal %s[%i] : tensor<4xf32>, memref<?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 4>
  // CHECK-NEXT: return
  return
}

// Loads are not merged across any op that orders memory.
// CHECK-LABEL: func.func @barriers
func.func @barriers(%m: memref<?xf32>, %o: memref<?xf32, #mk.symmetric>, %i: index,
                    %s: !mk.signal<?, gpu, arrivals = 4>, %c: !mk.counter<?>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-5: mk.load
  %a = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  mk.signal %s[%i] : !mk.signal<?, gpu, arrivals = 4>
  %b = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  %n = mk.count %c[%i] add %i : !mk.counter<?>
  %d = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  mk.put %o[%i][%i] to %o[%i] on %i : memref<?xf32, #mk.symmetric> to memref<?xf32, #mk.symmetric>
  %e = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  // A store with a signal publishes everything, whatever it writes itself.
  %t = arith.constant dense<0.0> : tensor<4xf32>
  mk.store %t, %o[%i] signal %s[%i] : tensor<4xf32>, memref<?xf32, #mk.symmetric>, !mk.signal<?, gpu, arrivals = 4>
  %f = mk.load %m[%i] : memref<?xf32> -> tensor<4xf32>
  // CHECK: return
  return %a, %b, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Two equal declarations are two arrays. One that nothing uses stays: the host's
// plan and the code have to count the same.
// CHECK-LABEL: mk.kernel @declarations
mk.mesh @mesh (gpu = ? via link)
mk.kernel @declarations on @mesh dims(uniform M) () {
  // CHECK: %a = mk.signals
  // CHECK: %b = mk.signals
  // CHECK: %unused = mk.signals
  %a = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %b = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %unused = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  // CHECK: mk.require
  %ok = arith.constant true
  mk.require %ok, "kept"
  // CHECK: mk.role @x
  mk.role @x ctas(1) {
    %c0 = arith.constant 0 : index
    mk.signal %a[%c0] : !mk.signal<?, gpu, arrivals = 1>
    mk.signal %b[%c0] : !mk.signal<?, gpu, arrivals = 1>
  }
}

// Pure ops merge.
// CHECK-LABEL: func.func @pure
func.func @pure(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, index, index) {
  // CHECK-COUNT-1: mk.reduce
  // CHECK-COUNT-1: mk.rank
  // CHECK-NOT: mk.rank
  %a = mk.reduce add %x axis 0 : tensor<4x4xf32> -> tensor<4xf32>
  %b = mk.reduce add %x axis 0 : tensor<4x4xf32> -> tensor<4xf32>
  %c = mk.rank
  %d = mk.rank
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, index, index
}
