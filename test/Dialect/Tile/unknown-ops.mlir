// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Names that no op has: the one that is meant, probably, if there is one.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = arith.constant dense<0.0> : tensor<64xf32>
    // expected-error @+1 {{custom op 'mk.stor' is unknown; did you mean 'mk.store'?}}
    mk.stor %t, %c[%c0] : tensor<64xf32>, memref<?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error-re @+1 {{custom op 'mk.frobnicate' is unknown{{$}}}}
mk.frobnicate

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{custom op 'mk_sm.create_rings' is unknown; did you mean 'mk_sm.create_ring'?}}
mk_sm.create_rings

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{custom op 'mk_thread.fence_asink' is unknown; did you mean 'mk_thread.fence_async'?}}
mk_thread.fence_asink
