// RUN: mk-opt %s -mk-expand-loops -mk-expand-folds -mk-expand-ranks -canonicalize -cse -split-input-file | FileCheck %s
// RUN: mk-opt %s -mk-expand-loops=items -split-input-file | FileCheck %s --check-prefix=ITEMS

// Items in static order are those of this CTA; inner loops run in order, a fold carries its
// tiles.
// CHECK-LABEL: mk.kernel @static
// CHECK: mk.role @r
// CHECK: %[[TOTAL:.*]] = arith.muli
// CHECK: mk_sm.items (%[[T:.*]]) round(%{{.*}}) of %[[TOTAL]] {
// CHECK-DAG: arith.divsi %[[T]]
// CHECK-DAG: arith.remsi %[[T]]
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1
// CHECK: mk.count
// CHECK: scf.for %[[K:.*]] = %c0 to %M step %c1 iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<64x64xf32>)
// CHECK-NEXT: %[[X:.*]] = mk.load %a[%[[K]], %{{.*}}]
// CHECK-NEXT: %[[N:.*]] = arith.addf %[[ACC]], %[[X]]
// CHECK-NEXT: scf.yield %[[N]]

// Said for reports: the loop's number and the indices of the item.
// ITEMS-LABEL: mk.kernel @static
// ITEMS: mk_sm.items (%[[T:.*]]) round
// ITEMS: mk_sm.at_item loop(0) [%[[I:.*]], %[[J:.*]]]
// ITEMS: scf.for
// ITEMS-NOT: mk_sm.at_item
// ITEMS: mk.fold
// ITEMS-LABEL: mk.kernel @help
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @static on @mesh dims(uniform M) (in %a : memref<?x?xf32> [M, M], out %b : memref<?x?xf32> [M, M]) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%M, %M) {
      mk.foreach (%l) in (%M) {
        %old = mk.count %done[%l] add %c1 : !mk.counter<?>
      }
      %sum = mk.fold (%k) in (%M) iter(%acc = %zero) combine(add) : tensor<64x64xf32> {
        %x = mk.load %a[%k, %j] : memref<?x?xf32> -> tensor<64x64xf32>
        %next = arith.addf %acc, %x : tensor<64x64xf32>
        mk.yield %next : tensor<64x64xf32>
      }
      mk.store %sum, %b[%i, %j] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}

// -----

// A helper goes on with the other role, of which there is no copy; the loops have
// their numbers from the whole kernel.
// CHECK-LABEL: mk.kernel @help
// CHECK: mk.role @push ctas(2) then @work {
// CHECK: mk_sm.items
// CHECK: mk.count
// CHECK-NOT: scf.while
// CHECK: mk.role @work ctas(rest) {
// CHECK: scf.while
// CHECK-NEXT: %[[T:.*]] = mk_sm.ticket loop(1)
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[T]], %{{.*}}
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[T]]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @help on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c1 = arith.constant 1 : index
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @push ctas(2) then @work {
    mk.foreach (%i) in (%M) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
  mk.role @work ctas(rest) {
    mk.foreach (%i, %j) in (%M, %M) schedule(ticket) order(raster = 4) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
}

// -----

// Records of a queue: each is visited once for every inner index.
// CHECK-LABEL: mk.kernel @queue
// CHECK: mk.role @consume
// CHECK: %[[T:.*]] = mk_sm.ticket loop(0)
// CHECK: ^bb0(%[[I:.*]]: index):
// CHECK: %[[ENTRY:.*]] = arith.divsi %[[I]], %[[INNER:.*]] : index
// CHECK-NEXT: %[[R:.*]]:2 = mk_sm.pop %q[%[[ENTRY]]]
// CHECK: %[[J:.*]] = arith.remsi %[[I]], %[[INNER]]
// CHECK: mk.count %{{.*}}[%[[J]]] add %[[R]]#1
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @queue on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c1 = arith.constant 1 : index
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @produce ctas(1) {
    mk.push %q, (%c1, %M) : !mk.queue<?x2xi32>
  }
  mk.role @consume ctas(rest) {
    mk.foreach_item (%x, %y) of %q count(%c1), (%i) in (%M) : !mk.queue<?x2xi32> {
      %old = mk.count %done[%i] add %y : !mk.counter<?>
    }
  }
}

// -----

// Peers in order behind the own place; an axis of one rank has no others.
// CHECK-LABEL: mk.kernel @peers
// CHECK: mk.role @r
// CHECK-NEXT: %[[ME:.*]] = mk.coord gpu
// CHECK-NEXT: scf.for %[[I:.*]] = %c0 to %c3 step %c1
// CHECK: %[[BEHIND:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[SUM:.*]] = arith.addi %[[ME]], %[[BEHIND]]
// CHECK: %[[P:.*]] = arith.remsi %[[SUM]], %c4
// CHECK: mk.signal %s[%c0] on %[[P]]
// CHECK-NOT: mk.signal %
mk.mesh @mesh (node = 1 via net, gpu = 4 via link)
mk.kernel @peers on @mesh (in %a : memref<4xf32> [4]) {
  %c0 = arith.constant 0 : index
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 3>
  mk.role @r ctas(rest) {
    mk.foreach_peer (%p) along gpu {
      mk.signal %s[%c0] on %p : !mk.signal<1, sys, arrivals = 3>
    }
    mk.foreach_peer (%p) along node {
      mk.signal %s[%c0] on %p : !mk.signal<1, sys, arrivals = 3>
    }
  }
}

// -----

// The preparation is shared by the CTAs of all roles.
// CHECK-LABEL: mk.kernel @prepare
// CHECK: mk.prepare
// CHECK: mk_sm.items
// CHECK: mk.store
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @prepare on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  mk.prepare {
    mk.foreach (%i) in (%M) {
      mk.store %zero, %c[%i] : tensor<128xf32>, memref<?xf32>
    }
  }
  mk.role @a ctas(2) {}
  mk.role @b ctas(rest) {}
}

// -----

// A loop over nothing is not there, whatever stands in it.
// CHECK-LABEL: mk.kernel @nothing
// CHECK: mk.role @r ctas(rest) {
// CHECK-NEXT: }
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nothing on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%M, %c0) schedule(ticket) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
}
