// RUN: mk-opt %s -split-input-file -mk-sm-agree-on-failure | FileCheck %s --check-prefixes=CHECK,CHECKED
// RUN: mk-opt %s -split-input-file -mk-sm-agree-on-failure | mk-opt -split-input-file -mk-sm-agree-on-failure | FileCheck %s --check-prefixes=CHECK,CHECKED
// RUN: mk-opt %s -split-input-file -mk-sm-agree-on-failure=bounds=false | FileCheck %s --check-prefixes=CHECK,NONE

// A consumer that waits agrees behind its waits, and what it reads of what somebody writes depends on it. What nobody
// writes does not, wherever it is read: with checks of bounds a wrong place is found.
mk.mesh @mesh (gpu = 1 via link)
!sig = !mk.signal<?, gpu, arrivals = 1>
// CHECK-LABEL: mk.kernel @reads
mk.kernel @reads on @mesh dims(uniform M) (
    scratch %list : memref<?xi32> [M], in %fixed : memref<?xi32> [M], out %c : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%M) : !sig
  mk.role @r ctas(4) {
    // The single warp of a producer agrees where it reads.
    // CHECK: mk_sm.partition producer warps(1) registers(40) {
    mk_sm.partition producer warps(1) registers(40) {
      // CHECK: mk_sm.load_agreed %list[%c0] : memref<
      %v = memref.load %list[%c0] : memref<?xi32>
      mk.wait %s[%c0] ge %c1 : !sig
    }
    // CHECK: mk_sm.partition consumer warps(8) registers(168) agrees {
    mk_sm.partition consumer warps(8) registers(168) {
      mk.wait %s[%c0] ge %c1 : !sig
      // CHECK: %[[V:.*]] = mk_sm.load_agreed %list[%c0] : memref<?xi32>
      %v = memref.load %list[%c0] : memref<?xi32>
      %i = arith.index_cast %v : i32 to index
      // A place that was read itself.
      // CHECK: %[[I:.*]] = arith.index_cast %[[V]]
      // CHECKED: memref.load %fixed[%[[I]]]
      // NONE: mk_sm.load_agreed %fixed[%[[I]]]
      // CHECK-NEXT: memref.store
      %w = memref.load %fixed[%i] : memref<?xi32>
      memref.store %w, %c[%c0] : memref<?xi32>
      // Places that follow from sizes and from the item.
      // CHECK: memref.load %fixed[%{{[^]]*}}] :
      mk_sm.items (%item) round(%n) of %M {
        scf.for %k = %c0 to %M step %c1 {
          %at = arith.addi %item, %k : index
          %x = memref.load %fixed[%at] : memref<?xi32>
          memref.store %x, %c[%at] : memref<?xi32>
        }
      }
    }
  }
}

// -----

// Without waits there is nothing to agree on: the launch before has written what is read. With
// mk.prepare all CTAs wait for each other.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @before
mk.kernel @before on @mesh (scratch %list : memref<1xi32> [1], out %c : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(4) {
    // CHECK: mk_sm.partition consumer warps(8) registers(168) {
    mk_sm.partition consumer warps(8) registers(168) {
      // CHECK: memref.load %list[%c0] :
      %v = memref.load %list[%c0] : memref<1xi32>
      memref.store %v, %c[%c0] : memref<1xi32>
    }
  }
}
// CHECK-LABEL: mk.kernel @prepared
mk.kernel @prepared on @mesh (scratch %list : memref<1xi32> [1], out %c : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  mk.prepare {
    mk_sm.partition consumer warps(8) registers(168) {
    }
  }
  mk.role @r ctas(4) {
    // CHECK: mk_sm.partition consumer warps(8) registers(168) agrees {
    mk_sm.partition consumer warps(8) registers(168) {
      // CHECK: mk_sm.load_agreed %list[%c0] : memref<
      %v = memref.load %list[%c0] : memref<1xi32>
      memref.store %v, %c[%c0] : memref<1xi32>
    }
  }
}

// -----

// A loop that looks for what somebody writes ends; one over tickets ends by itself.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @loops
mk.kernel @loops on @mesh (scratch %list : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  %c1_i32 = arith.constant 1 : i32
  %c8 = arith.constant 8 : index
  mk.role @r ctas(4) {
    mk_sm.partition consumer warps(8) registers(168) {
      // CHECK: scf.while
      scf.while : () -> () {
        %v = memref.load %list[%c0] : memref<1xi32>
        // CHECK: %[[MORE:.*]] = arith.cmpi ult
        // CHECK: %[[GO:.*]] = mk_sm.until_failed %[[MORE]]
        // CHECK-NEXT: scf.condition(%[[GO]])
        %more = arith.cmpi ult, %v, %c1_i32 : i32
        scf.condition(%more)
      } do {
        scf.yield
      }
      // CHECK: mk_sm.ticket
      // CHECK-NOT: mk_sm.until_failed
      scf.while : () -> () {
        %t = mk_sm.ticket loop(0)
        %more = arith.cmpi ult, %t, %c8 : index
        scf.condition(%more)
      } do {
        scf.yield
      // CHECK: scf.yield
      // CHECK-NEXT: }
      // CHECK-NEXT: }
      }
    }
  }
}
