// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-verify-phase=phase=placed -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)

// expected-error @+1 {{has no offsets in shared memory: run mk-sm-lay-out-shared}}
mk.kernel @offsets on @mesh () {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
}
