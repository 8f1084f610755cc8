// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @producer on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{is a producer of 4 warps: a producer is one warp}}
    mk_sm.partition producer warps(4) registers(40) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @consumer on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{is a consumer of 6 warps: it is made of 1 to 7 warpgroups of 4}}
    mk_sm.partition consumer warps(6) registers(168) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @large on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{is a consumer of 32 warps: it is made of 1 to 7 warpgroups of 4}}
    mk_sm.partition consumer warps(32) registers(64) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @teams on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has 3 teams of 12 warps: a consumer of 8 warps may have two teams of one warpgroup}}
    mk_sm.partition consumer warps(12) registers(160) teams(3) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fetching on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has 2 teams of 1 warps: a consumer of 8 warps may have two teams of one warpgroup}}
    mk_sm.partition producer warps(1) registers(40) teams(2) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @budget on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a budget of 170 registers a thread: it is a multiple of 8 from 24 to 256}}
    mk_sm.partition consumer warps(4) registers(170) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @second on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{is the second producer of its role: put both into one}}
    mk_sm.partition producer warps(1) registers(40) {
    }
    mk_sm.partition producer warps(1) registers(40) {
    }
  }
}

// -----

// The other partition is verified later and has no kind.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @kind on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
    }
    // expected-error @+1 {{requires attribute 'kind'}}
    "mk_sm.partition"() <{registers = 240 : i64, warps = 8 : i64}> ({
    ^bb0:
    }) : () -> ()
  }
}

// -----

func.func @outside() {
  // expected-error @+1 {{'mk_sm.partition' op expects parent op to be one of 'mk.role, mk.prepare'}}
  mk_sm.partition producer warps(1) registers(40) {
  }
  return
}

// -----

func.func @channel() {
  // expected-error @+1 {{'mk_sm.create_ring' op expects parent op to be one of 'mk.role, mk.prepare'}}
  %r = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>>
  return
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @two_warps on @mesh () {
  mk.role @r ctas(1) {}
  mk.role @b ctas(1 beside @r) {
    // expected-error @+1 {{is a mover of 2 warps: a mover is one warp}}
    mk_sm.partition mover warps(2) registers(40) {}
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @own_ctas on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{is a mover, but its role has CTAs of its own: let it be run 'beside' another}}
    mk_sm.partition mover warps(1) registers(40) {}
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @consumer_beside on @mesh () {
  mk.role @r ctas(1) {}
  mk.role @b ctas(1 beside @r) {
    // expected-error @+1 {{stands in a role that is run beside another: only a mover does that}}
    mk_sm.partition consumer warps(4) registers(168) {}
  }
}
