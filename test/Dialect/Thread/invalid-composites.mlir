// RUN: mk-opt %s -mk-thread-verify-expanded -split-input-file -verify-diagnostics
// RUN: mk-opt %s -mk-thread-expand -split-input-file -o %t

// What stands for several steps is refused behind the passes that expand it, which leave none.

mk_thread.kernel @turn threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{is no instruction, it stands for several steps; run mk-thread-expand}}
  mk_thread.take_turn first(8) words []
}

// -----

// Ops with code of some threads, too.
mk_thread.kernel @elect threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %thread = mk_thread.thread_id
  // expected-error @+1 {{is no instruction, it stands for several steps; run mk-thread-expand}}
  mk_thread.elect %thread {
    mk_thread.sync_warp
  }
}

// -----

mk_thread.kernel @instructions threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  mk_thread.sync_warp
  mk_thread.sync_cta
}
