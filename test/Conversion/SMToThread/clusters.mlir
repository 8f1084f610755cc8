// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s

// Copies that the CTAs of a cluster make together.

mk.mesh @mesh (gpu = 1 via link)

// CHECK: mk_thread.kernel @mk_kernel
// CHECK-SAME: cluster(2)
mk.kernel @shared on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16> [M, 64],
    in %b : memref<?x64xbf16> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index

  // Slots are free when the eight warps of both CTAs have released them; the barriers are
  // there before anyone arrives.
  // CHECK: mk_thread.mbarrier_init %{{.*}}, 1{{$}}
  // CHECK: mk_thread.mbarrier_init %{{.*}}, 16{{$}}
  // CHECK: mk_thread.fence_mbarriers
  // CHECK: mk_thread.sync_cluster
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      // CHECK: scf.for
      scf.for %i = %c0 to %c4 step %c1 {
        // CHECK: mk_thread.mbarrier_wait
        %slot = mk_sm.acquire %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 16384{{$}}
        // CHECK-NOT: ctas(
        mk_sm.copy %a[%i, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        // All of the bytes come, half of them by this CTA's copy.
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 32768{{$}}
        // CHECK: mk_thread.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}] {{.*}} ctas(
        // CHECK-NOT: mk_thread.copy_tensor
        mk_sm.copy %b[%i, %c0] to %slot[1] shared(2) : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
      }
    }
    // Slots are waited for once more: a CTA stays while others arrive at its barriers.
    // CHECK: mk_thread.mbarrier_wait
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %i = %c0 to %c4 step %c1 {
        // CHECK: mk_thread.mbarrier_wait
        %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        // CHECK: mk_thread.mbarrier_arrive %{{.*}} in %
        mk_sm.release %ring : !mk_sm.ring<1, tensor<128x64xbf16>, tensor<256x64xbf16>>
      }
    }
  }
  // CHECK: mk_thread.sync_cluster
  // CHECK-NEXT: }
}
// Its box is half of the tile's rows.
// CHECK: \22tensor_maps\22:[{\22arg\22:0,\22box\22:[128,64],\22copies\22:true,\22swizzle\22:128},{\22arg\22:1,\22box\22:[128,64],\22copies\22:true,\22swizzle\22:128}]
