// RUN: mk-opt %s -mk-sm-size-rings -split-input-file | FileCheck %s

// What is left by the staging area is shared evenly by the rings of the inner
// loop; one that is filled once an item has a single slot unless there is room.
// CHECK-LABEL: mk.role @even
// CHECK: mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>>
// CHECK: mk_sm.create_ring : !mk_sm.ring<5, tensor<128x64xbf16>>
// CHECK: mk_sm.create_ring : !mk_sm.ring<5, tensor<128x64xbf16>>
// Rings that have a depth keep it.
// CHECK: mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>>
// CHECK: mk_sm.acquire %{{.*}} : !mk_sm.ring<2, tensor<128x64xbf16>>
// CHECK: mk_sm.acquire %{{.*}} : !mk_sm.ring<5, tensor<128x64xbf16>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @even on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @even ctas(1) {
    %q = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x64xbf16>>
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x64xbf16>>
    %v = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x64xbf16>>
    %s = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>>
    %out = mk_sm.create_staging : !mk_sm.staging<1>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %N step %c1 {
        %0 = mk_sm.acquire %q : !mk_sm.ring<?, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
        scf.for %j = %c0 to %N step %c1 {
          %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
          %2 = mk_sm.acquire %v : !mk_sm.ring<?, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
        }
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {}
  }
}

// -----

// Small slots: more of them.
// CHECK-LABEL: mk.role @small
// CHECK: mk_sm.create_ring : !mk_sm.ring<12, tensor<64x64xbf16>>
// CHECK-LABEL: mk.role @medium
// CHECK: mk_sm.create_ring : !mk_sm.ring<8, tensor<64x64xbf16>, tensor<128x64xbf16>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @small on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @small ctas(1) {
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<64x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
  }
  mk.role @medium ctas(1) {
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<128x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<128x64xbf16>>
      }
    }
  }
}

// -----

// Two slots of each do not fit; one is enough where an iteration gives back what it took.
// CHECK-LABEL: mk.role @single
// CHECK: mk_sm.create_ring : !mk_sm.ring<1, tensor<256x128xbf16>>
// CHECK: mk_sm.create_ring : !mk_sm.ring<1, tensor<256x128xbf16>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @single on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @single ctas(1) {
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x128xbf16>>
    %v = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x128xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>>
        mk_sm.commit %k, %1 : !mk_sm.ring<?, tensor<256x128xbf16>>, !mk_sm.slot<tensor<256x128xbf16>>
        %2 = mk_sm.acquire %v : !mk_sm.ring<?, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>>
        mk_sm.commit %v, %2 : !mk_sm.ring<?, tensor<256x128xbf16>>, !mk_sm.slot<tensor<256x128xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.wait %k : !mk_sm.ring<?, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>>
        %2 = mk_sm.wait %v : !mk_sm.ring<?, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>>
        mk_sm.release %k : !mk_sm.ring<?, tensor<256x128xbf16>>
        mk_sm.release %v : !mk_sm.ring<?, tensor<256x128xbf16>>
      }
    }
  }
}

// -----

// The consumer has one slot of a ring when an iteration begins, and waits for another before it gives that one back.
// CHECK-LABEL: mk.role @carried
// CHECK: mk_sm.create_ring : !mk_sm.ring<2, tensor<128x128xbf16>>
// CHECK: mk_sm.create_ring : !mk_sm.ring<2, tensor<256x128xbf16>>
mk.mesh @mesh (gpu = 1 via link)
!a = tensor<128x128xbf16>
!b = tensor<256x128xbf16>
!as = !mk_sm.ring<?, !a>
!bs = !mk_sm.ring<?, !b>
mk.kernel @carried on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @carried ctas(1) {
    %k = mk_sm.create_ring : !as
    %v = mk_sm.create_ring : !bs
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !as -> !mk_sm.slot<!a>
        mk_sm.commit %k, %1 : !as, !mk_sm.slot<!a>
        scf.for %j = %c0 to %N step %c1 {
          %2 = mk_sm.acquire %v : !bs -> !mk_sm.slot<!b>
          mk_sm.commit %v, %2 : !bs, !mk_sm.slot<!b>
        }
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      %1 = mk_sm.wait %k : !as -> !mk_sm.slot<!a>
      %2 = mk_sm.tile %1[0] : !mk_sm.slot<!a> -> !mk_sm.staged<!a>
      %last = scf.for %i = %c0 to %N step %c1 iter_args(%t = %2) -> (!mk_sm.staged<!a>) {
        scf.for %j = %c0 to %N step %c1 {
          %3 = mk_sm.wait %v : !bs -> !mk_sm.slot<!b>
          mk_sm.release %v : !bs
        }
        %4 = mk_sm.wait %k : !as -> !mk_sm.slot<!a>
        %5 = mk_sm.tile %4[0] : !mk_sm.slot<!a> -> !mk_sm.staged<!a>
        mk_sm.release %k : !as
        scf.yield %5 : !mk_sm.staged<!a>
      }
      mk_sm.release %k : !as
    }
  }
}

// -----

// A slot more than hides a copy's time for the second buffer of stores; not where a loop has few iterations.
// CHECK-LABEL: mk.role @traded
// CHECK: mk_sm.create_ring : !mk_sm.ring<4, tensor<144x64xbf16>, tensor<256x64xbf16>>
// CHECK: mk_sm.create_staging : !mk_sm.staging<1>
// CHECK-LABEL: mk.role @short
// CHECK: mk_sm.create_ring : !mk_sm.ring<3, tensor<144x64xbf16>, tensor<256x64xbf16>>
// CHECK: mk_sm.create_staging : !mk_sm.staging<2>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @trades on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c23 = arith.constant 23 : index
  mk.role @traded ctas(1) {
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>>
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<144x64xbf16>, tensor<256x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {}
  }
  mk.role @short ctas(1) {
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>>
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %c23 step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<144x64xbf16>, tensor<256x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {}
  }
}
