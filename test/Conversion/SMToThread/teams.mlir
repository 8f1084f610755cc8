// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand -verify-diagnostics | FileCheck %s

// Two teams of a warpgroup each: a slot is released by four warps, the place in the ring
// goes with the turn, and rows do not depend on the warpgroup.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<72x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<72x64xbf16>>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @teams on @mesh (out %c : memref<64x72xbf16> [64, 72]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x72xf32, #acc>
  // CHECK: mk_thread.mbarrier_init %{{.*}}, 1{{$}}
  // CHECK: mk_thread.mbarrier_init %{{.*}}, 4{{$}}
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      // The second team gives the first its turn.
      // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4) if not %
      // CHECK: mk_thread.arrive
      // CHECK: mk_thread.sync %
      // CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> i32
      mk_sm.turn_wait
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<tensor<64x64xbf16>>
      %y = mk_sm.tile %s[1] : !slot -> !mk_sm.staged<tensor<72x64xbf16>>
      mk_sm.mma_fence none
      // CHECK: mk_thread.wgmma n(72) k(16)
      %d = mk_sm.mma %x, %y, %zero transpose_b : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<72x64xbf16>>, tensor<64x72xf32, #acc>
      // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4) if not %
      // CHECK: mk_thread.arrive
      mk_sm.turn_pass
      // CHECK: mk_thread.wgmma_wait 0
      %e = mk_sm.mma_wait 0, %d : tensor<64x72xf32, #acc>
      mk_sm.release %ring : !ring
      %o = arith.truncf %e : tensor<64x72xf32, #acc> to tensor<64x72xbf16, #acc>
      // 72 columns are two chunks of 64: the second begins at column 8.
      // CHECK-COUNT-4: mk_thread.stmatrix
      // CHECK: mk_thread.store_tensor {{.*}}] :
      // CHECK-COUNT-4: mk_thread.stmatrix
      // CHECK: mk_thread.store_tensor {{.*}}] :
      // CHECK-NOT: mk_thread.stmatrix
      mk_sm.store %o, %c[%c0, %c0] through %staging : tensor<64x72xbf16, #acc>, memref<64x72xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// The role behind one with teams acts once again: thread 128 of all, not one of each team.

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @behind on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      // CHECK: mk_thread.arrive
      mk_sm.turn_wait
      %slot = mk_sm.wait %ring : !ring -> !mk_sm.slot<tensor<64x64xbf16>>
      mk_sm.turn_pass
      mk_sm.release %ring : !ring
    }
  }
  // CHECK: mk_thread.sync %{{.*}}, 256{{$}}
  // CHECK: mk_thread.reduce_add release
  mk.role @behind ctas(1) {
    mk_sm.partition consumer warps(8) registers(240) {
      mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    }
  }
}

// -----

// A thread of each team sends to another node: what they count is one word.

mk.mesh @mesh (node = 2 via net)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @both on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 1>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      // CHECK: mk_thread.arrive
      mk_sm.turn_wait
      %slot = mk_sm.wait %ring : !ring -> !mk_sm.slot<tensor<64x64xbf16>>
      mk_sm.turn_pass
      mk_sm.release %ring : !ring
      // CHECK: mk_thread.store_command
      // CHECK: mk_thread.reduce_add relaxed cta {{.*}} : i32
      mk.signal %s[%c0] on %c1 : !mk.signal<1, sys, arrivals = 1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @three on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has 3 teams of 12 warps: a consumer of 8 warps may have two teams of one warpgroup}}
    mk_sm.partition consumer warps(12) registers(160) teams(3) {
    }
  }
}
