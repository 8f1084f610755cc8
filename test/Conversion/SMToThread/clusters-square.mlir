// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %s

// Clusters of 2 x 2 CTAs, which share one tile with the other CTA of their row and one with that of their column.

mk.mesh @mesh (gpu = 1 via link)

// CHECK: mk_thread.kernel @mk_kernel
// CHECK-SAME: cluster(4)
mk.kernel @square on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16> [M, 64],
    in %b : memref<?x64xbf16> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // Three CTAs fill a slot, this one among them: the eight warps of each have to release it.
  // CHECK: mk_thread.init_slots {{.*}} readers(24)
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %c4 step %c1 {
        %slot = mk_sm.acquire %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        // CHECK: mk_thread.copy_tile {{.*}} of 128 x 1 box 64 x 64 {{.*}} shared(%{{.*}} of 2) :
        mk_sm.copy %a[%i, %c0] to %slot[0] shared(2) : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        // CHECK: mk_thread.copy_tile {{.*}} of 256 x 1 box 128 x 64 {{.*}} shared(%{{.*}} of 2 stride 2) :
        mk_sm.copy %b[%i, %c0] to %slot[1] shared(2 stride 2) : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %i = %c0 to %c4 step %c1 {
        // Those of its row and those of its column are told.
        // CHECK-DAG: %[[ROW:.*]] = arith.shli %c3_i32
        // CHECK-DAG: %[[COLUMN:.*]] = arith.shli %c5_i32
        // CHECK: %[[WRITERS:.*]] = arith.ori %{{.*}}, %{{.*}} : i32
        // CHECK: mk_thread.release_slot {{.*}} writers(%[[WRITERS]])
        %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        mk_sm.release %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>>
      }
    }
  }
}
