//===- ThreadTransferOps.td - Regions, commands, signals ----*- tablegen -*-===//
#ifndef MKERNEL_THREAD_TRANSFER_OPS
#define MKERNEL_THREAD_TRANSFER_OPS

include "ThreadBase.td"

//===----------------------------------------------------------------------===//
// Runs of a region
//===----------------------------------------------------------------------===//

def MkThread_SlotsAttr : MkThread_Attr<"Slots", "slots"> {
  let summary = "slots of shared memory through which the copy engine takes a region";
  let description = [{
    `count` slots of `bytes` bytes each from byte `at` on, their barriers from byte `barriers` on.

    ```mlir
    #mk_thread.slots<at = 1024, barriers = 512, count = 4, bytes = 512>
    ```
  }];
  let parameters = (ins "int64_t":$at, "int64_t":$barriers, "int64_t":$count, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def MkThread_PlanRunsOp : MkThread_Op<"plan_runs", [MkThread_Composite, Pure, AttrSizedOperandSegments]> {
  let summary = "how a region is gone through in runs, which lie in one piece at both ends";
  let description = [{
    So many elements in each dimension lie `from` bytes from each other at the source and `to` bytes at
    the destination. What lies side by side at both ends is one run; with `listed` each row is at least one. The results are
    the number of runs, the bytes of one, whether all of them can be copied in multiples of 16 bytes, and in how many
    places of each dimension runs begin.

    ```mlir
    %runs:5 = mk_thread.plan_runs %source to %dest sizes(%n, %m) from(%a, %b) to(%a, %b)
        of bf16 : i32, i32
    %rows:4 = mk_thread.plan_runs %source to %dest sizes(%n) from(%a) to(%a) of bf16 listed : i32
    ```
  }];
  let arguments = (ins I64:$source, I64:$dest, Variadic<I64>:$sizes, Variadic<I64>:$from,
                       Variadic<I64>:$to, TypeAttr:$element, UnitAttr:$listed);
  let results = (outs I32:$count, I64:$run, I1:$aligned, Variadic<I32>:$places);
  let assemblyFormat = [{
    $source `to` $dest `sizes` `(` $sizes `)` `from` `(` $from `)` `to` `(` $to `)` `of` $element
    (`listed` $listed^)? attr-dict `:` type($places)
  }];
  let hasVerifier = 1;
}

/// `count` runs of `run` bytes, from as many places of each dimension as `plan_runs` says.
defvar MkThread_runs = (ins I64:$source, I64:$dest, I32:$count, I64:$run, Variadic<I32>:$sizes,
                            Variadic<I64>:$from, Variadic<I64>:$to, Optional<MkThread_Shared>:$rows);
defvar MkThread_runsFormat = [{
    $count `of` $run `from` $source `to` $dest `sizes` `(` $sizes `)` `from` `(` $from `)` `to` `(` $to `)`
    (`rows` `(` $rows^ `)`)?
}];

def MkThread_CopyRunsOp : MkThread_CompositeOp<"copy_runs", [AttrSizedOperandSegments]> {
  let summary = "copies runs of a region of memory, or adds them to another one";
  let description = [{
    As `plan_runs` has found them. With `rows`, the address of numbers (i32) in shared memory, the rows of the source
    are those that they name; less than 0 means none. With `add` elements are added, atomically at system scope.
    All of `threads` threads come here, `thread` among them is this one; the copy is complete for those that
    have worked on it. `also` are destinations that get the same, with the strides of the first.

    Where runs are `aligned`, the first warp has the copy engine take them through `slots`, for which it hands on
    stage and parity of the next load and of the next store; without slots the lanes of one warp copy 16 bytes
    each. Else threads go element by element.

    ```mlir
    mk_thread.copy_runs %count of %n from %source to %dest sizes(%some) from(%a) to(%b) of bf16
        aligned(%yes) by(%lane of 32)
    %next:4 = mk_thread.copy_runs %count of %n from %source to %dest sizes(%some, %more) from(%a, %b) to(%a, %b)
        rows(%list) of f32 add aligned(%yes) by(%thread of 128)
        through(<at = 1024, barriers = 512, count = 4, bytes = 512>, %stage, %parity, %back, %flip)
        report(<kind = 9, role = 0, number = 0>) -> i32, i32, i32, i32
    ```
  }];
  let arguments = !con(MkThread_runs, (ins Variadic<I64>:$also, TypeAttr:$element, UnitAttr:$add, I1:$aligned, I32:$thread,
                                  I64Attr:$threads,
                                    OptionalAttr<MkThread_SlotsAttr>:$slots, Variadic<I32>:$places,
                                    OptionalAttr<MkThread_ReportAttr>:$report));
  let results = (outs Variadic<I32>:$next);
  let assemblyFormat = MkThread_runsFormat # [{
    (`also` `(` $also^ `)`)? `of` $element (`add` $add^)? `aligned` `(` $aligned `)` `by` `(` $thread `of` $threads `)`
    (`through` `(` $slots^ `,` $places `)`)? (`report` `(` $report^ `)`)? attr-dict (`->` type($next)^)?
  }];
  let hasVerifier = 1;
}
def MkThread_SendRunsOp : MkThread_CompositeOp<"send_runs", [AttrSizedOperandSegments]> {
  let summary = "has the proxy copy runs of a region to a peer across a network";
  let description = [{
    By one thread of the CTA, a command for each. Both ends are named by addresses in this rank's heap. With `signal` the
    slot of the peer is raised by 1 once all bytes are there; `strong`: and those of all puts to it before.
    `team` is what the flags of commands say of their writer. `report` and `span` are of the wait for room
    in the ring. Nothing is sent after a failure.

    ```mlir
    mk_thread.send_runs %count of %n from %source to %dest sizes(%some) from(%a) to(%b) on %address by %cta
        report(<kind = 7, role = 0, number = 0>)
    mk_thread.send_runs %count of %n from %source to %dest sizes(%some) from(%a) to(%b) rows(%list) on %address by %cta
        signal(%m) strong team(%team) report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
    ```
  }];
  let arguments = !con(MkThread_runs, (ins I64:$peer, I32:$cta, Optional<I64>:$signal, UnitAttr:$strong,
                                    Optional<I32>:$team, MkThread_ReportAttr:$report,
                                    OptionalAttr<MkThread_SpanAttr>:$span));
  let assemblyFormat = MkThread_runsFormat # [{
    `on` $peer `by` $cta (`signal` `(` $signal^ `)`)? (`strong` $strong^)? (`team` `(` $team^ `)`)?
    `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Commands for the proxy
//===----------------------------------------------------------------------===//

def MkThread_CommandOp : MkThread_CompositeOp<"command"> {
  let summary = "writes a command for the proxy, once there is room in the ring";
  let description = [{
    A kind of `mk_command_op` with its flags, of this CTA (mkernel/ABI/Command.h). Offsets are in the heap. Nothing is
    written after a failure.

    ```mlir
    mk_thread.command 1 flags(%flags) on %address by %cta from %source to %dest, %bytes slot(%n) add 1
        report(<kind = 7, role = 0, number = 0>)
    ```
  }];
  let arguments = (ins I64Attr:$kind, I32:$flags, I64:$peer, I32:$cta, I64:$source, I64:$dest, I32:$bytes,
                       I64:$slot, I64Attr:$amount, MkThread_ReportAttr:$report,
                       OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = [{
    $kind `flags` `(` $flags `)` `on` $peer `by` $cta `from` $source `to` $dest `,` $bytes `slot` `(` $slot `)`
    `add` $amount `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_CountCommandsOp : MkThread_CompositeOp<"count_commands"> {
  let summary = "counts puts and signals that commands of this CTA make";
  let description = [{
    Before their commands are there, so that no more are ever complete than were counted.

    ```mlir
    mk_thread.count_commands 1 by %cta
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$count, I32:$cta);
  let assemblyFormat = "$count `by` $cta attr-dict";
}
def MkThread_AwaitCommandsOp : MkThread_CompositeOp<"await_commands"> {
  let summary = "waits until all puts that commands of this CTA make are complete";
  let description = [{
    ```mlir
    mk_thread.await_commands by %cta report(<kind = 8, role = 0, number = 0>)
    ```
  }];
  let arguments = (ins I32:$cta, MkThread_ReportAttr:$report, OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = "`by` $cta `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

def MkThread_RaiseOp : MkThread_CompositeOp<"raise", [AttrSizedOperandSegments]> {
  let summary = "raises an element of an array of signals, here or at a peer";
  let description = [{
    `array` is where the parameters have the array. What the thread has done is released at the scope, unless
    `relaxed`: then a fence that stands in front has released it, once for several signals.
    With `net` it may be that only the proxy reaches the peer: then it is a command of this CTA, of which `strong`,
    `team`, `report` and `span` say what they say of `send_runs`. Nothing is raised after a failure.

    ```mlir
    mk_thread.raise 72[%n] add 1 gpu
    mk_thread.raise 72[%n] add 1 sys on %address
    mk_thread.raise 72[%n] add 1 sys relaxed on %address
    mk_thread.raise 72[%n] add 1 sys on %address net(%cta) strong team(%team)
        report(<kind = 7, role = 0, number = 0>)
    ```
  }];
  let arguments = (ins MkThread_Offset:$array, I64:$element, ConfinedAttr<I64Attr, [IntPositive]>:$amount,
                       MkThread_Scope:$scope, UnitAttr:$relaxed, Optional<I64>:$peer, Optional<I32>:$cta, UnitAttr:$strong,
                       Optional<I32>:$team, OptionalAttr<MkThread_ReportAttr>:$report,
                       OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = [{
    $array `[` $element `]` `add` $amount $scope (`relaxed` $relaxed^)? (`on` $peer^)? (`net` `(` $cta^ `)`)? (`strong` $strong^)?
    (`team` `(` $team^ `)`)? (`report` `(` $report^ `)`)? (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_AwaitSignalOp : MkThread_CompositeOp<"await_signal"> {
  let summary = "waits until an element of an array of signals has counted up to a number";
  let description = [{
    What others have released is acquired, also for the copy engine. With `net` the proxy counts, too, in words
    of its own. `count` is what a report says instead of `wanted`; `leader`, `report` and `span` are as in
    `wait_word`.

    ```mlir
    mk_thread.await_signal gpu 72[%n], %wanted count(%count) leader(%leader)
        report(<kind = 1, role = 0, number = 0>)
    mk_thread.await_signal sys 72[%n] net, %wanted count(%count) report(<kind = 1, role = 0, number = 0>)
        span(<what = 4097, track = 1>)
    ```
  }];
  let arguments = (ins MkThread_Scope:$scope, MkThread_Offset:$array, I64:$element, UnitAttr:$net,
                       I32:$wanted, I32:$count, Optional<I32>:$leader, MkThread_ReportAttr:$report,
                       OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = [{
    $scope $array `[` $element `]` (`net` $net^)? `,` $wanted `count` `(` $count `)`
    (`leader` `(` $leader^ `)`)? `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Peers
//===----------------------------------------------------------------------===//

def MkThread_AwaitPeerOp : MkThread_CompositeOp<"await_peer"> {
  let summary = "waits until a peer has begun this launch, unless it is known to have";
  let description = [{
    `array` has an element for each of the ranks. `seen` has a bit for each that has begun, as the result has; with
    more than 32 ranks it is not used. In front of what goes into the ring of commands (`sends`) it also waits until
    this rank has told all others that it has begun: payload must not stand in front of that.

    ```mlir
    %known = mk_thread.await_peer %address of 8 in 72, %wanted seen(%seen)
        report(<kind = 4, role = 0, number = 0>)
    ```
  }];
  let arguments = (ins I64:$peer, ConfinedAttr<I64Attr, [IntPositive]>:$ranks, MkThread_Offset:$array,
                       UnitAttr:$net, UnitAttr:$sends, I32:$wanted, I32:$seen, MkThread_ReportAttr:$report,
                       OptionalAttr<MkThread_SpanAttr>:$span);
  let results = (outs I32:$known);
  let assemblyFormat = [{
    $peer `of` $ranks `in` $array (`net` $net^)? (`sends` $sends^)? `,` $wanted `seen` `(` $seen `)`
    `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_NotifyPeersOp : MkThread_CompositeOp<"notify_peers", [AttrSizedOperandSegments]> {
  let summary = "raises the element of this rank of an array of signals at all peers";
  let description = [{
    One behind the other, beginning with the next rank. `net`, `team`, `report` and `span` are as in `raise`. With
    `unless_aborted` only if the launch has not failed, in any CTA. With `net` it then raises this rank's element of
    its own: all of them are in the ring of commands.

    ```mlir
    mk_thread.notify_peers 8 in 72 unless_aborted
    mk_thread.notify_peers 8 in 72 net(%cta) report(<kind = 7, role = 0, number = 0>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$ranks, MkThread_Offset:$array, UnitAttr:$unlessAborted,
                       Optional<I32>:$cta, Optional<I32>:$team, OptionalAttr<MkThread_ReportAttr>:$report,
                       OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = [{
    $ranks `in` $array (`unless_aborted` $unlessAborted^)? (`net` `(` $cta^ `)`)? (`team` `(` $team^ `)`)? (`report` `(` $report^ `)`)?
    (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_AwaitPeersOp : MkThread_CompositeOp<"await_peers"> {
  let summary = "waits for an element of an array of signals for each peer, a thread for each";
  let description = [{
    `thread` among `threads` that come here is this one.

    ```mlir
    mk_thread.await_peers 8 in 72, %wanted by(%thread of 256) report(<kind = 5, role = -1, number = 0>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$ranks, MkThread_Offset:$array, UnitAttr:$net,
                       I32:$wanted, I32:$thread, ConfinedAttr<I64Attr, [IntPositive]>:$threads,
                       MkThread_ReportAttr:$report);
  let assemblyFormat = [{
    $ranks `in` $array (`net` $net^)? `,` $wanted `by` `(` $thread `of` $threads `)`
    `report` `(` $report `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_TRANSFER_OPS
