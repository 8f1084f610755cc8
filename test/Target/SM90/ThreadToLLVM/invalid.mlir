// RUN: mk-opt %s -convert-mk-thread-to-llvm -split-input-file -verify-diagnostics

mk_thread.kernel @one threads(128) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
}
// expected-error @+1 {{is the second kernel of the module, and both would have the same shared memory; put it into a module of its own}}
mk_thread.kernel @two threads(128) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
}

// -----

mk_thread.kernel @unexpanded threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{is no instruction, it stands for several steps; run mk-thread-expand}}
  mk_thread.take_turn first(8) words []
}
