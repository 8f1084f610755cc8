// RUN: mk-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics

// Products, waits, checks and records of time.

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has 12 columns; there are 8 to 256, in steps of 8}}
  %x:4 = mk_thread.wgmma n(12) k(16) "bf16" * "bf16" left(%g : i64) + 0 right(%g) + 0 -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{multiplies bf16 by f16; use two of bf16, f16 or tf32, or any of e4m3 and e5m2}}
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "f16" left(%g : i64) + 0 right(%g) + 0 -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{contracts 16 elements; of tf32 it is 8}}
  %x:4 = mk_thread.wgmma n(8) k(16) "tf32" * "tf32" left(%g : i64) + 0 right(%g) + 0 -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has a left operand that is neither a descriptor (an i64) nor 4 registers (i32)}}
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%w, %w : i32, i32) + 0 right(%g) + 0 -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has a left operand in registers, which has no offset and is not transposed}}
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%w, %w, %w, %w : i32, i32, i32, i32) + 2 right(%g) + 0 -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{transposes tf32; only 16-bit types are}}
  %x:4 = mk_thread.wgmma n(8) k(8) "tf32" * "tf32" left(%g : i64) + 0 right(%g) + 0 transposed -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{attribute 'right_offset' failed to satisfy constraint}}
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%g : i64) + 0 right(%g) + 16384 -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has 2 results; a thread has 4 elements of the product}}
  %x:2 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%g : i64) + 0 right(%g) + 0 -> f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{has 1 values as accumulator and 4 results}}
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%g : i64) + 0 right(%g) + 0 acc(%f : f32) -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  %some = arith.constant true
  // expected-error @+1 {{says when its accumulator counts, and has none: leave out `accumulate`}}
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%g : i64) + 0 right(%g) + 0 accumulate(%some) -> f32, f32, f32, f32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{attribute 'pending' failed to satisfy constraint}}
  mk_thread.wgmma_wait 8
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{pins no values; name those that are to be computed here}}
  "mk_thread.pin"() : () -> ()
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{converts 'f32'; use f8E4M3FN or f8E5M2}}
  %x = mk_thread.to_fp8 f32 %f, %f
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %h = mk_thread.load_shared 1030 : i16
  // expected-error @+1 {{converts 'f16'; use f8E4M3FN or f8E5M2}}
  %x = mk_thread.from_fp8 f16 %h
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{acquires at scope cta; what others write is acquired at gpu or sys}}
  mk_thread.wait_word cta %g, %w count(%w) array(72) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has to say which element its report names: by `array`, or by `element`}}
  mk_thread.wait_word gpu %g, %w count(%w) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has to say which element its report names: by `array`, or by `element`}}
  mk_thread.wait_word gpu %g, %w count(%w) element(%g) array(72) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{reads 8 bytes at 76 of the parameters; use an offset that is a multiple of 8}}
  mk_thread.wait_word gpu %g, %w count(%w) array(76) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{records times in a kernel that has no tracks; give its frame `timeline`, `tracks` and `words`}}
  mk_thread.wait_word gpu %g, %w count(%w) array(72) report(<kind = 1, role = 0, number = 0>) span(<what = 0, track = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{needs one extent: an operand (`extent`), or a word of the parameters (`param`)}}
  %x = mk_thread.check %g least [] named(0) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{needs one extent: an operand (`extent`), or a word of the parameters (`param`)}}
  %x = mk_thread.check %g extent(%g) param(24) least [] named(0) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{reads 8 bytes at 512 of 512 bytes of parameters; use an offset in them}}
  %x = mk_thread.check %g param(512) least [] named(0) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has 1 conditions and 0 bounds of them; use a bound for each}}
  %x = mk_thread.check %g param(24) when(%g : i64) least [] named(0) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{names 4294967296; that is 0 to 4294967295}}
  %x = mk_thread.check %g param(24) least [] named(4294967296) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{names 65536; that is 0 to 65535, since `chosen` has the bits above}}
  %x = mk_thread.check %g param(24) chosen(%w) least [] named(65536) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{redirects an index; a range, or one under conditions, is not redirected}}
  %x = mk_thread.check %g size(%g) param(24) least [] named(0) report(<kind = 1, role = 0, number = 0>) redirect
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{records times in a kernel that has no tracks; give its frame `timeline`, `tracks` and `words`}}
  mk_thread.tracks_open
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{records times in a kernel that has no tracks; give its frame `timeline`, `tracks` and `words`}}
  mk_thread.tracks_close
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{records times in a kernel that has no tracks; give its frame `timeline`, `tracks` and `words`}}
  mk_thread.moment <what = 0, track = 0>, %w
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 2, words = 2048>) {
  // expected-error @+1 {{is on track 2 of 2; the first one is 0, and -1 that of the thread's warpgroup}}
  mk_thread.span_begin item <what = 0, track = 2>
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 2, words = 2048>) {
  // expected-error @+1 {{is on track 2 of 2; the first one is 0, and -1 that of the thread's warpgroup}}
  mk_thread.span_end item <what = 0, track = 2>
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 2, words = 2048>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{keeps a value for a span of a role; only those of an item or op have one}}
  mk_thread.span_begin role <what = 0, track = 0> value(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 2, words = 2048>) {
  // expected-error @+1 {{keeps a value for a span of a wait; only those of an item or op have one}}
  mk_thread.span_end wait <what = 0, track = 0> kept
}

// -----

mk_thread.kernel @mk_kernel threads(256) cluster(1) params(176) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 2, words = 2048>) {
  // expected-error @+1 {{a span on track -1 is recorded by thread 96: name a thread of the CTA, and the track on which it records}}
  mk_thread.tracks_open of <what = 0, track = -1, thread = 96>
  mk_thread.return
}
