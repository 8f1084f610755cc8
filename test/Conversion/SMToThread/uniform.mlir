// RUN: mk-opt %s -mk-assign-ctas=grid=1 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s

// ptxas computes descriptors in uniform registers only if it knows what is the same in all lanes:
// the number of a warp comes by redux, and a loop over tickets has a place where the warp
// meets before it goes around, whatever one thread had left to do.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @tickets on @mesh dims(uniform M) (out %b : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 7 : i32
  mk.role @r ctas(rest) {
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      scf.while : () -> index {
        %t = mk_sm.ticket loop(0)
        mk_sm.send %items, %t : !mk_sm.mailbox<2, words = 1>
        %more = arith.cmpi slt, %t, %M : index
        scf.condition(%more) %t : index
      } do {
      ^bb0(%t: index):
        scf.yield
      }
    }
    // CHECK: %[[THREAD:.*]] = mk_thread.thread_id
    // CHECK: %[[WARP:.*]] = arith.shrui %[[THREAD]]
    // CHECK: llvm.call_intrinsic "llvm.nvvm.redux.sync.umin"(%[[WARP]],
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: scf.while
      scf.while : () -> index {
        %t = mk_sm.receive %items : !mk_sm.mailbox<2, words = 1>
        %more = arith.cmpi slt, %t, %M : index
        // CHECK: scf.condition
        scf.condition(%more) %t : index
      } do {
      ^bb0(%t: index):
        memref.store %v, %b[%t] : memref<?xi32>
        // CHECK: mk_thread.sync_warp
        // CHECK-NEXT: scf.yield
        scf.yield
      }
    }
  }
}
