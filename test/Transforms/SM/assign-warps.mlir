// RUN: mk-opt %s -mk-sm-lay-out-shared -mk-sm-assign-warps -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: mk-opt %t.mlir -mk-sm-assign-warps | diff - %t.mlir
// RUN: mk-opt %s -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps | FileCheck %s --check-prefix=MAPS

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>>

// Threads that copy work with addresses: the consumer gives registers for them.
// CHECK-LABEL: mk.kernel @copies
// CHECK: mk_sm.warps consumer(8) copiers registers [56, 224] order [@r]
// CHECK-SAME: barriers {consumer = 8 : i64, cta = 9 : i64, finish = 14 : i64, request = 12 : i64, turn = 10 : i64, warpgroup = 1 : i64}
// CHECK-NEXT: mk_sm.shared_memory
// MAPS-LABEL: mk.kernel @copies
// MAPS: mk_sm.warps consumer(8) registers [40, 232] order [@r]
mk.kernel @copies on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(8) registers(232) {}
  }
}

// Two warpgroups have all registers there are. Nothing is copied.
// CHECK-LABEL: mk.kernel @all
// CHECK: mk_sm.warps consumer(4) order [@r] barriers
mk.kernel @all on @mesh () {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {}
    mk_sm.partition consumer warps(4) registers(232) {}
  }
}

// Who goes on with others comes first. The most that any role needs counts.
// CHECK-LABEL: mk.kernel @order
// CHECK: mk.role @end
// CHECK-NEXT: mk_sm.sync_warps from [@work, @push]
// CHECK: mk.role @work
// CHECK-NEXT: mk_sm.sync_warps from [@push]
// CHECK: mk.role @push
// CHECK-NOT: mk_sm.sync_warps
// CHECK: mk_sm.warps consumer(12) registers [56, 152] order [@push, @work, @end, @alone]
mk.kernel @order on @mesh () {
  // Its producer would draw items while the consumer is in a role before.
  mk.role @end ctas(1) {
    mk_sm.partition producer warps(1) registers(56) {}
    mk_sm.partition consumer warps(8) registers(152) {}
  }
  // Its consumer has other warps than that of @push.
  mk.role @work ctas(2) then @end {
    mk_sm.partition consumer warps(12) registers(120) {}
  }
  mk.role @push ctas(3) then @work {
    mk_sm.partition consumer warps(4) registers(24) {}
  }
  mk.role @alone ctas(1) {
    mk_sm.partition consumer warps(4) registers(24) {}
  }
}

// The same warps, and one role has tiles in shared memory: they need not meet.
// CHECK-LABEL: mk.kernel @apart
// CHECK-NOT: mk_sm.sync_warps
// CHECK: mk_sm.warps
// Both have some: they meet.
// CHECK-LABEL: mk.kernel @together
// CHECK: mk_sm.sync_warps from [@first]
mk.kernel @apart on @mesh () {
  mk.role @first ctas(1) then @second {
    %out = mk_sm.create_staging : !mk_sm.staging<1>
    mk_sm.partition consumer warps(4) registers(168) {}
  }
  mk.role @second ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {}
  }
}
mk.kernel @together on @mesh () {
  mk.role @first ctas(1) then @second {
    %out = mk_sm.create_staging : !mk_sm.staging<1>
    mk_sm.partition consumer warps(4) registers(168) {}
  }
  mk.role @second ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<1>
    mk_sm.partition consumer warps(4) registers(168) {}
  }
}

// Roles beside others are run by the last warps of the producer's warpgroup, those of both variants.
// CHECK-LABEL: mk.kernel @beside
// CHECK: mk_sm.warps consumer(8) movers [@push, @pull] registers [56, 224] order [@r]
// MAPS-LABEL: mk.kernel @beside
// MAPS: mk_sm.warps consumer(8) movers [@push, @pull] registers [56, 224] order [@r]
mk.kernel @beside on @mesh () {
  mk.role @push ctas(1 beside @r) {
    mk_sm.partition mover warps(1) registers(56) {}
  }
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(224) {}
  }
  mk.role @pull ctas(1 beside @r) {
    mk_sm.partition mover warps(1) registers(56) {}
  }
}
