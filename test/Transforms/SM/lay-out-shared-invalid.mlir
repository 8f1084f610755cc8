// RUN: mk-opt %s -split-input-file -mk-sm-lay-out-shared -verify-diagnostics
// RUN: not mk-opt %s -split-input-file -mk-sm-lay-out-shared=variant=none 2>&1 | FileCheck %s
// CHECK: error: there is no variant 'none'; use tensor-maps or any-strides

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @depth on @mesh (in %a : memref<128x64xbf16> [128, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{declares a ring of unknown depth; mk-sm-size-rings chooses it, or write a number}}
    %ring = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x64xbf16>>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{needs 295592 bytes of shared memory (680 of barriers, and of role 'r': ring 0 slots 9 x 32768); sm_90a has 232448: use fewer slots or smaller tiles}}
mk.kernel @large on @mesh (in %a : memref<256x64xbf16> [256, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<9, tensor<256x64xbf16>>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @rows on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{stages 'tensor<12x64xbf16>', whose rows are no multiple of 8, the rows of the swizzle's period; the next are 16}}
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<12x64xbf16>>
  }
}
