// RUN: mk-opt %s -mk-sm-rematerialize-scalars | FileCheck %s
// RUN: mk-opt %s -mk-sm-rematerialize-scalars -mk-sm-rematerialize-scalars | FileCheck %s

mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>>

// The producer computes the count of steps for each item, from the dimension; what an iteration makes
// itself, and what is loaded, it takes as it is.
// CHECK-LABEL: mk.kernel @producer
//       CHECK: %[[STEPS:.*]] = arith.ceildivui %K, %c64
//       CHECK: mk_sm.partition producer
//       CHECK:   %[[FIRST:.*]] = arith.index_cast
//  CHECK-NEXT:   mk_sm.items (%[[ITEM:.*]]) round(%{{.*}}) of %{{.*}} {
//  CHECK-NEXT:     %[[K:.*]] = mk_sm.read_dim %K
//  CHECK-NEXT:     %[[AGAIN:.*]] = arith.ceildivui %[[K]], %c64
//  CHECK-NEXT:     %[[ROW:.*]] = arith.addi %[[ITEM]], %[[FIRST]]
//  CHECK-NEXT:     scf.for %{{.*}} = %c0 to %[[AGAIN]] step
//  CHECK-NEXT:       mk_sm.acquire
//  CHECK-NEXT:       mk_sm.copy %{{.*}}[%[[ROW]], %[[K]]]
// The only loop of a consumer keeps what it has.
//       CHECK: mk_sm.partition consumer
//   CHECK-NOT: mk_sm.read_dim
//       CHECK: scf.for %{{.*}} = %c0 to %[[STEPS]] step
mk.kernel @producer on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], in %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %items = arith.ceildivui %M, %c64 : index
  %steps = arith.ceildivui %K, %c64 : index
  mk.role @r ctas(2) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %word = memref.load %n[%c0] : memref<?xi32>
      %first = arith.index_cast %word : i32 to index
      mk_sm.items (%item) round(%round) of %items {
        %row = arith.addi %item, %first : index
        scf.for %k = %c0 to %steps step %c1 {
          %s = mk_sm.acquire %ring : !ring -> !slot
          mk_sm.copy %a[%row, %K] to %s[0] : memref<?x?xbf16>, !slot
          mk_sm.commit %ring, %s : !ring, !slot
        }
      }
    }
    mk_sm.partition consumer warps(4) registers(168) {
      mk_sm.items (%item) round(%round) of %items {
        scf.for %k = %c0 to %steps step %c1 {
          %s = mk_sm.wait %ring : !ring -> !slot
          mk_sm.release %ring : !ring
        }
      }
    }
  }
}

// Of two loops each computes for itself, also in both regions of a loop over tickets.
// CHECK-LABEL: mk.kernel @consumer
//       CHECK: mk_sm.partition consumer
//  CHECK-NEXT:   mk_sm.items
//  CHECK-NEXT:     %[[M1:.*]] = mk_sm.read_dim %M
//       CHECK:     memref.store %{{.*}}, %{{.*}}[%[[M1]]]
//       CHECK:   scf.while
//       CHECK:     %[[M2:.*]] = mk_sm.read_dim %M
//       CHECK:     %[[N2:.*]] = arith.addi %[[M2]], %c1
//       CHECK:     arith.cmpi ult, %{{.*}}, %[[N2]]
//       CHECK:   } do {
//       CHECK:     %[[M3:.*]] = mk_sm.read_dim %M
//       CHECK:     memref.store %{{.*}}, %{{.*}}[%[[M3]]]
mk.kernel @consumer on @mesh dims(uniform M) (out %n : memref<?xi32> [M]) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %more = arith.addi %M, %c1 : index
  mk.role @r ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      mk_sm.items (%item) round(%round) of %M {
        memref.store %one, %n[%M] : memref<?xi32>
      }
      %end = scf.while (%i = %c1) : (index) -> index {
        %t = mk_sm.ticket loop(0)
        %goes = arith.cmpi ult, %t, %more : index
        scf.condition(%goes) %t : index
      } do {
      ^bb0(%t: index):
        memref.store %one, %n[%M] : memref<?xi32>
        scf.yield %t : index
      }
    }
  }
}
