// RUN: mk-opt %s -mk-sm-size-rings -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @large on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'large' needs 262144 bytes of shared memory for its rings, with 2 slots where a loop fills one; sm_90a has 197632 for them: use 'tensor<128x128xbf16>' instead of 'tensor<256x128xbf16>'}}
  mk.role @large ctas(1) {
    // expected-note @+1 {{2 of 131072}}
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>>
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>, tensor<256x128xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {}
  }
}

// -----

// The tile that both rings of the loop hold, not the one that comes once.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @deep on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'deep' needs 327680 bytes of shared memory for its rings, with 2 slots where a loop fills one; sm_90a has 230400 for them: use 'tensor<64x256xbf16>' instead of 'tensor<128x256xbf16>'}}
  mk.role @deep ctas(1) {
    // expected-note @+1 {{1 of 65536}}
    %q = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x256xbf16>>
    // expected-note @+1 {{2 of 65536}}
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x256xbf16>>
    // expected-note @+1 {{2 of 65536}}
    %v = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x256xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %N step %c1 {
        %0 = mk_sm.acquire %q : !mk_sm.ring<?, tensor<128x256xbf16>> -> !mk_sm.slot<tensor<128x256xbf16>>
        scf.for %j = %c0 to %N step %c1 {
          %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<128x256xbf16>> -> !mk_sm.slot<tensor<128x256xbf16>>
          %2 = mk_sm.acquire %v : !mk_sm.ring<?, tensor<128x256xbf16>> -> !mk_sm.slot<tensor<128x256xbf16>>
        }
      }
    }
  }
}
