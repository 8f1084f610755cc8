// RUN: mk-opt %s -mk-sm-advance-items --remarks=advance-items -verify-diagnostics -o %t && FileCheck %s --input-file=%t

// While an item is worked on the tiles of the next one are on their way.
mk.mesh @mesh (gpu = 1 via link)
#runs = #mk_sm.blocked<threads = 128, vector = 4>
!tile = tensor<8x64xf32, #runs>
!large = tensor<128x128xf32, #runs>

// CHECK-LABEL: mk.kernel @steps
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x64xf32
// CHECK: mk_sm.items (%[[I:.*]]) round(%[[N:.*]]) of %M iter_args(%[[X:.*]] = %[[ZERO]] : {{.*}}, %[[Y:.*]] = %{{.*}} : {{.*}}) {
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[N]], %c0
// CHECK: %[[NOW:.*]]:2 = scf.if %[[FIRST]]
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c8
// CHECK: mk.load %a[%[[ROW]], %c0]
// CHECK: mk.load %b[%[[ROW]], %c0] own
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[X]], %[[Y]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c4
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[NEXT]], %M
// CHECK: %[[LATER:.*]]:2 = scf.if %[[IS]]
// CHECK: %[[ROW1:.*]] = arith.muli %[[NEXT]], %c8
// CHECK: mk.load %a[%[[ROW1]], %c0]
// CHECK: mk.load %b[%[[ROW1]], %c0] own
// CHECK: arith.addf %[[NOW]]#0, %[[NOW]]#1
// CHECK: mk.store
// CHECK: mk_sm.carry %[[LATER]]#0, %[[LATER]]#1
mk.kernel @steps on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], inout %b : memref<?x64xf32> [M, 64], in %r : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(4) {
    mk_sm.partition consumer warps(4) registers(232) {
      // expected-remark @+1 {{mk-sm-advance-items: passed: loads 2 values for the next item (in role 'r')}}
      mk_sm.items (%i) round(%n) of %M {
        %row = arith.muli %i, %c8 : index
        %x = mk.load %a[%row, %c0] : memref<?x64xf32> -> !tile
        %y = mk.load %b[%row, %c0] own : memref<?x64xf32> -> !tile
        // All items have this one.
        %s = mk.load %r[%c0] spread : memref<?xf32> -> !tile
        %z = arith.addf %x, %y : !tile
        %w = arith.mulf %z, %s : !tile
        mk.store %w, %b[%row, %c0] : !tile, memref<?x64xf32>
      }
    }
  }
}

// CHECK-LABEL: mk.kernel @stay
// CHECK-NOT: iter_args
mk.kernel @stay on @mesh dims(uniform M) (in %a : memref<?x128xf32> [M, 128], inout %b : memref<?x128xf32> [M, 128], in %l : memref<?xindex> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(4) {
    mk_sm.partition consumer warps(4) registers(232) {
      // What the kernel writes, and what takes too many registers.
      mk_sm.items (%i) round(%n) of %M {
        %row = arith.muli %i, %c8 : index
        // expected-remark @+1 {{mk-sm-advance-items: missed: is waited for in each item: with other loads it takes too many registers to be carried; load it in front of the loop, or let fewer rows be a tile (in role 'r')}}
        %x = mk.load %a[%row, %c0] : memref<?x128xf32> -> !large
        // expected-remark @+1 {{mk-sm-advance-items: missed: is waited for in each item: its buffer may be written meanwhile; load it in front of the loop (in role 'r')}}
        %y = mk.load %b[%row, %c0] : memref<?x128xf32> -> !tile
        mk.store %x, %b[%row, %c0] : !large, memref<?x128xf32>
        mk.store %y, %b[%c0, %c0] : !tile, memref<?x128xf32>
      }
      // A CTA has one item; behind a loop.
      mk_sm.items (%i) round(%n) of %c3 {
        %x = mk.load %a[%i, %c0] : memref<?x128xf32> -> !tile
        mk.store %x, %b[%i, %c0] : !tile, memref<?x128xf32>
      }
      mk_sm.items (%i) round(%n) of %M {
        scf.for %j = %c0 to %M step %c1 {
        }
        %x = mk.load %a[%i, %c0] : memref<?x128xf32> -> !tile
        mk.store %x, %b[%i, %c0] : !tile, memref<?x128xf32>
      }
    }
  }
}

// What an item's place is divided by may be 0 where there are no items: it is computed for those that exist.
// CHECK-LABEL: mk.kernel @divided
// CHECK: mk_sm.items (%[[I:.*]]) round(%{{.*}}) of %M iter_args
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c4
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[NEXT]], %M
// CHECK: scf.if %[[IS]]
// CHECK: arith.remui %[[NEXT]], %N
// CHECK: mk.load
mk.kernel @divided on @mesh dims(uniform M, uniform N) (in %a : memref<?x64xf32> [N, 64], inout %b : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(4) {
    mk_sm.partition consumer warps(4) registers(232) {
      // expected-remark @+1 {{mk-sm-advance-items: passed: loads 1 values for the next item (in role 'r')}}
      mk_sm.items (%i) round(%n) of %M {
        %row = arith.remui %i, %N : index
        %x = mk.load %a[%row, %c0] : memref<?x64xf32> -> !tile
        mk.store %x, %b[%i, %c0] : !tile, memref<?x64xf32>
      }
    }
  }
}
