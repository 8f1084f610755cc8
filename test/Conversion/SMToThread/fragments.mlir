// RUN: mk-opt %s -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand -canonicalize | FileCheck %s

// Tiles in registers: a thread's elements one by one.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
#column = #mk_sm.slice<axis = 0, of = #acc>
#set = affine_set<(r, c)[n] : (n - 2 * c + r >= 0)>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @fragments on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x?xbf16> [M, N], in %bias : memref<?xf32> [N],
    out %c : memref<?x?xf32> [M, N], out %s : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %ninf = arith.constant 0xFF800000 : f32
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // Two neighbours of a row are one load where the address allows it, by a
      // test of its row; else each is tested by itself.
      // CHECK: scf.if {{.*}} -> (i32, i32,
      // CHECK-COUNT-8: mk_thread.load %{{.*}}, 4 if %{{.*}}: i64 -> i32
      // CHECK: else
      // CHECK-COUNT-16: mk_thread.load %{{.*}}, 2 if %{{.*}}: i64 -> i16
      %x = mk.load %a[%c0, %c0] : memref<?x?xbf16> -> tensor<64x32xbf16, #acc>
      %wide = arith.extf %x : tensor<64x32xbf16, #acc> to tensor<64x32xf32, #acc>
      // What depends on the row is computed once for each of the two rows; an element
      // takes one comparison with a constant and one selection.
      // CHECK-COUNT-16: arith.cmpi sge, {{.*}} : i32
      %m = mk.mask %wide where #set[%N] else %ninf : tensor<64x32xf32, #acc>
      // Rows are spread over four lanes; a NaN wins.
      // CHECK: llvm.intr.maximum
      // CHECK-COUNT-4: shfl.sync.bfly
      %top = mk.reduce max %m axis 1 : tensor<64x32xf32, #acc> -> tensor<64xf32, #row>
      %b = mk.broadcast %top dims [1] : tensor<64xf32, #row> -> tensor<64x32xf32, #acc>
      // A product and a difference may become one instruction.
      // CHECK: arith.subf {{.*}} fastmath<contract> : f32
      %d = arith.subf %m, %b : tensor<64x32xf32, #acc>
      // CHECK: %[[E0:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
      // CHECK-COUNT-3: llvm.nvvm.ex2.approx.ftz.f32
      // CHECK: %[[E4:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
      // CHECK-COUNT-3: llvm.nvvm.ex2.approx.ftz.f32
      // CHECK: %[[E8:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
      // CHECK-COUNT-3: llvm.nvvm.ex2.approx.ftz.f32
      // CHECK: %[[E12:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
      %e = math.exp2 %d : tensor<64x32xf32, #acc>
      // A thread adds up columns that are congruent mod 8, in two chains each; lanes
      // meet in the reduction.
      // CHECK-NOT: shfl
      // CHECK: %[[X:.*]] = arith.addf %[[E0]], %[[E8]]
      // CHECK-NOT: shfl
      // CHECK: %[[Y:.*]] = arith.addf %[[E4]], %[[E12]]
      // CHECK-NOT: shfl
      // CHECK: arith.addf %[[X]], %[[Y]]
      %part = mk_sm.partial_sum %e : tensor<64x32xf32, #acc>
      // CHECK-COUNT-4: shfl.sync.bfly
      %sum = mk.reduce add %part axis 1 : tensor<64x8xf32, #acc> -> tensor<64xf32, #row>
      // One lane of the four stores.
      // CHECK: mk_thread.store {{.*}} : i64 bytes(4)
      mk.store %sum, %s[%c0] : tensor<64xf32, #row>, memref<?xf32>
      %sb = mk.broadcast %sum dims [1] : tensor<64xf32, #row> -> tensor<64x32xf32, #acc>
      %q = arith.divf %e, %sb : tensor<64x32xf32, #acc>
      // What only the store needs is loaded and computed there. The divisor of a row
      // is inverted once.
      // CHECK: mk_thread.load %{{.*}}, 8 if %{{.*}} : i64 -> i32, i32
      // CHECK-COUNT-2: mk_thread.approximate rcp
      // CHECK-NOT: mk_thread.approximate
      // CHECK: mk_thread.store {{.*}} : i64 bytes(8)
      // CHECK-NOT: mk_thread.approximate
      // CHECK: else
      // CHECK-NOT: mk_thread.approximate
      // CHECK-NOT: div.full
      %bt = mk.load %bias[%c0] : memref<?xf32> -> tensor<32xf32, #column>
      %bb = mk.broadcast %bt dims [0] : tensor<32xf32, #column> -> tensor<64x32xf32, #acc>
      %r = arith.addf %q, %bb : tensor<64x32xf32, #acc>
      mk.store %r, %c[%c0, %c0] : tensor<64x32xf32, #acc>, memref<?x?xf32>
    }
  }
}
