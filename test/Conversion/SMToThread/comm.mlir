// RUN: mk-opt %s -convert-mk-sm-to-thread=grid=4 -convert-mk-thread-to-llvm | FileCheck %s

// Signals, counters, queues, tickets and mailboxes on one rank.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: llvm.func @mk_kernel
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
      // CHECK: atom.relaxed.gpu.global.add.u32
      // CHECK: shfl.sync.idx
      %t = mk_sm.ticket loop(0)
      // A record is there when its word is epoch + 1.
      // CHECK: ld.acquire.gpu.global.b32 seen, [$0]; setp.eq.u32
      // CHECK: fence.proxy.async;
      %x, %y = mk_sm.pop %q[%t] : !mk.queue<?x2xi32>
      // CHECK: mbarrier.try_wait.parity
      // CHECK: mbarrier.arrive
      mk_sm.send %items, %x, %y : !mk_sm.mailbox<2, words = 2>
    }
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: mbarrier.try_wait.parity
      %x, %y = mk_sm.receive %items : !mk_sm.mailbox<2, words = 2>
      // A fixed number of arrivals: base epoch * 2; who waits acquires, and orders
      // the copy engine behind.
      // CHECK: ld.acquire.sys.global.b32 seen, [$0]; sub.u32 low, seen, $1; setp.ge.s32{{.*}} shf.r.wrap.b32 low, low, high, 20;
      // CHECK: fence.proxy.async;
      mk.wait %done[%x] ge %c1 : !mk.signal<?, sys, arrivals = 2>
      // CHECK: ld.acquire.gpu.global.b32
      mk.wait %near[%c0] ge %c1 : !mk.signal<?, gpu, dynamic>
      // A put at the own rank is a copy by the copy engine, its signal by one thread behind
      // all others.
      // CHECK: cp.async.bulk.global.shared::cta.bulk_group
      // CHECK: cp.async.bulk.wait_group 0;
      // CHECK: bar.sync
      // CHECK: fence.acq_rel.sys;
      // CHECK: red.release.sys.global.add.u32
      %me = mk.rank
      mk.put %a[%x, %c0][%c1, %c64] to %b[%x, %c0] on %me signal %done[%x]
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // CHECK: red.release.gpu.global.add.u32
      mk.signal %near[%c0] : !mk.signal<?, gpu, dynamic>
      // CHECK: atom.acq_rel.gpu.global.add.u32
      %before = mk.count %n[%c0] add %c1 : !mk.counter<?>
      // CHECK: atom.relaxed.gpu.global.add.u32
      // CHECK: st.release.gpu.global.b32
      mk.push %q, (%x, %before) : !mk.queue<?x2xi32>
    }
  }
  // The bases of dynamic signals are recorded.
  // CHECK: atom.acq_rel.gpu.global.add.u32
  // CHECK: scf.for
  // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> i32
}
