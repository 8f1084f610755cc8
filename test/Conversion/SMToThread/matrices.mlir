// RUN: mk-opt %s -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand -canonicalize | FileCheck %s

// Instructions and descriptors of products.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<128x64xbf16>>

// Two warpgroups have all registers they can use.
// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-NOT: mk_thread.set_registers
mk.kernel @products on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  // Rows along the contraction: bits of the swizzle, SBO 1024, LBO 1.
  // CHECK-DAG: arith.constant 4611686293305360384 : i64
  // Columns along it: LBO is the stride between chunks, 128 rows of 128 bytes.
  // CHECK-DAG: arith.constant 4611686293372403712 : i64
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>, tensor<128x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x128xf32, #acc>
      %none = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x64xbf16>, tensor<128x64xbf16>> -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x64xbf16>>
      %y = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<128x64xbf16>>
      // CHECK: mk_thread.wgmma_fence none
      mk_sm.mma_fence none
      // The first of a zero accumulator starts from nothing and ties none; a step is
      // 32 bytes further.
      // CHECK: %[[S0:.*]]:64 = mk_thread.wgmma n(128) k(16) "bf16" * "bf16" left(%[[LEFT:.*]] : i64) + 0 right(%[[RIGHT:.*]]) + 0 -> f32,
      // CHECK: mk_thread.wgmma {{.*}} left(%[[LEFT]] : i64) + 2 right(%[[RIGHT]]) + 2 acc(%[[S0]]#0, {{.*}}%[[S0]]#63 : f32,
      // CHECK: mk_thread.wgmma {{.*}} left(%[[LEFT]] : i64) + 4 right(%[[RIGHT]]) + 4 acc(
      // CHECK: %[[S3:.*]]:64 = mk_thread.wgmma {{.*}} left(%[[LEFT]] : i64) + 6 right(%[[RIGHT]]) + 6 acc(
      // CHECK: mk_thread.wgmma_commit
      %s = mk_sm.mma %x, %y, %zero transpose_b : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<128x64xbf16>>, tensor<64x128xf32, #acc>
      // What is waited for passes through.
      // CHECK: mk_thread.wgmma_wait 0, %[[S3]]#0, {{.*}}%[[S3]]#63 : f32,
      %t = mk_sm.mma_wait 0, %s : tensor<64x128xf32, #acc>
      // Conversion by pairs; the fence takes them as words. Zero needs no fence.
      // CHECK: llvm.nvvm.ff2bf16x2.rn
      %p = arith.truncf %t : tensor<64x128xf32, #acc> to tensor<64x128xbf16, #acc>
      // CHECK: %[[W:.*]]:32 = mk_thread.wgmma_fence {{.*}} : i32,
      %q:2 = mk_sm.mma_fence %p, %none : tensor<64x128xbf16, #acc>, tensor<64x64xf32, #acc>
      // A in registers: four a step; 16 rows of B are 2048 bytes.
      // CHECK: mk_thread.wgmma n(64) k(16) "bf16" * "bf16" left(%[[W]]#0, %[[W]]#1, %[[W]]#2, %[[W]]#3 : i32, i32, i32, i32) + 0 right(%[[B:.*]]) + 0 transposed -> f32,
      // CHECK: mk_thread.wgmma {{.*}} left(%[[W]]#4, %[[W]]#5, %[[W]]#6, %[[W]]#7 : i32, i32, i32, i32) + 0 right(%[[B]]) + 128 transposed acc(
      // CHECK-COUNT-6: mk_thread.wgmma n(64)
      // CHECK: mk_thread.wgmma_commit
      %u = mk_sm.mma %q#0, %y, %q#1 : tensor<64x128xbf16, #acc>, !mk_sm.staged<tensor<128x64xbf16>>, tensor<64x64xf32, #acc>
      %v = mk_sm.mma_wait 0, %u : tensor<64x64xf32, #acc>
      mk.store %v, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
    }
  }
}
