// RUN: mk-opt %s -mk-sm-assign-warps -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{has no offsets in shared memory, which say what is copied how: run mk-sm-lay-out-shared first}}
mk.kernel @k on @mesh () {
  mk.role @r ctas(1) {}
}
