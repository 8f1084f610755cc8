// RUN: split-file %s %t
// RUN: mk-opt %t/link.mlir -convert-mk-sm-to-thread=grid=4 -convert-mk-thread-to-llvm | FileCheck %t/link.mlir
// RUN: mk-opt %t/net.mlir -convert-mk-sm-to-thread=grid=4 -convert-mk-thread-to-llvm | FileCheck %t/net.mlir
// RUN: mk-opt %t/prepare.mlir -convert-mk-sm-to-thread=grid=4 -convert-mk-thread-to-llvm | FileCheck %t/prepare.mlir

//--- link.mlir
// Other ranks of a node: their heaps are addressed.

mk.mesh @mesh (gpu = 4 via link)
// CHECK-LABEL: llvm.func @mk_kernel
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
      // CHECK: scf.for
      // CHECK: fence.acq_rel.sys;
      // CHECK: red.release.sys.global.add.u32
      %me = mk.rank
      // The put waits for the peer's word, once.
      // CHECK: fence.proxy.async;
      // CHECK: bar.sync
      // CHECK: scf.if
      // CHECK: ld.acquire.sys.global.b32 seen, [$0]; sub.u32 low
      // Through slots of shared memory: stores, and loads two pieces ahead.
      // CHECK: scf.for
      // CHECK: mbarrier.try_wait.parity
      // CHECK: cp.async.bulk.global.shared::cta.bulk_group
      // CHECK: cp.async.bulk.commit_group;
      // CHECK: cp.async.bulk.wait_group.read 1;
      // CHECK: mbarrier.arrive.expect_tx.shared::cta.b64
      // CHECK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
      // CHECK: cp.async.bulk.wait_group 0;
      // Where addresses are not aligned, by all threads.
      // CHECK: llvm.store {{.*}} : i16, !llvm.ptr<1>
      // The put is complete before its arrival.
      // CHECK: bar.sync
      // CHECK: fence.acq_rel.sys;
      // CHECK: red.release.sys.global.add.u32
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %c1 signal %done[%me]
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // CHECK: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32
      // CHECK: red.relaxed.sys.global.add.f32
      mk.put %c[%c0, %c0][%c1, %c64] to %c[%c1, %c0] on %c1 reduce(add)
          : memref<?x64xf32, #mk.symmetric> to memref<?x64xf32, #mk.symmetric>
      // A store adds to, or overwrites, what the peer has of the rows.
      %t = mk.load %c[%c0, %c0] : memref<?x64xf32, #mk.symmetric> -> tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      // CHECK: red.relaxed.sys.global.add.f32
      mk.store %t, %c[%c0, %c0] on %c1 reduce(add) : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>
      // CHECK: st.global.v2.b32
      mk.store %t, %c[%c0, %c0] on %c1 signal %done[%me] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // Through shared memory: the map of the peer's part, if it has one.
      // CHECK: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group
      // CHECK: red.relaxed.sys.global.add.f32
      mk_sm.store %t, %c[%c0, %c0] on %c1 add through %staging : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>, !mk_sm.staging<2>
      // Links need no fence: a put is complete behind it.
      // CHECK: bar.sync
      // CHECK-NOT: st.relaxed.sys
      mk.settle
      // Peers that do not exist are told of at the end.
      // CHECK: ld.volatile.shared.b32 what
    }
  }
  // The last CTA tells the peers that all of it has arrived, and waits for theirs.
  // CHECK: atom.acq_rel.gpu.global.add.u32
  // CHECK: red.release.sys.global.add.u32
  // CHECK: ld.acquire.sys.global.b32 seen
  // CHECK: llvm.return
}

//--- net.mlir
// Other nodes: commands for the proxy, who counts what arrives.

mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
// CHECK-LABEL: llvm.func @mk_kernel
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
      // CHECK: ld.acquire.sys.global.b32 seen, [$0]; ld.acquire.sys.global.b32 low, [$3]; add.u32 seen, seen, low;
      mk.wait %done[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 2>
      // A place is reserved, waited for when the ring was full, and written in two
      // halves.
      // CHECK: cp.async.bulk.global.shared::cta.bulk_group
      // CHECK: fence.acq_rel.sys;
      // CHECK: atom.relaxed.gpu.global.add.u64
      // CHECK: ld.acquire.gpu.global.b32
      // CHECK: scf.if
      // CHECK: ld.acquire.sys.global.b32 seen
      // CHECK: st.release.gpu.global.b32
      // CHECK-COUNT-2: st.relaxed.sys.global.b128
      // CHECK: red.relaxed.cta.global.add.u32
      mk.put %a[%c0, %c0][%M, %c64] to %b[%c0, %c0] on %c1 signal strong %done[%c0]
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      // Rows listed in registers go to shared memory first.
      // CHECK: @p st.shared.b32
      // CHECK: bar.sync
      %i = arith.constant dense<3> : tensor<32xi32, #mk_sm.blocked<threads = 128, vector = 1>>
      mk.put %a[%c0, %c0][%c32, %c64] rows(%i : tensor<32xi32, #mk_sm.blocked<threads = 128, vector = 1>>) to %b[%c0, %c0] on %c1
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>
      // Puts of this CTA complete at other nodes.
      // CHECK: ld.relaxed.cta.global.b32
      mk.fence
      // CHECK: red.release.sys.global.add.u32
      // CHECK: st.relaxed.sys.global.b128
      mk.signal %done[%c1] on %c1 : !mk.signal<?, sys, arrivals = 2>
    }
  }
}

//--- prepare.mlir
// A barrier between all CTAs, behind which the peers are let in.

mk.mesh @mesh (gpu = 2 via link)
// CHECK-LABEL: llvm.func @mk_kernel
mk.kernel @prepare on @mesh dims(uniform M) (
    out %c : memref<?x64xf32, #mk.symmetric> [M, 64]) {
  %c0 = arith.constant 0 : index
  mk.prepare {
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: st.global
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      mk.store %z, %c[%c0, %c0] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>
    }
  }
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: bar.sync
      // CHECK: fence.acq_rel.gpu;
      // CHECK: atom.acq_rel.gpu.global.add.u32
      // CHECK: red.release.sys.global.add.u32
      // CHECK: ld.acquire.gpu.global.b32 seen
      // CHECK: fence.proxy.async;
      // CHECK: st.global
      %z = arith.constant dense<1.0> : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      mk.store %z, %c[%c0, %c0] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x64xf32, #mk.symmetric>
    }
  }
}
