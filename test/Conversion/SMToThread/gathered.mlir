// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-select-rows -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %s

// Copiers that remember rows have registers for that. They are asked once for where rows lie, then for a tile in each
// step: of the rows that they remember, if these are made of whole pieces of 16 bytes, else row by row.
// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: mk_thread.request_rows 64 stride(
// CHECK: scf.for
// CHECK: mk_thread.take_slot
// CHECK: scf.if
// CHECK: mk_thread.request_selected %{{.*}} bytes(%{{.*}}) of 64 x 1 to
// CHECK: else
// CHECK: mk_thread.request_copy {{.*}} list(%{{.*}} stride %{{.*}}) entries(%{{.*}}, %{{.*}}) of 64 x 1 size 2 to
// CHECK: mk_thread.serve_copies sizes [2] lists [64, 1]
// What they write without waiting for it is made visible by those who wait.
// CHECK: mk_thread.take_slot
// CHECK: mk_thread.fence_async
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @gathered on @mesh dims(uniform M, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %list : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(56) {
      scf.for %i = %c0 to %c4 step %c1 {
        %k = arith.muli %i, %c64 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.copy %a[%c0, %k] rows(%list[%c0] : memref<?xi32>) to %slot[0] : memref<?x?xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(4) registers(240) {
      scf.for %i = %c0 to %c4 step %c1 {
        %slot = mk_sm.wait %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.release %ring : !mk_sm.ring<2, tensor<64x64xbf16>>
      }
    }
  }
}
