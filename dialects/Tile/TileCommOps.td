//===- TileCommOps.td - Puts, signals, counters, queues -----*- tablegen -*-===//
#ifndef MKERNEL_TILE_COMM_OPS
#define MKERNEL_TILE_COMM_OPS

include "TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A wait makes the writes of others visible and a signal publishes one's own, so both read and write
// *all* memory as far as any transformation is concerned: a read-only wait would be erased by CSE, and
// a load could be moved across it. The copy of a put happens some time later, so a put is a barrier, too,
// to whatever would change its source or use its destination.
class Mk_CommOp<string mnemonic, list<Trait> traits = []>
    : Mk_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

def Mk_PutOp : Mk_CommOp<"put", [Mk_VisibleEffect, AttrSizedOperandSegments]> {
  let summary = "copies a region to a peer, asynchronously";
  let description = [{
    Copies the region of `sizes` elements at `src_offsets` to `dst_offsets` of the
    buffer of `peer`, a linear rank, which may be the own one. All lists have an entry for
    each dimension, so source and destination have the same rank; the regions may not
    reach outside the buffers in any dimension, the source on this rank and the destination on
    the peer, whose shard may have another extent: that is an error, when the kernel is compiled or when
    it runs. A region of which a size is zero or less is empty, and may lie anywhere. Puts complete in any order. The source may not be
    changed before `mk.settle` or the role's end, and must not overlap the destination, unless
    the two are the same elements and nothing is added. `signal` raises the peer's
    signal by one when this put is there (one put is one arrival, however it travels),
    with `strong` when all earlier puts of this CTA to that peer are there too.

    With `rows(%list)`, a tile of i32, row i of the destination region is source row
    `src_offsets[0] + list[i]`; negative entries are skipped. The first of `sizes` says how
    many entries of the list are used. Rows that are not skipped have to exist at both ends. It is one put and one arrival all the same.

    `reduce(add)` adds to the destination instead of overwriting it.

    `via` says that the peer is reached so wherever the op is run; a GPU has code for nothing else then. Loops over
    peers along axes of one kind give it to the puts in them (`mk-expand-loops`). By hand it is written where the peer is
    computed. It is an error where it is wrong, and for a GPU also where it may be: where the peer depends on data.

    To a peer across a `net` axis source and destination must be symmetric, the
    regions (each row with `rows`) contiguous, and `reduce` is not possible.

    ```mlir
    mk.put %a[%i, %c0][%c128, %K] to %full[%j, %c0] on %p signal %ready[%b]
        : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>,
          !mk.signal<?, sys, arrivals = 1>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$src_offsets, Variadic<Index>:$sizes,
                       Optional<AnyTypeOf<[1DTensorOf<[I32]>]>>:$rows,
                       AnyMemRef:$dest, Variadic<Index>:$dst_offsets, Index:$peer,
                       Optional<Mk_SignalType>:$signal, Variadic<Index>:$signal_index,
                       UnitAttr:$strong, OptionalAttr<Mk_ReductionAttr>:$reduction,
                       OptionalAttr<Mk_LinkKindAttr>:$via);
  let assemblyFormat = [{
    $source `[` $src_offsets `]` `` `[` $sizes `]` (`rows` `(` $rows^ `:` type($rows) `)`)?
    `to` $dest `[` $dst_offsets `]` `on` $peer (`via` $via^)?
    (`signal` (`strong` $strong^)? $signal^ `[` $signal_index `]`)?
    (`reduce` `(` custom<Word>($reduction)^ `)`)? attr-dict
    `:` qualified(type($source)) `to` qualified(type($dest)) (`,` qualified(type($signal))^)?
  }];
  let hasVerifier = 1;
}

def Mk_SignalOp : Mk_CommOp<"signal", [Mk_VisibleEffect, AttrSizedOperandSegments]> {
  let summary = "raises a signal";
  let description = [{
    Raises the signal of this rank, or of the one named by `on`, by `add` (one by
    default). Releases the earlier accesses of the whole CTA to memory that it
    reaches itself; puts that are still on their way are covered only with `strong`
    (those of this CTA to that peer).

    ```mlir
    mk.signal %done[%m] : !mk.signal<?, gpu, arrivals = 8>
    mk.signal strong %free[%s] on %prev add 2 : !mk.signal<?, sys, arrivals = 2>
    ```
  }];
  let arguments = (ins Mk_SignalType:$signal, Variadic<Index>:$index, Optional<Index>:$peer,
                       DefaultValuedAttr<I64Attr, "1">:$amount, UnitAttr:$strong);
  let assemblyFormat = [{
    (`strong` $strong^)? $signal `[` $index `]` (`on` $peer^)? (`add` $amount^)? attr-dict
    `:` qualified(type($signal))
  }];
  let hasVerifier = 1;
}

def Mk_WaitOp : Mk_CommOp<"wait"> {
  let summary = "waits for arrivals of this launch";
  let description = [{
    Returns when this rank's signal has seen at least `count` arrivals of this
    launch, and acquires what they released. `index` has an entry for each dimension of
    the signal, which lies within that dimension's extent (as everywhere where elements of
    signals and counters are named). A count of zero or less asks for nothing of this launch: the wait
    returns as soon as what earlier launches declare has arrived, which is at once where all of it
    does. Every wait is bounded by the launch's deadline; one that passes it ends the launch on all ranks with a report.

    ```mlir
    mk.wait %ready[%m] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    ```
  }];
  let arguments = (ins Mk_SignalType:$signal, Variadic<Index>:$index, Index:$count);
  let assemblyFormat = "$signal `[` $index `]` `ge` $count attr-dict `:` qualified(type($signal))";
  let hasVerifier = 1;
}

def Mk_FenceOp : Mk_CommOp<"fence", [Mk_VisibleEffect]> {
  let summary = "orders puts";
  let description = [{
    Every put of this CTA before the fence is complete before any put of it behind
    the fence to the same peer starts.

    ```mlir
    mk.fence
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Mk_SettleOp : Mk_CommOp<"settle", [Mk_VisibleEffect]> {
  let summary = "waits until the sources of puts may be overwritten";
  let description = [{
    Waits for all earlier puts of this CTA. Says nothing about arrival at the peer.
    Bounded like a wait.

    ```mlir
    mk.settle
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Mk_CountOp : Mk_CommOp<"count", [Mk_VisibleEffect]> {
  let summary = "adds to a counter and returns the value before";
  let description = [{
    Adds `amount` to the counter at `index`. Atomic on this rank; acquires and releases, so that the last arriver sees
    what all earlier ones did.

    ```mlir
    %old = mk.count %done[%b] add %c1 : !mk.counter<?>
    ```
  }];
  let arguments = (ins Mk_CounterType:$counter, Variadic<Index>:$index, Index:$amount);
  let results = (outs Index:$before);
  let assemblyFormat = [{
    $counter `[` $index `]` `add` $amount attr-dict `:` qualified(type($counter))
  }];
  let hasVerifier = 1;
}

def Mk_PushOp : Mk_CommOp<"push", [Mk_VisibleEffect]> {
  let summary = "appends a record to a queue";
  let description = [{
    The record has as many values as the queue's records have words. Releases; whoever
    visits the record by `mk.foreach_item` acquires.

    ```mlir
    mk.push %q, (%b, %e) : !mk.queue<?x2xi32>
    ```
  }];
  let arguments = (ins Mk_QueueType:$queue, Variadic<Index>:$record);
  let assemblyFormat = "$queue `,` `(` $record `)` attr-dict `:` qualified(type($queue))";
  let hasVerifier = 1;
}

#endif // MKERNEL_TILE_COMM_OPS
