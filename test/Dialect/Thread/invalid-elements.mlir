// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Elements of tiles.

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{is a room of 64 bytes at 1024 for 48 threads; use whole warps, and offsets in multiples of 8}}
  %a:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>> strides [32, 1] in <threads = 48, offset = 1024, bytes = 64> thread(%w) barrier(%w) : (f32, f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{exchanges elements of 128 threads; more than a warp meet at a barrier, a warp at none}}
  %a:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>> strides [32, 1] in <threads = 128, offset = 1024, bytes = 64> thread(%w) : (f32, f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{exchanges 4 bytes at least, and has room for 0}}
  %a:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>> strides [32, 1] in <threads = 128, offset = 1024, bytes = 0> thread(%w) barrier(%w) : (f32, f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{names 1024 bytes at 3584 of 4096 bytes of shared memory; use an offset in it}}
  %a:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>> strides [32, 1] in <threads = 128, offset = 3584, bytes = 1024> thread(%w) barrier(%w) : (f32, f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{has 1 values for a tile 'tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>>', of which a thread holds 2, each as 'f32'}}
  %a:2 = mk_thread.exchange_elements %x of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>> strides [32, 1] in <threads = 128, offset = 1024, bytes = 64> thread(%w) barrier(%w) : (f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{takes elements of 'tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>>' for 'tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>>' in strides [64, 1]; give one for each dimension, so that all of them exist}}
  %a:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>> strides [64, 1] in <threads = 128, offset = 1024, bytes = 64> thread(%w) barrier(%w) : (f32, f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{of 'tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>' along 0 does not give 'tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>'; accumulators give their slice, other tiles are dealt out, and either gives what mk_sm.partial_sum does}}
  %a:2 = mk_thread.reduce_elements add %x, %x, %x, %x of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> along 0 to tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>> chains 1 : (f32, f32, f32, f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{of 'tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>' along 0 exchanges 128 bytes at least; give a room if there are any}}
  %a:2 = mk_thread.reduce_elements add %x, %x, %x, %x of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> along 0 to tensor<8xf32, #mk_sm.slice<axis = 0, of = #mk_sm.mma<warpgroups = 1>>> chains 1 : (f32, f32, f32, f32) -> (f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{has a set of 1 dimensions and 0 symbols for 'tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>>' and 1}}
  %a:2 = mk_thread.mask_elements %x, %x of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> where affine_set<(r) : (r >= 0)>[%g] else %x : f32 thread(%w) : f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{scales 'tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>' along 2; use accumulators, and axis 0 or 1}}
  %a:4 = mk_thread.scale_elements %x, %x, %x, %x of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> by %x, %x along 2 : f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{moves elements [2] of 'tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>>', of which a thread holds 2, each as 'f32': give as many values, and 2 strides, offsets and limits}}
  %a = mk_thread.load_elements [2] of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) thread(%w) : f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{moves elements [1] in runs; name whole runs of 2}}
  mk_thread.store_elements %x as [1] of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) runs thread(%w) : f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %i = arith.constant 0 : i8
  // expected-error @+1 {{adds elements of 'i8', which memory does not; use f32, f64, bf16, f16, i32 or i64}}
  mk_thread.store_elements %i as [1] of tensor<8x32xi8, #mk_sm.blocked<threads = 128, vector = 2>> to %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) add gpu thread(%w) : i8
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(8192)
    frame(<launch = 64, failed = 8184>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{is done by 4 CTAs of a cluster that has 2: it takes two or more, and all}}
  %a:8 = mk_thread.swap_elements %x, %x, %x, %x, %x, %x, %x, %x of tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>> ctas 4 in(%w) room <threads = 128, offset = 1024, bytes = 4096> barriers 512 parity(%w) thread(%w) report(<kind = 1, role = 0, number = -1>) : (f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(8192)
    frame(<launch = 64, failed = 8184>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{gets 4096 bytes, and has room for 1024}}
  %a:8 = mk_thread.swap_elements %x, %x, %x, %x, %x, %x, %x, %x of tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>> ctas 2 in(%w) room <threads = 128, offset = 1024, bytes = 1024> barriers 512 parity(%w) thread(%w) report(<kind = 1, role = 0, number = -1>) : (f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(8192)
    frame(<launch = 64, failed = 8184>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{takes accumulators of 32 bits with a multiple of 16 columns, not 'tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>'}}
  %a:4 = mk_thread.swap_elements %x, %x, %x, %x of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> ctas 2 in(%w) room <threads = 128, offset = 1024, bytes = 2048> barriers 512 parity(%w) thread(%w) report(<kind = 1, role = 0, number = -1>) : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{is for tiles of one dimension and 32 or 64 bits an element, not 'tensor<64xbf16>'}}
  mk_thread.copy_elements %g stride(%g) offset(%g) limit(%g) to %w counted by %w lane(%w) of tensor<64xbf16>
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{is for tiles of one dimension and 32 or 64 bits an element, not 'tensor<64xbf16, #mk_sm.blocked<threads = 128, vector = 1>>'}}
  %r:2 = mk_thread.read_elements [0, 1] of tensor<64xbf16, #mk_sm.blocked<threads = 128, vector = 1>> at %w columns 64 thread(%w) : bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error-re @+1 {{has 1 values for elements [] of 'tensor<64xf32, {{.*}}>', of which a thread holds 2, each as 'f32'}}
  %r = mk_thread.read_elements [0, 1] of tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>> at %w columns 64 thread(%w) : f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error-re @+1 {{reads a part of 'tensor<64xf32, {{.*}}>', which lies in one place and is read as a whole}}
  %r = mk_thread.read_elements [1] of tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>> at %w columns 64 thread(%w) : f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error-re @+1 {{reads 'tensor<64x128xbf16, {{.*}}>' from 1 places of 64 columns; name 2}}
  %r:2 = mk_thread.read_elements [0, 1] of tensor<64x128xbf16, #mk_sm.mma<warpgroups = 1>> at %w columns 64 thread(%w) : bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error-re @+1 {{reads 'tensor<64x96xbf16, {{.*}}>' in parts of 64 columns; use accumulators, or one tile that is dealt out without idle threads, of 8, 16 or 32 bits, and multiples of 64 columns, or 32 to as many}}
  %r:2 = mk_thread.read_elements [0, 1] of tensor<64x96xbf16, #mk_sm.mma<warpgroups = 1>> at %w, %w columns 64 thread(%w) : bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error-re @+1 {{reads elements [0, 1] of 'tensor<64x64xbf16, {{.*}}>', which lie in runs of 8: use whole ones}}
  %q:2 = mk_thread.read_elements [0, 1] of tensor<64x64xbf16, #mk_sm.blocked<threads = 128, vector = 8>> at %w columns 64 thread(%w) : bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error-re @+1 {{reads elements [1, 2] of 'tensor<64x64xbf16, {{.*}}>', which lie in runs of 2: use whole ones}}
  %r:2 = mk_thread.read_elements [1, 2] of tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> at %w columns 64 thread(%w) : bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  // expected-error @+1 {{is wide where runs are not loaded at once; give `together`}}
  %a:2 = mk_thread.load_elements [0, 1] of tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) wide(%yes) thread(%w) : f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{gathers the rows of 'tensor<256xf32, #mk_sm.blocked<threads = 128, vector = 2>>'; give a tile of two dimensions, without `wide`}}
  %a:2 = mk_thread.load_elements [0, 1] of tensor<256xf32, #mk_sm.blocked<threads = 128, vector = 2>> at %g strides(%g) offsets(%g) limits(%g) list(%g stride %w) entries(%w, %w) thread(%w) : f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %yes = arith.constant true
  // expected-error @+1 {{gathers the rows of 'tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>>' for quads; give a tile of two dimensions, without `wide`}}
  %a:2 = mk_thread.load_elements [0, 1] of tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%yes) wide(%yes) list(%g stride %w) entries(%w, %w) thread(%w) : f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  // expected-error @+1 {{has quads share 4 blocks of 'tensor<64x32xf32, #mk_sm.mma<warpgroups = 1>>'; use two or four of accumulators of 16 bits, and `wide`}}
  %a:16 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] quads 4 of tensor<64x32xf32, #mk_sm.mma<warpgroups = 1>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%yes) wide(%yes) thread(%w) : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  // expected-error @+1 {{has quads share 2 blocks of 'tensor<64x16xbf16, #mk_sm.mma<warpgroups = 1>>'; use two or four of accumulators of 16 bits, and `wide`}}
  %a:8 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7] quads 2 of tensor<64x16xbf16, #mk_sm.mma<warpgroups = 1>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%yes) thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  // expected-error @+1 {{has quads share elements [4, 5, 6, 7] of 'tensor<64x16xbf16, #mk_sm.mma<warpgroups = 1>>'; name 2 whole blocks of the same rows at a time}}
  %a:4 = mk_thread.load_elements [4, 5, 6, 7] quads 2 of tensor<64x16xbf16, #mk_sm.mma<warpgroups = 1>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%yes) wide(%yes) thread(%w) : bf16, bf16, bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  // The last block of a row and the first one of the next rows.
  // expected-error @+1 {{name 2 whole blocks of the same rows at a time}}
  %a:8 = mk_thread.load_elements [8, 9, 10, 11, 12, 13, 14, 15] quads 2 of tensor<128x24xbf16, #mk_sm.mma<warpgroups = 1>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%yes) wide(%yes) thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %h = arith.constant 0.0 : bf16
  %yes = arith.constant true
  // expected-error @+1 {{of 2 elements and 2 blocks; use two or four blocks, whole ones, and elements of 16 bits of one type}}
  %a:2 = mk_thread.exchange_quads 2 %h, %h : bf16, bf16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  // expected-error @+1 {{of 16 elements and 4 blocks; use two or four blocks, whole ones, and elements of 16 bits of one type}}
  %a:16 = mk_thread.exchange_quads 4 %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}
