// RUN: mk-opt %s -mk-sm-assign-stages | FileCheck %s
// RUN: mk-opt %s -mk-sm-assign-stages -mk-sm-assign-stages | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<3, tensor<64x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>>
!box = !mk_sm.mailbox<2, words = 1>

// Each use of a channel has a cursor of its own; who fills slots begins in the other phase.
// CHECK-LABEL: mk.kernel @ring
// CHECK: mk_sm.partition producer
// CHECK-NEXT: %[[SEND:.*]] = mk_sm.cursor %{{.*}} parity(1) : !mk_sm.mailbox
// CHECK-NEXT: %[[FILL:.*]] = mk_sm.cursor %{{.*}} parity(1) : !mk_sm.ring
// CHECK: %[[S:.*]], %[[P:.*]] = mk_sm.position %[[SEND]]
// CHECK-NEXT: mk_sm.send %{{.*}}, %{{.*}} at(%[[S]], %[[P]])
// CHECK-NEXT: mk_sm.advance %[[SEND]]
// CHECK-NEXT: %[[S:.*]], %[[P:.*]] = mk_sm.position %[[FILL]]
// CHECK-NEXT: mk_sm.acquire %{{.*}} at(%[[S]], %[[P]])
// CHECK-NEXT: mk_sm.advance %[[FILL]]
// CHECK: mk_sm.partition consumer
// CHECK-NEXT: %[[RECEIVE:.*]] = mk_sm.cursor %{{.*}} parity(0) : !mk_sm.mailbox
// CHECK-NEXT: %[[WAIT:.*]] = mk_sm.cursor %{{.*}} parity(0) : !mk_sm.ring
// CHECK-NEXT: %[[RELEASE:.*]] = mk_sm.cursor %{{.*}} parity(0) : !mk_sm.ring
// CHECK: mk_sm.receive %{{.*}} at(
// CHECK-NEXT: mk_sm.advance %[[RECEIVE]]
// CHECK: mk_sm.wait %{{.*}} at(
// CHECK-NEXT: mk_sm.advance %[[WAIT]]
// CHECK: mk_sm.position %[[WAIT]]
// CHECK-NEXT: mk_sm.wait
// CHECK: mk_sm.release %{{.*}} at(
// CHECK-NEXT: mk_sm.advance %[[RELEASE]]
mk.kernel @ring on @mesh dims(uniform M) (in %a : memref<?x64xbf16> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(2) {
    %items = mk_sm.create_mailbox : !box
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %M step %c1 {
        mk_sm.send %items, %i : !box
        %s = mk_sm.acquire %ring : !ring -> !slot
        mk_sm.copy %a[%i, %c0] to %s[0] : memref<?x64xbf16>, !slot
        mk_sm.commit %ring, %s : !ring, !slot
      }
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %n = mk_sm.receive %items : !box
      %s = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      mk_sm.release %ring : !ring
    }
  }
}

// A team goes on where the one before it stopped.
// CHECK-LABEL: mk.kernel @teams
// CHECK: mk_sm.partition consumer
// CHECK-NEXT: %[[WAIT:.*]] = mk_sm.cursor
// CHECK-NEXT: %[[RELEASE:.*]] = mk_sm.cursor
// CHECK: mk_sm.turn_wait with(%[[WAIT]], %[[RELEASE]])
// CHECK: mk_sm.turn_pass with(%[[WAIT]])
mk.kernel @teams on @mesh () {
  mk.role @r ctas(2) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(232) teams(2) {
      mk_sm.turn_wait
      %s = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      mk_sm.turn_pass
    }
  }
}

// Puts of a partition go through the same slots; each piece moves both cursors.
// CHECK-LABEL: mk.kernel @puts
// CHECK: mk_sm.partition consumer
// CHECK-NEXT: %[[LOAD:.*]] = mk_sm.cursor slots(6) parity(0)
// CHECK-NEXT: %[[STORE:.*]] = mk_sm.cursor slots(6) parity(0)
// CHECK-NEXT: mk_sm.pipeline_put load(%[[LOAD]]) store(%[[STORE]]) {
// CHECK-NEXT: mk.put
// CHECK-NEXT: }
// CHECK-NEXT: mk_sm.pipeline_put load(%[[LOAD]]) store(%[[STORE]]) {
// CHECK-NEXT: mk.put
// CHECK-NEXT: }
mk.kernel @puts on @mesh (in %a : memref<64x64xf32> [64, 64], scratch %b : memref<64x64xf32, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      mk.put %a[%c0, %c0][%c64, %c64] to %b[%c0, %c0] on %c0 : memref<64x64xf32> to memref<64x64xf32, #mk.symmetric>
      mk.put %a[%c0, %c0][%c64, %c64] to %b[%c0, %c0] on %c0 : memref<64x64xf32> to memref<64x64xf32, #mk.symmetric>
    }
  }
}

// The producer counts how often it has waited for a tile that it writes over; only such copies say so.
// CHECK-LABEL: mk.kernel @trimmed
// CHECK: mk_sm.partition producer
// CHECK-NEXT: %[[FILL:.*]] = mk_sm.cursor %{{.*}} parity(1) : !mk_sm.ring
// CHECK-NEXT: %[[PADDING:.*]] = mk_sm.cursor slots(1) parity(0)
// CHECK: mk_sm.copy %{{.*}} valid(%{{.*}}) to %{{.*}}[0] padding(%[[PADDING]]) :
// CHECK: mk_sm.copy %{{.*}} pad(%{{.*}} : bf16) to %{{.*}}[0] padding(%[[PADDING]]) :
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] : memref
mk.kernel @trimmed on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1.0 : bf16
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] valid(%c9, %c9) to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.copy %a[%c0, %c0] pad(%one : bf16) to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
  }
}
