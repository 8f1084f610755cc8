// RUN: mk-opt %s -mk-thread-expand-launch -split-input-file | FileCheck %s

// CHECK-LABEL: mk_thread.kernel @begin
mk_thread.kernel @begin threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[T:.*]] = mk_thread.thread_id
  %t = mk_thread.thread_id
  // CHECK: arith.cmpi eq, %[[T]], %c0_i32
  // CHECK-NEXT: scf.if
  // CHECK: %[[ABORT:.*]] = mk_thread.load_atomic relaxed gpu
  // CHECK: mk_thread.init_slots
  // CHECK: mk_thread.store_shared %[[ABORT]]{{.*}}1032
  // CHECK-NEXT: mk_thread.fence_mbarriers
  // CHECK-NEXT: mk_thread.fence_async shared
  // CHECK-NEXT: }
  // CHECK-NEXT: mk_thread.sync_cta
  // CHECK-NEXT: mk_thread.sync_launches
  mk_thread.begin_launch %t waits {
    mk_thread.init_slots <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> readers(8)
  }
  // CHECK: %[[EPOCH:.*]] = llvm.load
  %e = mk_thread.epoch
  // CHECK: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %c16_i64
  // CHECK: %[[BEFORE:.*]] = mk_thread.atomic_add acq_rel gpu %[[ADDRESS]], %c1_i32
  // CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[EPOCH]], %c1_i32
  // CHECK-DAG: %[[ALL:.*]] = arith.muli %[[NEXT]], %{{.*}}
  // CHECK-DAG: %[[COUNT:.*]] = arith.addi %[[BEFORE]], %c1_i32
  // CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[COUNT]], %[[ALL]]
  // CHECK: scf.if %[[LAST]] {
  // CHECK-NEXT: mk_thread.notify_peers
  mk_thread.last_arrival prepared(%e) each 1 {
    mk_thread.notify_peers 8 in 72
  }
  // Nobody is to be told.
  // CHECK: mk_thread.atomic_add acq_rel gpu
  // CHECK-NOT: scf.if
  mk_thread.last_arrival prepared(%e) each 1 {
  }
  // CHECK: mk_thread.wait_word gpu %{{.*}}, %{{.*}} count(%{{.*}}) element(%c0_i64) report(<kind = 6, role = -1, number = 0>)
  // CHECK-NEXT: mk_thread.fence_async global
  mk_thread.await_prepared %e report(<kind = 6, role = -1, number = 0>)
  // Copy engines write the word.
  // CHECK: arith.addi %{{.*}}, %c24_i64
  // CHECK: mk_thread.wait_word sys %{{.*}}, %{{.*}} count(%{{.*}}) element(%c0_i64) report(<kind = 10, role = -1, number = 0>)
  mk_thread.await_copied %e report(<kind = 10, role = -1, number = 0>)
  // CHECK: arith.addi %{{.*}}, %c28_i64
  // CHECK: %[[LAST_OPENED:.*]] = llvm.load
  // CHECK: arith.cmpi eq, %[[LAST_OPENED]],
  %opened = mk_thread.opened %e
  // CHECK: arith.addi %{{.*}}, %c20_i64
  // CHECK: arith.muli %{{.*}}, %c2_i32
  // CHECK: mk_thread.notify_peers
  mk_thread.last_arrival moved(%e) each 2 {
    mk_thread.notify_peers 8 in 72 unless_aborted
  }
}

// -----

// A launch that waits for nobody has not failed; a cluster meets as a whole.
// CHECK-LABEL: mk_thread.kernel @cluster
mk_thread.kernel @cluster threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %t = mk_thread.thread_id
  // CHECK-NOT: load_atomic
  // CHECK: mk_thread.store_shared %c0_i32
  // CHECK: mk_thread.sync_cluster
  mk_thread.begin_launch %t {
  }
}

// -----

// CHECK-LABEL: mk_thread.kernel @end
mk_thread.kernel @end threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[N:.*]] = mk_thread.param 24
  %n = mk_thread.param 24 : i64
  // CHECK: mk_thread.sync %c2_i32, 384
  // CHECK-NEXT: %[[T:.*]] = mk_thread.thread_id pinned
  // CHECK: %[[ME:.*]] = arith.subi %[[T]], %c128_i32
  // CHECK: mk_thread.atomic_add acq_rel gpu
  // CHECK: llvm.store
  // CHECK: mk_thread.sync %c1_i32, 256
  // CHECK: scf.if
  // CHECK: %[[COUNT:.*]] = arith.trunci %[[N]] : i64 to i32
  // CHECK: scf.for %{{.*}} = %[[ME]] to %[[COUNT]] step %c256_i32
  // CHECK: %[[OWN:.*]] = llvm.load
  // CHECK: %[[NET:.*]] = llvm.load
  // CHECK: %[[SUM:.*]] = arith.addi %[[OWN]], %[[NET]]
  // CHECK: llvm.store %[[SUM]]
  // What begins each launch as zero.
  // CHECK: scf.for %{{.*}} = %[[ME]] to
  // CHECK: llvm.store %c0_i32
  // CHECK: mk_thread.sync %c1_i32, 256
  // CHECK: scf.if
  // CHECK: llvm.store %c0_i32
  // CHECK: %[[EPOCH:.*]] = llvm.load
  // CHECK: %[[NEXT:.*]] = arith.addi %[[EPOCH]], %c1_i32
  // CHECK: llvm.store %[[NEXT]]
  mk_thread.end_launch finish(2) barrier(1) flag(512) {
  ^bb0(%me: i32):
    mk_thread.rebase_signals 72 net count(%n) by(%me of 256)
  }
}
