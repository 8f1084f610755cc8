// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s
// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s --check-prefix=MAPS

// Rings, copies and the ends of a launch.

mk.mesh @mesh (gpu = 1 via link)

// Each argument and box has a tensor map: 128 x 64 of %a, and half of the 512 rows
// of %b, more than a box holds.
// CHECK: mk_thread.kernel @mk_kernel threads(384) cluster(1) params({{[0-9]+}}) shared({{[0-9]+}}) frame(<launch = 256, failed = {{[0-9]+}}>)
mk.kernel @copies on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16> [M, 64],
    in %b : memref<?x64xbf16> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : bf16

  // Thread 0 prefetches the maps and initialises the barriers: full ones for the producer,
  // empty ones for the consumer's eight warps.
  // CHECK: mk_thread.prefetch_map
  // CHECK: mk_thread.prefetch_map
  // CHECK-COUNT-2: mk_thread.mbarrier_init %{{.*}}, {{1|8}}
  // CHECK: mk_thread.fence_mbarriers
  // CHECK: mk_thread.sync_cta
  // CHECK: mk_thread.sync_launches
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<512x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      // CHECK: mk_thread.set_registers 56{{$}}
      // CHECK: scf.for
      scf.for %i = %c0 to %c4 step %c1 {
        // What it waits for waits itself.
        // CHECK: mk_thread.mbarrier_wait {{.*}} double_deadline
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<512x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
        // 128 x 64 elements of 2 bytes in one box.
        // CHECK: scf.if
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 16384{{$}}
        // CHECK: mk_thread.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}]
        // CHECK-NOT: mk_thread.copy_tensor
        // Else the other warps of the warpgroup copy: the slot's barrier waits for each of the three,
        // and the producer only until they have come for the request.
        // CHECK: else
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 3{{$}}
        // CHECK: mk_thread.store_shared
        // CHECK: mk_thread.sync %{{.*}}, 128{{$}}
        // CHECK-NOT: mk_thread.sync %
        // With maps for certain the engine is asked at once.
        // MAPS: mk_thread.mbarrier_wait {{.*}} double_deadline
        // MAPS-NOT: mk_thread.mbarrier_wait
        // MAPS: mk_thread.mbarrier_expect %{{.*}}, 16384{{$}}
        // MAPS-COUNT-1: mk_thread.copy_tensor
        mk_sm.copy %a[%i, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
        // Where something is padded by what is not zero the producer waits until the tile has come, by a
        // barrier of its own, and writes over it: rows, then columns. Elsewhere the slot's barrier counts.
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 65536{{$}}
        // CHECK-COUNT-2: mk_thread.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}]
        // MAPS: scf.if
        // MAPS: mk_thread.mbarrier_expect %[[LANDING:.*]], 65536{{$}}
        // MAPS-COUNT-2: mk_thread.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} counted by %[[LANDING]]
        // MAPS: mk_thread.mbarrier_arrive %[[LANDING]]
        // MAPS: mk_thread.mbarrier_wait %[[LANDING]],
        // MAPS: scf.for
        // MAPS: scf.for
        // MAPS: mk_thread.store %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32 to %{{.*}} : i32 bytes(16) if
        // MAPS: scf.if
        // MAPS: mk_thread.load %{{.*}}, 4
        // MAPS: mk_thread.store
        // MAPS: mk_thread.fence_async shared
        // MAPS: else
        // MAPS: mk_thread.mbarrier_expect %[[FULL:.*]], 65536{{$}}
        // MAPS-COUNT-2: mk_thread.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} counted by %[[FULL]]
        // MAPS-NOT: nvvm.cp.async
        mk_sm.copy %b[%i, %c0] pad(%one : bf16) to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
        // CHECK: mk_thread.mbarrier_arrive
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<512x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
      }
    }
    // The copiers come for a request. In pieces of 16 bytes, of 8, or of words: without a test where all
    // of the tile exists, else no more bytes than exist.
    // CHECK: scf.while
    // CHECK: mk_thread.sync %{{.*}}, 128{{$}}
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}}
    // CHECK-COUNT-2: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca, %{{.*}}
    // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca :
    // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %{{.*}}
    // CHECK: nvvm.cp.async.commit.group
    // Rows that begin within a word: the word behind each line is loaded before they are waited for.
    // CHECK: mk_thread.load %{{.*}}, 4 if %{{.*}} : i64 -> i32
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK: nvvm.cp.async.wait.group 1
    // CHECK: nvvm.cp.async.wait.group 2
    // CHECK: mk_thread.load %{{.*}}, 16 : i32 -> i32, i32, i32, i32
    // CHECK-COUNT-4: llvm.intr.fshr
    // CHECK: mk_thread.store %{{.*}} bytes(16)
    // The rest element by element.
    // CHECK-COUNT-2: mk_thread.load %{{.*}}, 2 if %{{.*}} : i64 -> i16
    // CHECK: mk_thread.fence_async shared
    // CHECK: mk_thread.fence cta
    // CHECK: mk_thread.mbarrier_complete %{{.*}}, 1{{$}}
    mk_sm.partition consumer warps(8) registers(232) {
      // CHECK: mk_thread.set_registers 224 more
      scf.for %i = %c0 to %c4 step %c1 {
        // CHECK: mk_thread.mbarrier_wait
        %slot = mk_sm.wait %ring : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<512x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
        // CHECK: mk_thread.mbarrier_arrive
        mk_sm.release %ring : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<512x64xbf16>>
      }
    }
  }
  // Nothing is counted that the next launch would have to find at 0.
  // CHECK-NOT: mk_thread.atomic_add
}
// CHECK: llvm.mlir.global internal constant @mk_gpu("{\22cooperative\22:false,\22grid\22:{{[0-9]+}},\22name\22:\22any-strides\22,\22needs\22:\22\22,\22param_bytes\22:{{[0-9]+}},\22peer_maps\22:[],\22shared_bytes\22:{{[0-9]+}},\22tensor_maps\22:[{\22arg\22:0,\22box\22:[128,64],\22copies\22:true,\22swizzle\22:128},{\22arg\22:1,\22box\22:[256,64],\22copies\22:true,\22swizzle\22:128}],\22threads\22:384,\22workspace_bytes\22:0}")
// MAPS: \22name\22:\22tensor-maps\22,\22needs\22:\22tensor-maps\22
