// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-share-copies | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)

// Items 2 t and 2 t + 1 differ in their row: CTAs 2 i and 2 i + 1 do them, and take the
// same columns.
// CHECK-LABEL: mk.kernel @rows
mk.kernel @rows on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %row = arith.remsi %t, %c2 : index
        %column = arith.divsi %t, %c2 : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] :
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[1] shared(2) :
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// An odd number of items, or as many steps as the own item asks for: one CTA of a
// cluster might wait for a copy that the other never makes.
// CHECK-LABEL: mk.kernel @uneven
// CHECK-NOT: shared
mk.kernel @uneven on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @odd ctas(4) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %M {
        %column = arith.divsi %t, %c2 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
  }
  mk.role @own ctas(4) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        scf.for %k = %c0 to %t step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
          mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// A role whose CTAs wait for others: one of a cluster could wait for the other, which
// waits for a slot. And a role that begins inside a cluster.
// CHECK-LABEL: mk.kernel @waits
// CHECK-NOT: shared
mk.kernel @waits on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  %ready = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @one ctas(3) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        mk.wait %ready[%column] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
  }
  mk.role @two ctas(4) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
  }
}

// -----

// How often a CTA has gone around is the same in a cluster, if the role has whole clusters.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @turns
mk.kernel @turns on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] shared(2) :
        mk_sm.copy %b[%turn, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// Each CTA tells the others before it waits for them, in its only item.
// CHECK-LABEL: mk.kernel @told
mk.kernel @told on @mesh dims(uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.constant 8 : index
  %ready = mk.signals() : !mk.signal<8, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        // Items t, of which those side by side have the same column.
        %pair = arith.divsi %t, %c2 : index
        %place = arith.remsi %t, %c2 : index
        %twice = arith.muli %pair, %c2 : index
        %item = arith.addi %twice, %place : index
        %column = arith.divsi %item, %c2 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] shared(2) :
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      mk_sm.items (%t) round(%turn) of %items {
        mk.signal %ready[%t] : !mk.signal<8, gpu, arrivals = 1>
        scf.for %i = %c0 to %c2 step %c1 {
          mk.wait %ready[%i] ge %c1 : !mk.signal<8, gpu, arrivals = 1>
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// It waits first.
// CHECK-LABEL: mk.kernel @told_late
mk.kernel @told_late on @mesh dims(uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.constant 8 : index
  %ready = mk.signals() : !mk.signal<8, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        // Items t, of which those side by side have the same column.
        %pair = arith.divsi %t, %c2 : index
        %place = arith.remsi %t, %c2 : index
        %twice = arith.muli %pair, %c2 : index
        %item = arith.addi %twice, %place : index
        %column = arith.divsi %item, %c2 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] :
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      mk_sm.items (%t) round(%turn) of %items {
        scf.for %i = %c0 to %c2 step %c1 {
          mk.wait %ready[%i] ge %c1 : !mk.signal<8, gpu, arrivals = 1>
        }
        mk.signal %ready[%t] : !mk.signal<8, gpu, arrivals = 1>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// Some CTAs may tell nothing.
// CHECK-LABEL: mk.kernel @told_perhaps
mk.kernel @told_perhaps on @mesh dims(uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.constant 8 : index
  %ready = mk.signals() : !mk.signal<8, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        // Items t, of which those side by side have the same column.
        %pair = arith.divsi %t, %c2 : index
        %place = arith.remsi %t, %c2 : index
        %twice = arith.muli %pair, %c2 : index
        %item = arith.addi %twice, %place : index
        %column = arith.divsi %item, %c2 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] :
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      mk_sm.items (%t) round(%turn) of %items {
        %some = arith.cmpi eq, %t, %c1 : index
        scf.if %some {
          mk.signal %ready[%t] : !mk.signal<8, gpu, arrivals = 1>
        }
        scf.for %i = %c0 to %c2 step %c1 {
          mk.wait %ready[%i] ge %c1 : !mk.signal<8, gpu, arrivals = 1>
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// What a CTA tells with its second item others may wait for during its first.
// CHECK-LABEL: mk.kernel @told_in_turn
mk.kernel @told_in_turn on @mesh dims(uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.constant 16 : index
  %ready = mk.signals() : !mk.signal<8, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        // Items t, of which those side by side have the same column.
        %pair = arith.divsi %t, %c2 : index
        %place = arith.remsi %t, %c2 : index
        %twice = arith.muli %pair, %c2 : index
        %item = arith.addi %twice, %place : index
        %column = arith.divsi %item, %c2 : index
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] :
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      mk_sm.items (%t) round(%turn) of %items {
        mk.signal %ready[%t] : !mk.signal<8, gpu, arrivals = 1>
        scf.for %i = %c0 to %c2 step %c1 {
          mk.wait %ready[%i] ge %c1 : !mk.signal<8, gpu, arrivals = 1>
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// Where the row lies is searched for in what nobody writes, in a loop: two CTAs find the same. What a loop carries from
// the own item is another matter.
// CHECK-LABEL: mk.kernel @searched
mk.kernel @searched on @mesh dims(uniform M, uniform G) (
    in %a : memref<?x64xbf16> [M, 64], in %offs : memref<?xi32> [G]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %own = arith.remsi %t, %c2 : index
        %tile = arith.divsi %t, %c2 : index
        %row:2 = scf.for %i = %c0 to %G step %c1 iter_args(%low = %c0, %high = %tile) -> (index, index) {
          %end_ = memref.load %offs[%low] : memref<?xi32>
          %end = arith.index_cast %end_ : i32 to index
          %below = arith.cmpi slt, %end, %high : index
          %next = arith.select %below, %end, %low : index
          %rest = arith.subi %high, %next : index
          scf.yield %next, %rest : index, index
        }
        %other = scf.for %i = %c0 to %G step %c1 iter_args(%at = %c0) -> (index) {
          %next = arith.addi %at, %own : index
          scf.yield %next : index
        }
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] shared(2) :
        mk_sm.copy %a[%row#0, %c0] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        // CHECK: mk_sm.copy %{{.*}} to %{{.*}}[1] :
        mk_sm.copy %a[%other, %c0] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
      }
    }
  }
}
