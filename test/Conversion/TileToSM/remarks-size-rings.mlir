// RUN: mk-opt %s -split-input-file -mk-sm-size-rings --remarks=size-rings -verify-diagnostics -o %t

// What rings and staging areas get, and what keeps them from more.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @deep on @mesh dims(uniform N) (out %c : memref<128x256xf32> [128, 256]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-size-rings: analysis: has a ring of 12 slots of 8192 bytes (in role 'r')}}
    %r0 = mk_sm.create_ring : !mk_sm.ring<?, tensor<64x64xbf16>>
    // expected-remark @+1 {{mk-sm-size-rings: analysis: has 8 buffers for stores}}
    %out = mk_sm.create_staging : !mk_sm.staging<1>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.acquire %r0 : !mk_sm.ring<?, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.commit %r0, %s0 : !mk_sm.ring<?, tensor<64x64xbf16>>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.wait %r0 : !mk_sm.ring<?, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.release %r0 : !mk_sm.ring<?, tensor<64x64xbf16>>
      }
      %t = arith.constant dense<0.0> : tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>
      mk_sm.store %t, %c[%c0, %c0] through %out : tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>, memref<128x256xf32>, !mk_sm.staging<1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @two on @mesh dims(uniform N) (out %c : memref<128x256xf32> [128, 256]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-size-rings: missed: has a ring of 2 slots of 65536 bytes, less than the 3 that hide a copy's time; 50176 bytes are left: use smaller tiles}}
    %r0 = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x128xbf16>>
    // expected-remark @+1 {{mk-sm-size-rings: missed: has a ring of 2 slots of 16384 bytes, less than the 3 that hide a copy's time; 50176 bytes are left: use smaller tiles}}
    %r1 = mk_sm.create_ring : !mk_sm.ring<?, tensor<64x128xbf16>>
    // expected-remark @+1 {{mk-sm-size-rings: missed: has 4 of 8 buffers for stores, so that they wait for the copy engine; 1024 bytes are left, and another one for 2 warpgroups has 16384}}
    %out = mk_sm.create_staging : !mk_sm.staging<1>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.acquire %r0 : !mk_sm.ring<?, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>>
        mk_sm.commit %r0, %s0 : !mk_sm.ring<?, tensor<256x128xbf16>>, !mk_sm.slot<tensor<256x128xbf16>>
        %s1 = mk_sm.acquire %r1 : !mk_sm.ring<?, tensor<64x128xbf16>> -> !mk_sm.slot<tensor<64x128xbf16>>
        mk_sm.commit %r1, %s1 : !mk_sm.ring<?, tensor<64x128xbf16>>, !mk_sm.slot<tensor<64x128xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.wait %r0 : !mk_sm.ring<?, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>>
        mk_sm.release %r0 : !mk_sm.ring<?, tensor<256x128xbf16>>
        %s1 = mk_sm.wait %r1 : !mk_sm.ring<?, tensor<64x128xbf16>> -> !mk_sm.slot<tensor<64x128xbf16>>
        mk_sm.release %r1 : !mk_sm.ring<?, tensor<64x128xbf16>>
      }
      %t = arith.constant dense<0.0> : tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>
      mk_sm.store %t, %c[%c0, %c0] through %out : tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>, memref<128x256xf32>, !mk_sm.staging<1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @one on @mesh dims(uniform N) (out %c : memref<128x256xf32> [128, 256]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-size-rings: missed: has a ring of one slot of 131072 bytes, so that nothing is fetched while it is in use; 99328 bytes are left: use smaller tiles}}
    %r0 = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x256xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.acquire %r0 : !mk_sm.ring<?, tensor<256x256xbf16>> -> !mk_sm.slot<tensor<256x256xbf16>>
        mk_sm.commit %r0, %s0 : !mk_sm.ring<?, tensor<256x256xbf16>>, !mk_sm.slot<tensor<256x256xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.wait %r0 : !mk_sm.ring<?, tensor<256x256xbf16>> -> !mk_sm.slot<tensor<256x256xbf16>>
        mk_sm.release %r0 : !mk_sm.ring<?, tensor<256x256xbf16>>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @traded on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-size-rings: analysis: has a ring of 4 slots of 51200 bytes}}
    %r0 = mk_sm.create_ring : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>>
    // expected-remark @+2 {{mk-sm-size-rings: passed: gives up a buffer for stores, so that the ring has 4 slots}}
    // expected-remark @+1 {{mk-sm-size-rings: analysis: has 1 buffers for stores}}
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.acquire %r0 : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<144x64xbf16>, tensor<256x64xbf16>>
        mk_sm.commit %r0, %s0 : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>>, !mk_sm.slot<tensor<144x64xbf16>, tensor<256x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      scf.for %i = %c0 to %N step %c1 {
        %s0 = mk_sm.wait %r0 : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<144x64xbf16>, tensor<256x64xbf16>>
        mk_sm.release %r0 : !mk_sm.ring<?, tensor<144x64xbf16>, tensor<256x64xbf16>>
      }
    }
  }
}
