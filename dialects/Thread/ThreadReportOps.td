//===- ThreadReportOps.td - Waits, checks and records of time -*- tablegen -*-===//
#ifndef MKERNEL_THREAD_REPORT_OPS
#define MKERNEL_THREAD_REPORT_OPS

include "ThreadBase.td"

//===----------------------------------------------------------------------===//
// Waits with a deadline, and checks
//===----------------------------------------------------------------------===//

def MkThread_WaitWordOp : MkThread_EffectOp<"wait_word", [AttrSizedOperandSegments]> {
  let summary = "waits for a word in global memory, reports if that takes too long";
  let description = [{
    Until the word has reached `wanted`, or with `equal` is it; counts go round. With `plus` the sum of
    two words counts, the second one the proxy's. Loads acquire at the scope, `gpu` or `sys`. It returns as well once the
    deadline has passed, or the launch has failed. With `leader`, a word, only threads wait
    where that is not 0.

    A report names the element of the array whose address the parameters have at `array`, or `element`;
    it says `count` instead of `wanted`. `span` is what a record of a wait says that did not find at
    once what it waits for; the frame has tracks then.

    ```mlir
    mk_thread.wait_word gpu %address, %wanted count(%count) array(72)
        report(<kind = 1, role = 0, number = 0>)
    mk_thread.wait_word sys %address equal, %wanted count(%count) plus(%source) leader(%leader)
        element(%n) report(<kind = 2, role = 0, number = 0>) span(<what = 4097, track = 1>)
    ```
  }];
  let arguments = (ins MkThread_Scope:$scope, MkThread_Global:$address, I32:$wanted,
                       UnitAttr:$equal, I32:$count, Optional<MkThread_Global>:$second,
                       Optional<I32>:$leader, Optional<I64>:$element,
                       OptionalAttr<MkThread_Offset>:$array, MkThread_ReportAttr:$report,
                       OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = [{
    $scope $address (`equal` $equal^)? `,` $wanted `count` `(` $count `)`
    (`plus` `(` $second^ `)`)? (`leader` `(` $leader^ `)`)? (`element` `(` $element^ `)`)?
    (`array` `(` $array^ `)`)? `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_CheckOp : MkThread_EffectOp<"check", [AttrSizedOperandSegments]> {
  let summary = "reports an index, or a range, that does not exist";
  let description = [{
    `begin` has to be below the extent, `begin + size` at most it; the extent is an operand, or a
    word of the parameters (`param`). The check counts only where each of `values` is at least what
    `least` says. With `redirect` (no size, no values) the result is the index, or 0 where it does not
    exist; otherwise it is `begin`. `named` says what the op names (`MK_GPU_NAMED`,
    mkernel/ABI/Gpu.h); with `chosen`, a word, the number in it is that. The report says `rank`, or
    this one.

    ```mlir
    %i = mk_thread.check %n param(24) least [] named(65539) report(<kind = 12, role = 0, number = 3>) redirect
    %j = mk_thread.check %n size(%m) extent(%source) chosen(%one) rank(%a) when(%m : i64) least [1]
        named(259) report(<kind = 12, role = 0, number = 4>)
    ```
  }];
  let arguments = (ins I64:$begin, Optional<I64>:$size, Optional<I64>:$extent,
                       OptionalAttr<MkThread_Offset>:$param, Optional<I32>:$chosen, Optional<I64>:$rank,
                       Variadic<AnyTypeOf<[I32, I64]>>:$values, DenseI64ArrayAttr:$least,
                       I64Attr:$named, MkThread_ReportAttr:$report, UnitAttr:$redirect);
  let results = (outs I64:$result);
  let assemblyFormat = [{
    $begin (`size` `(` $size^ `)`)? (`extent` `(` $extent^ `)`)? (`param` `(` $param^ `)`)?
    (`chosen` `(` $chosen^ `)`)? (`rank` `(` $rank^ `)`)?
    (`when` `(` $values^ `:` type($values) `)`)? `least` $least `named` `(` $named `)`
    `report` `(` $report `)` (`redirect` $redirect^)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_ClampEndOp : MkThread_CompositeOp<"clamp_end"> {
  let summary = "the end of a loop that is counted in 32 bits";
  let description = [{
    Of a loop from `from` to `to`. It is `from` where a bound or the step does not fit: a CTA that went
    through more would never end. The launch fails then, if there is a report. An empty loop may end
    far below; it ends where 32 bits begin.

    ```mlir
    %end = mk_thread.clamp_end %a to %n step %m report(<kind = 10, role = 0, number = 0>)
    ```
  }];
  let arguments = (ins I64:$from, I64:$to, I64:$step, OptionalAttr<MkThread_ReportAttr>:$report);
  let results = (outs I64:$result);
  let assemblyFormat = "$from `to` $to `step` $step (`report` `(` $report^ `)`)? attr-dict";
}
def MkThread_FailUnlessOp : MkThread_EffectOp<"fail_unless"> {
  let summary = "the launch fails where a word is 0";
  let description = [{
    What has failed, and in which role, is kept for `report_failure`: a report beside accumulators
    would take registers from them.

    ```mlir
    mk_thread.fail_unless %holds report(<kind = 9, role = 1, number = 0>)
    ```
  }];
  let arguments = (ins I32:$holds, MkThread_ReportAttr:$report);
  let assemblyFormat = "$holds `report` `(` $report `)` attr-dict";
}
def MkThread_ReportFailureOp : MkThread_EffectOp<"report_failure"> {
  let summary = "reports what `fail_unless` has found";
  let description = [{
    ```mlir
    mk_thread.report_failure
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Records of time
//===----------------------------------------------------------------------===//

def MkThread_SpanBeginOp : MkThread_EffectOp<"span_begin"> {
  let summary = "a span of time begins";
  let description = [{
    The track keeps when and, of an item or op, `value`. Spans with different clocks may be in each other.

    ```mlir
    mk_thread.span_begin role <what = 0, track = 1>
    mk_thread.span_begin item <what = 0, track = 1> value(%item)
    ```
  }];
  let arguments = (ins MkThread_Clock:$clock, MkThread_SpanAttr:$span, Optional<I32>:$value);
  let assemblyFormat = "$clock $span (`value` `(` $value^ `)`)? attr-dict";
  let hasVerifier = 1;
}
def MkThread_SpanEndOp : MkThread_EffectOp<"span_end"> {
  let summary = "a span of time ends, and is recorded";
  let description = [{
    With `kept` the record has the value that `span_begin` was given.

    ```mlir
    mk_thread.span_end item <what = 4097, track = 1> kept
    ```
  }];
  let arguments = (ins MkThread_Clock:$clock, MkThread_SpanAttr:$span, UnitAttr:$kept);
  let assemblyFormat = "$clock $span (`kept` $kept^)? attr-dict";
  let hasVerifier = 1;
}
def MkThread_MomentOp : MkThread_EffectOp<"moment"> {
  let summary = "records a moment with a value";
  let description = [{
    ```mlir
    mk_thread.moment <what = 12289, track = 1>, %element
    ```
  }];
  let arguments = (ins MkThread_SpanAttr:$span, I32:$value);
  let assemblyFormat = "$span `,` $value attr-dict";
  let hasVerifier = 1;
}
def MkThread_TracksOpenOp : MkThread_EffectOp<"tracks_open"> {
  let summary = "the tracks of this CTA begin";
  let description = [{
    Those of warpgroups, or the one that is named.

    ```mlir
    mk_thread.tracks_open
    mk_thread.tracks_open of <what = 0, track = 2, thread = 96>
    ```
  }];
  let arguments = (ins OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = "(`of` $span^)? attr-dict";
  let hasVerifier = 1;
}
def MkThread_TracksCloseOp : MkThread_EffectOp<"tracks_close"> {
  let summary = "the tracks of this CTA end";
  let description = [{
    Those of warpgroups, or the one that is named.

    ```mlir
    mk_thread.tracks_close
    ```
  }];
  let arguments = (ins OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = "(`of` $span^)? attr-dict";
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_REPORT_OPS
