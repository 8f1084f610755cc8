// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @ring_of_slot on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{has '!mk_sm.slot<tensor<64x128xbf16>>' of 16384 bytes, but slots of '!mk_sm.ring<2, tensor<64x64xbf16>>' have 8192: use smaller tiles, or several slots}}
      %s = mk_sm.acquire %ring : !ring -> !mk_sm.slot<tensor<64x128xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @waited on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has '!mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>' of 16384 bytes, but slots of '!mk_sm.ring<2, tensor<64x64xbf16>>' have 8192: use smaller tiles, or several slots}}
      %s = mk_sm.wait %ring : !ring -> !mk_sm.slot<tensor<64x64xbf16>, tensor<64x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @committed on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %other = mk_sm.create_ring : !mk_sm.ring<2, tensor<32x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{has '!mk_sm.slot<tensor<64x64xbf16>>' of 8192 bytes, but slots of '!mk_sm.ring<2, tensor<32x64xbf16>>' have 4096: use smaller tiles, or several slots}}
      mk_sm.commit %other, %s : !mk_sm.ring<2, tensor<32x64xbf16>>, !slot
    }
  }
}

// -----

// Of the same type, but another ring.
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @other on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %other = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{hands over a slot that was not acquired from its ring: name the result of mk_sm.acquire of the same ring}}
      mk_sm.commit %other, %s : !ring, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @twice on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      // expected-error @+1 {{hands over a slot that is still used behind it: commit it behind the last copy, and once}}
      mk_sm.commit %ring, %s : !ring, !slot
      // expected-note @+1 {{used here}}
      mk_sm.commit %ring, %s : !ring, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @late on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{hands over a slot that is still used behind it: commit it behind the last copy, and once}}
      mk_sm.commit %ring, %s : !ring, !slot
      // expected-note @+1 {{used here}}
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @tile_number on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{names tile 1 of a slot of 1: they count from 0}}
      mk_sm.copy %a[%c0, %c0] to %s[1] : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @negative on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{names tile -1 of a slot of 1: they count from 0}}
      mk_sm.copy %a[%c0, %c0] to %s[-1] : memref<64x64xbf16>, !slot
    }
  }
}

// -----

