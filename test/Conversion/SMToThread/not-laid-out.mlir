// RUN: mk-opt %s -mk-assign-ctas=grid=132 -convert-mk-sm-to-thread -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{has no offsets in shared memory: run mk-sm-lay-out-shared}}
mk.kernel @k on @mesh () {
  mk.role @r ctas(1) {}
}
