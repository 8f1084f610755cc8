// RUN: mk-opt %s --mk-assign-ctas=grid=8 --mk-expand-ranks --mk-expand-loops=items --mk-expand-folds --mk-expand-ranks --canonicalize --convert-mk-to-host --canonicalize --cse --split-input-file | FileCheck %s

// Static: my items are index, index + count, ...; inner loops run in order.
// CHECK-LABEL: func @mk_role_0
// CHECK-DAG: %[[INDEX:.*]] = llvm.getelementptr %arg0[8] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-DAG: %[[COUNT:.*]] = llvm.getelementptr %arg0[12] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-DAG: %[[FIRST32:.*]] = llvm.load %[[INDEX]] invariant
// CHECK-DAG: %[[STEP32:.*]] = llvm.load %[[COUNT]] invariant
// CHECK-DAG: %[[FIRST:.*]] = arith.index_cast %[[FIRST32]]
// CHECK-DAG: %[[STEP:.*]] = arith.index_cast %[[STEP32]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
// CHECK: func.call @mkrt_item
// CHECK: scf.for
// CHECK-NOT: mkrt_item
// CHECK: func.call @mkrt_count
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @static on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c1 = arith.constant 1 : index
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%M) {
      mk.foreach (%j) in (%M) {
        %old = mk.count %done[%j] add %c1 : !mk.counter<?>
      }
    }
  }
}

// -----

// Tickets: draw until they run out. Each loop has a number of its own.
// CHECK-LABEL: func @mk_role_1
// CHECK: scf.while
// CHECK: %[[T:.*]] = func.call @mkrt_ticket(%arg0, %c1_i32)
// CHECK: arith.cmpi slt
// CHECK: scf.condition
// CHECK: func.call @mkrt_item(%arg0, %c1_i32
// CHECK: scf.yield
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @ticket on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c1 = arith.constant 1 : index
  %done = mk.counters(%M) : !mk.counter<?>
  mk.role @helper ctas(2) then @r {
    mk.foreach (%i) in (%M) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%M, %M) schedule(ticket) order(raster = 4) {
      %old = mk.count %done[%i] add %c1 : !mk.counter<?>
    }
  }
}

// -----

// Records of a queue: each is visited once for every inner index.
// CHECK-LABEL: func @mk_role_0
// CHECK: call @mkrt_push(%arg0, %c0_i32, %{{.*}}, %{{.*}})
// CHECK-LABEL: func @mk_role_1
// CHECK: func.call @mkrt_ticket
// CHECK: %[[ENTRY:.*]] = arith.divsi
// CHECK: func.call @mkrt_pop(%arg0, %c0_i32
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

// Peers along gpu of a 2 x 4 mesh: three others, starting behind myself; the last
// one is myself when asked for.
// CHECK-LABEL: func @mk_role_0
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: call @mkrt_signal
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: call @mkrt_signal
mk.mesh @mesh (node = 2 via net, gpu = 4 via link)
mk.kernel @peers on @mesh (in %a : memref<4xf32> [4]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 7>
  mk.role @r ctas(1) {
    mk.foreach_peer (%p) along gpu {
      mk.signal %s[%c0] on %p : !mk.signal<?, sys, arrivals = 7>
    }
    mk.foreach_peer (%p) along gpu including self {
      mk.signal %s[%c0] on %p : !mk.signal<?, sys, arrivals = 7>
    }
  }
}
