// RUN: mk-opt %s -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh () {
  // expected-error @+1 {{gives 'tensor<64x64xf32>', which has no layout over threads: give it one that fits}}
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {}
}
