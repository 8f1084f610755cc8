// RUN: mk-opt %s -split-input-file -convert-mk-thread-to-llvm | FileCheck %s

// Waits: a try, then a loop that looks at the clock and gives up past the deadline.

// CHECK-LABEL: llvm.func @waits
mk_thread.kernel @waits threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %b = mk_thread.shared_base 0
  %c = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // By whole warps: they vote. The deadline (launch + 24) in units of 2^20 ns. The report: kind, role, number,
  // stage, parity.
  // CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; vote.sync.all.pred done, done, 0xffffffff; @done bra DONE; ld.param.b64 value, [waits_param_0+88];
  // CHECK-SAME: shf.r.wrap.b32 low, low, high, 20;
  // CHECK-SAME: AGAIN: mbarrier.try_wait
  // CHECK-SAME: setp.eq.u32 some, low, last; vote.sync.all.pred some, some, 0xffffffff; @some bra AGAIN;
  // CHECK-SAME: ld.param.b64 value, [waits_param_0+64]; atom.acq_rel.gpu.global.exch.b32 low, [value+12], 1;
  // CHECK-SAME: @some st.global.b32 [value+4], 1;
  // CHECK-SAME: @some st.global.b32 [value+12], 2; @some st.global.b32 [value+16], 3; @some st.global.b32 [value+24], $2; @some st.global.b32 [value+32], $1;
  // It goes on: the launch has failed, the other side comes.
  // CHECK-NOT: bra STOP
  // CHECK-SAME: st.volatile.shared.b32 [mk_shared+1032], 1;
  // CHECK-SAME: bra AGAIN; DONE: }", "r,r,r,~{memory}"
  mk_thread.mbarrier_wait %b, %c stage(%c) report(<kind = 1, role = 2, number = 3>)
  // For two deadlines.
  // CHECK: @done bra DONE; ld.param.b64 value, [waits_param_0+88];
  // CHECK-SAME: shf.r.wrap.b32 low, low, high, 19;
  mk_thread.mbarrier_wait %b, %c stage(%c) report(<kind = 1, role = 2, number = 3>) double_deadline

  // Reached or passed, counted round.
  // CHECK: ld.acquire.gpu.global.b32 seen, [$0]; sub.u32 low, seen, $1; setp.ge.s32 done, low, 0; @done bra DONE; ld.volatile.shared.b32 word, [mk_shared+1032]; setp.ne.u32 some, word, 0; @some bra DONE;
  // CHECK-SAME: AGAIN: nanosleep.u32 32; ld.acquire.gpu
  // The abort words of the launch and of the job.
  // CHECK-SAME: ld.param.b64 value, [waits_param_0+64]; ld.relaxed.sys.global.b32 low, [value+8]; setp.ne.u32 some, low, 0; @some bra STOP; ld.param.b64 value, [waits_param_0+80];
  // The element of the array, and the count for what is wanted.
  // CHECK-SAME: ld.param.b64 value, [waits_param_0+72]; sub.s64 value, $0, value; shr.s64 value, value, 2; st.global.b64 [report+24], value; cvt.s64.s32 value, $2; st.global.b64 [report+32], value;
  // CHECK-SAME: STOP:
  // CHECK-SAME: DONE: }", "l,r,r,~{memory}"
  mk_thread.wait_word gpu %g, %c count(%c) array(72) report(<kind = 4, role = 0, number = 0>)
  // Exactly it; the sum of two words; one thread; the element as it is given.
  // CHECK: setp.eq.u32 some, $5, 0; @some bra DONE; ld.acquire.sys.global.b32 seen, [$0]; ld.acquire.sys.global.b32 low, [$3]; add.u32 seen, seen, low; setp.eq.u32 done, seen, $1; @done bra DONE;
  // CHECK-SAME: mov.b64 value, $4; st.global.b64 [report+24], value;
  // CHECK-SAME: DONE: }", "l,r,r,l,l,r,~{memory}"
  mk_thread.wait_word sys %g equal, %c count(%c) plus(%g) leader(%c) element(%g)
      report(<kind = 4, role = 0, number = 0>)
}

// -----

// A record of a wait that did not find what it waits for at once, and that ends well.

// CHECK-LABEL: llvm.func @recorded
mk_thread.kernel @recorded threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>) {
  %c = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: @done bra DONE;
  // CHECK-SAME: setp.eq.u32 me, at, 128;
  // CHECK-SAME: st.volatile.shared.b32 [at+24], now;
  // CHECK-SAME: AGAIN:
  // CHECK-SAME: @done bra LATE;
  // CHECK-SAME: bra DONE; LATE:
  // CHECK-SAME: ld.param.b64 tracks, [recorded_param_0+16];
  // CHECK-SAME: @fits st.global.b32 [tracks+{{[0-9]+}}], 4097; mov.b64 value, $3; cvt.u32.u64 word, value; @fits st.global.b32 [tracks+{{[0-9]+}}], word;
  mk_thread.wait_word sys %g, %c count(%c) element(%g) report(<kind = 4, role = 0, number = 0>)
      span(<what = 4097, track = 1>)
}
