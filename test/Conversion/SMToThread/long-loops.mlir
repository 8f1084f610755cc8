// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s

// A loop whose bounds are not known is counted in 32 bits if they allow it; if not, the report
// says so (kind 10) and in which role, and the loop has no iterations.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @long on @mesh dims(uniform M) (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = mk.counters(%c1) : !mk.counter<?>
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(232) {
      // CHECK: arith.cmpi sle, %{{.*}}, %{{.*}} : i64
      // CHECK: mk_thread.fail_unless %{{.*}} report(<kind = 11, role = 0,
      // CHECK: arith.select {{.*}} : i64
      // CHECK: scf.for {{.*}} : i32
      scf.for %i = %c0 to %M step %c1 {
        %before = mk.count %n[%c0] add %c1 : !mk.counter<?>
      }
      // Nothing is tested where the bounds are known.
      // CHECK-NOT: mk_thread.fail_unless
      // CHECK: scf.for {{.*}} : i32
      scf.for %i = %c0 to %c4 step %c1 {
        %before = mk.count %n[%c0] add %c1 : !mk.counter<?>
      }
      // Told at the end, where there are registers.
      // CHECK: mk_thread.report_failure
    }
  }
}

// -----

// Where the consumer takes tiles, its loop goes around as often as the producer's: that one
// says what is wrong, beside no accumulators, and both have no iterations then.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @taken on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64], out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      // CHECK: mk_thread.fail_unless %{{.*}} report(<kind = 11, role = 0,
      // CHECK: arith.select {{.*}} : i64
      // CHECK: scf.for {{.*}} : i32
      scf.for %i = %c0 to %M step %c1 {
        %slot = mk_sm.acquire %ring : !mk_sm.ring<1, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<1, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(4) registers(232) {
      // CHECK-NOT: mk_thread.fail_unless
      // CHECK: arith.select {{.*}} : i64
      // CHECK: scf.for {{.*}} : i32
      scf.for %i = %c0 to %M step %c1 {
        %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.release %ring : !mk_sm.ring<1, tensor<64x64xbf16>>
      }
    }
  }
}
