// RUN: mk-opt %s -split-input-file -mk-sm-post-stores | FileCheck %s
// RUN: mk-opt %s -split-input-file -mk-sm-post-stores -mk-sm-size-rings -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps | FileCheck %s --check-prefix=LAID
// RUN: mk-opt %s -split-input-file -mk-sm-post-stores -mk-sm-size-rings -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=any-strides -mk-sm-assign-warps | FileCheck %s --check-prefix=STRIDES

// A tile for a peer is left to the sender, with its signal, through room for all of its parts. What stays
// here is not, but waits for the sender before it uses the same staging area.

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk.kernel @one
// CHECK: mk_sm.create_staging : !mk_sm.staging<4>
// CHECK: mk_sm.store %[[T:.*]], %s[%{{.*}}, %{{.*}}] on %[[P:.*]] posted signal %[[SIGNAL:.*]][%{{.*}}] through
// CHECK-NOT: mk.signal %
// CHECK: mk_sm.store %[[T]], %c[%{{.*}}, %{{.*}}] through
// LAID-LABEL: mk.kernel @one
// LAID: %[[STAGING:.*]] = mk_sm.create_staging offsets(buffers = {{[0-9]+}}) : !mk_sm.staging<4>
// LAID: mk_sm.create_scratch offsets(sent = {{[0-9]+}})
// LAID: mk_sm.partition consumer
// LAID: %[[POSTED:.*]] = mk_sm.cursor slots(1) parity(1)
// LAID: mk_sm.store {{.*}} posted signal {{.*}} through %[[STAGING]] at(%[[POSTED]])
// LAID: mk_sm.store {{.*}} through %[[STAGING]] at(%[[POSTED]])
// LAID: mk_sm.warps consumer(4) sender
// LAID: mk_sm.shared_memory {{.*}}post = {{[0-9]+}}
// Copiers have the sender's warp.
// STRIDES-LABEL: mk.kernel @one
// STRIDES: mk_sm.warps consumer(4) copiers order
mk.kernel @one on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], scratch %s : memref<64x256xbf16, #mk.symmetric> [64, 256],
    out %c : memref<64x256xbf16> [64, 256]) {
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
      %t = arith.constant dense<1.0> : tensor<64x256xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x256xbf16, #acc>, memref<64x256xbf16, #mk.symmetric>, !mk_sm.staging<2>
      mk.signal %part[%c1] on %M : !mk.signal<2, sys, arrivals = 1>
      mk_sm.store %t, %c[%c0, %c0] through %out : tensor<64x256xbf16, #acc>, memref<64x256xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// A loop that stores one tile at each of some ranks is one store.

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk.kernel @ranks
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %M : index
// CHECK: %[[SECOND:.*]] = arith.addi %{{.*}}, %M : index
// CHECK-NOT: scf.for
// CHECK: mk_sm.store %{{.*}}, %s[%{{.*}}, %{{.*}}] on %[[FIRST]] and(%[[SECOND]]) posted through
// CHECK-NOT: scf.for
// LAID-LABEL: mk.kernel @ranks
// STRIDES-LABEL: mk.kernel @ranks
mk.kernel @ranks on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
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
      scf.for %i = %c0 to %c2 step %c1 {
        %p = arith.addi %i, %M : index
        mk_sm.store %t, %s[%c0, %c0] on %p through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      }
    }
  }
}

// -----

// So it is where the consumer sends it: the tile is put into shared memory once.

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
#acc = #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk.kernel @itself
// CHECK-NOT: scf.for
// CHECK: mk_sm.store %{{.*}} and(%{{[0-9]+}}) through
// CHECK-NOT: scf.for
// LAID-LABEL: mk.kernel @itself
// STRIDES-LABEL: mk.kernel @itself
mk.kernel @itself on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
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
      scf.for %i = %c0 to %c2 step %c1 {
        %p = arith.addi %i, %M : index
        mk_sm.store %t, %s[%c0, %c0] on %p through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      }
    }
  }
}

// -----

// Not if it does anything else with them: the sender has room for one tile, and the next would wait for it.

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk.kernel @signals
// CHECK: scf.for
// CHECK-NOT: posted
// CHECK: mk.signal %
// CHECK-LABEL: mk.kernel @places
// CHECK: scf.for
// CHECK-NOT: posted
mk.kernel @signals on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
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
      scf.for %i = %c0 to %c2 step %c1 {
        mk_sm.store %t, %s[%c0, %c0] on %i through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
        mk.signal %part[%c1] on %i : !mk.signal<2, sys, arrivals = 1>
      }
    }
  }
}
mk.kernel @places on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<128x64xbf16, #mk.symmetric> [128, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
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
      scf.for %i = %c0 to %c2 step %c1 {
        mk_sm.store %t, %s[%i, %c0] on %i through %out : tensor<64x64xbf16, #acc>, memref<128x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      }
    }
  }
}
