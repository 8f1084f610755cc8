// RUN: mk-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics

// Regions, commands and signals.

// expected-error @+1 {{slots are at 8, their barriers at 512; use offsets of at least 0, in multiples of 16 and of 8}}
"test.use"() {attr = #mk_thread.slots<at = 8, barriers = 512, count = 2, bytes = 512>} : () -> ()

// -----

// expected-error @+1 {{has 1 slots of 512 bytes; loads run ahead of stores through at least 2, in multiples of 16 bytes}}
"test.use"() {attr = #mk_thread.slots<at = 0, barriers = 512, count = 1, bytes = 512>} : () -> ()

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %y = arith.constant true
  // expected-error @+1 {{gives the places of 2 dimensions; there are 1}}
  %c, %r, %is, %p:2 = mk_thread.plan_runs %g to %g sizes(%g) from(%g) to(%g) of bf16 : i32, i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %y = arith.constant true
  // expected-error @+1 {{has 1 sizes and strides of 2 and 1 dimensions; use one of each for each}}
  %c, %r, %is, %p = mk_thread.plan_runs %g to %g sizes(%g) from(%g, %g) to(%g) of bf16 : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %y = arith.constant true
  // expected-error @+1 {{adds elements of 'i16', which memory does not; use f32, f64, bf16, f16, i32 or i64}}
  mk_thread.copy_runs %w of %g from %g to %g sizes(%w) from(%g) to(%g) of i16 add aligned(%y) by(%w of 32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %y = arith.constant true
  // expected-error @+1 {{has several destinations; elements that are added, or go through slots, have one}}
  mk_thread.copy_runs %w of %g from %g to %g sizes(%w) from(%g) to(%g) also(%g) of f32 add aligned(%y) by(%w of 32)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %y = arith.constant true
  // expected-error @+1 {{has a stage and a parity of the next load and of the next store, gives those that follow, and has a report, if it has slots, and only then}}
  mk_thread.copy_runs %w of %g from %g to %g sizes(%w) from(%g) to(%g) of i16 aligned(%y) by(%w of 32) report(<kind = 9, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %y = arith.constant true
  // expected-error @+1 {{names 1024 bytes at 4080 of 4096 bytes of shared memory; use an offset in it}}
  %n:4 = mk_thread.copy_runs %w of %g from %g to %g sizes(%w) from(%g) to(%g) of i16 aligned(%y) by(%w of 32) through(<at = 4080, barriers = 0, count = 2, bytes = 512>, %w, %w, %w, %w) report(<kind = 9, role = 0, number = 0>) -> i32, i32, i32, i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %y = arith.constant true
  // expected-error @+1 {{is strong, and raises no signal that could be: leave out `strong`}}
  mk_thread.send_runs %w of %g from %g to %g sizes(%w) from(%g) to(%g) on %g by %w strong report(<kind = 7, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{is of kind 3; a put is 1, a signal 2}}
  mk_thread.command 3 flags(%w) on %g by %w from %g to %g, %w slot(%g) add 1 report(<kind = 7, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{raises a signal by 65536; a command has room for 0 to 65535}}
  mk_thread.command 2 flags(%w) on %g by %w from %g to %g, %w slot(%g) add 65536 report(<kind = 7, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{is raised here, which needs no `net`: name a peer, or leave it out}}
  mk_thread.raise 72[%g] add 1 sys net(%w) report(<kind = 7, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{needs a report of the wait for room in the ring with `net`; only then it may be strong, or have a team or a span}}
  mk_thread.raise 72[%g] add 1 sys on %g strong
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{needs a report of the wait for room in the ring with `net`; only then it may be strong, or have a team or a span}}
  mk_thread.notify_peers 8 in 72 net(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{reads 32 bytes at 76 of the parameters; use an offset that is a multiple of 8}}
  mk_thread.raise 76[%g] add 1 sys
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{reads 32 bytes at 496 of 512 bytes of parameters; use an offset in them}}
  mk_thread.await_peers 8 in 496, %w by(%w of 256) report(<kind = 5, role = -1, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{acquires at scope cta; what others signal is acquired at gpu or sys}}
  mk_thread.await_signal cta 72[%g], %w count(%w) report(<kind = 1, role = 0, number = 0>)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  %s = mk_thread.shared_base 0
  %17 = arith.constant 17 : i32
  // expected-error @+1 {{copies 17 bytes; the copy engine takes multiples of 16}}
  mk_thread.copy_bulk %g to %s, %17 counted by %s
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  %s = mk_thread.shared_base 0
  %24 = arith.constant 24 : i32
  // expected-error @+1 {{copies 24 bytes; the copy engine takes multiples of 16}}
  mk_thread.store_bulk %s to %g, %24
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // expected-error @+1 {{is in front of what is sent, in a kernel without `net`, where nothing is: leave `sends` out, or add `net`}}
  %k = mk_thread.await_peer %g of 8 in 72 sends, %w seen(%w) report(<kind = 4, role = 0, number = 0>)
}
