// RUN: mk-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics

// Attributes, the kernel, its parameters and shared memory.

// expected-error @+1 {{a frame has offsets of at least 0, `launch` and `timeline` in multiples of 8, `failed` and `words` of 4}}
"test.use"() {attr = #mk_thread.frame<launch = 4, failed = 0>} : () -> ()

// -----

// expected-error @+1 {{a frame has offsets of at least 0, `launch` and `timeline` in multiples of 8, `failed` and `words` of 4}}
"test.use"() {attr = #mk_thread.frame<launch = 0, failed = 2>} : () -> ()

// -----

// expected-error @+1 {{a frame has offsets of at least 0, `launch` and `timeline` in multiples of 8, `failed` and `words` of 4}}
"test.use"() {attr = #mk_thread.frame<launch = 0, failed = 0, timeline = 12, tracks = 2>} : () -> ()

// -----

// expected-error @+1 {{a frame has offsets of at least 0, `launch` and `timeline` in multiples of 8, `failed` and `words` of 4}}
"test.use"() {attr = #mk_thread.frame<launch = 0, failed = 0, timeline = 8, tracks = 2, words = -4>} : () -> ()

// -----

// expected-error @+1 {{a frame has 9 tracks; there are at most 8}}
"test.use"() {attr = #mk_thread.frame<launch = 0, failed = 0, timeline = 8, tracks = 9>} : () -> ()

// -----

// expected-error @+1 {{a frame has -1 tracks; there are at most 8}}
"test.use"() {attr = #mk_thread.frame<launch = 0, failed = 0, tracks = -1>} : () -> ()

// -----

// expected-error @+1 {{a frame with 2 tracks has their address at 0 and their words at 0: give `timeline`, `tracks` and `words`, or none of them}}
"test.use"() {attr = #mk_thread.frame<launch = 0, failed = 0, tracks = 2>} : () -> ()

// -----

// expected-error @+1 {{a frame with 0 tracks has their address at 0 and their words at 64: give `timeline`, `tracks` and `words`, or none of them}}
"test.use"() {attr = #mk_thread.frame<launch = 0, failed = 0, words = 64>} : () -> ()

// -----

// expected-error @+1 {{a span says `what` in 32 bits, not 4294967296}}
"test.use"() {attr = #mk_thread.span<what = 4294967296, track = 0>} : () -> ()

// -----

// expected-error @+1 {{a span is on track 0 to 7, or on that of its warpgroup (-1), not on 8}}
"test.use"() {attr = #mk_thread.span<what = 0, track = 8>} : () -> ()

// -----

// expected-error @+1 {{a report has a kind from 1 to 255, not 0}}
"test.use"() {attr = #mk_thread.report<kind = 0, role = 0, number = 0>} : () -> ()

// -----

// expected-error @+1 {{a report names a role from 0 on, or -1 for none, not -2}}
"test.use"() {attr = #mk_thread.report<kind = 1, role = -2, number = 0>} : () -> ()

// -----

// expected-error @+1 {{has 40 threads; a CTA has 32 to 1024, in whole warps}}
mk_thread.kernel @k threads(40) cluster(2) params(512) shared(4096) frame(<launch = 64, failed = 1032>) {
}

// -----

// expected-error @+1 {{has 2048 threads; a CTA has 32 to 1024, in whole warps}}
mk_thread.kernel @k threads(2048) cluster(2) params(512) shared(4096) frame(<launch = 64, failed = 1032>) {
}

// -----

// expected-error @+1 {{has clusters of 17 CTAs; there are 1 to 8}}
mk_thread.kernel @k threads(384) cluster(17) params(512) shared(4096) frame(<launch = 64, failed = 1032>) {
}

// -----

// expected-error @+1 {{has 4104 bytes of parameters; there are at most 4096, so put what is large in global memory}}
mk_thread.kernel @k threads(384) cluster(2) params(4104) shared(4096) frame(<launch = 64, failed = 1032>) {
}

// -----

// expected-error @+1 {{keeps its failure at byte 1032 of 1032 bytes of shared memory; make that larger}}
mk_thread.kernel @k threads(384) cluster(2) params(512) shared(1032) frame(<launch = 64, failed = 1032>) {
}

// -----

// expected-error @+1 {{finds its launch, 112 bytes, at byte 64 of 168 bytes of parameters; make these larger}}
mk_thread.kernel @k threads(384) cluster(2) params(168) shared(4096) frame(<launch = 64, failed = 1032>) {
}

// -----

// expected-error @+1 {{finds the address of its tracks at byte 512 of 512 bytes of parameters; make these larger}}
mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096) frame(<launch = 64, failed = 1032, timeline = 512, tracks = 2, words = 2048>) {
}

// -----

// expected-error @+1 {{keeps 288 bytes of its tracks at byte 3812 of 4096 bytes of shared memory; make that larger}}
mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096) frame(<launch = 64, failed = 1032, timeline = 16, tracks = 2, words = 3812>) {
}

// -----

// expected-error @+1 {{has a body with arguments; mk_thread.param reads the parameters}}
"mk_thread.kernel"() ({
^bb0(%arg: i64):
}) {sym_name = "k", threads = 384, cluster = 1, param_bytes = 512, shared_bytes = 4096,
    frame = #mk_thread.frame<launch = 64, failed = 1032>} : () -> ()

// -----

"test.holder"() ({
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  mk_thread.kernel @k threads(384) cluster(1) params(512) shared(4096) frame(<launch = 64, failed = 1032>) {
  }
}) : () -> ()

// -----

func.func @outside() {
  // expected-error @+1 {{stands outside of mk_thread.kernel, where nothing lowers it; move it into the kernel}}
  mk_thread.sync_cta
  return
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{reads 8 bytes at 20 of the parameters; use an offset that is a multiple of 8}}
  %x = mk_thread.param 20 : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{reads 4 bytes at 512 of 512 bytes of parameters; use an offset in them}}
  %x = mk_thread.param 512 : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{is pinned, and reads 4 bytes; pinned words have 8: read an i64, or do not pin it}}
  %x = mk_thread.param pinned 16 : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %x = mk_thread.param -8 : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{reads 1 bytes at 512 of 512 bytes of parameters; use an offset in them}}
  %x = mk_thread.param_address 512
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{has an offset, and is not pinned: add the offset to the base}}
  %x = mk_thread.shared_base 16
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{names 1 bytes at 4096 of 4096 bytes of shared memory; use an offset in it}}
  %x = mk_thread.shared_base pinned 4096
}
