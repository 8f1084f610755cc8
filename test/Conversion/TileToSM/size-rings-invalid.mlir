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

// -----

// One tile alone cannot make room: what both have in common is halved for both.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @both on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'both' needs 524288 bytes of shared memory for its rings, with 2 slots where a loop fills one; sm_90a has 230400 for them: use 'tensor<128x128xbf16>' instead of 'tensor<128x512xbf16>' and 'tensor<128x128xbf16>' instead of 'tensor<512x128xbf16>'}}
  mk.role @both ctas(1) {
    // expected-note @+1 {{2 of 262144}}
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x512xbf16>, tensor<512x128xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<128x512xbf16>, tensor<512x128xbf16>> -> !mk_sm.slot<tensor<128x512xbf16>, tensor<512x128xbf16>>
      }
    }
  }
}

// -----

// A single slot would not do: the consumer takes the next one before it gives one back.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @late on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'late' needs 262144 bytes of shared memory for its rings, with 2 slots where a loop fills one}}
  mk.role @late ctas(1) {
    // expected-note @+1 {{2 of 131072}}
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>, tensor<256x128xbf16>>
        mk_sm.commit %k, %1 : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>>, !mk_sm.slot<tensor<256x128xbf16>, tensor<256x128xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      %0 = mk_sm.wait %k : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>, tensor<256x128xbf16>>
      scf.for %j = %c1 to %N step %c1 {
        %1 = mk_sm.wait %k : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>, tensor<256x128xbf16>>
        mk_sm.release %k : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>>
      }
      mk_sm.release %k : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @before on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'prepare' needs 262144 bytes of shared memory for its rings}}
  mk.prepare {
    // expected-note @+1 {{2 of 131072}}
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<256x128xbf16>, tensor<256x128xbf16>> -> !mk_sm.slot<tensor<256x128xbf16>, tensor<256x128xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {}
  }
}

// -----

// Smaller tiles of the ring alone are not enough, but there is room where items are not divided.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
mk.kernel @parts on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{has 33792 for them; what CTAs send each other of an item takes 196608 bytes beside them: leave parts out, or use smaller tiles}}
  mk.role @parts ctas(4) {
    // expected-note @+1 {{2 of 57344}}
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<256x64xf16>, tensor<192x64xf16>>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<256x64xf16>, tensor<192x64xf16>> -> !mk_sm.slot<tensor<256x64xf16>, tensor<192x64xf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      %t = arith.constant dense<0.0> : tensor<256x192xf32, #acc>
      %p:2 = mk_sm.swap_parts %t : tensor<256x192xf32, #acc> -> tensor<256x96xf32, #acc>, tensor<256x96xf32, #acc>
    }
  }
}

// -----

// None of the tiles can be halved.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @many on @mesh dims(uniform N) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{has 99328 for them; what is stored by way of shared memory takes 131072 bytes beside them: use smaller tiles}}
  mk.role @many ctas(1) {
    // expected-note @+1 {{2 of 61440}}
    %k = mk_sm.create_ring : !mk_sm.ring<?, tensor<120x64xbf16>, tensor<120x64xbf16>, tensor<120x64xbf16>, tensor<120x64xbf16>>
    %out = mk_sm.create_staging : !mk_sm.staging<8>
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %j = %c0 to %N step %c1 {
        %1 = mk_sm.acquire %k : !mk_sm.ring<?, tensor<120x64xbf16>, tensor<120x64xbf16>, tensor<120x64xbf16>, tensor<120x64xbf16>> -> !mk_sm.slot<tensor<120x64xbf16>, tensor<120x64xbf16>, tensor<120x64xbf16>, tensor<120x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {}
  }
}
