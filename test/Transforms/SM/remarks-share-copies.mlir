// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-share-copies --remarks=share-copies -verify-diagnostics -o %t

// Which copies a cluster shares, and each reason why not.

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @shared on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        %slot = mk_sm.acquire %ring : !ring -> !slot
        // expected-remark @+1 {{mk-sm-share-copies: passed: is fetched once for 2 CTAs (in role 'r')}}
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !slot
        mk_sm.commit %ring, %slot : !ring, !slot
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @odd on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  // expected-remark @+1 {{mk-sm-share-copies: missed: has 3 of 3 CTAs from number 0 on, which are no whole clusters of 2: change its number}}
  mk.role @r ctas(3) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        %slot = mk_sm.acquire %ring : !ring -> !slot
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !slot
        mk_sm.commit %ring, %slot : !ring, !slot
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @waits on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  %ready = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  // expected-remark @+1 {{mk-sm-share-copies: missed: waits for other CTAs, of which one may be in the same cluster and wait in turn}}
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        mk.wait %ready[%column] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
        %slot = mk_sm.acquire %ring : !ring -> !slot
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !slot
        mk_sm.commit %ring, %slot : !ring, !slot
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @unequal on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        scf.for %k = %c0 to %t step %c1 {
          %slot = mk_sm.acquire %ring : !ring -> !slot
          // expected-remark @+1 {{mk-sm-share-copies: missed: may be reached by 2 CTAs side by side unequally often: have a multiple of 2 items, with loops and branches that do not depend on which}}
          mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !slot
          mk_sm.commit %ring, %slot : !ring, !slot
        }
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<72x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @rows on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        %slot = mk_sm.acquire %ring : !ring -> !slot
        // expected-remark @+1 {{mk-sm-share-copies: missed: has 72 rows, of which 2 CTAs cannot fetch equal parts: use a multiple of 16}}
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !slot
        mk_sm.commit %ring, %slot : !ring, !slot
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @different on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        %slot = mk_sm.acquire %ring : !ring -> !slot
        // expected-remark @+1 {{mk-sm-share-copies: missed: fetches what is different in 2 CTAs side by side, or may be: items that differ in a last dimension of extent 2 alone have the same}}
        mk_sm.copy %b[%t, %c0] to %slot[0] : memref<?x64xbf16>, !slot
        mk_sm.commit %ring, %slot : !ring, !slot
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @ring on @mesh dims(uniform M, uniform N) (in %b : memref<?x64xbf16> [N, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.muli %M, %c2 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.items (%t) round(%turn) of %items {
        %column = arith.divsi %t, %c2 : index
        scf.for %k = %c0 to %t step %c1 {
          %own = mk_sm.acquire %ring : !ring -> !slot
          // expected-remark @+1 {{mk-sm-share-copies: missed: may be reached by 2 CTAs side by side unequally often: have a multiple of 2 items, with loops and branches that do not depend on which}}
          mk_sm.copy %b[%column, %c0] to %own[0] : memref<?x64xbf16>, !slot
          mk_sm.commit %ring, %own : !ring, !slot
        }
        %slot = mk_sm.acquire %ring : !ring -> !slot
        // expected-remark @+1 {{mk-sm-share-copies: missed: fills a ring that CTAs side by side fill unequally often}}
        mk_sm.copy %b[%column, %c0] to %slot[0] : memref<?x64xbf16>, !slot
        mk_sm.commit %ring, %slot : !ring, !slot
      }
    }
  }
}
