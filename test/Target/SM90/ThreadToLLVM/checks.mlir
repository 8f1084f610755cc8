// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Checks are routines: a comparison, and a branch around the report. They stand in front of the kernel.

mk_thread.kernel @checks threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  %n = mk_thread.param 24 : i64
  %c4 = arith.constant 4 : i64
  // An index against a word of the parameters. What does not exist is 0.
  // CHECK-LABEL: llvm.func weak @mk_check_param_redirect(
  // CHECK-SAME: %[[G:.*]]: i64, %[[OFFSET:.*]]: i64, %[[NAMED:.*]]: i32, %[[KIND:.*]]: i32, %[[ROLE:.*]]: i32, %[[NUMBER:.*]]: i32) -> i64
  // CHECK: %[[PARAMS:.*]] = llvm.inline_asm {{.*}} "mov.b64 $0, checks_param_0;"
  // CHECK: %[[AT:.*]] = arith.addi %[[PARAMS]], %[[OFFSET]]
  // CHECK: %[[EXTENT:.*]] = llvm.inline_asm {{.*}} "ld.param.b64 $0, [$1];", "=l,l" %[[AT]]
  // CHECK: %[[FINE:.*]] = arith.cmpi ult, %[[G]], %[[EXTENT]]
  // CHECK: llvm.cond_br %[[FINE]], ^[[END:bb.*]](%[[G]] : i64), ^
  // CHECK: %[[CONTROL:.*]] = llvm.inline_asm {{.*}} "ld.param.b64 $0, [checks_param_0+64];"
  // CHECK: "atom.acq_rel.gpu.global.exch.b32 $0, [$1+12], 1;", "=r,l,~{memory}" %[[CONTROL]]
  // CHECK: llvm.cond_br %{{.*}}, ^[[LOST:bb.*]], ^
  // CHECK: "ld.param.b64 $0, [checks_param_0+72];"
  // CHECK: "st.global.b32 [$0+4], $1;", "l,r,~{memory}" %{{.*}}, %[[KIND]]
  // CHECK: %[[CTA:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, %ctaid.x;"
  // CHECK: "st.global.b32 [$0+8], $1;", "l,r,~{memory}" %{{.*}}, %[[CTA]]
  // CHECK: "st.global.b32 [$0+12], $1;", "l,r,~{memory}" %{{.*}}, %[[ROLE]]
  // CHECK: "st.global.b32 [$0+16], $1;", "l,r,~{memory}" %{{.*}}, %[[NUMBER]]
  // CHECK: "st.global.b32 [$0+20], $1;", "l,r,~{memory}" %{{.*}}, %[[NAMED]]
  // CHECK: "st.global.b64 [$0+24], $1;", "l,l,~{memory}" %{{.*}}, %[[G]]
  // CHECK: "st.global.b64 [$0+32], $1;", "l,l,~{memory}" %{{.*}}, %[[EXTENT]]
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
  // CHECK: "st.global.b64 [$0+40], $1;", "l,l,~{memory}" %{{.*}}, %[[ONE]]
  // This rank.
  // CHECK: %[[RANK:.*]] = llvm.inline_asm {{.*}} "ld.param.b32 $0, [checks_param_0+124];"
  // CHECK: "st.global.b32 [$0+48], $1;", "l,r,~{memory}" %{{.*}}, %[[RANK]]
  // CHECK: "fence.acq_rel.sys;"
  // CHECK: "st.relaxed.sys.global.b32 [$0+0], 1;"
  // CHECK: "fence.acq_rel.sys;"
  // CHECK: "st.relaxed.sys.global.b32 [$0+8], 1;"
  // CHECK: ^[[LOST]]:
  // CHECK: "st.volatile.shared.b32 [mk_shared+1032], 1;"
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK: llvm.br ^[[END]](%[[ZERO]] : i64)
  // CHECK: ^[[END]](%[[RESULT:.*]]: i64):
  // CHECK: llvm.return %[[RESULT]]
  %i = mk_thread.check %g param(24) least [] named(65539) report(<kind = 13, role = 1, number = 3>) redirect
  // Another word, and another op: the same routine.
  %k = mk_thread.check %g param(32) least [] named(1) report(<kind = 13, role = 2, number = 4>) redirect
  // A range, without a sum that might overflow. Where a condition does not hold nothing is wrong; the argument is
  // chosen at run time.
  // CHECK-NOT: @mk_check_param
  // CHECK-LABEL: llvm.func weak @mk_check_when64_when32_size_extent_chosen_rank(
  // CHECK-SAME: %[[G:.*]]: i64, %[[SIZE:.*]]: i64, %[[N:.*]]: i64, %[[CHOSEN:.*]]: i32, %[[RANK:.*]]: i64, %[[A:.*]]: i64, %[[ALEAST:.*]]: i64, %[[B:.*]]: i32, %[[BLEAST:.*]]: i32, %[[NAMED:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32) {
  // CHECK: %[[LAST:.*]] = arith.subi %[[N]], %[[SIZE]]
  // CHECK: %[[SOME:.*]] = arith.cmpi sge, %[[LAST]], %[[G]]
  // CHECK: %[[BEGINS:.*]] = arith.cmpi sge, %[[G]], %c0_i64
  // CHECK: %[[FINE:.*]] = arith.andi %[[SOME]], %[[BEGINS]]
  // CHECK: llvm.cond_br %[[FINE]], ^[[END:bb.*]], ^
  // CHECK: arith.cmpi slt, %[[A]], %[[ALEAST]]
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]], ^
  // CHECK: arith.cmpi slt, %[[B]], %[[BLEAST]]
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]], ^
  // CHECK: %[[UPPER:.*]] = arith.shli %[[CHOSEN]], %c16_i32
  // CHECK: %[[WHAT:.*]] = arith.ori %[[NAMED]], %[[UPPER]]
  // CHECK: "st.global.b32 [$0+20], $1;", "l,r,~{memory}" %{{.*}}, %[[WHAT]] :
  // CHECK: "st.global.b64 [$0+40], $1;", "l,l,~{memory}" %{{.*}}, %[[SIZE]] :
  // CHECK: "st.global.b64 [$0+48], $1;", "l,l,~{memory}" %{{.*}}, %[[RANK]] :
  // CHECK: ^[[END]]:
  // CHECK-NEXT: llvm.return
  %j = mk_thread.check %g size(%c4) extent(%n) chosen(%w) rank(%g) when(%n, %w : i64, i32) least [1, 2]
      named(259) report(<kind = 13, role = 0, number = 4>)
  mk_thread.fail_unless %w report(<kind = 11, role = 2, number = 0>)
  // CHECK-LABEL: llvm.func weak @mk_report_failure() {
  // CHECK: %[[WHAT:.*]] = llvm.inline_asm {{.*}} "ld.volatile.shared.b32 $0, [mk_shared+1032];"
  // CHECK: arith.cmpi ule, %[[WHAT]], %c1_i32
  // CHECK: llvm.cond_br %{{.*}}, ^[[RIGHT:bb.*]], ^
  // CHECK: "atom.acq_rel.gpu.global.exch.b32 $0, [$1+12], 1;"
  // CHECK: llvm.cond_br %{{.*}}, ^[[KNOWN:bb.*]], ^
  // CHECK: %[[KIND:.*]] = arith.andi %[[WHAT]],
  // CHECK: "st.global.b32 [$0+4], $1;", "l,r,~{memory}" %{{.*}}, %[[KIND]] :
  // CHECK: %[[ROLE:.*]] = arith.shrsi %[[WHAT]],
  // CHECK: "st.global.b32 [$0+12], $1;", "l,r,~{memory}" %{{.*}}, %[[ROLE]] :
  // CHECK: ^[[KNOWN]]:
  // CHECK: "st.relaxed.sys.global.b32 [$0+8], 1;"
  // CHECK: ^[[RIGHT]]:
  mk_thread.report_failure
}

// What differs is given to them.
// CHECK-LABEL: llvm.func @checks
// CHECK: %[[W:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, %ctaid.x;"
// CHECK: %[[G:.*]] = llvm.load
// CHECK: %[[N:.*]] = llvm.load
// CHECK: llvm.call @mk_check_param_redirect(%[[G]], %c24_i64, %c65539_i32, %c13_i32, %c1_i32, %c3_i32)
// CHECK: llvm.call @mk_check_param_redirect(%[[G]], %c32_i64, %
// CHECK: llvm.call @mk_check_when64_when32_size_extent_chosen_rank(%[[G]], %c4_i64, %[[N]], %[[W]], %[[G]], %[[N]], %c1_i64, %[[W]], %c2_i32{{.*}}, %c259_i32, %
// What has failed (11) in which role (2), without a branch.
// CHECK: %[[FAILS:.*]] = llvm.inline_asm {{.*}} "setp.eq.b32 $0, $1, 0;", "=b,r" %[[W]] :
// CHECK: "@$0 st.volatile.shared.b32 [mk_shared+1032], 523;", "b,~{memory}" %[[FAILS]] :
// CHECK: llvm.call @mk_report_failure()
