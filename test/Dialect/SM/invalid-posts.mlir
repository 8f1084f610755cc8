// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Stores that are left to the sender.

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @signal on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{goes to this rank and to others: name each of them, the first behind 'on'}}
      mk_sm.store %t, %s[%c0, %c0] and(%c0) through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @ranks on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{goes to 9 ranks; name 1 to 8}}
      mk_sm.store %t, %s[%c0, %c0] on %c0 and(%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0) through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @signal_alone on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %sig = mk.signals() : !mk.signal<1, sys, arrivals = 1>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{has a signal, which is the sender's business: add 'posted', or use mk.signal}}
      mk_sm.store %t, %s[%c0, %c0] on %M signal %sig[%c0] through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>, !mk.signal<1, sys, arrivals = 1>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @nobody on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{is posted to 0 ranks: the sender takes 1 to 8}}
      mk_sm.store %t, %s[%c0, %c0] posted through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>
mk.kernel @turned on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{posts 'tensor<64x64xbf16, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>>': the sender takes tiles with layout #mk_sm.mma}}
      mk_sm.store %t, %s[%c0, %c0] on %M posted through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @teams on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{is posted by one of several teams, but a CTA has one sender: leave 'posted' out}}
      mk_sm.store %t, %s[%c0, %c0] on %M posted through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @parts on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x256xbf16, #mk.symmetric> [64, 256]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x256xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{posts 4 parts of a tile through 2 buffers, which have to hold all of it}}
      mk_sm.store %t, %s[%c0, %c0] on %M posted through %out : tensor<64x256xbf16, #acc>, memref<64x256xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @scope on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %part = mk.signals() : !mk.signal<2, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{raises a peer's signal of scope gpu, which only its owner raises: declare it as !mk.signal<..., sys, ...>}}
      mk_sm.store %t, %s[%c0, %c0] on %M posted signal %part[%c0] through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>, !mk.signal<2, gpu, arrivals = 1>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @indices on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %part = mk.signals() : !mk.signal<2, sys, arrivals = 1>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{has 2 indices into a signal of rank 1: give one for each dimension}}
      mk_sm.store %t, %s[%c0, %c0] on %M posted signal %part[%c0, %c0] through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>, !mk.signal<2, sys, arrivals = 1>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @counted on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %other = mk_sm.cursor slots(2) parity(1)
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{has a cursor that does not count the 1 tile that the sender has: delete it, and run mk-sm-assign-stages}}
      mk_sm.store %t, %s[%c0, %c0] on %M posted through %out at(%other) : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @parity on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(240) {
      %other = mk_sm.cursor slots(1) parity(0)
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-error @+1 {{has a cursor that begins with parity 0, and would wait for a tile that nobody has posted: begin with 1}}
      mk_sm.store %t, %s[%c0, %c0] on %M posted through %out at(%other) : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}
