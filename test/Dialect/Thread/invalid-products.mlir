// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Products of a warpgroup.

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{multiplies bf16 by f16; use two of bf16, f16 or tf32, or any of e4m3 and e5m2}}
  %s:4 = mk_thread.product 64 x 8 x 16 width 8 "bf16" * "f16" left(%w of 128) right(%w of 8) -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{transposes e4m3; only 16-bit types are}}
  %s:4 = mk_thread.product 64 x 8 x 32 width 8 "e4m3" * "e4m3" left(%w of 128) right(%w of 8) transposed -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{has 3 values as accumulator and 4 results}}
  %s:4 = mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%w of 128) right(%w of 8) acc(%x, %x, %x) -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  %yes = arith.constant true
  // expected-error @+1 {{says when its accumulator counts, and has none: leave out `accumulate`}}
  %s:4 = mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%w of 128) right(%w of 8) accumulate(%yes) -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{has 64 x 8 x 24 elements; use multiples of 64, 8 and 16, those of an instruction}}
  %s:4 = mk_thread.product 64 x 8 x 24 width 8 "f16" * "f16" left(%w of 128) right(%w of 8) -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{has a left operand of 2 words and 0 rows; give the address of a tile with rows, or 4 words without, and not transposed}}
  %s:4 = mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%w, %w of 0) right(%w of 8) -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 0.0 : f32
  // expected-error @+1 {{has 1 results; a thread has 4 elements of the product}}
  %s = mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%w of 64) right(%w of 8) -> f32
}
