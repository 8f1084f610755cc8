// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Which threads run what; begin and end of a launch; tickets, counters and queues.

mk_thread.kernel @k threads(128) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{is in a kernel of 128 threads, whose first warpgroup is the only one; there has to be another one}}
  mk_thread.specialize %w {
  } consumers {
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{has 1 numbers of registers; there is one for the first warpgroup, and one for the others}}
  mk_thread.specialize %w registers [24] {
  } consumers {
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{is for warps 4 to 12 of a CTA that has 12; name those that exist}}
  mk_thread.by_warps %w in 4 to 12 {
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{needs ranges that ascend: the number of a CTA, and how many there are from it on}}
  mk_thread.by_ctas %w in [8, 4, 10, 2] {
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{has a named barrier, and says how many threads meet there, or neither}}
  "mk_thread.elect"(%w) <{threads = 256 : i64}> ({
  ^bb0:
  }) : (i32) -> ()
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{is for 512 threads of a CTA that has 384; name those that come, in whole warps}}
  mk_thread.elect %w barrier(%w, 512) {
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{is for 48 threads of a CTA that has 384; name those that come, in whole warps}}
  %f = mk_thread.agree_on_failure barrier(%w, 48)
}

// -----

mk_thread.kernel @k threads(128) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{is in a kernel of 128 threads, whose first warpgroup is the only one; there has to be a consumer}}
  mk_thread.end_launch finish(2) barrier(1) flag(512) {
  ^bb0(%me: i32):
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{needs a region with one argument, the number of the thread in the consumer (an i32)}}
  mk_thread.end_launch finish(2) barrier(1) flag(512) {
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{names 4 bytes at 4096 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.end_launch finish(2) barrier(1) flag(4096) {
  ^bb0(%me: i32):
  }
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{reads 32 bytes at 488 of 512 bytes of parameters; use an offset in them}}
  mk_thread.rebase_signals 488 count(%n) by(%w of 256)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{meets at a barrier; name the word in shared memory by which all get the number: `through`}}
  %b = "mk_thread.elect_fetch_add"(%n, %w, %w, %w) <{order = 3 : i32, otherwise = 0 : i64, threads = 256 : i64}> : (i64, i32, i32, i32) -> i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{has `named` and `report`, or neither of them}}
  mk_thread.push_record %n to 72 epoch(%w) named(5)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  // expected-error @+1 {{reads 32 bytes at 488 of 512 bytes of parameters; use an offset in them}}
  %f, %k = mk_thread.pop_record %n from 488 epoch(%w) report(<kind = 2, role = 0, number = 1>) : i64
}
