// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %s
// Words of buffers are read again where an op needs them (pinned, or LLVM would read them once), and in front of
// a loop that keeps them, at any depth.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (in %n : memref<?xi32> [M], out %c : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @work ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %i = %c0 to %M step %c1 {
        // CHECK: scf.for
        // CHECK-COUNT-4: mk_thread.param pinned
        // CHECK-NOT: mk_thread.param {{[0-9]}}
        %y = memref.load %n[%i] : memref<?xi32>
        memref.store %y, %c[%i] : memref<?xi32>
      }
      scf.for %i = %c0 to %M step %c1 {
        mk_sm.keep_words
        scf.for %j = %c0 to %i step %c1 {
          // CHECK: scf.for
          // CHECK: scf.for
          // CHECK-NOT: pinned
          // CHECK-COUNT-4: mk_thread.param {{[0-9]}}
          // CHECK-NOT: pinned
          %y = memref.load %n[%j] : memref<?xi32>
          memref.store %y, %c[%j] : memref<?xi32>
        }
      }
    }
  }
}
