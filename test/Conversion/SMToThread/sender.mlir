// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=1 -mk-sm-post-stores -mk-sm-size-rings -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s
// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=1 -mk-sm-post-stores -mk-sm-size-rings -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=any-strides -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s --check-prefix=ALONE

// The consumer waits until the sender has sent what was posted before, fills the buffers, says where the tile
// goes, and calls the sender. The sender sends piece by piece, raises the signal, and says that the buffers are free.

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// The sender, warp 1 of the first warpgroup.
// CHECK: scf.while
// CHECK: mk_thread.sync %{{.*}}, 64
// CHECK: scf.for
// CHECK: scf.for
// It pauses as long as the consumer does not wait.
// CHECK: scf.while
// CHECK: nvvm.nanosleep
// CHECK: mk_thread.store_tensor
// CHECK-NEXT: mk_thread.commit_group
// One piece is under way at a time.
// CHECK: scf.if
// CHECK-NEXT: mk_thread.wait_group 0
// CHECK: mk_thread.wait_group 0
// CHECK: mk_thread.reduce_add release sys
// CHECK: mk_thread.mbarrier_arrive
// The consumer. Whether the launch is fine is asked behind the wait for the peer; what it waits for the sender knows.
// CHECK: mk_thread.wait_word sys
// CHECK: mk_thread.load_shared {{[0-9]+}} : i32
// CHECK: mk_thread.store_shared %c2_i32
// CHECK: mk_thread.mbarrier_wait
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK: mk_thread.fence_async shared
// CHECK-NOT: mk_thread.store_tensor
// What it has stored itself is there before the signal.
// CHECK: mk_thread.wait_group 0{{$}}
// CHECK-NOT: mk_thread.store_tensor
// CHECK: mk_thread.store_shared
// CHECK: mk_thread.arrive %{{.*}}, 64
// Its own store waits for the buffers.
// CHECK: mk_thread.mbarrier_wait
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK: mk_thread.store_tensor
// At the end there is nothing more to send.
// CHECK: mk_thread.mbarrier_wait
// CHECK: mk_thread.store_shared %c0_i32
// CHECK: mk_thread.arrive %{{.*}}, 64

// Where its warp copies there is no sender: the consumer sends pieces of as many rows itself, and raises the signal.
// ALONE-LABEL: mk_thread.kernel @mk_kernel
// ALONE-NOT: nvvm.nanosleep
// ALONE: mk_thread.stmatrix
// ALONE-COUNT-2: mk_thread.store_tensor
// ALONE-NEXT: mk_thread.commit_group
// ALONE: mk_thread.reduce_add release sys
mk.kernel @one on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], scratch %s : memref<64x64xbf16, #mk.symmetric> [64, 64],
    out %c : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %part = mk.signals() : !mk.signal<2, sys, arrivals = 1>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      mk.signal %part[%c1] on %M : !mk.signal<2, sys, arrivals = 1>
      mk_sm.store %t, %c[%c0, %c0] through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16>, !mk_sm.staging<2>
    }
  }
}
