// RUN: mk-opt %s -convert-mk-sm-to-thread="grid=4 bounds=false" -convert-mk-thread-to-llvm | FileCheck %s
// RUN: mk-opt %s -convert-mk-sm-to-thread=grid=4 -convert-mk-thread-to-llvm | FileCheck %s --check-prefix=NONE

// A launch that fails comes to its end: a word in shared memory says so, and what others would
// see is left out from then on.
// NONE-NOT: trap
// NONE-NOT: exit

mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x64xbf16, #mk.symmetric>
!sig = !mk.signal<?, sys, arrivals = 2>

// The word is what the launch before has left.
// CHECK-LABEL: llvm.func @mk_kernel
// CHECK: %[[END:.*]] = arith.constant 4611686018427387904 : i64
// CHECK: ld.relaxed.gpu.global.b32
// CHECK: st.volatile.shared.b32 [$1+[[WORD:[0-9]+]]], $0;
// CHECK: fence.mbarrier_init
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
      // CHECK: ld.volatile.shared.b32 $0, [mk_shared+[[WORD]]];
      // CHECK: scf.if {{.*}} -> (i64)
      // CHECK: atom.relaxed.gpu.global.add.u32
      // CHECK: else
      // CHECK: scf.yield %[[END]]
      %t = mk_sm.ticket loop(0)
      // The record, if all lanes have come to it in peace.
      // CHECK: ld.acquire.gpu.global.b32 seen, [$0]; setp.eq.u32 done, seen, $1; @done bra DONE; ld.volatile.shared.b32 word, [mk_shared+[[WORD]]]; setp.ne.u32 some, word, 0; @some bra DONE;
      // CHECK: ld.volatile.shared.b32 $0, [mk_shared+[[WORD]]];
      // CHECK: setp.ne.b32 p, $1, 0; vote.sync.any.pred p, p, 0xffffffff;
      // CHECK: setp.eq.b32 p, $3, 0; @p ld.global.b64 $0, [$2];
      %r = mk_sm.pop %q[%t] : !mk.queue<?x1xi32>
      // The other side comes in any case: this wait ends with its barrier.
      // CHECK: mbarrier.try_wait.parity
      // CHECK-NOT: bra STOP
      // CHECK-SAME: DONE: }
      mk_sm.send %items, %r : !mk_sm.mailbox<2, words = 1>
    }
    mk_sm.partition consumer warps(8) registers(168) {
      // Threads that read numbers which a wait guards agree on whether it was given up.
      // CHECK: setp.ne.u32 p, $2, 0; barrier.cta.red.or.aligned.pred p, $1, 256, p;
      %i = mk_sm.receive %items : !mk_sm.mailbox<2, words = 1>
      // CHECK: ld.acquire.sys.global.b32 seen, [$0]; {{.*}} STOP: ld.param.b64 value, [mk_kernel_param_0+{{[0-9]+}}]; st.relaxed.sys.global.b32 [value+8], 1; st.volatile.shared.b32 [mk_shared+[[WORD]]], 1; st.relaxed.sys.global.b32 [value+12], 1; DONE: }
      // CHECK: setp.ne.u32 p, $2, 0; barrier.cta.red.or.aligned.pred p, $1, 256, p;
      mk.wait %s[%c0] ge %c1 : !sig
      // CHECK: setp.eq.b32 p, $3, 0; @p ld.global.b32 $0, [$2];
      %v = memref.load %list[%c0] : memref<?xi32>
      // What nobody writes is as it was.
      // CHECK: llvm.load {{.*}} -> i32
      %w = memref.load %fixed[%c0] : memref<?xi32>
      // CHECK: ld.volatile.shared.b32 $0, [mk_shared+[[WORD]]];
      // CHECK: scf.if
      // CHECK: llvm.store {{.*}} : i32, !llvm.ptr<1>
      memref.store %w, %list[%c1] : memref<?xi32>
      // CHECK: ld.volatile.shared.b32 $0, [mk_shared+[[WORD]]];
      // CHECK: scf.if
      // CHECK: atom.acq_rel.gpu.global.add.u32
      %old = mk.count %n[%c0] add %c1 : !mk.counter<?>
      // CHECK: ld.volatile.shared.b32 $0, [mk_shared+[[WORD]]];
      // CHECK: scf.if
      // CHECK: atom.relaxed.gpu.global.add.u32
      // CHECK: st.release.gpu.global.b32
      mk.push %q, (%c0) : !mk.queue<?x1xi32>
      // A peer that does not exist is this rank; of a put no runs are left.
      // CHECK: setp.eq.u32 p, $0, 0; @p st.volatile.shared.b32 [mk_shared+[[WORD]]], 11; }
      // CHECK: arith.select
      // CHECK: ld.volatile.shared.b32 $0, [mk_shared+[[WORD]]];
      // CHECK: arith.select {{.*}} : i32
      // CHECK: cp.async.bulk.wait_group 0;
      // CHECK: ld.volatile.shared.b32 $0, [mk_shared+[[WORD]]];
      // CHECK: scf.if
      // CHECK: red.release.sys.global.add.u32
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %i signal %s[%c0] : !x to !x, !sig
    }
  }
  // No peer is told that this launch is complete if it is not.
  // CHECK: atom.acq_rel.gpu.global.add.u32
  // CHECK: ld.relaxed.gpu.global.b32
  // CHECK: scf.if
  // CHECK: red.release.sys.global.add.u32
  // CHECK: llvm.return
}
