// RUN: mk-opt %s | mk-opt | FileCheck %s

// CHECK-LABEL: mk.kernel @items
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @items on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %done = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  // CHECK: mk.prepare {
  // CHECK-NEXT: mk_sm.items (%{{.*}}) round(%{{.*}}) of %M {
  // CHECK-NEXT: }
  mk.prepare {
    mk_sm.items (%i) round(%n) of %M {
    }
  }
  mk.role @r ctas(rest) {
    // CHECK: mk_sm.items (%[[I:.*]]) round(%[[N:.*]]) of %M teams(2) {
    // CHECK-NEXT: mk_sm.at_item loop(0) [%[[I]], %[[N]]]
    // CHECK-NEXT: mk.count %{{.*}}[%[[I]]] add %[[N]]
    mk_sm.items (%i) round(%n) of %M teams(2) {
      mk_sm.at_item loop(0) [%i, %n]
      %old = mk.count %done[%i] add %n : !mk.counter<?>
    }
    // CHECK: mk_sm.items (%{{.*}}) round(%{{.*}}) of %M every(2) attributes {test.note} {
    mk_sm.items (%i) round(%n) of %M every(2) attributes {test.note} {
    }
    // CHECK: mk_sm.items (%{{.*}}) round(%{{.*}}) of %M parts(4) {
    mk_sm.items (%i) round(%n) of %M parts(4) {
    }
    // CHECK: mk_sm.items (%{{.*}}) round(%{{.*}}) of %M iter_args(%[[X:.*]] = %{{.*}} : tensor<8xf32>, %[[Y:.*]] = %M : index) parts(2) {
    // CHECK-NEXT: mk_sm.order
    // CHECK-NEXT: mk_sm.carry %[[X]], %[[Y]] : tensor<8xf32>, index
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    mk_sm.items (%i) round(%n) of %M iter_args(%x = %zero : tensor<8xf32>, %y = %M : index) parts(2) {
      mk_sm.order
      mk_sm.carry %x, %y : tensor<8xf32>, index
    }
    // CHECK: mk_sm.initial_item
    %first = mk_sm.initial_item
    // CHECK: %[[T:.*]] = mk_sm.ticket loop(1)
    %t = mk_sm.ticket loop(1)
    // CHECK: mk_sm.pop %{{.*}}[%[[T]]] : !mk.queue<?x2xi32>
    %x:2 = mk_sm.pop %q[%t] : !mk.queue<?x2xi32>
    // CHECK: mk_sm.forward %[[T]], %M
    %y:2 = mk_sm.forward %t, %M
  }
}
