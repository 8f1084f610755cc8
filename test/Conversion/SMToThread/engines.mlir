// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=4 -mk-keep-roles -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %s

// What copy engines put is no code of the kernel. It raises `ready` unless another one has done so; then its end waits for the
// copies before it tells the peers.

!a = memref<?xf32, #mk.symmetric>
!sig = !mk.signal<2, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-NOT: copy_run
// CHECK: %[[OPENED:.*]] = mk_thread.opened
// CHECK: %[[NOT:.*]] = arith.cmpi eq, %[[OPENED]], %c0_i32
// CHECK: scf.if %[[NOT]] {
// CHECK-NEXT: mk_thread.notify_peers 2 in {{[0-9]+}}
// CHECK: mk_thread.end_launch
// CHECK: mk_thread.opened
// CHECK: mk_thread.await_copied %{{.*}} report(<kind = 10, role = -1, number = 0>)
// CHECK: mk_thread.notify_peers 2 in {{[0-9]+}} unless_aborted
// CHECK: mk_thread.await_peers
mk.kernel @several on @mesh dims(uniform N) (in %a : !a [N], scratch %b : !a [N]) {
  %c0 = arith.constant 0 : index
  %sig = mk.signals() : !sig
  %me = mk.rank
  mk.role @copy ctas(engines) {
    mk.put %a[%c0][%N] to %b[%c0] on %c0 signal %sig[%me] : !a to !a, !sig
  }
  mk.role @work ctas(rest) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
}

// -----

// On one rank there is nobody to tell.

!a = memref<?xf32, #mk.symmetric>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-NOT: notify_peers
// CHECK: mk_thread.end_launch
// CHECK: mk_thread.await_copied
// CHECK-NOT: await_peers
mk.kernel @one on @mesh dims(uniform N) (in %a : !a [N], scratch %b : !a [N]) {
  %c0 = arith.constant 0 : index
  mk.role @copy ctas(engines) {
    mk.put %a[%c0][%N] to %b[%c0] on %c0 : !a to !a
  }
  mk.role @work ctas(rest) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
}
