// RUN: mk-opt %s -split-input-file -mk-sm-post-stores --remarks=post-stores -verify-diagnostics -o %t

// What is left to the sender, and each reason why not.

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @posted on @mesh dims(uniform M) (
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
      // expected-remark @+1 {{mk-sm-post-stores: passed: is left to the CTA's sender, for 1 rank(s), through 2 buffers (in role 'r')}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @bare on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(240) {
      %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      // expected-remark @+1 {{mk-sm-post-stores: missed: is sent by the consumer, which waits for the link: its role stages no tiles, so nothing is held up}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
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
      // expected-remark @+1 {{mk-sm-post-stores: missed: is sent by the consumer, which waits for the link: teams have one staging area each, and a CTA one sender: leave alternate out}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
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
      // expected-remark @+1 {{mk-sm-post-stores: missed: is sent by the consumer, which waits for the link: its tile is transposed}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @loop on @mesh dims(uniform M) (
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
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %M step %c1 {
      // expected-remark @+1 {{mk-sm-post-stores: missed: is sent by the consumer, which waits for the link: an item stores several tiles in sequence, of which the sender takes one: store one at known ranks in a loop that does nothing else}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      }
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @strong on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %part = mk.signals() : !mk.signal<2, sys, arrivals = 4>
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
      // expected-remark @+1 {{mk-sm-post-stores: passed: is left to the CTA's sender, for 1 rank(s), through 2 buffers}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      // expected-remark @+1 {{mk-sm-post-stores: missed: waits until the tile has crossed the link, and the consumer with it: it is strong}}
      mk.signal strong %part[%c0] on %M : !mk.signal<2, sys, arrivals = 4>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @several on @mesh dims(uniform M, uniform N) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %part = mk.signals() : !mk.signal<2, sys, arrivals = 4>
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
      // expected-remark @+1 {{mk-sm-post-stores: passed: is left to the CTA's sender, for 2 rank(s), through 2 buffers}}
      mk_sm.store %t, %s[%c0, %c0] on %M and(%N) through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      // expected-remark @+1 {{mk-sm-post-stores: missed: waits until the tile has crossed the link, and the consumer with it: it is for one of several ranks}}
      mk.signal %part[%c0] on %M : !mk.signal<2, sys, arrivals = 4>
    }
  }
}

// -----

!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @more on @mesh dims(uniform M) (
    in %a : memref<64x64xbf16> [64, 64], out %s : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %part = mk.signals() : !mk.signal<2, sys, arrivals = 4>
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
      // expected-remark @+1 {{mk-sm-post-stores: passed: is left to the CTA's sender, for 1 rank(s), through 2 buffers}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<64x64xbf16, #acc>, memref<64x64xbf16, #mk.symmetric>, !mk_sm.staging<2>
      // expected-remark @+1 {{mk-sm-post-stores: missed: waits until the tile has crossed the link, and the consumer with it: it counts more than one arrival}}
      mk.signal %part[%c0] on %M add 2 : !mk.signal<2, sys, arrivals = 4>
    }
  }
}

// -----

!tile = tensor<256x128xbf16>
!ring = !mk_sm.ring<?, !tile>
!slot = !mk_sm.slot<!tile>
mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 2>
mk.kernel @large on @mesh dims(uniform M) (
    in %a : memref<256x128xbf16> [256, 128], out %s : memref<256x256xbf16, #mk.symmetric> [256, 256]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<256x128xbf16>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(8) registers(240) {
      %t = arith.constant dense<1.0> : tensor<256x256xbf16, #acc>
      %slot = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      // expected-remark @+1 {{mk-sm-post-stores: missed: is sent by the consumer, which waits for the link: there is no room for all of its tile beside the slots that each ring needs: use smaller tiles}}
      mk_sm.store %t, %s[%c0, %c0] on %M through %out : tensor<256x256xbf16, #acc>, memref<256x256xbf16, #mk.symmetric>, !mk_sm.staging<2>
    }
  }
}
