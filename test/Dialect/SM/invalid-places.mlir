// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Ops in the wrong partition, or in none.

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @acquire on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{belongs into a producer partition, not into a consumer: move it there}}
      %s = mk_sm.acquire %ring : !ring -> !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @acquire_in_role on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    // expected-error @+1 {{stands outside of a partition, but only a producer does it: move it into one}}
    %s = mk_sm.acquire %ring : !ring -> !slot
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @copy on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      // expected-error @+1 {{belongs into a producer partition, not into a consumer: move it there}}
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @commit on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      // expected-error @+1 {{belongs into a producer partition, not into a consumer: move it there}}
      mk_sm.commit %ring, %s : !ring, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @wait on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      %s = mk_sm.wait %ring : !ring -> !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @wait_in_role on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    // expected-error @+1 {{stands outside of a partition, but only a consumer does it: move it into one}}
    %s = mk_sm.wait %ring : !ring -> !slot
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @release on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @tile on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @send on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %mail = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{belongs into a producer partition, not into a consumer: move it there}}
      mk_sm.send %mail, %c0 : !mk_sm.mailbox<2, words = 1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @receive on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %mail = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      %i = mk_sm.receive %mail : !mk_sm.mailbox<2, words = 1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @team on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      %i = mk_sm.team_index
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @warpgroup on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      %i = mk_sm.warpgroup_index
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fence on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      mk_sm.mma_fence none
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @mma_wait on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      mk_sm.mma_wait 0
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @turn on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      mk_sm.turn_wait
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @pass on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      mk_sm.turn_pass
    }
  }
}

// -----

func.func @mma(%x: !mk_sm.staged<tensor<64x64xbf16>>, %c: tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>) {
  // expected-error @+1 {{stands outside of a partition, but only a consumer does it: move it into one}}
  %d = mk_sm.mma %x, %x, %c : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<64x64xbf16>>, tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @store on @mesh (out %f : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<64x64xf32, #acc>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @convert on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{belongs into a consumer partition, not into a producer: move it there}}
      %u = mk_sm.convert_layout %t : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #flat>
    }
  }
}

// -----

// Drawn by whoever runs ahead.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @ticket on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
    }
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{is done by the consumer of a role that has a producer: do it there, and mk_sm.send what it gives}}
      %t = mk_sm.ticket loop(0)
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @pop on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = mk.queue(%c1) : !mk.queue<?x2xi32>
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
    }
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{is done by the consumer of a role that has a producer: do it there, and mk_sm.send what it gives}}
      %t:2 = mk_sm.pop %q[%c0] : !mk.queue<?x2xi32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @dealt on @mesh (in %a : memref<64xf32> [64]) {
  mk.prepare {
    // expected-error @+1 {{stands outside of a role, where no items are dealt out: move it into the role whose loop it begins}}
    %i = mk_sm.initial_item
  }
}

// -----

func.func @at_item(%i: index) {
  // expected-error @+1 {{stands outside of a role and of mk.prepare, where a CTA has no items: move it into the role that does them}}
  mk_sm.at_item loop(0) [%i]
  return
}

// -----

func.func @draw(%i: index) {
  // expected-error @+1 {{stands outside of a role and of mk.prepare, where a CTA has no items: move it into the role that does them}}
  %c = mk_sm.ticket loop(0)
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @queue on @mesh (in %m : memref<4xi32> [4]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{reads a queue, not 'memref<4xi32>'}}
    mk_sm.pop %m[%c0] : memref<4xi32>
  }
}
