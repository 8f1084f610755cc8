// RUN: mk-opt %s -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @fp8 on @mesh (out %c : memref<64x128xf32> [64, 128]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x128xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>> -> !mk_sm.slot<tensor<64x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>>
      %x = mk_sm.tile %slot[0] : !mk_sm.slot<tensor<64x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>> -> !mk_sm.staged<tensor<64x128xf8E4M3FN>>
      %y = mk_sm.tile %slot[1] : !mk_sm.slot<tensor<64x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>> -> !mk_sm.staged<tensor<128x128xf8E4M3FN>>
      // expected-error @+1 {{of 'f8E4M3FN' has an operand whose rows do not lie along the contraction; the matrix unit takes these for 16-bit types only: store the right operand as N x K and use transpose_b}}
      %s = mk_sm.mma %x, %y, %zero : !mk_sm.staged<tensor<64x128xf8E4M3FN>>, !mk_sm.staged<tensor<128x128xf8E4M3FN>>, tensor<64x128xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @fp8_left on @mesh (out %c : memref<64x128xf32> [64, 128]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<128x64xf8E4M3FN>, tensor<128x128xf8E4M3FN>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x128xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<128x64xf8E4M3FN>, tensor<128x128xf8E4M3FN>> -> !mk_sm.slot<tensor<128x64xf8E4M3FN>, tensor<128x128xf8E4M3FN>>
      %x = mk_sm.tile %slot[0] : !mk_sm.slot<tensor<128x64xf8E4M3FN>, tensor<128x128xf8E4M3FN>> -> !mk_sm.staged<tensor<128x64xf8E4M3FN>>
      %y = mk_sm.tile %slot[1] : !mk_sm.slot<tensor<128x64xf8E4M3FN>, tensor<128x128xf8E4M3FN>> -> !mk_sm.staged<tensor<128x128xf8E4M3FN>>
      // expected-error @+1 {{of 'f8E4M3FN' has an operand whose rows do not lie along the contraction; the matrix unit takes these for 16-bit types only: store the left operand as M x K}}
      %s = mk_sm.mma %x, %y, %zero transpose_a transpose_b : !mk_sm.staged<tensor<128x64xf8E4M3FN>>, !mk_sm.staged<tensor<128x128xf8E4M3FN>>, tensor<64x128xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @adds on @mesh (inout %a : memref<4x64xf8E4M3FN, #mk.symmetric> [4, 64]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{adds elements of 'f8E4M3FN', which the copy engine of sm_90a does not; use f32, f64, bf16, f16, i32 or i64}}
      mk.put %a[%c0, %c0][%c4, %c64] to %a[%c0, %c0] on %c0 reduce(add)
          : memref<4x64xf8E4M3FN, #mk.symmetric> to memref<4x64xf8E4M3FN, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 4>
#one = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @wide on @mesh (in %a : memref<2x32768xf32> [2, 32768]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<2x32768xf32> -> tensor<2x32768xf32, #flat>
      // expected-error @+1 {{along axis 0 of 'tensor<2x32768xf32, #mk_sm.blocked<threads = 128, vector = 4>>' exchanges 131084 bytes at least; there are 116224: use smaller tiles}}
      %y = mk.reduce add %x axis 0 : tensor<2x32768xf32, #flat> -> tensor<32768xf32, #one>
    }
  }
}

// -----

// An op that only a store needs is found to have no code when the store takes it.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @late on @mesh (in %a : memref<64x32xf32> [64, 32], out %b : memref<64x32xf32> [64, 32]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x32xf32> -> tensor<64x32xf32, #acc>
      // expected-error @+1 {{on 'tensor<64x32xf32>' to 'tensor<64x32xf32>' cannot be lowered for sm_90a yet: write it as log(x + sqrt(x * x - 1)), or run it with --target=host}}
      %y = math.acosh %x : tensor<64x32xf32, #acc>
      mk.store %y, %b[%c0, %c0] : tensor<64x32xf32, #acc>, memref<64x32xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @double on @mesh (in %a : memref<64x32xf64> [64, 32], out %b : memref<64x32xf64> [64, 32]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x32xf64> -> tensor<64x32xf64, #acc>
      // expected-error @+1 {{cannot be lowered for sm_90a yet: functions have code for f32, bf16 and f16; narrow by arith.truncf, or run it with --target=host}}
      %y = math.exp %x : tensor<64x32xf64, #acc>
      mk.store %y, %b[%c0, %c0] : tensor<64x32xf64, #acc>, memref<64x32xf64>
    }
  }
}

// -----

// Another rounding.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @odd on @mesh (in %a : memref<64x32xf32> [64, 32], out %b : memref<64x32xbf16> [64, 32]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x32xf32> -> tensor<64x32xf32, #acc>
      // expected-error @+1 {{cannot be lowered for sm_90a yet: numbers are rounded to the nearest, ties to even, on every target: leave the rounding mode out}}
      %y = arith.truncf %x upward : tensor<64x32xf32, #acc> to tensor<64x32xbf16, #acc>
      mk.store %y, %b[%c0, %c0] : tensor<64x32xbf16, #acc>, memref<64x32xbf16>
    }
  }
}

