// RUN: mk-opt %s -mk-sm-split-roles -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @rhs on @mesh (in %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %b = arith.mulf %a, %a : tensor<64x64xbf16>
    // expected-error @+1 {{takes its right operand from registers ('tensor<64x64xbf16>'), but the tensor cores of sm_90a read it from shared memory: store the tile and mk.load it behind a signal, or compute the transposed product with this tile on the left}}
    %d = mk.dot %a, %b, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @bytes on @mesh (in %x : memref<64x64xi8> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %a8 = mk.load %x[%c0, %c0] : memref<64x64xi8> -> tensor<64x64xi8>
    %b8 = mk.load %x[%c0, %c0] : memref<64x64xi8> -> tensor<64x64xi8>
    %a = arith.sitofp %a8 : tensor<64x64xi8> to tensor<64x64xbf16>
    %b = arith.sitofp %b8 : tensor<64x64xi8> to tensor<64x64xbf16>
    // expected-error-re @+1 {{takes its right operand from registers ('tensor<64x64xbf16>'), but the tensor cores of sm_90a read it from shared memory: let another role convert it in memory (mk.load, convert, mk.store), and mk.load that behind its signal{{$}}}}
    %d = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @columns on @mesh (in %x : memref<64x64xbf16> [64, 64], in %y : memref<264x64xbf16> [264, 64], out %c : memref<64x264xf32> [64, 264]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x264xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %b = mk.load %y[%c0, %c0] : memref<264x64xbf16> -> tensor<264x64xbf16>
    // expected-error @+1 {{'mk.dot' op makes 264 columns, more than the 256 of one instruction of sm_90a and no multiple of 64: use tiles of 256 or 320 columns}}
    %d = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<264x64xbf16>, tensor<64x264xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x264xf32>, memref<64x264xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @transposed on @mesh (in %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %b = arith.mulf %a, %a : tensor<64x64xbf16>
    // expected-error @+1 {{transposes a left operand in registers ('tensor<64x64xbf16>'), which the tensor cores of sm_90a do not: load it from memory, or take mk.transpose of it}}
    %d = mk.dot %b, %a, %zero transpose_a : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @wide on @mesh (in %x : memref<64x64xf32> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %b = arith.mulf %a, %a : tensor<64x64xf32>
    // expected-error @+1 {{takes a left operand of 'f32' from registers, where for sm_90a its elements lie in other threads than those of an accumulator: convert it to bf16 or f16, or load it from memory}}
    %d = mk.dot %b, %a, %zero transpose_b precision = tf32 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @ieee on @mesh (in %x : memref<64x64xf32> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    // expected-error @+1 {{multiplies f32 in full precision, which the tensor cores of sm_90a do not: say 'precision = tf32', or convert the operands}}
    %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @kmajor on @mesh (in %x : memref<128x128xf8E4M3FN> [128, 128], out %c : memref<128x128xf32> [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    // expected-error @+1 {{multiplies 'f8E4M3FN' operands that are not K-major, and the tensor cores of sm_90a transpose 'bf16', 'f16' only: the left tile must be M x K (no transpose_a), the right one N x K (transpose_b)}}
    %d = mk.dot %a, %a, %zero : tensor<128x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>, tensor<128x128xf32>
    mk.store %d, %c[%c0, %c0] : tensor<128x128xf32>, memref<128x128xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @long on @mesh (in %x : memref<128x256xf8E4M3FN> [128, 256], out %c : memref<128x128xf32> [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<128x256xf8E4M3FN> -> tensor<128x256xf8E4M3FN>
    // expected-error @+1 {{adds up 256 products of 'f8E4M3FN' in the tensor cores of sm_90a, which keep few bits of a sum of them; sums go on in f32 after at most 128: use tiles of K = 128}}
    %d = mk.dot %a, %a, %zero transpose_b : tensor<128x256xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<128x128xf32>
    mk.store %d, %c[%c0, %c0] : tensor<128x128xf32>, memref<128x128xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @rows on @mesh (in %x : memref<96x64xbf16> [96, 64], out %c : memref<96x96xf32> [96, 96]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<96x96xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<96x64xbf16> -> tensor<96x64xbf16>
    // expected-error @+1 {{accumulates in 'tensor<96x96xf32>', which the tensor cores of sm_90a do not: 96 rows cannot be split over 1 warpgroup, each of which takes blocks of 64; the next is 128}}
    %d = mk.dot %a, %a, %zero transpose_b : tensor<96x64xbf16>, tensor<96x64xbf16>, tensor<96x96xf32>
    mk.store %d, %c[%c0, %c0] : tensor<96x96xf32>, memref<96x96xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @transposed on @mesh (in %x : memref<100x64xbf16> [100, 64], in %y : memref<64x64xbf16> [64, 64], out %c : memref<100x64xf32> [100, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<100x64xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<100x64xbf16> -> tensor<100x64xbf16>
    %b = mk.load %y[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    // expected-error @+1 {{100 rows cannot be split over 1 warpgroup, each of which takes blocks of 64; the next is 128, and 104 are computed transposed where both operands are loaded}}
    %d = mk.dot %a, %b, %zero transpose_b : tensor<100x64xbf16>, tensor<64x64xbf16>, tensor<100x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<100x64xf32>, memref<100x64xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @columns on @mesh (in %x : memref<64x36xbf16> [64, 36]) {
  mk.role @r ctas(1) {
    // expected-error @+1 {{a staged tile lies in pieces of 16 bytes, 8 elements of 'bf16'; 36 columns of 'tensor<64x36xbf16>' are no multiple of that, the next is 40}}
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x36xbf16>>
  }
}

// -----

// Two accumulators of which one fits.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @registers on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  mk.role @r ctas(1) {
    // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
    %g, %h = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero, %h0 = %zero)
        -> (tensor<128x256xf32>, tensor<128x256xf32>) {
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
      %b1 = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
      %b2 = mk.load %u[%c64, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
      // expected-error @+2 {{needs 256 registers in each thread for the tiles that are live here, a thread of 2 warpgroups of sm_90a has 200 for them: use accumulators of at most 128 x 192}}
      // expected-note @+1 {{'tensor<128x256xf32>' takes 128}}
      %g1 = mk.dot %a, %b1, %g0 transpose_b : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
      %h1 = mk.dot %a, %b2, %h0 transpose_b : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
      scf.yield %g1, %h1 : tensor<128x256xf32>, tensor<128x256xf32>
    }
    %p = arith.mulf %g, %h : tensor<128x256xf32>
    mk.store %p, %c[%c0, %c0] : tensor<128x256xf32>, memref<?x?xf32>
  }
}

// -----

// The last arriver loads: nobody knows ahead who that is.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @last on @mesh (in %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %done = mk.counters() : !mk.counter<1>
  mk.role @r ctas(1) {
    // expected-error @+1 {{decides which tiles come next, for a mk.dot or as items of a loop, but for sm_90a they are fetched ahead of everything that computes: let the choice depend on scalars that are read or computed without tiles and counters, or put the work behind it into a role of its own that a queue or a signal starts}}
    %old = mk.count %done[%c0] add %c1 : !mk.counter<1>
    %last = arith.cmpi eq, %old, %c1 : index
    scf.if %last {
      %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
      %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.store %d, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    }
  }
}

// -----

// The producer may be late: the consumer must not change what it reads.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @number on @mesh (
    in %x : memref<64x?xbf16> [64, 64], scratch %n : memref<1xindex> [1], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    // expected-error @+1 {{is read to find the tiles that are loaded ahead, while another part of the role writes to the same buffer behind it: keep what is written in a buffer of its own, or write it in another role}}
    %end = memref.load %n[%c0] : memref<1xindex>
    // expected-note @+1 {{written here}}
    memref.store %c0, %n[%c0] : memref<1xindex>
    %sum = scf.for %k = %c0 to %end step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
      %a = mk.load %x[%c0, %k] : memref<64x?xbf16> -> tensor<64x64xbf16>
      %d = mk.dot %a, %a, %s transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

// More columns than an instruction has registers for when a kernel begins.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @three on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<192x208xf32>
  mk.role @r ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<192x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<208x64xbf16>
    // expected-error @+1 {{takes 130 registers in one instruction of 208 columns, but the 512 threads of 3 warpgroups and a producer of sm_90a begin with 128: use accumulators of at most 200 columns, or of 128 rows}}
    %d = mk.dot %a, %b, %zero transpose_b : tensor<192x64xbf16>, tensor<208x64xbf16>, tensor<192x208xf32>
    mk.store %d, %c[%c0, %c0] : tensor<192x208xf32>, memref<?x?xf32>
  }
}

// -----

// The largest role decides how many registers the threads of all roles have.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @two_roles on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  mk.role @three ctas(1) {
    %zero = arith.constant dense<0.0> : tensor<192x64xf32>
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<192x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %d = mk.dot %a, %b, %zero transpose_b : tensor<192x64xbf16>, tensor<64x64xbf16>, tensor<192x64xf32>
    mk.store %d, %c[%c0, %c0] : tensor<192x64xf32>, memref<?x?xf32>
  }
  mk.role @two ctas(1) {
    %zero = arith.constant dense<0.0> : tensor<256x160xf32>
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<256x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<160x64xbf16>
    // expected-error @+2 {{needs 160 registers in each thread for the tiles that are live here, a thread of 3 warpgroups of sm_90a has 128 for them: use accumulators of at most 256 x 128}}
    // expected-note @+1 {{'tensor<256x160xf32>' takes 160}}
    %d = mk.dot %a, %b, %zero transpose_b : tensor<256x64xbf16>, tensor<160x64xbf16>, tensor<256x160xf32>
    mk.store %d, %c[%c0, %c0] : tensor<256x160xf32>, memref<?x?xf32>
  }
}

// -----

// Where more columns than 256 would fit, they are a multiple of 64.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @columns_fit on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  mk.role @two ctas(1) {
    %zero = arith.constant dense<0.0> : tensor<128x512xf32>
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<?x?xbf16> -> tensor<512x64xbf16>
    // expected-error @+2 {{use accumulators of at most 128 x 384}}
    // expected-note @+1 {{'tensor<128x512xf32>' takes 256}}
    %d = mk.dot %a, %b, %zero transpose_b : tensor<128x64xbf16>, tensor<512x64xbf16>, tensor<128x512xf32>
    mk.store %d, %c[%c0, %c0] : tensor<128x512xf32>, memref<?x?xf32>
  }
}
