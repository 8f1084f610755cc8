// RUN: mk-opt %s | mk-opt | FileCheck %s

// A tile of one dimension in a slot, behind those of two.
mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64xf32>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<64xf32>>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
mk.kernel @listed on @mesh (in %a : memref<64x64xbf16> [64, 64], in %s : memref<4x64xf32> [4, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      // CHECK: mk_sm.copy %s[%c0, %c0] to %{{.*}}[1] : memref<4x64xf32>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64xf32>>
      mk_sm.copy %s[%c0, %c0] to %slot[1] : memref<4x64xf32>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64xf32>>
      // CHECK: mk_sm.read %{{.*}} : !mk_sm.staged<tensor<64xf32>> -> tensor<64xf32, #{{.*}}>
      %x = mk_sm.read %t : !mk_sm.staged<tensor<64xf32>> -> !row
      mk_sm.release %ring : !ring
    }
  }
}
