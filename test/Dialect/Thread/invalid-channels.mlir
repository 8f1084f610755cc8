// RUN: mk-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics

// Rings and mailboxes.

// expected-error @+1 {{has 0 slots of 256 bytes; a channel has at least one, in multiples of 8 bytes}}
"test.use"() {attr = #mk_thread.channel<full = 0, empty = 32, slots = 1024, depth = 0, bytes = 256>} : () -> ()

// -----

// expected-error @+1 {{has slots at 1024 and barriers at 4 and 32; use offsets of at least 0, in multiples of 8}}
"test.use"() {attr = #mk_thread.channel<full = 4, empty = 32, slots = 1024, depth = 4, bytes = 256>} : () -> ()

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{names 32 bytes at 4088 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.release_slot <full = 0, empty = 4088, slots = 1024, depth = 4, bytes = 256> at(%w) lane(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{names 1024 bytes at 4000 of 4096 bytes of shared memory; use an offset in it}}
  %a, %b = mk_thread.take_slot full of <full = 0, empty = 32, slots = 4000, depth = 4, bytes = 256> at(%w, %w) report(<kind = 3, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %mask = arith.constant 5 : i32
  // expected-error @+1 {{names CTAs by the mask 5 of a cluster that has 2; name some that exist}}
  mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%w) lane(%w) writers(%mask)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has 2 words of 8 bytes for slots of 8}}
  mk_thread.send_words %g, %g to <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 8> at(%w, %w) lane(%w) report(<kind = 3, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has 2 words of 8 bytes for slots of 8}}
  %m:2 = mk_thread.receive_words from <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 8> at(%w, %w) lane(%w) report(<kind = 3, role = 0, number = 0>) : i64, i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{has 1 stages and parities for 1 words; a word is one of each}}
  %p = mk_thread.take_turn first(8) words [512] : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{names 4 bytes at 4096 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.pass_turn first(8) words [4096] of (%w, %w) thread(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{attribute 'first' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 1 whose maximum value is 14}}
  mk_thread.take_turn first(15) words []
}