// A slot that somebody else filled, where a slot is an argument of a loop.
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @carried on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %s) -> (!slot) {
        // expected-error @+1 {{fills a slot that is not the producer's: name the result of mk_sm.acquire}}
        mk_sm.copy %a[%c0, %c0] to %t[0] : memref<64x64xbf16>, !slot
        scf.yield %t : !slot
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @carried_tile on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %s) -> (!slot) {
        // expected-error @+1 {{reads a slot that is not the consumer's: name the result of mk_sm.wait}}
        %x = mk_sm.tile %t[0] : !slot -> !mk_sm.staged<!tile>
        scf.yield %t : !slot
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @offsets on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{has 1 offsets into a buffer of rank 2: give one, in elements, for each dimension}}
      mk_sm.copy %a[%c0] to %s[0] : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @rank on @mesh (in %b : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{has a tile of rank 2 and a buffer of rank 1: a tile covers the buffer's last dimensions}}
      mk_sm.copy %b[%c0] to %s[0] : memref<64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @element on @mesh (in %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{has a tile of 'bf16' and a buffer of 'f32': convert the tile with arith}}
      mk_sm.copy %b[%c0, %c0] to %s[0] : memref<64x64xf32>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @valid on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{has 1 valid extents for a tile of rank 2: give one for each dimension}}
      mk_sm.copy %a[%c0, %c0] valid(%c0) to %s[0] : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @pad on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      %p = arith.constant 0.0 : f32
      // expected-error @+1 {{pads a tile of 'bf16' with a value of type 'f32': convert the value}}
      mk_sm.copy %a[%c0, %c0] pad(%p : f32) to %s[0] : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @shared on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{is shared by 3 CTAs: copies are shared by a power of two of CTAs, a power of two apart}}
      mk_sm.copy %a[%c0, %c0] to %s[0] shared(3) : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @strided on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{is shared by 4 CTAs that are 4 apart: a cluster of sm_90a has 1 to 8 CTAs}}
      mk_sm.copy %a[%c0, %c0] to %s[0] shared(4 stride 4) : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @alone on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{is shared by 1 CTA that is 4 apart: leave stride out}}
      mk_sm.copy %a[%c0, %c0] to %s[0] shared(1 stride 4) : memref<64x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<72x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @rows on @mesh (in %a : memref<72x64xbf16> [72, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      // expected-error @+1 {{is shared by 2 CTAs, but the 72 rows of 'tensor<72x64xbf16>' are no multiple of 16: share it with fewer}}
      mk_sm.copy %a[%c0, %c0] to %s[0] shared(2) : memref<72x64xbf16>, !slot
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @gives on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      // expected-error @+1 {{gives '!mk_sm.staged<tensor<64x32xbf16>>', but tile 0 of the slot is 'tensor<64x64xbf16>'}}
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<tensor<64x32xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @reads on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      // expected-error @+1 {{names tile 1 of a slot of 1: they count from 0}}
      %x = mk_sm.tile %s[1] : !slot -> !mk_sm.staged<!tile>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @words on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %mail = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{puts 2 values into a mailbox of 1 words}}
      mk_sm.send %mail, %c0, %c0 : !mk_sm.mailbox<2, words = 1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @received on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    %mail = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{operation defines 1 result}}
      %i, %j = mk_sm.receive %mail : !mk_sm.mailbox<2, words = 1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @layout on @mesh (out %f : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #flat>
      // expected-error @+1 {{takes tiles with layout #mk_sm.mma, or transposed, through its staging area, not 'tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 1>>': use mk.store}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<64x64xf32, #flat>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @added_by_rows on @mesh (inout %f : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{stores 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' by rows: accumulators in this rank's memory, of which the staging area holds eight rows for each warp}}
      mk_sm.store %t, %f[%c0, %c0] add through %out by_rows : tensor<64x64xf32, #acc>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @wide on @mesh (out %f : memref<64x64xf64> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf64, #acc>
      // expected-error @+1 {{takes floating-point elements of 16 or 32 bits through its staging area, not 'f64': use mk.store}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<64x64xf64, #acc>, memref<64x64xf64>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @integers on @mesh (out %f : memref<64x64xi32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0> : tensor<64x64xi32, #acc>
      // expected-error @+1 {{takes floating-point elements of 16 or 32 bits through its staging area, not 'i32': use mk.store}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<64x64xi32, #acc>, memref<64x64xi32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @narrow on @mesh (out %f : memref<64x24xf32> [64, 24]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x24xf32, #acc>
      // expected-error @+1 {{stores 24 columns in chunks of 32, of which they are no multiple: use mk.store}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<64x24xf32, #acc>, memref<64x24xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @deep on @mesh (out %f : memref<1x1x1x1x64x64xf32> [1, 1, 1, 1, 64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{stores to 'memref<1x1x1x1x64x64xf32>', but the copy engine takes at most 5 dimensions: use mk.store}}
      mk_sm.store %t, %f[%c0, %c0, %c0, %c0, %c0, %c0] through %out : tensor<64x64xf32, #acc>, memref<1x1x1x1x64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

// A warpgroup's columns of a row are 128 bytes only if elements have two.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>
mk.kernel @transposed on @mesh (out %f : memref<16x64xf32> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<16x64xf32, #acc>
      // expected-error @+1 {{takes transposed tiles of 16-bit elements, and adds those of up to 64 rows or a multiple of them, not 'tensor<16x64xf32, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>>': use mk.store}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<16x64xf32, #acc>, memref<16x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

// Parts that overlap would be added twice.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>
mk.kernel @overlapping on @mesh (out %f : memref<72x64xbf16> [72, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<72x64xbf16, #acc>
      // expected-error @+1 {{takes transposed tiles of 16-bit elements, and adds those of up to 64 rows or a multiple of them, not 'tensor<72x64xbf16, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>>': use mk.store}}
      mk_sm.store %t, %f[%c0, %c0] add through %out : tensor<72x64xbf16, #acc>, memref<72x64xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// Columns that two chunks have in common would be added twice.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @adds on @mesh (inout %f : memref<64x72xf32> [64, 72]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x72xf32, #acc>
      // expected-error @+1 {{adds 72 columns in chunks of 32, of which they are no multiple: use mk.store}}
      mk_sm.store %t, %f[%c0, %c0] add through %out : tensor<64x72xf32, #acc>, memref<64x72xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @peer on @mesh (out %f : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{writes to a peer's 'memref<64x64xf32>', but only symmetric memory is the same place there: give the buffer the space #mk.symmetric}}
      mk_sm.store %t, %f[%c0, %c0] on %c0 through %out : tensor<64x64xf32, #acc>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @no_layout on @mesh (out %f : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32>
      // expected-error @+1 {{works on fragments, but 'tensor<64x64xf32>' has no layout: give it one, such as #mk_sm.mma}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<64x64xf32>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @store_offsets on @mesh (out %f : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has 1 offsets into a buffer of rank 2: give one, in elements, for each dimension}}
      mk_sm.store %t, %f[%c0] through %out : tensor<64x64xf32, #acc>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @store_element on @mesh (out %f : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has a tile of 'f32' and a buffer of 'bf16': convert the tile with arith}}
      mk_sm.store %t, %f[%c0, %c0] through %out : tensor<64x64xf32, #acc>, memref<64x64xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @store_valid on @mesh (out %f : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has 1 valid extents for a tile of rank 2: give one for each dimension}}
      mk_sm.store %t, %f[%c0, %c0] valid(%c0) through %out : tensor<64x64xf32, #acc>, memref<64x64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @store_rank on @mesh (out %f : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has a tile of rank 2 and a buffer of rank 1: a tile covers the buffer's last dimensions}}
      mk_sm.store %t, %f[%c0] through %out : tensor<64x64xf32, #acc>, memref<64xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @no_rows on @mesh (in %a : memref<64x64xbf16> [64, 64], in %list : memref<64xi32> [64], in %line : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{selects rows of 'memref<64xbf16>', which has none: name a buffer of two dimensions or more}}
      mk_sm.select_rows 64 of %line at %c0 rows(%list[%c0] : memref<64xi32>) : memref<64xbf16>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @not_selected on @mesh (in %a : memref<64x64xbf16> [64, 64], in %list : memref<64xi32> [64], in %line : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.select_rows 64 of %a at %c0 rows(%list[%c1] : memref<64xi32>) : memref<64x64xbf16>
      %s = mk_sm.acquire %ring : !ring -> !mk_sm.slot<!tile>
      // expected-error @+1 {{gathers selected rows, but no mk_sm.select_rows of its list stands in front of it, in its block or around it: run mk-sm-select-rows}}
      mk_sm.copy %a[%c0, %c0] rows(%list[%c0] : memref<64xi32>) selected to %s[0] : memref<64x64xbf16>, !mk_sm.slot<!tile>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @selected_in_between on @mesh (in %a : memref<64x64xbf16> [64, 64], in %list : memref<64xi32> [64], in %line : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.select_rows 64 of %a at %c0 rows(%list[%c0] : memref<64xi32>) : memref<64x64xbf16>
      scf.for %i = %c0 to %c1 step %c1 {
        mk_sm.select_rows 64 of %a at %c0 rows(%list[%c1] : memref<64xi32>) : memref<64x64xbf16>
      }
      %s = mk_sm.acquire %ring : !ring -> !mk_sm.slot<!tile>
      // expected-error @+1 {{gathers selected rows, but no mk_sm.select_rows of its list stands in front of it}}
      mk_sm.copy %a[%c0, %c0] rows(%list[%c0] : memref<64xi32>) selected to %s[0] : memref<64x64xbf16>, !mk_sm.slot<!tile>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @shared_rows on @mesh (in %a : memref<64x64xbf16> [64, 64], in %list : memref<64xi32> [64], in %line : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !mk_sm.slot<!tile>
      // expected-error @+1 {{is shared, but gathered rows are brought by threads of their CTA: share other copies}}
      mk_sm.copy %a[%c0, %c0] rows(%list[%c0] : memref<64xi32>) to %s[0] shared(2) : memref<64x64xbf16>, !mk_sm.slot<!tile>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @selected_elsewhere on @mesh (in %a : memref<64x64xbf16> [64, 64], in %list : memref<64xi32> [64], in %line : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.select_rows 64 of %a at %c1 rows(%list[%c0] : memref<64xi32>) : memref<64x64xbf16>
      %s = mk_sm.acquire %ring : !ring -> !mk_sm.slot<!tile>
      // expected-error @+1 {{gathers selected rows, but no mk_sm.select_rows of its list stands in front of it}}
      mk_sm.copy %a[%c0, %c0] rows(%list[%c0] : memref<64xi32>) selected to %s[0] : memref<64x64xbf16>, !mk_sm.slot<!tile>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @selected_behind on @mesh (in %a : memref<64x64xbf16> [64, 64], in %list : memref<64xi32> [64], in %line : memref<64xbf16> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.select_rows 64 of %a at %c0 rows(%list[%c0] : memref<64xi32>) : memref<64x64xbf16>
      scf.for %i = %c0 to %c1 step %c1 {
        %s = mk_sm.acquire %ring : !ring -> !mk_sm.slot<!tile>
        // expected-error @+1 {{gathers selected rows, but no mk_sm.select_rows of its list stands in front of it}}
        mk_sm.copy %a[%c0, %c0] rows(%list[%c0] : memref<64xi32>) selected to %s[0] : memref<64x64xbf16>, !mk_sm.slot<!tile>
        mk_sm.select_rows 64 of %a at %c0 rows(%list[%c1] : memref<64xi32>) : memref<64x64xbf16>
      }
    }
  }
}
