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
  // expected-error @+1 {{names 512 bytes at 4080 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.dismiss_copiers lane(%w) copiers(<warps = 3, requests = 4080, posted = 1024, barrier = 2>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{has lists of tiles of [144, 0]; give a number of rows and one of chunks for each, of at least 1}}
  mk_thread.serve_copies sizes [2] lists [144, 0] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has a list, its stride or the range of its entries, but not all of them}}
  "mk_thread.request_copy"(%g, %g, %g, %g, %g, %w, %w, %w, %w, %w, %w, %w) <{rows = 64 : i64, chunks = 1 : i64, size = 2 : i64,
      copiers = #mk_thread.copiers<warps = 3, requests = 512, posted = 1024, barrier = 2>,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1>}>
      : (i64, i64, i64, i64, i64, i32, i32, i32, i32, i32, i32, i32) -> ()
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
  mk_thread.pad_tile %w rows(%w, %w) columns(%w, %w) of 64 x 2 size 3 pad(%w) lane(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has elements of 8 bytes; those of tiles in shared memory have 1, 2 or 4}}
  mk_thread.store_buffer %w to %g strides(%g, %g) at(%w, %w) rows(%w, %w) columns(%w, %w) of 64 f64 thread(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{stores elements of 'index', whose size is not known: use integers or floats}}
  mk_thread.store_buffer %w to %g strides(%g, %g) at(%w, %w) rows(%w, %w) columns(%w, %w) of 64 index thread(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{adds elements of 'i16', which memory does not; use f32, f64, bf16, f16, i32 or i64}}
  mk_thread.store_buffer %w to %g strides(%g, %g) at(%w, %w) rows(%w, %w) columns(%w, %w) of 64 i16 add gpu thread(%w)
}

// -----

// expected-error @+1 {{posts 2 x 128 rows in parts of 64 and pieces of 48; use whole pieces, whole parts, and at most 64 rows for a buffer}}
"test.use"() {attr = #mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 48, staging = 2048, buffers = 8, peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>} : () -> ()

// -----

// expected-error @+1 {{posts 2 parts of 256 columns in chunks of 64 through 4 buffers; use one for each chunk of each part}}
"test.use"() {attr = #mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 4, peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>} : () -> ()

// -----

// expected-error @+1 {{posts a tile with 6 coordinates to 1 ranks; there is room for 2 to 5, and for 1 to 8}}
"test.use"() {attr = #mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8, peers = 1, map = 0, coordinates = 6, add = false, signal = 72, sent = 512>} : () -> ()

// -----

// expected-error @+1 {{posts a tile with offsets -8 and 512, map 0 and signal 72; use numbers of at least 0, or -1 for no signal}}
"test.use"() {attr = #mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = -8, buffers = 8, peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>} : () -> ()

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has 6 coordinates and 1 ranks; a post has room for 5 and for 8}}
  mk_thread.post_tile 1 in 512 called at 12 by(%w) sends(%w) element(%g) at(%g, %g, %g, %g, %g, %g) on(%g)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{names 80 bytes at 4092 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.post_tile 1 in 4092 called at 12 by(%w) sends(%w) element(%g) at(%g, %g) on(%g)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{reads 32 bytes at 496 of 512 bytes of parameters; use an offset in them}}
  mk_thread.serve_posts [#mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8, peers = 1, map = 0, coordinates = 2, add = false, signal = 496, sent = 512>] in 512 called at 12 spread 37500
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{names 8 bytes at 4096 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.serve_posts [#mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8, peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 4096>] in 512 called at 12 spread 37500
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{is shared by 4 CTAs, 1 apart, of a cluster that has 2; name those that exist}}
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 64 x 64 to %w counted by %w shared(%w of 4) : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(8) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{is shared by 3 CTAs, 2 apart; use powers of 2}}
  mk_thread.copy_tile %g at(%g, %g) of 192 x 2 box 64 x 64 to %w counted by %w shared(%w of 3 stride 2) : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has 256 rows for 2 CTAs, in boxes of 256; use boxes that fill a CTA's part}}
  mk_thread.copy_tile %g at(%g, %g) of 256 x 2 box 256 x 64 to %w counted by %w shared(%w of 2) : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{comes in one box of 9 rows of 8; say how many are left (rows_left), and use a box that a CTA's part has room for}}
  mk_thread.copy_tile %g at(%g, %g) of 16 x 2 box 9 x 64 to %w counted by %w shared(%w of 2) rows_left(%w) one_box : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{comes in one box of 5 rows of 16; say how many are left}}
  mk_thread.copy_tile %g at(%g, %g) of 16 x 2 box 5 x 64 to %w counted by %w one_box : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has 1 coordinates; a tile in chunks has 2 to 5}}
  mk_thread.copy_tile %g at(%g) of 256 x 2 box 256 x 64 to %w counted by %w : i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{waits until a phase of a barrier is over, whose offset and report it names, or for nothing}}
  "mk_thread.flush_sender"(%w, %w) <{post = 512 : i64, sent = 520 : i64}> : (i32, i32) -> ()
}
