// RUN: mk-opt %s -mk-assign-ctas=grid=132 -mk-sm-assign-stages -mk-sm-lay-out-shared=variant=tensor-maps -mk-sm-assign-warps -convert-mk-sm-to-thread -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @rank on @mesh (in %a : memref<1x1x1x1x128x64xbf16> [1, 1, 1, 1, 128, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      // expected-error @+1 {{copies what no tensor map describes, a tile of 'memref<1x1x1x1x128x64xbf16>': compile the variant for any strides}}
      mk_sm.copy %a[%c0, %c0, %c0, %c0, %c0, %c0] to %slot[0] : memref<1x1x1x1x128x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<128x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>>
    }
    mk_sm.partition consumer warps(8) registers(232) {
      %slot = mk_sm.wait %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.release %ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @column on @mesh dims(uniform N) (in %a : memref<128x?xbf16> [128, N]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      // expected-error @+1 {{may begin at a column that is no multiple of 16 bytes, which the copy engine does not take: compile the variant for any strides}}
      mk_sm.copy %a[%c0, %N] to %slot[0] : memref<128x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<128x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>>
    }
    mk_sm.partition consumer warps(8) registers(232) {
      %slot = mk_sm.wait %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.release %ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @gathered on @mesh dims(uniform N) (in %a : memref<?x64xbf16> [N, 64], in %list : memref<128xi32> [128]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      // expected-error @+1 {{gathers rows, which threads copy: compile the variant for any strides}}
      mk_sm.copy %a[%c0, %c0] rows(%list[%c0] : memref<128xi32>) to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<128x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>>
    }
    mk_sm.partition consumer warps(8) registers(232) {
      %slot = mk_sm.wait %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.release %ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @selected on @mesh dims(uniform N) (in %a : memref<?x64xbf16> [N, 64], in %list : memref<128xi32> [128]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      // expected-error @+1 {{has copiers look rows up, which there are in the variant for any strides: compile that}}
      mk_sm.select_rows 128 of %a at %c0 rows(%list[%c0] : memref<128xi32>) : memref<?x64xbf16>
      mk_sm.copy %a[%c0, %c0] rows(%list[%c0] : memref<128xi32>) selected to %slot[0] : memref<?x64xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.commit %ring, %slot : !mk_sm.ring<2, tensor<128x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>>
    }
    mk_sm.partition consumer warps(8) registers(232) {
      %slot = mk_sm.wait %ring : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      mk_sm.release %ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    }
  }
}
