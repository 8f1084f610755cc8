// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s
// A tile of one dimension beside one for dots: brought at once where that can be, counted by the
// barrier of its slot, and read from its place behind the other one.

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64xf32>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<64xf32>>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
mk.kernel @listed on @mesh dims(uniform M) (in %a : memref<?x?xbf16> [M, M], in %s : memref<?x?xf32> [M, M],
    out %o : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<?x?xbf16>, !slot
      // CHECK: mk_thread.copy_tensor
      // CHECK: scf.if
      // CHECK: nvvm.elect.sync
      // CHECK: mk_thread.mbarrier_expect %{{.*}}, 256
      // CHECK: mk_thread.copy_bulk
      // CHECK: else
      // CHECK: nvvm.cp.async.mbarrier.arrive
      // CHECK: nvvm.elect.sync
      // CHECK: mk_thread.mbarrier_arrive
      mk_sm.copy %s[%c0, %c0] to %slot[1] : memref<?x?xf32>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64xf32>>
      // CHECK: mk_thread.mbarrier_wait
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      // CHECK-NEXT: mk_thread.sync_warp
      %x = mk_sm.read %t : !mk_sm.staged<tensor<64xf32>> -> !row
      %y = arith.addf %x, %x : !row
      mk.store %y, %o[%c0] : !row, memref<?xf32>
      mk_sm.release %ring : !ring
    }
  }
}