// -----

// Another float.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @quadruple on @mesh (in %a : memref<64x32xf64> [64, 32], out %b : memref<64x32xf64> [64, 32]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x32xf64> -> tensor<64x32xf64, #acc>
      // expected-error @+1 {{cannot be lowered for sm_90a yet: floats are f64, f32, f16, bf16, f8E4M3FN and f8E5M2 (f32 as tf32 is a precision of mk.dot)}}
      %y = arith.extf %x : tensor<64x32xf64, #acc> to tensor<64x32xf128, #acc>
      %z = arith.truncf %y : tensor<64x32xf128, #acc> to tensor<64x32xf64, #acc>
      mk.store %z, %b[%c0, %c0] : tensor<64x32xf64, #acc>, memref<64x32xf64>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @three on @mesh (in %a : memref<96x64xbf16> [96, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<96x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !mk_sm.ring<1, tensor<96x64xbf16>> -> !mk_sm.slot<tensor<96x64xbf16>>
      // expected-error @+1 {{is shared by 3 CTAs: copies are shared by a power of two of CTAs, a power of two apart}}
      mk_sm.copy %a[%c0, %c0] to %slot[0] shared(3) : memref<96x64xbf16>, !mk_sm.slot<tensor<96x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @rows on @mesh (in %a : memref<72x64xbf16> [72, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<72x64xbf16>>
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !mk_sm.ring<1, tensor<72x64xbf16>> -> !mk_sm.slot<tensor<72x64xbf16>>
      // expected-error @+1 {{is shared by 2 CTAs, but the 72 rows of 'tensor<72x64xbf16>' are no multiple of 16: share it with fewer}}
      mk_sm.copy %a[%c0, %c0] to %slot[0] shared(2) : memref<72x64xbf16>, !mk_sm.slot<tensor<72x64xbf16>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @columns on @mesh (out %c : memref<64x264xf32> [64, 264]) {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>, tensor<264x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x264xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x64xbf16>, tensor<264x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>, tensor<264x64xbf16>>
      %x = mk_sm.tile %slot[0] : !mk_sm.slot<tensor<64x64xbf16>, tensor<264x64xbf16>> -> !mk_sm.staged<tensor<64x64xbf16>>
      %y = mk_sm.tile %slot[1] : !mk_sm.slot<tensor<64x64xbf16>, tensor<264x64xbf16>> -> !mk_sm.staged<tensor<264x64xbf16>>
      // expected-error @+1 {{has 264 columns, more than the 256 of one instruction of sm_90a and no multiple of 64; the nearest are 256 and 320}}
      %s = mk_sm.mma %x, %y, %zero transpose_b : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<264x64xbf16>>, tensor<64x264xf32, #acc>
    }
  }
}

// -----

// Written by hand; roles that are split have other layouts for such widths.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @narrow on @mesh (in %a : memref<64xf32> [64], out %b : memref<64x4xf32> [64, 4]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0] : memref<64xf32> -> tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
      // expected-error @+1 {{has 'tensor<64x4xf32, #mk_sm.mma<warpgroups = 1>>': 4 columns are no multiple of 8; the next is 8}}
      %y = mk.broadcast %x dims [1] : tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>> -> tensor<64x4xf32, #acc>
      mk.store %y, %b[%c0, %c0] : tensor<64x4xf32, #acc>, memref<64x4xf32>
    }
  }
}

// -----

// fp8 is bits here, of which integers would be added.
mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 4>
#one = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @fp8sum on @mesh (in %a : memref<8x128xf8E5M2> [8, 128], out %b : memref<8xf8E5M2> [8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<8x128xf8E5M2> -> tensor<8x128xf8E5M2, #flat>
      // expected-error @+1 {{cannot be lowered for sm_90a yet: there is no arithmetic in fp8; widen by arith.extf to f32 first, and narrow the result by arith.truncf}}
      %y = mk.reduce add %x axis 1 : tensor<8x128xf8E5M2, #flat> -> tensor<8xf8E5M2, #one>
      mk.store %y, %b[%c0] : tensor<8xf8E5M2, #one>, memref<8xf8E5M2>
    }
  }
}

// -----

// Loops are counted in 32 bits.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @far on @mesh (out %b : memref<8x128xf32> [8, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 2147483648 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<0.0> : tensor<8x128xf32, #mk_sm.blocked<threads = 128, vector = 4>>
      // expected-error @+1 {{counts from, to or by 2147483648; loops of sm_90a count from -2^30 to 2^30: begin at 0, and make two loops of one that is longer, one inside the other}}
      scf.for %i = %c0 to %most step %c1 {
        mk.store %x, %b[%i, %c0] : tensor<8x128xf32, #mk_sm.blocked<threads = 128, vector = 4>>, memref<8x128xf32>
      }
    }
  }
}
