// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -mk-sm-spread-waits -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s

// Signals, counters, queues, tickets and mailboxes on one rank.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @comm on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16, #mk.symmetric> [M, 64],
    scratch %b : memref<?x64xbf16, #mk.symmetric> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %done = mk.signals(%M) : !mk.signal<?, sys, arrivals = 2>
  %near = mk.signals(%c1) : !mk.signal<?, gpu, dynamic>
  %n = mk.counters(%c1) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.role @r ctas(rest) {
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 2>
    mk_sm.partition producer warps(1) registers(40) {
      // One lane draws, all get it.
      // CHECK: mk_thread.atomic_add relaxed gpu {{.*}} : i32
      // CHECK: shfl.sync.idx
      %t = mk_sm.ticket loop(0)
      // A record is there when its word is epoch + 1.
      // CHECK: mk_thread.wait_word gpu %{{[^ ]*}} equal,
      // CHECK: mk_thread.fence_async global
      %x, %y = mk_sm.pop %q[%t] : !mk.queue<?x2xi32>
      // CHECK: mk_thread.mbarrier_wait
      // CHECK: mk_thread.mbarrier_arrive
      mk_sm.send %items, %x, %y : !mk_sm.mailbox<2, words = 2>
    }
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: mk_thread.mbarrier_wait
      %x, %y = mk_sm.receive %items : !mk_sm.mailbox<2, words = 2>
      // A fixed number of arrivals: base epoch * 2; who waits acquires, and orders
      // the copy engine behind.
      // CHECK: mk_thread.wait_word sys %{{[^ ]*}}, %
      // CHECK: mk_thread.fence_async global
      mk.wait %done[%x] ge %c1 : !mk.signal<?, sys, arrivals = 2>
      // CHECK: mk_thread.wait_word gpu {{.*}} leader(
      mk.wait %near[%c0] ge %c1 : !mk.signal<?, gpu, dynamic>
      // Waits of a loop are made side by side, each by a thread of its own; then all meet. As in any loop
      // there are not so many that a CTA would never end.
      // CHECK: mk_thread.fail_unless
      // CHECK: scf.for
      // CHECK-NOT: leader(
      // CHECK: mk_thread.wait_word gpu
      // CHECK-NOT: leader(
      // CHECK-NOT: mk_thread.sync
      // CHECK: }
      // CHECK-NEXT: mk_thread.sync %
      scf.for %i = %c0 to %x step %c1 {
        mk.wait %near[%i] ge %c1 : !mk.signal<?, gpu, dynamic>
      }
      // A put at the own rank is a copy by the copy engine, its signal by one thread behind
      // all others.
      // CHECK: mk_thread.store_bulk
      // CHECK: mk_thread.wait_group 0
      // CHECK: mk_thread.sync %
      // CHECK-NOT: mk_thread.fence sys
      // CHECK: mk_thread.reduce_add release sys {{.*}} : i32
      %me = mk.rank
      mk.put %a[%x, %c0][%c1, %c64] to %b[%x, %c0] on %me signal %done[%x]
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // CHECK: mk_thread.reduce_add release gpu {{.*}} : i32
      mk.signal %near[%c0] : !mk.signal<?, gpu, dynamic>
      // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
      %before = mk.count %n[%c0] add %c1 : !mk.counter<?>
      // CHECK: mk_thread.atomic_add relaxed gpu {{.*}} : i32
      // CHECK: mk_thread.store_atomic release gpu {{.*}} : i32
      mk.push %q, (%x, %before) : !mk.queue<?x2xi32>
    }
  }
  // The bases of dynamic signals are recorded.
  // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
  // CHECK: scf.for
  // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> i32
}
