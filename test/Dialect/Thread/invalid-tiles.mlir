// RUN: mk-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics

// Tiles in shared memory.

// expected-error @+1 {{has 4 copiers that meet at barrier 2; there are 1 to 3 in the producer's warpgroup, and barriers 0 to 15}}
"test.use"() {attr = #mk_thread.copiers<warps = 4, requests = 512, posted = 1024, barrier = 2>} : () -> ()

// -----

// expected-error @+1 {{has requests at 520 and their number at 1024; use offsets of at least 0, in multiples of 16 and of 4}}
"test.use"() {attr = #mk_thread.copiers<warps = 3, requests = 520, posted = 1024, barrier = 2>} : () -> ()

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{names 416 bytes at 4080 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.dismiss_copiers lane(%w) copiers(<warps = 3, requests = 4080, posted = 1024, barrier = 2>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has elements of 8 bytes; those of tiles in shared memory have 1, 2 or 4}}
  mk_thread.serve_copies sizes [2, 8] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has elements of 3 bytes; those of tiles in shared memory have 1, 2 or 4}}
  mk_thread.trim_tile %w rows(%w, %w) columns(%w, %w) of 64 x 2 size 3 pad(%w) lane(%w)
}
