//===- ThreadQueueOps.td - Tickets, counters and queues -----*- tablegen -*-===//
#ifndef MKERNEL_THREAD_QUEUE_OPS
#define MKERNEL_THREAD_QUEUE_OPS

include "ThreadBase.td"

// Threads act together: those of a warp, or those that meet at a named barrier. `thread` is the number of this one among them.

def MkThread_ElectFetchAddOp : MkThread_CompositeOp<"elect_fetch_add"> {
  let summary = "one thread adds to a word in global memory; all get what was there before";
  let description = [{
    At scope `gpu`, once all threads have come here. After a failure nothing is added, and they get `otherwise`. Threads
    that meet at a barrier get it by a word of 8 bytes in shared memory, at `through`.

    ```mlir
    %ticket = mk_thread.elect_fetch_add relaxed %address, %amount else 4611686018427387904 by(%thread)
    %before = mk_thread.elect_fetch_add acq_rel %address, %amount else 0 by(%thread) barrier(%id, 256) through(512)
    ```
  }];
  let arguments = (ins MkThread_Order:$order, MkThread_Global:$address, I32:$amount, I64Attr:$otherwise, I32:$thread,
                       Optional<I32>:$barrier, OptionalAttr<I64Attr>:$threads,
                       OptionalAttr<MkThread_Offset>:$through);
  let results = (outs I64:$before);
  let assemblyFormat = [{
    $order $address `,` $amount `else` $otherwise `by` `(` $thread `)`
    (`barrier` `(` $barrier^ `,` $threads `)` `through` `(` $through `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_PushRecordOp : MkThread_CompositeOp<"push_record"> {
  let summary = "appends a record to a queue";
  let description = [{
    By one thread; what it has seen of others is released with the record. `queue` is where the parameters have the queue, `epoch` the number of the
    launch. Nothing is appended after a failure. With `report` a queue that is full is reported, as `named` says.

    ```mlir
    mk_thread.push_record %n, %m to 72 epoch(%epoch)
    mk_thread.push_record %n, %m to 72 epoch(%epoch) named(5) report(<kind = 12, role = 0, number = 3>)
    ```
  }];
  let arguments = (ins Variadic<I64>:$words, MkThread_Offset:$queue, I32:$epoch, OptionalAttr<I64Attr>:$named,
                       OptionalAttr<MkThread_ReportAttr>:$report);
  let assemblyFormat = [{
    $words `to` $queue `epoch` `(` $epoch `)` (`named` `(` $named^ `)`)? (`report` `(` $report^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_PopRecordOp : MkThread_CompositeOp<"pop_record"> {
  let summary = "waits for an entry of a queue, and reads its record";
  let description = [{
    `queue` is where the parameters have the queue, `epoch` the number of the launch. Threads agree on whether the launch
    has failed (`failed`, 0 or other than 0): then the words are 0.

    ```mlir
    %failed, %k, %l = mk_thread.pop_record %n from 72 epoch(%epoch)
        report(<kind = 2, role = 0, number = 1>) : i64, i64
    %other, %j = mk_thread.pop_record %n from 72 epoch(%epoch) barrier(%id, 256)
        report(<kind = 2, role = 0, number = 1>) span(<what = 4097, track = 1>) : i64
    ```
  }];
  let arguments = (ins I64:$entry, MkThread_Offset:$queue, I32:$epoch, Optional<I32>:$barrier,
                       OptionalAttr<I64Attr>:$threads, MkThread_ReportAttr:$report,
                       OptionalAttr<MkThread_SpanAttr>:$span);
  let results = (outs I32:$failed, Variadic<I64>:$words);
  let assemblyFormat = [{
    $entry `from` $queue `epoch` `(` $epoch `)` (`barrier` `(` $barrier^ `,` $threads `)`)?
    `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict `:` type($words)
  }];
  let hasVerifier = 1;
}
def MkThread_AgreeOnFailureOp : MkThread_CompositeOp<"agree_on_failure"> {
  let summary = "whether the launch has failed, the same for all threads that come here: 0, or other than 0";
  let description = [{
    ```mlir
    %failed = mk_thread.agree_on_failure
    %other = mk_thread.agree_on_failure barrier(%id, 256)
    ```
  }];
  let arguments = (ins Optional<I32>:$barrier, OptionalAttr<I64Attr>:$threads);
  let results = (outs I32:$failed);
  let assemblyFormat = "(`barrier` `(` $barrier^ `,` $threads `)`)? attr-dict";
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_QUEUE_OPS
