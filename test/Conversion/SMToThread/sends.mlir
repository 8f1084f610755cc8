// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %s
// Who puts what may cross a network waits until this rank has told others that it has begun; a signal does not.

mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @sends on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16, #mk.symmetric> [M, 64],
    scratch %b : memref<?x64xbf16, #mk.symmetric> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %done = mk.signals(%M) : !mk.signal<?, sys, arrivals = 1>
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: mk_thread.await_peer %{{.*}} of 4 in [[READY:[0-9]+]] net, %
      mk.signal %done[%c0] on %c1 : !mk.signal<?, sys, arrivals = 1>
      // CHECK: mk_thread.await_peer %{{.*}} of 4 in [[READY]] net, %
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %c1 via link
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>
      // CHECK: mk_thread.await_peer %{{.*}} of 4 in [[READY]] net sends, %
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %c1 via net
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>
      // CHECK: mk_thread.await_peer %{{.*}} of 4 in [[READY]] net sends, %
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %c1
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>
    }
  }
}
