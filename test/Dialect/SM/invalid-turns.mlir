// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Who waits for the turn passes it on, once.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @one on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{is about the turns of two warpgroups, but its partition has 1: leave it out}}
      mk_sm.turn_wait
      mk_sm.turn_pass
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @alone on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{has no turn_pass behind it in its block, or in both branches of an scf.if there: the other warpgroup would wait for ever}}
      mk_sm.turn_wait
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @again on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{has no turn_pass behind it in its block, or in both branches of an scf.if there: the other warpgroup would wait for ever}}
      mk_sm.turn_wait
      mk_sm.turn_wait
      mk_sm.turn_pass
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @half on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c1 = arith.constant 1 : index
  %some = arith.constant true
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{has no turn_pass behind it in its block, or in both branches of an scf.if there: the other warpgroup would wait for ever}}
      mk_sm.turn_wait
      scf.if %some {
        mk_sm.turn_pass
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @other_half on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c1 = arith.constant 1 : index
  %some = arith.constant true
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{has no turn_pass behind it in its block, or in both branches of an scf.if there: the other warpgroup would wait for ever}}
      mk_sm.turn_wait
      scf.if %some {
        mk_sm.turn_pass
      } else {
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @often on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.constant true
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{has no turn_pass behind it in its block, or in both branches of an scf.if there: the other warpgroup would wait for ever}}
      mk_sm.turn_wait
      scf.for %i = %c0 to %c1 step %c1 {
              mk_sm.turn_pass
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @inner on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.constant true
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{has no turn_pass behind it in its block, or in both branches of an scf.if there: the other warpgroup would wait for ever}}
      mk_sm.turn_wait
      scf.for %i = %c0 to %c1 step %c1 {
        mk_sm.turn_wait
        mk_sm.turn_pass
      }
      mk_sm.turn_pass
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nothing on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{passes on a turn that its warpgroup does not have: put turn_wait in front of it, in its block or one of an scf.if around it}}
      mk_sm.turn_pass
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @second on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      mk_sm.turn_wait
      mk_sm.turn_pass
      // expected-error @+1 {{passes on a turn that its warpgroup does not have: put turn_wait in front of it, in its block or one of an scf.if around it}}
      mk_sm.turn_pass
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @behind_branch on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c1 = arith.constant 1 : index
  %some = arith.constant true
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      mk_sm.turn_wait
      scf.if %some {
        mk_sm.turn_pass
      } else {
        mk_sm.turn_pass
      }
      // expected-error @+1 {{passes on a turn that its warpgroup does not have: put turn_wait in front of it, in its block or one of an scf.if around it}}
      mk_sm.turn_pass
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @loop on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.constant true
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      scf.for %i = %c0 to %c1 step %c1 {
        // expected-error @+1 {{passes on a turn that its warpgroup does not have: put turn_wait in front of it, in its block or one of an scf.if around it}}
        mk_sm.turn_pass
      }
    }
  }
}

// -----

// Fine: in turn, in both branches, and around.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fine on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.constant true
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      mk_sm.turn_wait
      mk_sm.turn_pass
      mk_sm.turn_wait
      scf.if %some {
        mk_sm.turn_pass
      } else {
        scf.if %some {
          mk_sm.turn_pass
        } else {
          mk_sm.turn_pass
        }
      }
      scf.for %i = %c0 to %c1 step %c1 {
        mk_sm.turn_wait
        mk_sm.turn_pass
      }
    }
  }
}
