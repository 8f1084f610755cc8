// RUN: mk-opt %s -mk-sm-defer-elements --remarks=defer-elements -verify-diagnostics -o %t

// What is computed a part at a time, and why other tiles are whole.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!f32 = tensor<64x64xf32, #acc>
!of32 = memref<64x64xf32>

mk.kernel @written on @mesh (inout %a : !of32 [64, 64], out %c : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-remark @+1 {{mk-sm-defer-elements: passed: computes 1 tiles where their elements are taken}}
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      // expected-remark @+1 {{mk-sm-defer-elements: missed: is loaded whole, since what stands between it and the op that takes it may write it: load it right in front of that op}}
      %l = mk.load %a[%c0, %c0] : !of32 -> !f32
      mk.store %x, %a[%c0, %c0] : !f32, !of32
      %s = arith.addf %x, %l : !f32
      mk.store %s, %c[%c0, %c0] : !f32, !of32
    }
  }
}

mk.kernel @several on @mesh (out %c : !of32 [64, 64], out %d : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      // expected-remark @+1 {{mk-sm-defer-elements: missed: is computed whole, and kept in registers: 2 stores take it}}
      %s = arith.addf %x, %x : !f32
      mk.store %s, %c[%c0, %c0] : !f32, !of32
      mk.store %s, %d[%c0, %c0] : !f32, !of32
    }
  }
}
