// RUN: mk-opt %s --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(8) {
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has one result: give one for each CTA of a cluster}}
      %p0 = mk_sm.swap_parts %t : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!part = tensor<64x8xf32, #acc>
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(8) {
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<0.0> : tensor<64x72xf32, #acc>
      // expected-error @+1 {{makes parts for 9 CTAs: a cluster of sm_90a has 1 to 8 CTAs}}
      %p:9 = mk_sm.swap_parts %t : tensor<64x72xf32, #acc> -> !part, !part, !part, !part, !part, !part, !part, !part, !part
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(8) {
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<0.0> : tensor<64x72xf32, #acc>
      // expected-error @+1 {{divides 'tensor<64x72xf32, #mk_sm.mma<warpgroups = 1>>' among 2 CTAs: it takes matrices of elements of 32 bits with a multiple of 16 columns}}
      %p0, %p1 = mk_sm.swap_parts %t : tensor<64x72xf32, #acc> -> tensor<64x36xf32, #acc>, tensor<64x36xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(8) {
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{gives 'tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>>', but one of 2 parts of 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' is 'tensor<64x32xf32, #mk_sm.mma<warpgroups = 1>>'}}
      %p0, %p1 = mk_sm.swap_parts %t : tensor<64x64xf32, #acc> -> tensor<64x16xf32, #acc>, tensor<64x16xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(8) {
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 4>>
      // expected-error @+1 {{takes tiles with layout #mk_sm.mma of a consumer without teams, not 'tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 4>>' of 1}}
      %p0, %p1 = mk_sm.swap_parts %t : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 4>> -> tensor<64x32xf32, #mk_sm.blocked<threads = 128, vector = 4>>, tensor<64x32xf32, #mk_sm.blocked<threads = 128, vector = 4>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(8) {
    mk_sm.partition consumer warps(4) registers(240) {
      %e = mk_sm.cursor slots(2) parity(0)
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has a cursor that does not count the 1 buffer of parts: delete it, and run mk-sm-assign-stages}}
      %a, %b = mk_sm.swap_parts %t counted(%e) : tensor<64x64xf32, #acc> -> tensor<64x32xf32, #acc>, tensor<64x32xf32, #acc>
    }
  }
}
