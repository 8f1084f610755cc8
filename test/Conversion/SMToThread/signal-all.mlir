// RUN: split-file %s %t
// RUN: mk-opt %t/link.mlir -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %t/link.mlir
// RUN: mk-opt %t/link.mlir -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared=timeline -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %t/link.mlir --check-prefix=TIMES
// RUN: mk-opt %t/net.mlir -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %t/net.mlir

//--- link.mlir
mk.mesh @mesh (gpu = 4 via link)
!parts = !mk.signal<?, sys, arrivals = 3>
!near = !mk.signal<?, gpu, arrivals = 2>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// TIMES-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @link on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %parts = mk.signals(%c3) : !parts
  %near = mk.signals(%c3) : !near
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // One thread, behind all others, waits until the peers are ready. One fence, then all signals, those under
      // branches last. Amounts stay what they are.
      // CHECK: mk_thread.elect
      // CHECK: mk_thread.await_peer %c1_i64
      // CHECK: mk_thread.await_peer %c2_i64
      // CHECK-NOT: mk_thread.await_peer
      // CHECK: mk_thread.fence sys
      // CHECK-NEXT: mk_thread.raise [[PARTS:[0-9]+]][%{{[0-9]+}}] add 1 sys relaxed on %c1_i64
      // CHECK-NEXT: mk_thread.raise [[PARTS]][%{{[0-9]+}}] add 2 sys relaxed on %c2_i64
      // CHECK-NOT: mk_thread.fence
      // CHECK: scf.if
      // CHECK: mk_thread.await_peer %c3_i64
      // CHECK-NOT: mk_thread.fence
      // CHECK: mk_thread.raise [[PARTS]][%{{[0-9]+}}] add 1 sys relaxed on %c3_i64
      // Each leaves its record.
      // TIMES: mk_thread.fence sys
      // TIMES: mk_thread.raise {{.*}} on %c1_i64
      // TIMES: mk_thread.moment
      // TIMES: mk_thread.raise {{.*}} on %c2_i64
      // TIMES: mk_thread.moment
      // TIMES: mk_thread.raise {{.*}} on %c3_i64
      // TIMES: mk_thread.moment
      %some = arith.cmpi ult, %c1, %M : index
      mk_sm.signal_all {
        mk.signal %parts[%c0] on %c1 : !parts
        scf.if %some {
          mk.signal %parts[%c2] on %c3 : !parts
        }
        mk.signal %parts[%c1] on %c2 add 2 : !parts
      }
      // Signals of this GPU alone need no more than its fence.
      // CHECK: mk_thread.fence gpu
      // CHECK-NEXT: mk_thread.raise {{[0-9]+}}[%{{[0-9]+}}] add 1 gpu relaxed{{$}}
      // CHECK-NEXT: mk_thread.raise {{[0-9]+}}[%{{[0-9]+}}] add 1 gpu relaxed{{$}}
      mk_sm.signal_all {
        mk.signal %near[%c0] : !near
        mk.signal %near[%c1] : !near
      }
    }
  }
}

//--- net.mlir
// Across networks a signal goes by a command where the peer's heap is not mapped.
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
!parts = !mk.signal<?, sys, arrivals = 3>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @net on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %parts = mk.signals(%c3) : !parts
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: mk_thread.fence sys
      // CHECK: mk_thread.raise {{.*}} add 1 sys relaxed on %{{.*}} net(%
      // CHECK: mk_thread.raise {{.*}} add 1 sys relaxed on %{{.*}} net(%
      mk_sm.signal_all {
        mk.signal %parts[%c0] on %c1 : !parts
        mk.signal %parts[%c1] on %c2 : !parts
      }
    }
  }
}
