// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Checks: a comparison, and a branch around the report.

// CHECK-LABEL: llvm.func @checks
mk_thread.kernel @checks threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  %n = mk_thread.param 24 : i64
  %c4 = arith.constant 4 : i64
  // CHECK: %[[W:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, %ctaid.x;"
  // CHECK: %[[G:.*]] = llvm.load
  // CHECK: %[[N:.*]] = llvm.load
  // An index against a word of the parameters. What does not exist is 0.
  // CHECK: %[[I:.*]] = scf.execute_region -> i64 {
  // CHECK: %[[EXTENT:.*]] = llvm.inline_asm {{.*}} "ld.param.b64 $0, [checks_param_0+24];"
  // CHECK: %[[FINE:.*]] = llvm.inline_asm {{.*}} "setp.lt.u64 $0, $1, $2;", "=b,l,l" %[[G]], %[[EXTENT]] :
  // CHECK: llvm.cond_br %[[FINE]], ^[[END:bb.*]](%[[G]] : i64), ^
  // CHECK: %[[CONTROL:.*]] = llvm.inline_asm {{.*}} "ld.param.b64 $0, [checks_param_0+64];"
  // CHECK: "atom.acq_rel.gpu.global.exch.b32 $0, [$1+12], 1;", "=r,l,~{memory}" %[[CONTROL]]
  // CHECK: llvm.cond_br %{{.*}}, ^[[LOST:bb.*]], ^
  // CHECK: "ld.param.b64 $0, [checks_param_0+72];"
  // CHECK: "st.global.b32 [$0+4], 13;"
  // CHECK: %[[CTA:.*]] = llvm.inline_asm {{.*}} "mov.u32 $0, %ctaid.x;"
  // CHECK: "st.global.b32 [$0+8], $1;", "l,r,~{memory}" %{{.*}}, %[[CTA]]
  // CHECK: "st.global.b32 [$0+12], 1;"
  // CHECK: "st.global.b32 [$0+16], 3;"
  // CHECK: "st.global.b32 [$0+20], 65539;"
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
  // CHECK: scf.yield %[[RESULT]]
  %i = mk_thread.check %g param(24) least [] named(65539) report(<kind = 13, role = 1, number = 3>) redirect
  // A range, without a sum that might overflow; a constant is in the text. Where the condition does not hold nothing
  // is wrong; the argument is chosen at run time.
  // CHECK: scf.execute_region -> i64 {
  // CHECK: %[[LAST:.*]] = llvm.inline_asm {{.*}} "sub.s64 $0, $1, 4;", "=l,l" %[[N]] :
  // CHECK: %[[SOME:.*]] = llvm.inline_asm {{.*}} "setp.ge.s64 $0, $1, $2;", "=b,l,l" %[[LAST]], %[[G]] :
  // CHECK: %[[FINE:.*]] = llvm.inline_asm {{.*}} "setp.ge.and.s64 $0, $1, 0, $2;", "=b,l,b" %[[G]], %[[SOME]] :
  // CHECK: llvm.cond_br %[[FINE]], ^[[END:bb.*]](%[[G]] : i64), ^
  // CHECK: "setp.lt.s64 $0, $1, 1;", "=b,l" %[[N]] :
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]](%[[G]] : i64), ^
  // CHECK: "setp.lt.s32 $0, $1, 2;", "=b,r" %[[W]] :
  // CHECK: llvm.cond_br %{{.*}}, ^[[END]](%[[G]] : i64), ^
  // CHECK: %[[NAMED:.*]] = llvm.inline_asm {{.*}} "mad.lo.u32 $0, $1, 65536, 259;", "=r,r" %[[W]] :
  // CHECK: "st.global.b32 [$0+20], $1;", "l,r,~{memory}" %{{.*}}, %[[NAMED]] :
  // CHECK: "st.global.b64 [$0+40], $1;", "l,l,~{memory}" %{{.*}}, %c4_i64 :
  // CHECK: "st.global.b64 [$0+48], $1;", "l,l,~{memory}" %{{.*}}, %[[G]] :
  // CHECK: llvm.br ^[[END]](%[[G]] : i64)
  %j = mk_thread.check %g size(%c4) extent(%n) chosen(%w) rank(%g) when(%n, %w : i64, i32) least [1, 2]
      named(259) report(<kind = 13, role = 0, number = 4>)
  // What has failed (11) in which role (2), without a branch.
  // CHECK: %[[FAILS:.*]] = llvm.inline_asm {{.*}} "setp.eq.b32 $0, $1, 0;", "=b,r" %[[W]] :
  // CHECK: "@$0 st.volatile.shared.b32 [mk_shared+1032], 523;", "b,~{memory}" %[[FAILS]] :
  mk_thread.fail_unless %w report(<kind = 11, role = 2, number = 0>)
  // CHECK: scf.execute_region {
  // CHECK: %[[WHAT:.*]] = llvm.inline_asm {{.*}} "ld.volatile.shared.b32 $0, [mk_shared+1032];"
  // CHECK: "setp.le.u32 $0, $1, 1;", "=b,r" %[[WHAT]] :
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
