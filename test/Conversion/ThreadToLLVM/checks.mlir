// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Checks: a comparison, and a jump over the report.

// CHECK-LABEL: llvm.func @checks
mk_thread.kernel @checks threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  %n = mk_thread.param 24 : i64
  %c4 = arith.constant 4 : i64
  // An index against a word of the parameters. What does not exist is 0; the result is the same register.
  // CHECK: mov.b64 begin, $0; ld.param.b64 extent, [checks_param_0+24]; setp.lt.u64 some, begin, extent; @some bra FINE;
  // CHECK-SAME: ld.param.b64 report, [checks_param_0+64]; atom.acq_rel.gpu.global.exch.b32 word, [report+12], 1; setp.ne.u32 some, word, 0; @some bra LOST; ld.param.b64 report, [checks_param_0+72];
  // CHECK-SAME: st.global.b32 [report+4], 13; mov.u32 low, %ctaid.x; st.global.b32 [report+8], low; st.global.b32 [report+12], 1; st.global.b32 [report+16], 3; st.global.b32 [report+20], 65539;
  // CHECK-SAME: mov.b64 value, begin; st.global.b64 [report+24], value; mov.b64 value, extent; st.global.b64 [report+32], value; mov.b64 value, 1; st.global.b64 [report+40], value;
  // This rank.
  // CHECK-SAME: ld.param.b32 word, [checks_param_0+124]; cvt.u64.u32 value, word; st.global.b64 [report+48], value;
  // CHECK-SAME: fence.acq_rel.sys; st.relaxed.sys.global.b32 [report], 1; fence.acq_rel.sys; ld.param.b64 report, [checks_param_0+64]; st.relaxed.sys.global.b32 [report+8], 1; LOST: st.volatile.shared.b32 [mk_shared+1032], 1; mov.b64 $0, 0; FINE: }", "=l,0"
  %i = mk_thread.check %g param(24) least [] named(65539) report(<kind = 13, role = 1, number = 3>) redirect
  // A range, without a sum that might overflow; a constant is in the text. Where the condition does not hold nothing
  // is wrong; the argument is chosen at run time.
  // CHECK: mov.b64 begin, $0; mov.b64 extent, $1; mov.b64 size, 4; sub.s64 value, extent, size; setp.ge.s64 some, value, begin; setp.ge.and.s64 some, begin, 0, some; @some bra FINE; setp.lt.s64 some, $2, 1; @some bra FINE; setp.lt.s32 some, $3, 2; @some bra FINE; shl.b32 named, $4, 16; or.b32 named, named, 259;
  // CHECK-SAME: st.global.b32 [report+20], named;
  // CHECK-SAME: mov.b64 value, size; st.global.b64 [report+40], value; mov.b64 value, $5; st.global.b64 [report+48], value;
  // CHECK-SAME: FINE: }", "l,l,l,r,r,l,~{memory}"
  %j = mk_thread.check %g size(%c4) extent(%n) chosen(%w) rank(%g) when(%n, %w : i64, i32) least [1, 2]
      named(259) report(<kind = 13, role = 0, number = 4>)
  // What has failed (11) in which role (2), without a branch.
  // CHECK: setp.eq.b32 p, $0, 0; @p st.volatile.shared.b32 [mk_shared+1032], 523; }", "r,~{memory}"
  mk_thread.fail_unless %w report(<kind = 11, role = 2, number = 0>)
  // CHECK: ld.volatile.shared.b32 what, [mk_shared+1032]; setp.le.u32 some, what, 1; @some bra RIGHT;
  // CHECK-SAME: exch.b32 word, [report+12], 1; setp.ne.u32 some, word, 0; @some bra KNOWN;
  // CHECK-SAME: and.b32 word, what, 255; st.global.b32 [report+4], word; shr.s32 word, what, 8; st.global.b32 [report+12], word;
  // CHECK-SAME: KNOWN:
  // CHECK-SAME: st.relaxed.sys.global.b32 [report+8], 1; RIGHT: }", "~{memory}"
  mk_thread.report_failure
}
