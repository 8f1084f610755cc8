// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64xf32>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<64xf32>>
mk.kernel @shared on @mesh (in %s : memref<4x64xf32> [4, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(2) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{is shared, but 'tensor<64xf32>' is brought by threads of its CTA: share tiles of two dimensions}}
      mk_sm.copy %s[%c0, %c0] to %slot[1] shared(2) : memref<4x64xf32>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64xf32>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<64xf32>>
mk.kernel @padded on @mesh (in %s : memref<4x64xf32> [4, 64]) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{pads 'tensor<64xf32>', what does not exist of which is zero: pad what is read}}
      mk_sm.copy %s[%c0, %c0] pad(%one : f32) to %slot[1] : memref<4x64xf32>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xf32>>
!slot = !mk_sm.slot<tensor<64x64xf32>>
mk.kernel @two on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x64xf32>>
      // expected-error-re @+1 {{gives 'tensor<64x64xf32, #mk_sm.transposed<{{.*}}>>', but tiles of two dimensions are read in the layout of accumulators (#mk_sm.mma), and one by itself dealt out without idle threads}}
      %x = mk_sm.read %t : !mk_sm.staged<tensor<64x64xf32>> -> tensor<64x64xf32, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xf32>, tensor<64xf32>>
!slot = !mk_sm.slot<tensor<64x64xf32>, tensor<64xf32>>
mk.kernel @other on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64xf32>>
      // expected-error-re @+1 {{gives 'tensor<64xi32, #mk_sm.slice<{{.*}}>>' of 'tensor<64xf32>': their elements differ}}
      %x = mk_sm.read %t : !mk_sm.staged<tensor<64xf32>> -> tensor<64xi32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xf32>, tensor<32x64xf32>>
!slot = !mk_sm.slot<tensor<64x64xf32>, tensor<32x64xf32>>
mk.kernel @beside on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x64xf32>>
      %u = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<32x64xf32>>
      // expected-error @+1 {{reads 'tensor<32x64xf32>' beside others: these are tiles of two dimensions and as many rows}}
      %x = mk_sm.read %t, %u : !mk_sm.staged<tensor<64x64xf32>>, !mk_sm.staged<tensor<32x64xf32>> -> tensor<64x128xf32, #mk_sm.mma<warpgroups = 1>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xf32>, tensor<64x64xf32>>
!slot = !mk_sm.slot<tensor<64x64xf32>, tensor<64x64xf32>>
mk.kernel @wider on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x64xf32>>
      %u = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64x64xf32>>
      // expected-error-re @+1 {{gives 'tensor<64x96xf32, {{.*}}>' of tiles that are together 'tensor<64x128xf32>': their shapes are the same}}
      %x = mk_sm.read %t, %u : !mk_sm.staged<tensor<64x64xf32>>, !mk_sm.staged<tensor<64x64xf32>> -> tensor<64x96xf32, #mk_sm.mma<warpgroups = 1>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x40xf32>>
!slot = !mk_sm.slot<tensor<64x40xf32>>
mk.kernel @ragged on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x40xf32>>
      // expected-error @+1 {{reads 'tensor<64x40xf32>', whose rows are no multiple of 128 bytes, nor 64 to 128: use as many columns}}
      %x = mk_sm.read %t : !mk_sm.staged<tensor<64x40xf32>> -> tensor<64x40xf32, #mk_sm.mma<warpgroups = 1>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nothing on @mesh () {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error-re @+1 {{reads nothing: name the tiles that lie side by side in 'tensor<64xf32, {{.*}}>'}}
      %x = "mk_sm.read"() : () -> tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
    }
  }
}
