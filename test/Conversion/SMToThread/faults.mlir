// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -mk-sm-agree-on-failure=bounds=false -convert-mk-sm-to-thread=bounds=false -mk-thread-expand | FileCheck %s
// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -mk-sm-agree-on-failure -convert-mk-sm-to-thread -mk-thread-expand -convert-mk-thread-to-llvm | FileCheck %s --check-prefix=NONE

// A launch that fails comes to its end: a word in shared memory says so, and what others would
// see is left out from then on.
// NONE-NOT: trap
// NONE-NOT: exit

mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x64xbf16, #mk.symmetric>
!sig = !mk.signal<?, sys, arrivals = 2>

// The word is what the launch before has left.
// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: %[[END:.*]] = arith.constant 4611686018427387904 : i64
// CHECK: mk_thread.load_atomic relaxed gpu
// CHECK: mk_thread.store_shared %{{.*}}, %{{.*}} + [[WORD:[0-9]+]] : i32
// CHECK: mk_thread.fence_mbarriers
mk.kernel @k on @mesh dims(uniform M) (
    in %a : !x [M, 64], scratch %b : !x [M, 64], scratch %list : memref<?xi32> [M],
    in %fixed : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %s = mk.signals(%M) : !sig
  %n = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x1xi32>
  mk.role @r ctas(rest) {
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      // No tickets are left: 2^62.
      // CHECK: mk_thread.load_shared [[WORD]] : i32
      // CHECK: scf.if {{.*}} -> (i64)
      // CHECK: mk_thread.atomic_add relaxed gpu {{.*}} : i32
      // CHECK: else
      // CHECK: scf.yield %[[END]]
      %t = mk_sm.ticket loop(0)
      // The record, if all lanes have come to it in peace.
      // CHECK: mk_thread.wait_word gpu %{{[^ ]*}} equal,
      // CHECK: mk_thread.load_shared [[WORD]] : i32
      // CHECK: mk_thread.any
      // CHECK: mk_thread.load %{{.*}}, 8 if not %{{.*}} : i64 -> i64
      %r = mk_sm.pop %q[%t] : !mk.queue<?x1xi32>
      // The other side comes in any case: this wait ends with its barrier.
      // CHECK: mk_thread.mbarrier_wait
      mk_sm.send %items, %r : !mk_sm.mailbox<2, words = 1>
    }
    mk_sm.partition consumer warps(8) registers(168) {
      // Threads that read numbers which a wait guards agree on whether it was given up.
      // CHECK: mk_thread.sync_or %{{.*}}, 256,
      %i = mk_sm.receive %items : !mk_sm.mailbox<2, words = 1>
      // CHECK: mk_thread.wait_word sys
      // CHECK: mk_thread.sync_or %{{.*}}, 256,
      mk.wait %s[%c0] ge %c1 : !sig
      // CHECK: mk_thread.load %{{.*}}, 4 if not %{{.*}} : i64 -> i32
      %v = memref.load %list[%c0] : memref<?xi32>
      // What nobody writes is as it was.
      // CHECK: llvm.load {{.*}} -> i32
      %w = memref.load %fixed[%c0] : memref<?xi32>
      // CHECK: mk_thread.load_shared [[WORD]] : i32
      // CHECK: scf.if
      // CHECK: llvm.store {{.*}} : i32, !llvm.ptr<1>
      memref.store %w, %list[%c1] : memref<?xi32>
      // CHECK: mk_thread.load_shared [[WORD]] : i32
      // CHECK: scf.if
      // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
      %old = mk.count %n[%c0] add %c1 : !mk.counter<?>
      // CHECK: mk_thread.load_shared [[WORD]] : i32
      // CHECK: scf.if
      // CHECK: mk_thread.atomic_add relaxed gpu {{.*}} : i32
      // CHECK: mk_thread.store_atomic release gpu {{.*}} : i32
      mk.push %q, (%c0) : !mk.queue<?x1xi32>
      // A peer that does not exist is this rank; of a put no runs are left.
      // CHECK: mk_thread.fail_unless %{{.*}} report(<kind = 12, role = 0,
      // CHECK: arith.select
      // CHECK: mk_thread.load_shared [[WORD]] : i32
      // CHECK: arith.select {{.*}} : i32
      // CHECK: mk_thread.wait_group 0
      // CHECK: mk_thread.load_shared [[WORD]] : i32
      // CHECK: scf.if
      // CHECK: mk_thread.reduce_add release sys {{.*}} : i32
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %i signal %s[%c0] : !x to !x, !sig
    }
  }
  // No peer is told that this launch is complete if it is not.
  // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
  // CHECK: mk_thread.load_atomic relaxed gpu
  // CHECK: scf.if
  // CHECK: mk_thread.reduce_add relaxed sys {{.*}} : i32
  // CHECK: llvm.mlir.global internal constant @mk_gpu
}
