// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Records of time: words of a track lie in shared memory, 32 bytes each; those of threads that do not record are
// words that nobody reads (2048 + 8 * 32). Routines without branches.

mk_thread.kernel @spans threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>) {
  %w = mk_thread.cta_id
  // By the first thread of each warpgroup.
  // CHECK-LABEL: llvm.func weak @mk_tracks_open_what0(
  // CHECK: %[[THREAD:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, %tid.x;"
  // CHECK: %[[UNREAD:.*]] = arith.constant 2304 : i32
  // CHECK: %[[PLACE:.*]] = arith.andi %[[THREAD]], %c127_i32
  // CHECK: %[[ME:.*]] = llvm.inline_asm {{.*}} "setp.eq.b32 $0, $1, 0;", "=b,r" %[[PLACE]] :
  // CHECK: %[[GROUP:.*]] = arith.shrui %[[THREAD]], %c7_i32
  // CHECK: %[[WORDS:.*]] = arith.addi
  // CHECK: %[[PLACE:.*]] = arith.select %[[ME]], %[[WORDS]], %[[UNREAD]]
  // CHECK: %[[SHARED:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, mk_shared;"
  // CHECK: %[[AT:.*]] = arith.addi %[[SHARED]], %[[PLACE]]
  // CHECK: arith.addi %{{.*}}, %[[GROUP]]
  // CHECK: "ld.param.b64 $0, [spans_param_0+16];"
  // CHECK: %[[TIME:.*]] = llvm.inline_asm {{.*}} "@$1 mov.u64 $0, %globaltimer;", "=l,b" %[[ME]] :
  // CHECK: %[[SM:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, %smid;"
  // CHECK: "@$2 st.global.b32 [$0+{{[0-9]+}}], $1;", "l,r,b,~{memory}" %{{.*}}, %[[SM]], %[[ME]] :
  // CHECK: "@$2 st.global.b64 [$0+{{[0-9]+}}], $1;", "l,l,b,~{memory}" %{{.*}}, %[[TIME]], %[[ME]] :
  // CHECK: "st.volatile.shared.b32 [$0+4], $1;", "r,r,~{memory}" %[[AT]],
  // CHECK: "st.volatile.shared.b32 [$0+0], 0;", "r,~{memory}" %[[AT]] :
  mk_thread.tracks_open
  // By thread 128 of track 1. The begin of an item is word 2, its value word 3.
  // CHECK-LABEL: llvm.func weak @mk_span_begin_value2_what0_track1(
  // CHECK-SAME: %[[VALUE:.*]]: i32)
  // CHECK: %[[ME:.*]] = llvm.inline_asm {{.*}} "setp.eq.u32 $0, $1, 128;"
  // CHECK: arith.select %[[ME]], %c2080_i32, %c2304_i32
  // CHECK: "@$1 mov.u64 $0, %globaltimer;"
  // CHECK: "st.volatile.shared.b32 [$0+8], $1;"
  // CHECK: "st.volatile.shared.b32 [$0+12], $1;", "r,r,~{memory}" %{{.*}}, %[[VALUE]] :
  mk_thread.span_begin item <what = 0, track = 1> value(%w)
  // CHECK-LABEL: llvm.func weak @mk_span_begin4_what0_track1(
  // CHECK: "st.volatile.shared.b32 [$0+16], $1;"
  mk_thread.span_begin op <what = 0, track = 1>
  // The record has 4 words: what, value, begin, end.
  // CHECK-LABEL: llvm.func weak @mk_span_end4_what4097_track1(
  // CHECK: %[[ME:.*]] = llvm.inline_asm {{.*}} "setp.eq.u32 $0, $1, 128;"
  // CHECK: %[[POSITION:.*]] = llvm.inline_asm {{.*}} "ld.volatile.shared.b32 $0, [$1+0];"
  // CHECK: %[[FITS:.*]] = llvm.inline_asm {{.*}} "setp.lt.and.u32 $0, $1, 4096, $2;", "=b,r,b" %[[POSITION]], %[[ME]] :
  // CHECK: %[[NEXT:.*]] = arith.addi %[[POSITION]], %c1_i32
  // CHECK: "st.volatile.shared.b32 [$0+0], $1;", "r,r,~{memory}" %{{.*}}, %[[NEXT]] :
  // CHECK: "@$1 st.global.b32 [$0+64], 4097;", "l,b,~{memory}" %{{.*}}, %[[FITS]] :
  // CHECK: "@$1 st.global.b32 [$0+68], 0;"
  // CHECK: %[[BEGIN:.*]] = llvm.inline_asm {{.*}} "ld.volatile.shared.b32 $0, [$1+16];"
  // CHECK: "@$2 st.global.b32 [$0+72], $1;", "l,r,b,~{memory}" %{{.*}}, %[[BEGIN]], %[[FITS]] :
  // CHECK: "@$1 mov.u64 $0, %globaltimer;", "=l,b" %[[FITS]] :
  // CHECK: "@$2 st.global.b32 [$0+76], $1;"
  mk_thread.span_end op <what = 4097, track = 1>
  // With the value that was kept.
  // CHECK: "@$1 st.global.b32 [$0+64], 4098;"
  // CHECK: %[[KEPT:.*]] = llvm.inline_asm {{.*}} "ld.volatile.shared.b32 $0, [$1+12];"
  // CHECK: "@$2 st.global.b32 [$0+68], $1;", "l,r,b,~{memory}" %{{.*}}, %[[KEPT]],
  // CHECK: "ld.volatile.shared.b32 $0, [$1+8];"
  mk_thread.span_end item <what = 4098, track = 1> kept
  // Where a role ends the next one begins.
  // CHECK: "@$1 st.global.b32 [$0+64], 4099;"
  // CHECK: "@$2 st.global.b32 [$0+76], $1;", "l,r,b,~{memory}" %{{.*}}, %[[NOW:.*]], %
  // CHECK-NEXT: "st.volatile.shared.b32 [$0+4], $1;", "r,r,~{memory}" %{{.*}}, %[[NOW]] :
  mk_thread.span_end role <what = 4099, track = 2>
  // A moment begins when it ends.
  // CHECK-LABEL: llvm.func weak @mk_moment_what12289_track1(
  // CHECK-SAME: %[[VALUE:.*]]: i32)
  // CHECK: "@$1 st.global.b32 [$0+64], 12289;"
  // CHECK: "@$2 st.global.b32 [$0+68], $1;", "l,r,b,~{memory}" %{{.*}}, %[[VALUE]], %
  // CHECK: "@$1 mov.u64 $0, %globaltimer;"
  // CHECK: "@$2 st.global.b32 [$0+72], $1;", "l,r,b,~{memory}" %{{.*}}, %[[NOW:.*]], %
  // CHECK: "@$2 st.global.b32 [$0+76], $1;", "l,r,b,~{memory}" %{{.*}}, %[[NOW]], %
  mk_thread.moment <what = 12289, track = 1>, %w
  // CHECK: %[[TIME:.*]] = llvm.inline_asm {{.*}} "@$1 mov.u64 $0, %globaltimer;"
  // CHECK: %[[COUNT:.*]] = llvm.inline_asm {{.*}} "ld.volatile.shared.b32 $0, [$1+0];"
  // CHECK: "@$2 st.global.b32 [$0+{{[0-9]+}}], $1;", "l,r,b,~{memory}" %{{.*}}, %[[COUNT]], %
  // CHECK: "@$2 st.global.b64 [$0+{{[0-9]+}}], $1;", "l,l,b,~{memory}" %{{.*}}, %[[TIME]], %
  mk_thread.tracks_close
}
// CHECK-LABEL: llvm.func @spans
// CHECK: %[[W:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, %ctaid.x;"
// CHECK: llvm.call @mk_span_begin_value2_what0_track1(%[[W]])
// CHECK: llvm.call @mk_span_end4_what4097_track1()
// CHECK: llvm.call @mk_moment_what12289_track1(%[[W]])
