// RUN: mk-opt %s -mk-sm-lay-out-shared -convert-mk-sm-to-thread -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{does not say which warps do what: run mk-sm-assign-warps}}
mk.kernel @k on @mesh () {
  mk.role @r ctas(1) {}
}
