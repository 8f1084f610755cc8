// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -convert-mk-sm-to-thread | FileCheck %s

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
      // CHECK: mk_thread.set_registers 40{{$}}
      // CHECK: scf.for
      scf.for %i = %c0 to %c4 step %c1 {
        // What it waits for waits itself.
        // CHECK: mk_thread.mbarrier_wait {{.*}} patient
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<512x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
        // 128 x 64 elements of 2 bytes in one box.
        // CHECK: scf.if
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 16384{{$}}
        // CHECK: mk_thread.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}]
        // CHECK-NOT: mk_thread.copy_tensor
        // Else the other warps of the warpgroup copy: the slot's barrier waits for each of the three,
        // and the producer only until they have come for the request.
        // CHECK: else
        // CHECK: mk_thread.store_shared %{{.*}}, %{{.*}} + 0 : i32
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 3{{$}}
        // CHECK: mk_thread.store_shared %{{.*}}, %{{.*}} + 120 : i32
        // CHECK: mk_thread.sync %{{.*}}, 128{{$}}
        // CHECK-NOT: mk_thread.sync %
        mk_sm.copy %a[%i, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
        // A pad that is not zero is the copy engine's only where nothing is padded.
        // CHECK: mk_thread.mbarrier_expect %{{.*}}, 65536{{$}}
        // CHECK-COUNT-2: mk_thread.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}]
        mk_sm.copy %b[%i, %c0] pad(%one : bf16) to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
        // CHECK: mk_thread.mbarrier_arrive
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<512x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>, tensor<512x64xbf16>>
      }
    }
    // The helpers come for a request, and find in the parameters what it leaves open.
    // CHECK: scf.while
    // CHECK: mk_thread.sync %{{.*}}, 128{{$}}
    // CHECK: mk_thread.param_at
    // CHECK: mk_thread.sync %{{.*}}, 96{{$}}
    // In pieces of 16 bytes, of 8, or of words: without a test where all of the tile exists, else
    // no more bytes than exist.
    // CHECK: cp.async.cg.shared.global [part+0], [wide], 16, bytes;
    // CHECK: cp.async.ca.shared.global [part+0], [wide], 8, bytes;{{.*}} cp.async.ca.shared.global [part+256], [wide], 8, bytes;
    // CHECK: and.b64 wide, from, -4;{{.*}} cp.async.ca.shared.global [part+384], [wide], 4; 
    // CHECK: and.b64 wide, from, -4;{{.*}} cp.async.ca.shared.global [part+384], [wide], 4, bytes; 
    // CHECK: cp.async.commit_group;
    // Rows that begin within a word: what their last words lack is loaded before they are
    // waited for, and stored behind the shifting.
    // CHECK-COUNT-3: @q ld.global.u16
    // CHECK: cp.async.wait_group 0;
    // CHECK: cp.async.wait_group 1;
    // CHECK: cp.async.wait_group 2;
    // CHECK: shfl.sync.down.b32 x4, x0, 1, {{.*}} shf.r.wrap.b32 x3, x3, x4, shift; st.shared.v4.b32 [at], {x0, x1, x2, x3};
    // CHECK-COUNT-3: @q st.shared.u16
    // The rest element by element.
    // CHECK: @p ld.global.u16 value, [from];
    // CHECK: mk_thread.fence_async shared
    // CHECK: mk_thread.fence cta
    // CHECK: mk_thread.mbarrier_complete %{{.*}}, 1{{$}}
    mk_sm.partition consumer warps(8) registers(232) {
      // CHECK: mk_thread.set_registers 232 more
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
// CHECK: llvm.mlir.global internal constant @mk_gpu("{\22cooperative\22:false,\22param_bytes\22:{{[0-9]+}},\22peer_maps\22:[],\22shared_bytes\22:{{[0-9]+}},\22tensor_maps\22:[{\22arg\22:0,\22box\22:[128,64],\22swizzle\22:128},{\22arg\22:1,\22box\22:[256,64],\22swizzle\22:128}],\22threads\22:384,\22workspace_bytes\22:0}")
