// RUN: mk-opt %s -mk-thread-expand-queues | FileCheck %s

// CHECK-LABEL: mk_thread.kernel @queues
mk_thread.kernel @queues threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // CHECK: %[[N:.*]] = mk_thread.param 24
  %n = mk_thread.param 24 : i64

  // A warp: lane 0 has it, the others get it by a shuffle.
  // CHECK: mk_thread.sync_warp
  // CHECK: scf.if
  // CHECK: mk_thread.load_shared
  // CHECK: mk_thread.atomic_add relaxed gpu %[[N]]
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %c7_i64
  // CHECK: mk_thread.sync_warp
  // CHECK: shfl.sync.idx
  %ticket = mk_thread.elect_fetch_add relaxed %n, %w else 7 by(%w)
  // Several: by shared memory.
  // CHECK: mk_thread.sync %{{.*}}, 256
  // CHECK: mk_thread.atomic_add acq_rel gpu %[[N]]
  // CHECK: llvm.store
  // CHECK: mk_thread.sync %{{.*}}, 256
  // CHECK: llvm.load
  // CHECK: shfl.sync.idx
  %before = mk_thread.elect_fetch_add acq_rel %n, %w else 0 by(%w) barrier(%w, 256) through(512)

  // The flag is released behind the record.
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.fence gpu
  // CHECK: mk_thread.param 88
  // CHECK: mk_thread.atomic_add relaxed gpu
  // CHECK-NOT: mk_thread.check
  // CHECK: llvm.store %[[N]]
  // CHECK: mk_thread.store_atomic release gpu
  mk_thread.push_record %n to 72 epoch(%w)
  // CHECK: mk_thread.check %{{.*}} param(96) least [] named(5) report(<kind = 13, role = 0, number = 3>) redirect
  // CHECK: scf.if
  // CHECK: mk_thread.store_atomic release gpu
  mk_thread.push_record %n to 72 epoch(%w) named(5) report(<kind = 13, role = 0, number = 3>)

  // CHECK: mk_thread.wait_word gpu %{{.*}} equal, %{{.*}} array(80) report(<kind = 2, role = 0, number = 1>)
  // CHECK-NEXT: mk_thread.fence_async global
  // CHECK: %[[SEEN:.*]] = mk_thread.load_shared
  // CHECK: %[[FAILED:.*]] = mk_thread.sync_or %{{.*}}, 256, %[[SEEN]]
  // CHECK: mk_thread.load {{.*}} if not %[[FAILED]]
  // CHECK: mk_thread.load {{.*}} if not %[[FAILED]]
  %failed, %k, %l = mk_thread.pop_record %n from 72 epoch(%w) barrier(%w, 256)
      report(<kind = 2, role = 0, number = 1>) : i64, i64
  // CHECK: mk_thread.any
  %agreed = mk_thread.agree_on_failure
}
