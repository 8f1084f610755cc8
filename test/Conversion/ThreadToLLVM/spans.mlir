// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Records of time: words of a track lie in shared memory, 32 bytes each; those of threads that do not record are
// words that nobody reads (2048 + 8 * 32).

// CHECK-LABEL: llvm.func @spans
mk_thread.kernel @spans threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>) {
  %w = mk_thread.cta_id
  // By the first thread of each warpgroup.
  // CHECK: mov.u32 at, %tid.x; and.b32 now, at, 127; setp.eq.u32 me, now, 0; shr.u32 group, at, 7; mad.lo.u32 place, group, 32, 2048; selp.b32 place, place, 2304, me;
  // CHECK-SAME: mad.lo.u32 now, now, 3, group;
  // CHECK-SAME: ld.param.b64 tracks, [spans_param_0+16];
  // CHECK-SAME: mov.u32 now, %smid; @me st.global.b32 [tracks+{{[0-9]+}}], now;
  // CHECK-SAME: st.volatile.shared.b32 [at+4], now; st.volatile.shared.b32 [at+0], 0; }", "~{memory}"
  mk_thread.tracks_open
  // By thread 128 of track 1. The begin of an item is word 2, its value word 3.
  // CHECK: setp.eq.u32 me, at, 128; selp.b32 place, 2080, 2304, me;
  // CHECK-SAME: @me mov.u64 time, %globaltimer; cvt.u32.u64 now, time; st.volatile.shared.b32 [at+8], now; st.volatile.shared.b32 [at+12], $0; }", "r,~{memory}"
  mk_thread.span_begin item <what = 0, track = 1> value(%w)
  // CHECK: st.volatile.shared.b32 [at+16], now; }", "~{memory}"
  mk_thread.span_begin op <what = 0, track = 1>
  // The record has 4 words: what, value, begin, end.
  // CHECK: ld.volatile.shared.b32 place, [at+0]; setp.lt.u32 fits, place, 4096; and.pred fits, fits, me;
  // CHECK-SAME: mad.lo.u32 now, now, 3, 1;
  // CHECK-SAME: add.u32 place, place, 1; st.volatile.shared.b32 [at+0], place;
  // CHECK-SAME: @fits st.global.b32 [tracks+{{[0-9]+}}], 4097; @fits st.global.b32 [tracks+{{[0-9]+}}], 0; ld.volatile.shared.b32 place, [at+16]; @fits st.global.b32 [tracks+{{[0-9]+}}], place; @fits mov.u64 time, %globaltimer;
  mk_thread.span_end op <what = 4097, track = 1>
  // With the value that was kept.
  // CHECK: @fits st.global.b32 [tracks+{{[0-9]+}}], 4098; ld.volatile.shared.b32 place, [at+12]; @fits st.global.b32 [tracks+{{[0-9]+}}], place; ld.volatile.shared.b32 place, [at+8];
  mk_thread.span_end item <what = 4098, track = 1> kept
  // Where a role ends the next one begins.
  // CHECK: st.volatile.shared.b32 [at+4], now; }", "~{memory}"
  mk_thread.span_end role <what = 4099, track = 2>
  // A moment begins when it ends.
  // CHECK: @fits st.global.b32 [tracks+{{[0-9]+}}], 12289; @fits st.global.b32 [tracks+{{[0-9]+}}], $0; @fits mov.u64 time, %globaltimer; cvt.u32.u64 now, time; @fits st.global.b32 [tracks+{{[0-9]+}}], now; @fits st.global.b32 [tracks+{{[0-9]+}}], now; }", "r,~{memory}"
  mk_thread.moment <what = 12289, track = 1>, %w
  // CHECK: ld.volatile.shared.b32 now, [at+0]; @me st.global.b32 [tracks+{{[0-9]+}}], now; @me st.global.b64 [tracks+{{[0-9]+}}], time; }", "~{memory}"
  mk_thread.tracks_close
}
