// RUN: mk-opt %s -split-input-file -convert-mk-thread-to-llvm | FileCheck %s

// Waits are routines: a try, then a loop that looks at the clock and gives up past the deadline.

mk_thread.kernel @waits threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %b = mk_thread.shared_base 0
  %c = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // By whole warps: they vote. The deadline (launch + 24) in units of 2^20 ns.
  // CHECK-LABEL: llvm.func weak @mk_wait_barrier(
  // CHECK-SAME: %[[B:.*]]: i32, %[[P:.*]]: i32, %[[STAGE:.*]]: i32, %[[KIND:.*]]: i32, %[[ROLE:.*]]: i32, %[[NUMBER:.*]]: i32)
  // CHECK: %[[DONE:.*]] = llvm.inline_asm {{.*}} "mbarrier.try_wait.parity.shared::cta.b64 $0, [$1], $2;", "=b,r,r,~{memory}" %[[B]], %[[P]] :
  // CHECK: %[[ALL:.*]] = nvvm.vote.sync  all %{{.*}}, %[[DONE]] -> i1
  // CHECK: llvm.cond_br %[[ALL]], ^[[END:bb.*]], ^
  // CHECK: "ld.param.b64 $0, [waits_param_0+88];"
  // CHECK: arith.constant 20 :
  // CHECK: %[[DEADLINE:.*]] = arith.minui
  // CHECK: nvvm.read.ptx.sreg.globaltimer : i64
  // CHECK: %[[BEGIN:.*]] = arith.trunci
  // CHECK: llvm.br ^[[AGAIN:.*]](%[[DEADLINE]], %[[BEGIN]] : i32, i32)
  // CHECK: ^[[AGAIN]](%[[LEFT:.*]]: i32, %[[LAST:.*]]: i32):
  // CHECK: "mbarrier.try_wait
  // CHECK: nvvm.vote.sync  all
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]], ^
  // It looks when 8 units have passed, not before.
  // CHECK: %[[NOW:.*]] = arith.trunci
  // CHECK: %[[PASSED:.*]] = arith.subi %[[NOW]], %[[LAST]]
  // CHECK: %[[PERIOD:.*]] = arith.constant 8 : i32
  // CHECK: %[[EARLY:.*]] = arith.cmpi ult, %[[PASSED]], %[[PERIOD]]
  // CHECK: %[[ALL:.*]] = nvvm.vote.sync  all %{{.*}}, %[[EARLY]] -> i1
  // CHECK: llvm.cond_br %[[ALL]], ^[[AGAIN]](%[[LEFT]], %[[LAST]] : i32, i32), ^
  // CHECK: %[[SUM:.*]] = arith.addi %[[LEFT]], %[[LAST]]
  // CHECK: %[[LESS:.*]] = arith.subi %[[SUM]], %[[NOW]]
  // CHECK: llvm.cond_br %{{.*}}, ^[[AGAIN]](%[[LESS]], %[[NOW]] : i32, i32), ^
  // The second time it ends.
  // CHECK: arith.cmpi sge, %[[LESS]]
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]], ^
  // The report, without branches: kind, role, number, stage, parity.
  // CHECK: "ld.param.b64 $0, [waits_param_0+64];"
  // CHECK: "atom.acq_rel.gpu.global.exch.b32 $0, [$1+12], 1;"
  // CHECK: %[[MINE:.*]] = llvm.inline_asm {{.*}} "setp.eq.b32 $0, $1, 0;", "=b,r"
  // CHECK: "@$2 st.global.b32 [$0+4], $1;", "l,r,b,~{memory}" %{{.*}}, %[[KIND]], %[[MINE]] :
  // CHECK: "@$2 st.global.b32 [$0+12], $1;", "l,r,b,~{memory}" %{{.*}}, %[[ROLE]], %[[MINE]] :
  // CHECK: "@$2 st.global.b32 [$0+16], $1;", "l,r,b,~{memory}" %{{.*}}, %[[NUMBER]], %[[MINE]] :
  // CHECK: "@$2 st.global.b32 [$0+24], $1;", "l,r,b,~{memory}" %{{.*}}, %[[STAGE]], %[[MINE]] :
  // CHECK: "@$2 st.global.b32 [$0+32], $1;", "l,r,b,~{memory}" %{{.*}}, %[[P]], %[[MINE]]
  // It goes on: the launch has failed, the other side comes.
  // CHECK: "st.relaxed.sys.global.b32 [$0+8], 1;"
  // CHECK: "st.volatile.shared.b32 [mk_shared+1032], 1;"
  // CHECK: llvm.br ^[[AGAIN]](%{{.*}}, %[[NOW]] : i32, i32)
  // CHECK: ^[[END]]:
  // CHECK-NEXT: llvm.return
  mk_thread.mbarrier_wait %b, %c stage(%c) report(<kind = 1, role = 2, number = 3>)
  // For two deadlines.
  // CHECK-LABEL: llvm.func weak @mk_wait_barrier_doubly(
  // CHECK: "ld.param.b64 $0, [waits_param_0+88];"
  // CHECK-NEXT: arith.constant 19 :
  mk_thread.mbarrier_wait %b, %c stage(%c) report(<kind = 1, role = 2, number = 3>) double_deadline

  // Reached or passed, counted round.
  // CHECK-LABEL: llvm.func weak @mk_wait_gpu_array(
  // CHECK-SAME: %[[ADDRESS:.*]]: i64, %[[WANTED:.*]]: i32, %[[COUNT:.*]]: i32, %[[ARRAY:.*]]: i64, %
  // CHECK: %[[SEEN:.*]] = llvm.inline_asm {{.*}} "ld.acquire.gpu.global.b32 $0, [$1];"
  // CHECK: %[[MORE:.*]] = arith.subi %[[SEEN]], %[[WANTED]] :
  // CHECK: arith.cmpi sge, %[[MORE]],
  // CHECK: llvm.cond_br %{{.*}}, ^[[END:bb.*]], ^
  // CHECK: "ld.volatile.shared.b32 $0, [mk_shared+1032];"
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]], ^
  // CHECK: nvvm.nanosleep
  // CHECK: "ld.acquire.gpu.global.b32 $0, [$1];"
  // The abort words of the launch and of the job.
  // CHECK: "ld.param.b64 $0, [waits_param_0+64];"
  // CHECK: "ld.relaxed.sys.global.b32 $0, [$1+8];"
  // CHECK: llvm.cond_br %{{.*}}, ^[[STOP:bb.*]], ^
  // CHECK: %[[JOB:.*]] = llvm.inline_asm {{.*}} "ld.param.b64 $0, [waits_param_0+80];"
  // CHECK: "ld.relaxed.sys.global.b32 $0, [$1+0];", "=r,l,~{memory}" %[[JOB]] :
  // CHECK: llvm.cond_br %{{.*}}, ^[[STOP]], ^
  // The element of the array, and the count for what is wanted.
  // CHECK: "ld.param.b64 $0, [waits_param_0+72];"
  // CHECK: arith.addi %{{.*}}, %[[ARRAY]]
  // CHECK: %[[BASE:.*]] = llvm.inline_asm {{.*}} "ld.param.b64 $0, [$1];"
  // CHECK: arith.subi %[[ADDRESS]], %[[BASE]]
  // CHECK: arith.shrsi
  // CHECK: "st.global.b64 [$0+24], $1;"
  // CHECK: arith.extsi %[[COUNT]]
  // CHECK: "st.global.b64 [$0+32], $1;"
  // CHECK: ^[[STOP]]:
  // CHECK: "st.relaxed.sys.global.b32 [$0+12], 1;"
  mk_thread.wait_word gpu %g, %c count(%c) array(72) report(<kind = 4, role = 0, number = 0>)
  // Exactly it; the sum of two words; one thread; the element as it is given.
  // CHECK-LABEL: llvm.func weak @mk_wait_sys_equal_second_leader(
  // CHECK-SAME: %{{.*}}: i64, %[[C:.*]]: i32, %{{.*}}: i32, %{{.*}}: i64, %[[LEADER:.*]]: i32, %[[G:.*]]: i64, %
  // CHECK: arith.cmpi eq, %[[LEADER]], %c0_i32
  // CHECK: llvm.cond_br %{{.*}}, ^[[END:bb.*]], ^
  // CHECK: %[[A:.*]] = llvm.inline_asm {{.*}} "ld.acquire.sys.global.b32 $0, [$1];"
  // CHECK: %[[B:.*]] = llvm.inline_asm {{.*}} "ld.acquire.sys.global.b32 $0, [$1];"
  // CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[B]]
  // CHECK: %[[MORE:.*]] = arith.subi %[[SUM]], %[[C]]
  // CHECK: arith.cmpi eq, %[[MORE]],
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]], ^
  // CHECK: "st.global.b64 [$0+24], $1;", "l,l,~{memory}" %{{.*}}, %[[G]] :
  mk_thread.wait_word sys %g equal, %c count(%c) plus(%g) leader(%c) element(%g)
      report(<kind = 4, role = 0, number = 0>)
}
// CHECK-LABEL: llvm.func @waits
// CHECK: llvm.call @mk_wait_barrier(%[[B:.*]], %[[C:.*]], %[[C]], %c1_i32, %c2_i32, %c3_i32)
// CHECK: llvm.call @mk_wait_barrier_doubly(%[[B]], %[[C]], %[[C]], %
// CHECK: llvm.call @mk_wait_gpu_array(%[[G:.*]], %[[C]], %[[C]], %c72_i64, %c4_i32, %
// CHECK: llvm.call @mk_wait_sys_equal_second_leader(%[[G]], %[[C]], %[[C]], %[[G]], %[[C]], %[[G]], %

// -----

// A record of a wait that did not find what it waits for at once, and that ends well.

// CHECK-LABEL: llvm.func weak @mk_wait_sys_what4097_track1(
mk_thread.kernel @recorded threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>) {
  %c = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: "ld.volatile.shared.b32 $0, [mk_shared+1032];"
  // CHECK: "setp.eq.u32 $0, $1, 128;"
  // CHECK: "st.volatile.shared.b32 [$0+24], $1;"
  // CHECK: nvvm.nanosleep
  // CHECK: llvm.cond_br %{{.*}}, ^[[LATE:bb.*]], ^
  // CHECK: ^[[LATE]]:
  // CHECK: "ld.param.b64 $0, [recorded_param_0+16];"
  // CHECK: "@$1 st.global.b32 [$0+64], 4097;"
  // CHECK-NEXT: arith.trunci
  // CHECK-NEXT: "@$2 st.global.b32 [$0+68], $1;"
  mk_thread.wait_word sys %g, %c count(%c) element(%g) report(<kind = 4, role = 0, number = 0>)
      span(<what = 4097, track = 1>)
}
