// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @scalar on @mesh dims(uniform M) () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has mk_sm.deferred, but is no elementwise op, transposition, broadcast or load of a tile}}
    %x = arith.addi %M, %M {mk_sm.deferred} : index
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @loop on @mesh dims(uniform M) (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{is deferred to an op in another block, which may run more often}}
      %y = arith.addf %x, %x {mk_sm.deferred} : tensor<64x64xf32, #acc>
      %z = arith.addf %y, %y : tensor<64x64xf32, #acc>
      scf.for %i = %c0 to %M step %c1 {
        mk.store %y, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @written on @mesh (inout %c : memref<64x64xf32> [64, 64], out %d : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{is deferred past an op that may write what it reads}}
      %l = mk.load %c[%c0, %c0] {mk_sm.deferred} : memref<64x64xf32> -> tensor<64x64xf32, #acc>
      // expected-note @+1 {{this one}}
      mk.store %x, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
      %y = arith.addf %l, %x {mk_sm.deferred} : tensor<64x64xf32, #acc>
      mk.store %y, %d[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @once on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has attribute "mk_sm.materialize", which mk_sm does not know of it}}
    %s = mk_sm.create_staging {mk_sm.materialize} : !mk_sm.staging<1>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @exchanged on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has mk_sm.deferred, but moves elements between threads, which all do at once}}
      %y = mk.transpose %x {mk_sm.deferred} : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
      mk.store %y, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @rescaling on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has mk_sm.rescaling, but does not scale rows or columns of an accumulator in f32}}
      %y = arith.mulf %x, %x {mk_sm.rescaling} : tensor<64x64xf32, #acc>
      mk.store %y, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @values on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  // expected-error @+1 {{has false for mk_sm.deferred, which takes no value: write the name alone}}
  %y = arith.addf %x, %x {mk_sm.deferred = false} : tensor<64x64xf32, #acc>
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @values on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %x = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  // expected-error @+1 {{has 17 : i64 for mk_sm.rescaling, which takes no value: write the name alone}}
  %y = arith.mulf %x, %x {mk_sm.rescaling = 17} : tensor<64x64xf32, #acc>
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @values on @mesh (out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has false for mk_sm.materialize, which takes no value: write the name alone}}
      mk.store %x, %c[%c0, %c0] {mk_sm.materialize = false} : tensor<64x64xf32, #acc>, memref<64x64xf32>
    }
  }
}
