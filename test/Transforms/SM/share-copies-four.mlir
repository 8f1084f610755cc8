// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=132 -mk-sm-share-copies | FileCheck %s

// Of clusters of four, 120 CTAs run at once: these 116 items go to as many CTAs, and four of them,
// which differ in their row alone, fetch the columns together.
// CHECK-LABEL: mk.kernel @once
// CHECK: mk.role @r ctas(116)
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] :
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[1] shared(4) :
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @once on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %items = arith.constant 116 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %row = arith.remsi %t, %c4 : index
        %column = arith.divsi %t, %c4 : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        }
      }
    }
  }
}

// -----

// More items than that: no CTA is left out for the sake of clusters.
// CHECK-LABEL: mk.kernel @more
// CHECK: mk.role @r ctas(132)
// CHECK-NOT: shared(4)
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @more on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %items = arith.constant 124 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %row = arith.remsi %t, %c4 : index
        %column = arith.divsi %t, %c4 : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        }
      }
    }
  }
}

// -----

// Clusters of 2 x 2 tiles: CTAs of a row of it, whose numbers follow each other, have the tile of %a in common, those of a
// column, whose numbers are two apart, that of %b.
// CHECK-LABEL: mk.kernel @square
// CHECK: mk.role @r ctas(112)
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] shared(2) :
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[1] shared(2 stride 2) :
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @square on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %items = arith.constant 112 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %group = arith.divsi %t, %c4 : index
        %place = arith.remsi %t, %c4 : index
        %i = arith.divsi %place, %c2 : index
        %j = arith.remsi %place, %c2 : index
        %row0 = arith.muli %group, %c2 : index
        %row = arith.addi %row0, %i : index
        %column = arith.addi %row0, %j : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        }
      }
    }
  }
}

// -----

// But not where a slot has what a CTA alone needs: it would use that again while a CTA of its column has yet to.
// CHECK-LABEL: mk.kernel @apart
// CHECK-NOT: stride
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @apart on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %items = arith.constant 112 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %group = arith.divsi %t, %c4 : index
        %place = arith.remsi %t, %c4 : index
        %i = arith.divsi %place, %c2 : index
        %j = arith.remsi %place, %c2 : index
        %row0 = arith.muli %group, %c2 : index
        %row = arith.addi %row0, %i : index
        %column = arith.addi %row0, %j : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        }
        %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        mk_sm.copy %b[%t, %c0] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
      }
    }
  }
}

// -----

// Eight of 132 are no whole clusters, but 96 items need 96 CTAs. The last three bits of an item are a
// row of four and a column of two: two CTAs side by side fetch a row together, four a column.
// CHECK-LABEL: mk.kernel @eight
// CHECK: mk.role @r ctas(96)
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] shared(2) :
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[1] shared(4 stride 2) :
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @eight on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %items = arith.constant 96 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %row = arith.divsi %t, %c2 : index
        %column = arith.remsi %t, %c2 : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        }
      }
    }
  }
}

// -----

// All eight fetch the same rows, of which eight cannot fetch equal parts, but four can: not two.
// CHECK-LABEL: mk.kernel @larger_group
// CHECK: mk.role @r ctas(96)
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] shared(4) :
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[1] :
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @larger_group on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %items = arith.constant 96 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<96x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %row = arith.divsi %t, %c8 : index
        %column = arith.remsi %t, %c8 : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<96x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<96x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<96x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<96x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<96x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<96x64xbf16>, tensor<64x64xbf16>>
        }
      }
    }
  }
}

// -----

// Items in groups of four, more than run at once in clusters of four: of two CTAs side by side the columns are the same.
// CHECK-LABEL: mk.kernel @groups
// CHECK: mk.role @r ctas(132)
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[0] shared(2) :
// CHECK: mk_sm.copy %{{.*}} to %{{.*}}[1] :
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @groups on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %items = arith.constant 264 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %group = arith.divsi %t, %c4 : index
        %place = arith.remsi %t, %c4 : index
        %i = arith.divsi %place, %c2 : index
        %j = arith.remsi %place, %c2 : index
        %row0 = arith.muli %group, %c2 : index
        %row = arith.addi %row0, %i : index
        scf.for %k = %c0 to %M step %c1 {
          %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.copy %b[%j, %k] to %slot[1] : memref<?x64xbf16>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
        }
      }
    }
  }
}
