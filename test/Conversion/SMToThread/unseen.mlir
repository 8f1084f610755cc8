// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %s

// Of tiles whose elements behind the end nobody sees the copy engine is told where that is: a known extent is no word that is
// read in each turn.

mk.mesh @mesh (gpu = 1 via link)

// CHECK: mk_thread.kernel @mk_kernel
mk.kernel @unseen on @mesh dims(uniform M = 900, uniform N) (
    in %a : memref<?x?xbf16> [M, 500],
    in %b : memref<?x?xbf16> [N, 64],
    in %d : memref<?x?xbf16> [60, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %c4 step %c1 {
        %row = arith.muli %i, %c128 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
        // CHECK: %[[LEFT:.*]] = arith.subi %c900_i64, %{{.*}} : i64
        // CHECK: arith.subi %c500_i64, %{{.*}} : i64
        // CHECK: mk_thread.copy_tile {{.*}} rows_left(%{{.*}}) columns_left(%{{.*}}) : !llvm.ptr
        mk_sm.copy %a[%row, %row] unseen [0, 1] to %slot[0] : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
        // CHECK: mk_thread.copy_tile {{.*}} rows_left(%{{[^)]*}}) : !llvm.ptr
        mk_sm.copy %b[%row, %c0] once unseen [0] to %slot[1] : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
        // Rows of which all fit into the tile.
        // CHECK: mk_thread.copy_tile {{.*}} of 64 x 1 box 60 x 64 {{.*}} rows_left(%{{[^)]*}}) one_box : !llvm.ptr
        mk_sm.copy %d[%row, %c0] unseen [0] to %slot[2] : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %i = %c0 to %c4 step %c1 {
        %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
        mk_sm.release %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
      }
    }
  }
}
