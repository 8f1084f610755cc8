// RUN: split-file %s %t
// RUN: mk-opt %t/link.mlir -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %t/link.mlir
// RUN: mk-opt %t/net.mlir -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %t/net.mlir
// RUN: mk-opt %t/prepare.mlir -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %t/prepare.mlir

//--- link.mlir
// Other ranks of a node: their heaps are addressed.

mk.mesh @mesh (gpu = 4 via link)
// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @link on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16, #mk.symmetric> [M, 64] split [(gpu), ()],
    scratch %b : memref<?x64xbf16, #mk.symmetric> [M, 64],
    out %c : memref<?x64xf32, #mk.symmetric> [M, 64] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %done = mk.signals(%M) : !mk.signal<?, sys, arrivals = 2>
  mk.role @r ctas(rest) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      // The first CTA tells the peers that they may write.
      // CHECK: mk_thread.fence sys
      // CHECK-COUNT-3: mk_thread.reduce_add relaxed sys {{.*}} : i32
      %me = mk.rank
      // The put waits for the peer's word, once.
      // CHECK: mk_thread.fence_async{{$}}
      // CHECK: mk_thread.sync %
      // CHECK: scf.if
      // CHECK: mk_thread.wait_word sys %{{[^ ]*}}, %
      // Through slots of shared memory: stores, and loads two pieces ahead.
      // CHECK: scf.for
      // CHECK: mk_thread.mbarrier_wait
      // CHECK: mk_thread.store_bulk
      // CHECK: mk_thread.commit_group
      // CHECK: mk_thread.wait_group 1 read
      // CHECK: mk_thread.mbarrier_arrive %{{.*}} expect(
      // CHECK: mk_thread.copy_bulk
      // CHECK: mk_thread.wait_group 0
      // Where addresses are not aligned, by all threads.
      // CHECK: llvm.store {{.*}} : i16, !llvm.ptr<1>
      // The put is complete before its arrival.
      // CHECK: mk_thread.sync %
      // CHECK: mk_thread.reduce_add release sys {{.*}} : i32
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %c1 signal %done[%me]
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // CHECK: mk_thread.store_bulk {{.*}} add(f32)
      // CHECK: mk_thread.store {{.*}} add(f32, sys)
      mk.put %c[%c0, %c0][%c1, %c64] to %c[%c1, %c0] on %c1 reduce(add)
          : memref<?x64xf32, #mk.symmetric> to memref<?x64xf32, #mk.symmetric>
      // A store adds to, or overwrites, what the peer has of the rows.
      %t = mk.load %c[%c0, %c0] : memref<?x64xf32, #mk.symmetric> -> tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      // CHECK: mk_thread.store {{.*}} add(f32, sys)
      mk.store %t, %c[%c0, %c0] on %c1 reduce(add) : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>
      // CHECK: mk_thread.store {{.*}} : i64 bytes(8)
      mk.store %t, %c[%c0, %c0] on %c1 signal %done[%me] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // Through shared memory: the map of the peer's part, if it has one.
      // CHECK: mk_thread.store_tensor {{.*}} add :
      // CHECK: mk_thread.store {{.*}} add(f32, sys)
      mk_sm.store %t, %c[%c0, %c0] on %c1 add through %staging : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>, !mk_sm.staging<2>
      // Links need no fence: a put is complete behind it.
      // CHECK: mk_thread.sync %
      // CHECK-NOT: mk_thread.store_command
      mk.settle
      // Peers that do not exist are told of at the end.
      // CHECK: mk_thread.report_failure
    }
  }
  // The last CTA tells the peers that all of it has arrived, and waits for theirs.
  // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
  // CHECK: mk_thread.reduce_add relaxed sys {{.*}} : i32
  // CHECK: mk_thread.wait_word sys
  // CHECK: llvm.mlir.global internal constant @mk_gpu
}

//--- net.mlir
// Other nodes: commands for the proxy, who counts what arrives.

mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @net on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16, #mk.symmetric> [M, 64],
    scratch %b : memref<?x64xbf16, #mk.symmetric> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %done = mk.signals(%M) : !mk.signal<?, sys, arrivals = 2>
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // Arrivals from links and from the network.
      // CHECK: mk_thread.wait_word sys {{.*}} plus(
      mk.wait %done[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 2>
      // A place is reserved, waited for when the ring was full, and written in two
      // halves.
      // CHECK: mk_thread.store_bulk
      // It is counted before its commands are there.
      // CHECK: mk_thread.reduce_add relaxed cta {{.*}} : i32
      // CHECK: mk_thread.fence sys
      // CHECK: mk_thread.atomic_add relaxed gpu {{.*}} : i64
      // CHECK: mk_thread.load_atomic acquire gpu {{.*}} : i32
      // CHECK: scf.if
      // CHECK: mk_thread.wait_word sys
      // CHECK: mk_thread.store_atomic release gpu {{.*}} : i32
      // CHECK-COUNT-2: mk_thread.store_command
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %c1 signal strong %done[%c0]
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // Rows listed in registers go to shared memory first.
      // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4) if %
      // CHECK: mk_thread.sync %
      %i = arith.constant dense<3> : tensor<32xi32, #mk_sm.blocked<threads = 128, vector = 1>>
      mk.put %a[%c0, %c0][%c32, %c64] rows(%i : tensor<32xi32, #mk_sm.blocked<threads = 128, vector = 1>>) to %b[%c0, %c0] on %c1
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>
      // Puts of this CTA complete at other nodes, as many as are counted behind the wait: others count, too.
      // CHECK: scf.while
      // CHECK: %[[COUNTED:.*]] = mk_thread.load_atomic relaxed cta
      // CHECK: mk_thread.wait_word sys {{.*}}, %[[COUNTED]] count(
      // CHECK: %[[NOW:.*]] = mk_thread.load_atomic relaxed cta
      // CHECK: arith.cmpi ne, %[[NOW]], %[[COUNTED]]
      mk.fence
      // CHECK: mk_thread.reduce_add release sys {{.*}} : i32
      // CHECK: mk_thread.store_command
      mk.signal %done[%c1] on %c1 : !mk.signal<?, sys, arrivals = 2>
    }
  }
}

//--- prepare.mlir
// A barrier between all CTAs, behind which the peers are let in.

mk.mesh @mesh (gpu = 2 via link)
// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @prepare on @mesh dims(uniform M) (
    out %c : memref<?x64xf32, #mk.symmetric> [M, 64]) {
  %c0 = arith.constant 0 : index
  mk.prepare {
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: mk_thread.store {{.*}} : i64 bytes(
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      mk.store %z, %c[%c0, %c0] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>
    }
  }
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: mk_thread.sync %
      // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
      // CHECK: mk_thread.reduce_add relaxed sys {{.*}} : i32
      // CHECK: mk_thread.wait_word gpu
      // CHECK: mk_thread.fence_async global
      // CHECK: mk_thread.store {{.*}} : i64 bytes(
      %z = arith.constant dense<1.0> : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      mk.store %z, %c[%c0, %c0] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>
    }
  }
}
