// RUN: mk-opt %s -mk-sm-select-rows --remarks=select-rows -verify-diagnostics -o %t && FileCheck %s --input-file=%t

// Rows are looked up in front of the loop, and asked for behind what the copy engine brings into the same slot.
// CHECK-LABEL: mk.kernel @hoisted
// CHECK: mk_sm.items
// CHECK: mk_sm.select_rows 64 of %{{.*}} at %{{.*}} rows(%{{.*}}[%[[ROW:.*]]] : memref<?xi32>) valid(%[[LEFT:.*]]) : memref<?x64xbf16>
// CHECK-NEXT: scf.for
// CHECK-NEXT: %[[SLOT:.*]] = mk_sm.acquire
// CHECK-NEXT: mk_sm.copy %{{.*}} to %[[SLOT]][1] :
// CHECK-NEXT: mk_sm.copy %{{.*}} rows(%{{.*}}[%[[ROW]]] : memref<?xi32>) selected valid(%[[LEFT]], %{{.*}}) to %[[SLOT]][0] :
// CHECK-NEXT: mk_sm.commit
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile, !tile>
!slot = !mk_sm.slot<!tile, !tile>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @hoisted on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %list : memref<?xi32> [M], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(8) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %M {
        %left = arith.subi %M, %t : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !ring -> !slot
          // expected-remark @+1 {{mk-sm-select-rows: passed: looks up its rows in front of the loop (in role 'r')}}
          mk_sm.copy %a[%c0, %k] rows(%list[%t] : memref<?xi32>) valid(%left, %c64) to %slot[0] : memref<?x64xbf16>, !slot
          mk_sm.copy %b[%t, %k] to %slot[1] : memref<?x64xbf16>, !slot
          mk_sm.commit %ring, %slot : !ring, !slot
        }
      }
    }
  }
}

// Not where the list is waited for in the loop, where its place changes there, or where two lists take turns.
// CHECK-LABEL: mk.kernel @stays
// CHECK: scf.for
// CHECK: mk.wait
// CHECK: mk_sm.select_rows
// CHECK-NEXT: mk_sm.copy
// CHECK: scf.for
// CHECK: mk_sm.select_rows
// CHECK-NEXT: mk_sm.copy
// CHECK: scf.for
// CHECK: mk_sm.select_rows
// CHECK-NEXT: mk_sm.copy %{{.*}} selected to %{{.*}}[0]
// CHECK-NEXT: mk_sm.select_rows
// CHECK-NEXT: mk_sm.copy %{{.*}} selected to %{{.*}}[1]
!single = !mk_sm.ring<2, !tile>
mk.kernel @stays on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16> [M, 64], in %list : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(8) {
    %ring = mk_sm.create_ring : !single
    %two = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %k = %c0 to %M step %c1 {
        mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
        %slot = mk_sm.acquire %ring : !single -> !mk_sm.slot<!tile>
        // expected-remark @+1 {{mk-sm-select-rows: missed: looks up its rows in each iteration of the loop, where something else is gathered, waited for or sent (in role 'r')}}
        mk_sm.copy %a[%c0, %k] rows(%list[%c0] : memref<?xi32>) to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<!tile>
        mk_sm.commit %ring, %slot : !single, !mk_sm.slot<!tile>
      }
      scf.for %k = %c0 to %M step %c1 {
        %slot = mk_sm.acquire %ring : !single -> !mk_sm.slot<!tile>
        // expected-remark @+1 {{mk-sm-select-rows: missed: looks up its rows in each iteration of the loop, where the list, the place in it or the source changes (in role 'r')}}
        mk_sm.copy %a[%c0, %c0] rows(%list[%k] : memref<?xi32>) to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<!tile>
        mk_sm.commit %ring, %slot : !single, !mk_sm.slot<!tile>
      }
      scf.for %k = %c0 to %M step %c1 {
        %slot = mk_sm.acquire %two : !ring -> !slot
        // expected-remark @+1 {{mk-sm-select-rows: missed: looks up its rows in each iteration of the loop, where something else is gathered, waited for or sent (in role 'r')}}
        mk_sm.copy %a[%c0, %k] rows(%list[%c0] : memref<?xi32>) to %slot[0] : memref<?x64xbf16>, !slot
        // expected-remark @+1 {{mk-sm-select-rows: missed: looks up its rows in each iteration of the loop, where something else is gathered, waited for or sent (in role 'r')}}
        mk_sm.copy %a[%c0, %k] rows(%list[%c1] : memref<?xi32>) to %slot[1] : memref<?x64xbf16>, !slot
        mk_sm.commit %two, %slot : !ring, !slot
      }
    }
  }
}
