// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Fragments.

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{is of 'tensor<64x4294967296xf32, #mk_sm.mma<warpgroups = 1>>', of which a thread would hold 2147483648 elements: use tiles of which it holds less than 65536}}
  %a = mk_thread.hold_elements %x, %x, %x, %x : f32, f32, f32, f32 -> tensor<64x4294967296xf32, #mk_sm.mma<warpgroups = 1>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{has 3 values for elements [] of 'tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>', of which a thread holds 4, each as 'f32': name some of them, or none for all, and give each, or words of them}}
  %a = mk_thread.hold_elements %x, %x, %x : f32, f32, f32 -> tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{has 1 values for elements [32, 33] of 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>', of which a thread holds 32, each as 'bf16': name some of them, or none for all, and give each, or words of them}}
  %a = mk_thread.take_elements only [32, 33] of %t : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> -> i32
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{has 2 values for elements [-1, 0] of 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>', of which a thread holds 32, each as 'bf16': name some of them, or none for all, and give each, or words of them}}
  mk_thread.load_ahead [-1, 0] of %t : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{of 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>' ends in no elementwise op, spread or load that gives it, all of it}}
  %a = mk_thread.on_demand : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> {
    mk_thread.sync_warp
  }
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{of 'tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>' ends in no elementwise op, spread or load that gives it, all of it}}
  %a = mk_thread.on_demand : tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> {
    %l:2 = mk_thread.load_elements [0, 1] of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) thread(%w) : f32, f32
  }
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{of 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>' to 'tensor<64x64xbf16, #mk_sm.blocked<threads = 128, vector = 2>>' moves elements between threads; spread a slice, one element, or the transposed tile}}
  %a = mk_thread.spread %t : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> to tensor<64x64xbf16, #mk_sm.blocked<threads = 128, vector = 2>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{stores 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>'; give it a layout that fits, and 2 strides, offsets and limits}}
  mk_thread.store_fragment %t to %g strides(%g) offsets(%g, %g) limits(%g, %g) grouped 32 thread(%w) : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  %b = arith.constant dense<true> : tensor<64x64xi1, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{adds elements of 'i1', which memory does not}}
  mk_thread.store_fragment %b to %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) add gpu grouped 32 thread(%w) : tensor<64x64xi1, #mk_sm.mma<warpgroups = 1>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  %b = arith.constant dense<0.0> : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{stores 'tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>>', which is no accumulator in chunks of 128 bytes}}
  mk_thread.stage_fragment %b in 1024 buffers 1 barrier 2 where %yes at() rows 64 : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{sends parts of 64 rows by 48; use a divisor}}
  mk_thread.stage_fragment %t in 1024 buffers 1 barrier 2 where %yes at() rows 48 : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{has 1 coordinates; a tile in parts has 2 to 5}}
  mk_thread.stage_fragment %t in 1024 buffers 1 barrier 2 where %yes maps(%g : i64) at(%w) rows 64 : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{needs a region with three arguments: a buffer, a row and a column (i32)}}
  mk_thread.stage_fragment %t in 1024 buffers 1 barrier 2 where %yes at() rows 64 : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> {
    mk_thread.sync_warp
  }
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{shared memory}}
  mk_thread.stage_fragment %t in 1024 buffers 4 barrier 2 where %yes at() rows 64 : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{moves elements [0, 1, 2, 3] of 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>'; use accumulators of 32-bit elements, and whole runs of 4}}
  mk_thread.spill_fragment %t to %g step 2048 where %w : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{moves elements [0, 1, 3, 2] of}}
  %a:4 = mk_thread.reload_elements [0, 1, 3, 2] of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> at %g step 2048 where %w : f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %t = arith.constant dense<0.0> : tensor<64x192xbf16, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{stores 'tensor<64x192xbf16, #mk_sm.mma<warpgroups = 1>>' through 1 buffers: it takes accumulators of which these hold eight rows for each warp}}
  mk_thread.stage_rows %t in 1024 buffers 1 barrier 2 to %g strides(%g, %g) rows(%w, %w) columns(%w, %w)
      : tensor<64x192xbf16, #mk_sm.mma<warpgroups = 1>>
}

// -----

mk_thread.kernel @k threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %t = arith.constant dense<0.0> : tensor<64x256xf32, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{stores 'tensor<64x256xf32, #mk_sm.mma<warpgroups = 1>>' through 4 buffers: it takes accumulators}}
  mk_thread.stage_rows %t in 1024 buffers 4 barrier 2 to %g strides(%g, %g) rows(%w, %w) columns(%w, %w)
      : tensor<64x256xf32, #mk_sm.mma<warpgroups = 1>>
}
