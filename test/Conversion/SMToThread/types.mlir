// RUN: sed 's/TYPEB/f16/g; s/TYPE/f16/g' %s | mk-opt -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s --check-prefix=F16
// RUN: sed 's/TYPEB/f32/g; s/TYPE/f32/g' %s | mk-opt -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s --check-prefix=TF32
// RUN: sed 's/TYPEB/f8E4M3FN/g; s/TYPE/f8E4M3FN/g' %s | mk-opt -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s --check-prefix=E4M3
// RUN: sed 's/TYPEB/f8E5M2/g; s/TYPE/f8E5M2/g' %s | mk-opt -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s --check-prefix=E5M2
// RUN: sed 's/TYPEB/f8E5M2/g; s/TYPE/f8E4M3FN/g' %s | mk-opt -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s --check-prefix=MIXED
// RUN: sed 's/TYPEB/f16/g; s/TYPE/bf16/g' %s | not mk-opt -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand 2>&1 | FileCheck %s --check-prefix=HALVES

// A step is 32 bytes of the contraction, whatever the type.
// F16: mk_thread.wgmma n(128) k(16) "f16" * "f16" left(%{{.*}} : i64) + 0 right(%{{.*}}) + 0 -> f32
// TF32: mk_thread.wgmma n(128) k(8) "tf32" * "tf32" left(%{{.*}} : i64) + 0 right(%{{.*}}) + 0 -> f32
// E4M3: mk_thread.wgmma n(128) k(32) "e4m3" * "e4m3" left(%{{.*}} : i64) + 0 right(%{{.*}}) + 0 -> f32
// E5M2: mk_thread.wgmma n(128) k(32) "e5m2" * "e5m2" left(%{{.*}} : i64) + 0 right(%{{.*}}) + 0 -> f32
// MIXED: mk_thread.wgmma n(128) k(32) "e4m3" * "e5m2" left(%{{.*}} : i64) + 0 right(%{{.*}}) + 0 -> f32
// HALVES: multiplies 'bf16' by 'f16'; the matrix unit takes two of bf16, f16, f32 (as tf32), or any of f8E4M3FN and f8E5M2

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!slot = !mk_sm.slot<tensor<64x128xTYPE>, tensor<128x128xTYPEB>>

mk.kernel @product on @mesh (out %c : memref<64x128xf32> [64, 128]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x128xTYPE>, tensor<128x128xTYPEB>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x128xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x128xTYPE>, tensor<128x128xTYPEB>> -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x128xTYPE>>
      %y = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<128x128xTYPEB>>
      mk_sm.mma_fence none
      %s = mk_sm.mma %x, %y, %zero transpose_b : !mk_sm.staged<tensor<64x128xTYPE>>, !mk_sm.staged<tensor<128x128xTYPEB>>, tensor<64x128xf32, #acc>
      %t = mk_sm.mma_wait 0, %s : tensor<64x128xf32, #acc>
      mk.store %t, %c[%c0, %c0] : tensor<64x128xf32, #acc>, memref<64x128xf32>
    }
  }
}
