// RUN: mk-opt %s -mk-thread-merge-elected | FileCheck %s

// What one thread of a warp does behind each other is one branch.
// CHECK-LABEL: mk_thread.kernel @slot
mk_thread.kernel @slot threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %full = mk_thread.cta_id
  %boxes = mk_thread.param 32 : i32
  %g = mk_thread.param 40 : i64
  // What touches nothing, or reads what nobody writes, stands in front of it.
  // CHECK: %[[ELECTED:.*]] = nvvm.elect.sync
  // CHECK: %[[MAP:.*]] = mk_thread.param pinned 24
  // CHECK: arith.addi
  // CHECK-NOT: nvvm.elect.sync
  // CHECK: scf.if %[[ELECTED]] {
  // CHECK-NEXT: mk_thread.copy_tensor
  // CHECK-NEXT: mk_thread.copy_tensor %[[MAP]]
  // The arrival says how many bytes are expected: 8192 and 4096 for each box.
  // CHECK-NEXT: %[[FIRST:.*]] = arith.constant 8192 : i32
  // CHECK-NEXT: %[[EACH:.*]] = arith.constant 4096 : i32
  // CHECK-NEXT: %[[SOME:.*]] = arith.muli %{{.*}}, %[[EACH]] : i32
  // CHECK-NEXT: %[[BYTES:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK-NOT: mk_thread.mbarrier_expect
  // CHECK: mk_thread.mbarrier_arrive %{{.*}} expect(%[[BYTES]])
  // CHECK-NEXT: }
  %a = nvvm.elect.sync -> i1
  scf.if %a {
    mk_thread.mbarrier_expect %full, 8192
    mk_thread.copy_tensor %g[%full, %full] to %full counted by %full : i64
  }
  %map = mk_thread.param pinned 24 : i64
  %b = nvvm.elect.sync -> i1
  %next = arith.addi %full, %full : i32
  scf.if %b {
    mk_thread.mbarrier_expect %full, 4096 times %boxes
    mk_thread.copy_tensor %map[%next, %next] to %full counted by %full : i64
  }
  %c = nvvm.elect.sync -> i1
  scf.if %c {
    mk_thread.mbarrier_arrive %full
  }
  // Other threads have to store first.
  // CHECK: mk_thread.store_shared
  // CHECK: nvvm.elect.sync
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.mbarrier_arrive %{{[^ ]*$}}
  mk_thread.store_shared %full, %boxes + 0 : i32
  %d = nvvm.elect.sync -> i1
  scf.if %d {
    mk_thread.mbarrier_arrive %full
  }
}
