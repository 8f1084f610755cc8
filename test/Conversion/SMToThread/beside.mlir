// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=4 -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s

// A role beside another is run by warp 3 of the CTAs that begin with the other one. Its lanes copy 16 bytes each, eight
// times before they store; what is not aligned goes element by element. When all movers are done the
// last one tells the peers, and the end of the launch only waits.

!a = memref<?xf32, #mk.symmetric>
!sig = !mk.signal<2, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: %[[MINE:.*]] = arith.cmpi eq, %{{.*}}, %c3_i32
// CHECK: scf.if %[[MINE]]
// CTAs 1 to 3 are those of @work.
// CHECK: arith.cmpi ult, %{{.*}}, %c3_i32
// The peer has begun.
// CHECK: mk_thread.wait_word sys
// CHECK-COUNT-8: mk_thread.load %{{.*}}, 16 : i64 -> i32, i32, i32, i32
// CHECK-COUNT-8: mk_thread.store {{.*}} bytes(16)
// CHECK: mk_thread.reduce_add release sys
// Behind the role each mover counts.
// CHECK: mk_thread.atomic_add acq_rel gpu
// CHECK: mk_thread.fence sys
// CHECK: mk_thread.reduce_add relaxed sys
mk.kernel @moves on @mesh dims(uniform N) (in %a : !a [N], scratch %b : !a [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sig = mk.signals() : !sig
  %me = mk.rank
  mk.role @first ctas(1) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
  mk.role @push ctas(beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      %other = arith.subi %c1, %me : index
      mk.put %a[%c0][%N] to %b[%c0] on %other signal %sig[%me] : !a to !a, !sig
    }
  }
  mk.role @work ctas(rest) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
}

// -----

// Here the consumer signals the peer, too: the end of the launch says when the rank is done.

!a = memref<?xf32, #mk.symmetric>
!sig = !mk.signal<2, sys, arrivals = 2>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: mk_thread.reduce_add release sys
// CHECK-NOT: mk_thread.atomic_add acq_rel gpu
// CHECK: mk_thread.set_registers 224 more
// CHECK: mk_thread.atomic_add acq_rel gpu
mk.kernel @both on @mesh dims(uniform N) (in %a : !a [N], scratch %b : !a [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sig = mk.signals() : !sig
  %me = mk.rank
  mk.role @push ctas(beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      %other = arith.subi %c1, %me : index
      mk.put %a[%c0][%N] to %b[%c0] on %other signal %sig[%me] : !a to !a, !sig
    }
  }
  mk.role @work ctas(rest) {
    mk_sm.partition consumer warps(8) registers(224) {
      %other = arith.subi %c1, %me : index
      mk.signal %sig[%me] on %other : !sig
    }
  }
}

// -----

// mk.prepare is shared by the CTAs of the grid, of which a role beside another has none: by 4, not by 8.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: scf.for {{.*}} step %c4
mk.kernel @prepared on @mesh dims(uniform N) (out %c : memref<?xi32> [N]) {
  %c7 = arith.constant 7 : i32
  mk.prepare {
    mk_sm.partition consumer warps(8) registers(224) {
      mk_sm.items (%i) round(%r) of %N {
        memref.store %c7, %c[%i] : memref<?xi32>
      }
    }
  }
  mk.role @push ctas(beside @work) {
    mk_sm.partition mover warps(1) registers(56) {}
  }
  mk.role @work ctas(rest) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
}

// -----

// What goes to several peers is loaded once, four times 16 bytes a lane, and one fence stands in front of all signals.

!a = memref<?xf32, #mk.symmetric>
!sig = !mk.signal<4, sys, arrivals = 1>
mk.mesh @mesh (gpu = 4 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-COUNT-3: mk_thread.wait_word sys
// CHECK-COUNT-4: mk_thread.load %{{.*}}, 16 : i64 -> i32, i32, i32, i32
// CHECK-COUNT-12: mk_thread.store {{.*}} bytes(16)
// CHECK: mk_thread.load %{{.*}}, 16
// CHECK: mk_thread.fence sys
// CHECK-COUNT-3: mk_thread.reduce_add relaxed sys
// Behind the role, the end of the launch.
// CHECK: mk_thread.atomic_add acq_rel gpu
// CHECK: mk_thread.fence sys
// CHECK-COUNT-3: mk_thread.reduce_add relaxed sys
// CHECK-NOT: mk_thread.reduce_add relaxed sys
mk.kernel @spreads on @mesh dims(uniform N) (in %a : !a [N], scratch %b : !a [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %sig = mk.signals() : !sig
  %me = mk.rank
  mk.role @first ctas(1) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
  mk.role @push ctas(beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      mk_sm.multicast also(%c2, %c3) {
        mk.put %a[%c0][%N] to %b[%c0] on %c1 signal %sig[%me] : !a to !a, !sig
      }
    }
  }
  mk.role @work ctas(rest) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
}
