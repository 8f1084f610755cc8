// RUN: mk-opt %s -mk-expand-loops=static-first -canonicalize -cse -split-input-file | FileCheck %s

// A CTA has an item before it draws one. Tickets are for the items behind those of all CTAs of
// the role.
// CHECK-LABEL: mk.kernel @begin
// CHECK: mk.role @r ctas(8) {
// CHECK-NOT: mk_sm.ticket
// CHECK-DAG: %[[CTAS:.*]] = mk.ctas @r
// CHECK-DAG: %[[DEALT:.*]] = mk_sm.initial_item
// CHECK: scf.while (%[[I:.*]] = %[[DEALT]])
// CHECK-NEXT: %[[DRAWS:.*]] = arith.cmpi eq, %[[I]], %c-1
// CHECK-NEXT: %[[ITEM:.*]] = scf.if %[[DRAWS]] -> (index) {
// CHECK-NEXT:   %[[T:.*]] = mk_sm.ticket loop(0)
// CHECK-NEXT:   %[[DRAWN:.*]] = arith.addi %[[T]], %[[CTAS]]
// CHECK-NEXT:   scf.yield %[[DRAWN]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %[[I]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[ITEM]], %{{.*}}
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[ITEM]]
// CHECK: ^bb0(%[[AT:.*]]: index):
// CHECK-NEXT: mk.count %{{.*}}[%[[AT]]]
// CHECK-NEXT: scf.yield %c-1

// CTAs may be in the first loop for long: items of the second one are for those that come.
// CHECK: scf.while : () -> index
// CHECK-NEXT: %[[T:.*]] = mk_sm.ticket loop(1)
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[T]]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @begin on @mesh dims(uniform M) (in %n : memref<1xindex> [1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @r ctas(8) {
    // Read, and computed: nothing that keeps a CTA.
    %items = memref.load %n[%c0] : memref<1xindex>
    %some = arith.maxsi %items, %c1 : index
    mk.foreach (%i) in (%some) schedule(ticket) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
    mk.foreach (%i) in (%some) schedule(ticket) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
}

// -----

// A loop over nothing in front of it does not keep a CTA, either. Others may come to help.
// CHECK-LABEL: mk.kernel @nothing
// CHECK: mk.role @work
// CHECK-NOT: loop(0)
// CHECK: %[[DEALT:.*]] = mk_sm.initial_item
// CHECK: scf.while (%{{.*}} = %[[DEALT]])
// CHECK: mk_sm.ticket loop(1)
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nothing on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @push ctas(1) then @work {}
  mk.role @work ctas(6) {
    mk.foreach (%i) in (%c0) schedule(ticket) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
    mk.foreach (%i) in (%M) schedule(ticket) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
}

// -----

// A wait in front of the loop may be for what another CTA does in it.
// CHECK-LABEL: mk.kernel @wait
// CHECK-NOT: mk_sm.initial_item
// CHECK: mk.wait
// CHECK: scf.while : () -> index
// CHECK-NEXT: mk_sm.ticket loop(0)
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @wait on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = mk.counters(%M) : !mk.counter<?>
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @send ctas(1) {
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }
  mk.role @r ctas(8) {
    %some = arith.maxsi %M, %c1 : index
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    mk.foreach (%i) in (%some) schedule(ticket) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
}

// -----

// Records of a queue are dealt out, too.
// CHECK-LABEL: mk.kernel @queue
// CHECK: mk.role @consume
// CHECK: %[[DEALT:.*]] = mk_sm.initial_item
// CHECK: scf.while (%{{.*}} = %[[DEALT]])
// CHECK: mk_sm.ticket loop(0)
// CHECK: ^bb0(%[[I:.*]]: index):
// CHECK: %[[ENTRY:.*]] = arith.divsi %[[I]], %{{.*}} : index
// CHECK-NEXT: mk_sm.pop %q[%[[ENTRY]]]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @queue on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c1 = arith.constant 1 : index
  %q = mk.queue(%M) : !mk.queue<?x1xi32>
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @produce ctas(1) {
    mk.push %q, (%c1) : !mk.queue<?x1xi32>
  }
  mk.role @consume ctas(7) {
    mk.foreach_item (%x) of %q count(%c1), (%i) in (%M) : !mk.queue<?x1xi32> {
      %old = mk.count %done[%i] add %x : !mk.counter<?>
    }
  }
}
