//===- ThreadDispatchOps.td - Which threads run what --------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_DISPATCH_OPS
#define MKERNEL_THREAD_DISPATCH_OPS

include "ThreadBase.td"

/// Code in the kernel that some threads run, or once; it sees the values above it.
class MkThread_DispatchOp<string mnemonic, list<Trait> traits = []>
    : MkThread_Op<mnemonic, !listconcat(traits, [MkThread_Composite, SingleBlock, NoTerminator, RecursiveMemoryEffects])>;

def MkThread_SpecializeOp : MkThread_DispatchOp<"specialize"> {
  let summary = "the first warpgroup runs one region, the others run the other one";
  let description = [{
    `warp` is the number of the thread's warp. Before, registers change hands: each thread of the first
    warpgroup keeps the first number of `registers`, the others get the second one.

    ```mlir
    mk_thread.specialize %warp registers [24, 240] {
      mk_thread.sync_warp
    } consumers {
      mk_thread.sync_warp
    }
    ```
  }];
  let arguments = (ins I32:$warp, OptionalAttr<DenseI64ArrayAttr>:$registers);
  let regions = (region SizedRegion<1>:$producers, SizedRegion<1>:$consumers);
  let assemblyFormat = [{
    $warp (`registers` $registers^)? attr-dict-with-keyword $producers `consumers` $consumers
  }];
  let hasVerifier = 1;
}
def MkThread_ByWarpsOp : MkThread_DispatchOp<"by_warps"> {
  let summary = "warps `first` to `last` of the CTA run the region, others may run another one";
  let description = [{
    `warp` is the number of the thread's warp.

    ```mlir
    mk_thread.by_warps %warp in 0 to 0 {
      mk_thread.sync_warp
    }
    mk_thread.by_warps %warp in 1 to 2 {
      mk_thread.sync_warp
    } else {
      mk_thread.sync_warp
    }
    ```
  }];
  let arguments = (ins I32:$warp, ConfinedAttr<I64Attr, [IntNonNegative]>:$first, I64Attr:$last);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$otherwise);
  let assemblyFormat = [{
    $warp `in` $first `to` $last attr-dict-with-keyword $body (`else` $otherwise^)?
  }];
  let hasVerifier = 1;
}
def MkThread_ByCtasOp : MkThread_DispatchOp<"by_ctas"> {
  let summary = "some CTAs of the grid run the region";
  let description = [{
    Those of `ranges`, each the number of its first CTA and how many there are; ranges ascend. `cta` is the number of the
    thread's CTA.

    ```mlir
    mk_thread.by_ctas %cta in [0, 16, 64, 8] {
      mk_thread.sync_warp
    }
    ```
  }];
  let arguments = (ins I32:$cta, DenseI64ArrayAttr:$ranges);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$cta `in` $ranges attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
def MkThread_ElectOp : MkThread_DispatchOp<"elect"> {
  let summary = "one thread runs the region once all have come here";
  let description = [{
    Of a warp, or of those that meet at a named barrier, the one with number 0. What the others did before is done; those
    of a warp meet behind the region, too.

    ```mlir
    mk_thread.elect %thread {
      mk_thread.fence gpu
    }
    mk_thread.elect %thread barrier(%id, 256) {
      mk_thread.fence gpu
    }
    ```
  }];
  let arguments = (ins I32:$thread, Optional<I32>:$barrier, OptionalAttr<I64Attr>:$threads);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$thread (`barrier` `(` $barrier^ `,` $threads `)`)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// How a launch begins and ends
//===----------------------------------------------------------------------===//

def MkThread_BeginLaunchOp : MkThread_DispatchOp<"begin_launch"> {
  let summary = "all threads begin the launch once thread 0 has run the region";
  let description = [{
    The region makes barriers in shared memory. Then the launch before has ended, as far as it leaves anything. With
    `waits` the launch waits for others: behind one that has failed it has failed from the start.

    ```mlir
    mk_thread.begin_launch %thread waits {
      mk_thread.init_slots <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> readers(8)
    }
    ```
  }];
  let arguments = (ins I32:$thread, UnitAttr:$waits);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$thread (`waits` $waits^)? attr-dict-with-keyword $body";
}
def MkThread_EpochOp : MkThread_CompositeOp<"epoch"> {
  let summary = "how many launches have ended before this one, read where it stands";
  let description = [{
    ```mlir
    %epoch = mk_thread.epoch
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def MkThread_LastArrivalOp : MkThread_DispatchOp<"last_arrival"> {
  let summary = "this thread counts for its CTA, and runs the region if it is the last one of the launch";
  let description = [{
    CTAs count that have ended `mk.prepare`, or warps that run roles beside others, `each` of a CTA (`moved`). `epoch` is the
    number of the launch: both count on from one launch to the next.

    ```mlir
    mk_thread.last_arrival prepared(%epoch) each 1 {
      mk_thread.notify_peers 8 in 72
    }
    mk_thread.last_arrival moved(%epoch) each 2 {
      mk_thread.notify_peers 8 in 72 unless_aborted
    }
    ```
  }];
  let arguments = (ins UnitAttr:$moved, I32:$epoch, ConfinedAttr<I64Attr, [IntPositive]>:$each);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`moved` $moved^):(`prepared`)? `(` $epoch `)` `each` $each attr-dict-with-keyword $body
  }];
}
def MkThread_AwaitPreparedOp : MkThread_CompositeOp<"await_prepared"> {
  let summary = "waits until all CTAs of the launch have ended `mk.prepare`";
  let description = [{
    ```mlir
    mk_thread.await_prepared %epoch report(<kind = 6, role = -1, number = 0>)
    ```
  }];
  let arguments = (ins I32:$epoch, MkThread_ReportAttr:$report, OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = "$epoch `report` `(` $report `)` (`span` `(` $span^ `)`)? attr-dict";
}
def MkThread_OpenedOp : MkThread_CompositeOp<"opened"> {
  let summary = "1 if a kernel in front of this launch has let the peers in and started copies by copy engines, else 0";
  let description = [{
    ```mlir
    %opened = mk_thread.opened %epoch
    ```
  }];
  let arguments = (ins I32:$epoch);
  let results = (outs I32:$result);
  let assemblyFormat = "$epoch attr-dict";
}
def MkThread_AwaitCopiedOp : MkThread_CompositeOp<"await_copied"> {
  let summary = "waits until all copies of the launch by copy engines are complete";
  let description = [{
    ```mlir
    mk_thread.await_copied %epoch report(<kind = 10, role = -1, number = 0>)
    ```
  }];
  let arguments = (ins I32:$epoch, MkThread_ReportAttr:$report);
  let assemblyFormat = "$epoch `report` `(` $report `)` attr-dict";
}
def MkThread_EndLaunchOp : MkThread_DispatchOp<"end_launch"> {
  let summary = "the CTA ends; the one that is the last of the launch makes its counts those of the next";
  let description = [{
    By the threads of the consumer, once all others of the CTA have arrived at the named barrier `finish`; they meet at `barrier`.
    Of the last CTA they run the region, whose argument is their number. Then words that begin each launch as zero are zero,
    and the epoch is over. `flag` is a word in shared memory that nobody needs any more.

    ```mlir
    mk_thread.end_launch finish(2) barrier(1) flag(512) {
    ^bb0(%me: i32):
      mk_thread.rebase_signals 72 count(%n) by(%me of 256)
    }
    ```
  }];
  let arguments = (ins MkThread_NamedBarrier:$finish, MkThread_NamedBarrier:$barrier, MkThread_Offset:$flag);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `finish` `(` $finish `)` `barrier` `(` $barrier `)` `flag` `(` $flag `)` attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}
def MkThread_RebaseSignalsOp : MkThread_CompositeOp<"rebase_signals"> {
  let summary = "what an array of signals has counted up to is what the next launch counts from";
  let description = [{
    Of `count` elements, by `threads` of which this is `thread`. With `net` the proxy counts, too.

    ```mlir
    mk_thread.rebase_signals 72 net count(%n) by(%thread of 256)
    ```
  }];
  let arguments = (ins MkThread_Offset:$array, UnitAttr:$net, I64:$count, I32:$thread,
                       ConfinedAttr<I64Attr, [IntPositive]>:$threads);
  let assemblyFormat = [{
    $array (`net` $net^)? `count` `(` $count `)` `by` `(` $thread `of` $threads `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_DISPATCH_OPS
