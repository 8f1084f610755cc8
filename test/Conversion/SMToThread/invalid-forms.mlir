// RUN: mk-opt %s -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -split-input-file -verify-diagnostics

// What kernels that are split from roles never hold; written by hand, it is named.

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @dense on @mesh (out %b : memref<2xf32> [2]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{'arith.constant' op is a tile whose elements differ; for sm_90a only a tile of one value can be made in registers: mk.load it from an argument}}
      %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32, #flat>
      mk.store %x, %b[%c0] : tensor<2xf32, #flat>, memref<2xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @dim on @mesh dims(uniform M) (in %a : memref<?x?xf32> [M, M], out %b : memref<1xindex> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %which = memref.load %b[%c0] : memref<1xindex>
      // expected-error @+1 {{asks for a dimension known at run time only}}
      %d = memref.dim %a, %which : memref<?x?xf32>
      memref.store %d, %b[%c0] : memref<1xindex>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @atomic on @mesh (out %b : memref<128xf8E5M2> [128]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : tensor<128xf8E5M2, #flat>
      // expected-error @+1 {{adds 'f8E5M2' to memory, which sm_90a has no atomic of; use f32, f64, bf16, f16, i32 or i64}}
      mk.store %x, %b[%c0] reduce(add) : tensor<128xf8E5M2, #flat>, memref<128xf8E5M2>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @bytes on @mesh (in %a : memref<128xi128> [128]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{loads elements of 16 bytes}}
      %x = mk.load %a[%c0] : memref<128xi128> -> tensor<128xi128, #flat>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @slice on @mesh (in %a : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32, #acc>
      // expected-error @+1 {{of 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' gives 'tensor<64xf32, #mk_sm.blocked<threads = 128, vector = 1>>'; its layout must be the slice of the source's}}
      %y = mk.reduce add %x axis 1 : tensor<64x64xf32, #acc> -> tensor<64xf32, #flat>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#flat = #mk_sm.blocked<threads = 128, vector = 1>
mk.kernel @rows on @mesh (in %a : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32, #acc>
      // expected-error @+1 {{of 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' gives 'tensor<64xf32, #mk_sm.blocked<threads = 128, vector = 1>>'; its layout must be the slice of the source's}}
      %y = mk.reduce add %x axis 0 : tensor<64x64xf32, #acc> -> tensor<64xf32, #flat>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#turned = #mk_sm.transposed<of = #acc>
mk.kernel @turned on @mesh (in %a : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32, #turned>
      // expected-error @+1 {{of 'tensor<64x64xf32, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>>' to 'tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>' cannot be lowered for sm_90a yet: it takes tiles with the layout of accumulators, or dealt out}}
      %y = mk.reduce add %x axis 1 : tensor<64x64xf32, #turned> -> tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!slot = !mk_sm.slot<tensor<64x32xf32>>
mk.kernel @left on @mesh (in %a : memref<64x32xf32> [64, 32]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x32xf32>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x32xf32>> -> !slot
      %x = mk.load %a[%c0, %c0] : memref<64x32xf32> -> tensor<64x32xf32, #acc>
      %y = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x32xf32>>
      // expected-error @+1 {{takes a left operand of 'f32' in registers, where its elements lie in other threads than those of an accumulator; stage it, or convert it to bf16}}
      %s = mk_sm.mma %x, %y, %zero transpose_b : tensor<64x32xf32, #acc>, !mk_sm.staged<tensor<64x32xf32>>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!slot = !mk_sm.slot<tensor<64x24xbf16>, tensor<64x24xbf16>>
mk.kernel @step on @mesh () {
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x24xbf16>, tensor<64x24xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x24xbf16>, tensor<64x24xbf16>> -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x24xbf16>>
      %y = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64x24xbf16>>
      // expected-error @+1 {{contracts 24 elements of 'bf16', no multiple of the 16 of one instruction}}
      %s = mk_sm.mma %x, %y, %zero transpose_b : !mk_sm.staged<tensor<64x24xbf16>>, !mk_sm.staged<tensor<64x24xbf16>>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!slot = !mk_sm.slot<tensor<64x32xbf16>, tensor<64x32xbf16>>
mk.kernel @counts on @mesh (in %n : memref<1xi1> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x32xbf16>, tensor<64x32xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %if = memref.load %n[%c0] : memref<1xi1>
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %slot = mk_sm.wait %ring : !mk_sm.ring<1, tensor<64x32xbf16>, tensor<64x32xbf16>> -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x32xbf16>>
      %y = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64x32xbf16>>
      // expected-error @+1 {{says when its accumulator counts, but that is the constant zero}}
      %s = mk_sm.mma %x, %y, %zero accumulate(%if) transpose_b : !mk_sm.staged<tensor<64x32xbf16>>, !mk_sm.staged<tensor<64x32xbf16>>, tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @exchange on @mesh (in %a : memref<64x4096xbf16> [64, 4096]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x4096xbf16> -> tensor<64x16384xbf16, #acc>
      // expected-error @+1 {{along axis 0 of 'tensor<64x16384xbf16, #mk_sm.mma<warpgroups = 1>>' exchanges 131072 bytes at least; there are 116224: use smaller tiles}}
      %y = mk.reduce max %x axis 0 : tensor<64x16384xbf16, #acc> -> tensor<16384xbf16, #mk_sm.slice<axis = 0, of = #acc>>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @one on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}
// expected-error @+1 {{is the second kernel of the module; a package has one, choose it with --kernel}}
mk.kernel @two on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @ranks on @mesh (out %b : memref<1xindex> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{asks for other ranks: run mk-expand-ranks}}
      %rank = mk.rank(node = %c0)
      memref.store %rank, %b[%c0] : memref<1xindex>
    }
  }
}
