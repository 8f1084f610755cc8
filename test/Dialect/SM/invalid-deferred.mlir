// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @argument on @mesh dims(uniform M) (inout %c : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %i = %c0 to %M step %c1 iter_args(%t = %x) -> (!t) {
        // expected-error @+1 {{'mk_sm.defer' op defers what is made by no elementwise op, transposition, broadcast or load of a tile: leave it out}}
        %y = mk_sm.defer %t : !t
        scf.yield %y : !t
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @twice on @mesh dims(uniform M) (inout %c : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %y = arith.addf %x, %x : !t
      // expected-error @+1 {{defers a tile that other ops take as well: let them take the result of mk_sm.defer}}
      %z = mk_sm.defer %y : !t
      mk.store %y, %c[%c0, %c0] : !t, memref<64x64xf32>
      mk.store %z, %d[%c0, %c0] : !t, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @loop on @mesh dims(uniform M) (inout %c : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %y = arith.addf %x, %x : !t
      // expected-error @+1 {{defers a tile to an op in another block, which may run more often: leave it out, or take the tile in the same block}}
      %z = mk_sm.defer %y : !t
      scf.for %i = %c0 to %M step %c1 {
        mk.store %z, %c[%c0, %c0] : !t, memref<64x64xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @written on @mesh dims(uniform M) (inout %c : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %l = mk.load %c[%c0, %c0] : memref<64x64xf32> -> !t
      // expected-error @+1 {{defers a load past an op that may write what it reads: take the tile in front of that op}}
      %m = mk_sm.defer %l : !t
      // expected-note @+1 {{this one}}
      mk.store %x, %c[%c0, %c0] : !t, memref<64x64xf32>
      %y = arith.addf %m, %x : !t
      %z = mk_sm.defer %y : !t
      %w = mk_sm.materialize %z : !t
      mk.store %w, %d[%c0, %c0] : !t, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @exchanged on @mesh dims(uniform M) (inout %c : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %y = mk.transpose %x : !t -> !t
      // expected-error @+1 {{defers an mk.transpose that moves elements between threads, which all do at once: leave it out}}
      %z = mk_sm.defer %y : !t
      mk.store %z, %c[%c0, %c0] : !t, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @materialized on @mesh dims(uniform M) (inout %c : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %y = arith.addf %x, %x : !t
      // expected-error @+1 {{is about the two ways of an mk.store of its block, but arith.addf takes the tile: leave it out there}}
      %z = mk_sm.materialize %y : !t
      %w = arith.addf %z, %x : !t
      mk.store %w, %c[%c0, %c0] : !t, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
func.func @layout(%x : tensor<64x64xf32>) {
  // expected-error @+1 {{'mk_sm.defer' op works on fragments, but 'tensor<64x64xf32>' has no layout: give it one, such as #mk_sm.mma}}
  %y = mk_sm.defer %x : tensor<64x64xf32>
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
func.func @once(%x : tensor<64x64xf32>) {
  // expected-error @+1 {{'mk_sm.materialize' op works on fragments, but 'tensor<64x64xf32>' has no layout: give it one, such as #mk_sm.mma}}
  %y = mk_sm.materialize %x : tensor<64x64xf32>
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
func.func @element(%x : tensor<64x64xbf16, #acc>, %f : tensor<64xf32, #row>) {
  // expected-error @+1 {{scales accumulators in f32 with layout #mk_sm.mma, not 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>': use arith.mulf}}
  %y = mk_sm.rescale %x by %f along 1 : tensor<64x64xbf16, #acc>, tensor<64xf32, #row>
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
func.func @axis(%x : tensor<64x64xf32, #acc>, %f : tensor<64xf32, #row>) {
  // expected-error @+1 {{scales along dimension 2 of 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>', which has 2: use 0 or 1}}
  %y = mk_sm.rescale %x by %f along 2 : tensor<64x64xf32, #acc>, tensor<64xf32, #row>
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
func.func @factors(%x : tensor<64x64xf32, #acc>, %f : tensor<64xf32, #row>) {
  // expected-error @+1 {{scales by 'tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>', but the factors of 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' along dimension 0 are 'tensor<64xf32, #mk_sm.slice<axis = 0, of = #mk_sm.mma<warpgroups = 1>>>'}}
  %y = mk_sm.rescale %x by %f along 0 : tensor<64x64xf32, #acc>, tensor<64xf32, #row>
  return
}

// -----

// What the dialect means stands in its ops.
func.func @attribute(%x : f32) {
  // expected-error @+1 {{'arith.addf' op has attribute "mk_sm.deferred", which is no longer read: write mk_sm.defer of its result}}
  %y = arith.addf %x, %x {mk_sm.deferred} : f32
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @ahead on @mesh (in %a : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %y = arith.addf %x, %x : !t
      // expected-error @+1 {{loads 32 elements ahead, but defers no load: leave 'ahead' out}}
      %z = mk_sm.defer %y ahead(32) : !t
      mk.store %z, %d[%c0, %c0] : !t, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
mk.kernel @ahead on @mesh (in %a : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %y = mk.load %a[%c0, %c0] : memref<64x64xf32> -> !t
      // expected-error @+1 {{loads 33 elements ahead, of which a thread holds 32: give it no more}}
      %z = mk_sm.defer %y ahead(33) : !t
      mk.store %z, %d[%c0, %c0] : !t, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!t = tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
!ring = !mk_sm.ring<2, tensor<64x64xf32>>
!slot = !mk_sm.slot<tensor<64x64xf32>>
mk.kernel @released on @mesh (out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %tile = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x64xf32>>
      %x = mk_sm.read %tile : !mk_sm.staged<tensor<64x64xf32>> -> !t
      // expected-error @+1 {{defers the reading of a slot past a release, which may give it back: release it behind the ops that take the tile}}
      %y = mk_sm.defer %x : !t
      // expected-note @+1 {{this one}}
      mk_sm.release %ring read : !ring
      mk.store %y, %d[%c0, %c0] : !t, memref<64x64xf32>
    }
  }
}
