//===- SMChannelOps.td - Rings, mailboxes, cursors --------*- tablegen -*-===//
#ifndef MKERNEL_SM_CHANNEL_OPS
#define MKERNEL_SM_CHANNEL_OPS

include "SMOpBase.td"

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

// `at(stage, parity)` is where in its channel an op that waits for a slot, or gives one back, is:
// the slot's number, and the parity of the phase of its barrier. mk-sm-assign-stages adds it.
def MkSM_AcquireOp : MkSM_EffectOp<"acquire", [MkSM_InProducer, MkSM_HasPlace, MkSM_HasSlot]> {
  let summary = "waits for the next free slot of a ring";
  let description = [{
    Producer only. The slot is the producer's until `commit`.

    ```mlir
    %slot = mk_sm.acquire %ring : !mk_sm.ring<4, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
    ```
  }];
  let arguments = (ins MkSM_RingType:$ring, Variadic<I32>:$place);
  let results = (outs MkSM_SlotType:$slot);
  let assemblyFormat = "$ring (`at` `(` $place^ `)`)? attr-dict `:` qualified(type($ring)) `->` qualified(type($slot))";
}
def MkSM_CopyOp : MkSM_EffectOp<"copy", [MkSM_InProducer, AttrSizedOperandSegments]> {
  let summary = "copies a tile from memory into a slot, asynchronously";
  let description = [{
    Source, offsets, `rows`, `valid`, `pad`, `once` and `unseen` are those of `mk.load`; the tile is number
    `index` of the slot. A later `commit` of the slot covers it.

    With `shared(c)` the CTAs of a cluster of c execute the copy with equal operands, and
    use the ring equally often: each fetches one c-th of the tile's rows for all of them.
    With `shared(c stride s)` these are the c CTAs whose numbers are s apart, of each c s that follow each other: in a
    cluster of 2 x 4 tiles `shared(4)` is for what a row of tiles has in common, `shared(2 stride 4)` for what a column has.

    ```mlir
    mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
    mk_sm.copy %a[%row, %k] to %slot[0] shared(2) : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
    mk_sm.copy %a[%row, %k] to %slot[0] shared(2 stride 4) : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
    ```

    Where `valid` or `pad` ask for what the copy engine does not do, the producer waits until the tile has landed, and writes
    over the rest of it. The cursor `padding` counts such waits (mk-sm-assign-stages).

    A tile of one dimension is brought by the producer's threads, and is not shared; what does not exist of it, or is not
    `valid`, is zero. So are gathered rows (`rows`), which the copiers bring; `selected`: as the last `select_rows` has
    found them.
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$offsets, Optional<MemRefRankOf<[I32], [1]>>:$rows,
                       Optional<Index>:$rows_at, Variadic<Index>:$valid,
                       Optional<AnyType>:$pad, MkSM_SlotType:$slot, I64Attr:$index,
                       DefaultValuedAttr<I64Attr, "1">:$shared, DefaultValuedAttr<I64Attr, "1">:$stride,
                       Optional<MkSM_CursorType>:$padding, UnitAttr:$once,
                       UnitAttr:$selected, OptionalAttr<DenseI64ArrayAttr>:$unseen);
  let assemblyFormat = [{
    $source `[` $offsets `]` (`rows` `(` $rows^ `[` $rows_at `]` `:` type($rows) `)` (`selected` $selected^)?)?
    (`valid` `(` $valid^ `)`)? (`pad` `(` $pad^ `:` type($pad) `)`)? (`once` $once^)? (`unseen` $unseen^)? `to` $slot `[` $index `]` (`shared` `(` $shared^ (`stride` $stride^)? `)`)? (`padding` `(` $padding^ `)`)? attr-dict `:` qualified(type($source)) `,` qualified(type($slot))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTileType();
    /// The CTAs that share it, by their numbers in the cluster.
    ShareGroup getGroup() { return {static_cast<int64_t>(getShared()), static_cast<int64_t>(getStride())}; }
    /// Whether the producer may have to write over a part of the tile.
    bool mayPad() { return !isByElements() && !getRows() && (getPad() || !getValid().empty()); }
    /// Whether threads of the producer bring it, not the copy engine.
    bool isByElements() { return getTileType().getRank() == 1; }
    /// Whether nobody sees what lies behind the source's end along dimension d of the tile.
    bool isUnseen(int64_t d) { return getUnseen() && ::llvm::is_contained(*getUnseen(), d); }
  }];
}
def MkSM_SelectRowsOp : MkSM_EffectOp<"select_rows", [MkSM_InProducer]> {
  let summary = "has the copiers look up where the rows lie that the next copies gather";
  let description = [{
    So many rows of a tile, from the entry of the list on, of which `valid` are looked up. They count from row
    `offset` of the source. Copies that are `selected` gather them, with other columns each.

    ```mlir
    mk_sm.select_rows 144 of %a at %row rows(%list[%at] : memref<?xi32>) valid(%left) : memref<?x?xbf16>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$count, AnyMemRef:$source, Index:$offset,
                       MemRefRankOf<[I32], [1]>:$rows, Index:$rows_at, Optional<Index>:$valid);
  let assemblyFormat = [{
    $count `of` $source `at` $offset `rows` `(` $rows `[` $rows_at `]` `:` type($rows) `)` (`valid` `(` $valid^ `)`)?
    attr-dict `:` qualified(type($source))
  }];
  let hasVerifier = 1;
}
def MkSM_CommitOp : MkSM_EffectOp<"commit", [MkSM_InProducer, MkSM_HasSlot]> {
  let summary = "hands a slot to the consumer as soon as its copies are there";
  let description = [{
    ```mlir
    mk_sm.commit %ring, %slot : !mk_sm.ring<4, tensor<128x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>>
    ```
  }];
  let arguments = (ins MkSM_RingType:$ring, MkSM_SlotType:$slot);
  let assemblyFormat = "$ring `,` $slot attr-dict `:` qualified(type($ring)) `,` qualified(type($slot))";
  let hasVerifier = 1;
}
def MkSM_WaitOp : MkSM_EffectOp<"wait", [MkSM_InConsumer, MkSM_HasPlace, MkSM_HasSlot]> {
  let summary = "waits for the next full slot of a ring";
  let description = [{
    Consumer only.

    ```mlir
    %slot = mk_sm.wait %ring : !mk_sm.ring<4, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
    ```
  }];
  let arguments = (ins MkSM_RingType:$ring, Variadic<I32>:$place);
  let results = (outs MkSM_SlotType:$slot);
  let assemblyFormat = "$ring (`at` `(` $place^ `)`)? attr-dict `:` qualified(type($ring)) `->` qualified(type($slot))";
}
def MkSM_ReleaseOp : MkSM_EffectOp<"release", [MkSM_InConsumer, MkSM_HasPlace]> {
  let summary = "gives the oldest slot that the consumer holds back to the producer";
  let description = [{
    Matrix ops that read the slot must be complete (`mma_wait`). With `read` threads have read tiles of two dimensions
    (`mk_sm.read`): the lanes of a warp come together first.

    ```mlir
    mk_sm.release %ring : !mk_sm.ring<4, tensor<128x64xbf16>>
    ```
  }];
  let arguments = (ins MkSM_RingType:$ring, Variadic<I32>:$place, UnitAttr:$read);
  let assemblyFormat = "$ring (`at` `(` $place^ `)`)? (`read` $read^)? attr-dict `:` qualified(type($ring))";
}
def MkSM_TileOp : MkSM_Op<"tile", [MkSM_InConsumer, Pure]> {
  let summary = "a tile of a slot";
  let description = [{
    ```mlir
    %x = mk_sm.tile %slot[0] : !mk_sm.slot<tensor<128x64xbf16>> -> !mk_sm.staged<tensor<128x64xbf16>>
    ```
  }];
  let arguments = (ins MkSM_SlotType:$slot, I64Attr:$index);
  let results = (outs MkSM_StagedType:$tile);
  let assemblyFormat = [{
    $slot `[` $index `]` attr-dict `:` qualified(type($slot)) `->` qualified(type($tile))
  }];
  let hasVerifier = 1;
}
def MkSM_ReadOp : MkSM_Op<"read", [MkSM_InConsumer, MemoryEffects<[MemRead]>]> {
  let summary = "reads staged tiles into registers";
  let description = [{
    Before their slots are released. A tile of one dimension, or tiles of two dimensions that lie side by side in the
    fragment, which has the layout of accumulators. One tile by itself may be dealt out, without idle threads.

    ```mlir
    %s = mk_sm.read %x : !mk_sm.staged<tensor<128xf32>> -> tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
    %r = mk_sm.read %y, %z : !mk_sm.staged<tensor<128x128xbf16>>, !mk_sm.staged<tensor<128x64xbf16>> -> tensor<128x192xbf16, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins Variadic<MkSM_StagedType>:$tiles);
  let results = (outs MkSM_Fragment:$fragment);
  let assemblyFormat = "$tiles attr-dict `:` qualified(type($tiles)) `->` type($fragment)";
  let hasVerifier = 1;
}
def MkSM_SendOp : MkSM_EffectOp<"send", [MkSM_InProducer, MkSM_HasPlace, AttrSizedOperandSegments]> {
  let summary = "puts scalars into a mailbox";
  let description = [{
    Producer only; waits for room.

    ```mlir
    mk_sm.send %items, %t : !mk_sm.mailbox<2, words = 1>
    ```
  }];
  let arguments = (ins MkSM_MailboxType:$mailbox, Variadic<Index>:$values,
                       Variadic<I32>:$place);
  let assemblyFormat = "$mailbox `,` $values (`at` `(` $place^ `)`)? attr-dict `:` qualified(type($mailbox))";
  let hasVerifier = 1;
}
def MkSM_ReceiveOp : MkSM_EffectOp<"receive", [MkSM_InConsumer, MkSM_HasPlace, InferTypeOpAdaptor]> {
  let summary = "takes scalars out of a mailbox";
  let description = [{
    Consumer only; waits for them. Every thread gets them.

    ```mlir
    %t = mk_sm.receive %items : !mk_sm.mailbox<2, words = 1>
    ```
  }];
  let arguments = (ins MkSM_MailboxType:$mailbox, Variadic<I32>:$place);
  let results = (outs Variadic<Index>:$values);
  let assemblyFormat = "$mailbox (`at` `(` $place^ `)`)? attr-dict `:` qualified(type($mailbox))";
}

def MkSM_CursorOp : MkSM_Op<"cursor", [MemoryEffects<[MemAlloc]>]> {
  let summary = "counts one kind of use of a channel by a partition";
  let description = [{
    Stands at a partition's beginning: at slot 0, in a phase of this parity. Who fills slots begins with
    1, since the phase before the first is over. Without a channel it counts so many slots that the
    partition has for itself: those of puts, or the barrier of tiles that are padded.

    ```mlir
    %c = mk_sm.cursor %ring parity(1) : !mk_sm.ring<4, tensor<128x64xbf16>>
    %d = mk_sm.cursor slots(3) parity(0)
    ```
  }];
  let arguments = (ins Optional<AnyTypeOf<[MkSM_RingType, MkSM_MailboxType]>>:$channel,
                       DefaultValuedAttr<I64Attr, "0">:$slots,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>:$parity);
  let results = (outs MkSM_CursorType:$result);
  let assemblyFormat = [{
    ($channel^)? (`slots` `(` $slots^ `)`)? `parity` `(` $parity `)` attr-dict (`:` qualified(type($channel))^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getDepth();
  }];
}
def MkSM_PositionOp : MkSM_EffectOp<"position"> {
  let summary = "says where a cursor is: at which slot, in a phase of which parity";
  let description = [{
    ```mlir
    %stage, %parity = mk_sm.position %c
    ```
  }];
  let arguments = (ins MkSM_CursorType:$cursor);
  let results = (outs I32:$stage, I32:$parity);
  let assemblyFormat = "$cursor attr-dict";
}
def MkSM_AdvanceOp : MkSM_EffectOp<"advance"> {
  let summary = "moves a cursor to the next slot";
  let description = [{
    ```mlir
    mk_sm.advance %c
    ```
  }];
  let arguments = (ins MkSM_CursorType:$cursor);
  let assemblyFormat = "$cursor attr-dict";
}

def MkSM_PipelinePutOp : MkSM_Op<"pipeline_put", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "a put whose pieces go through slots of shared memory";
  let description = [{
    The copy engine loads pieces of the region into slots, and stores what it has loaded; loads run ahead of
    stores. Each piece moves both cursors by a slot.

    ```mlir
    mk_sm.pipeline_put load(%l) store(%s) {
      mk.put %a[%r, %c0][%rows, %K] to %b[%at, %c0] on %p : memref<?x?xbf16> to memref<?x?xbf16, #mk.symmetric>
    }
    ```
  }];
  let arguments = (ins MkSM_CursorType:$load, MkSM_CursorType:$store);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`load` `(` $load `)` `store` `(` $store `)` $body attr-dict";
  let hasVerifier = 1;
}

def MkSM_MulticastOp : MkSM_Op<"multicast", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "a put to several peers, whose source is read once";
  let description = [{
    What a mover's lanes have loaded they store at the peer of the put and at those of `also`, all of which links
    reach. Signals are raised behind the last store, with one fence for all of them.

    ```mlir
    mk_sm.multicast also(%q, %r) {
      mk.put %a[%i, %c0][%rows, %K] to %b[%at, %c0] on %p signal %ready[%me] : memref<?x?xbf16> to memref<?x?xbf16, #mk.symmetric>, !mk.signal<?, sys>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$also);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`also` `(` $also `)` $body attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Peers of one op at most: a mover has registers for so many addresses beside what it loads.
    static constexpr unsigned kMostPeers = 4;
    /// Why the put cannot be one to several peers; empty if it can.
    static StringRef getObstacle(mk::PutOp put);
  }];
}

def MkSM_SignalAllOp : MkSM_Op<"signal_all", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "signals behind one fence";
  let description = [{
    Raises the signals of its body, those under branches last, behind one fence for all of them: what the partition
    did before is released once. Beside signals the body holds branches around them and pure scalars.

    ```mlir
    mk_sm.signal_all {
      mk.signal %part[%m] on %p : !mk.signal<?, sys>
      mk.signal %part[%m] on %q : !mk.signal<?, sys>
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

def MkSM_WaitAllOp : MkSM_Op<"wait_all", [
    MkSM_InConsumer, SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "waits of a loop, side by side";
  let description = [{
    Holds one `scf.for` that carries nothing and whose iterations only wait. The threads of the
    consumer share the iterations, and then meet: it takes as long as the longest wait, not as all together. Where times
    are recorded there is none: a track has room for one wait at a time.

    ```mlir
    mk_sm.wait_all {
      scf.for %i = %c0 to %count step %c1 {
        mk.wait %ready[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
      }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Why waits of a loop cannot be side by side; empty if they can.
    static StringRef getObstacle(Operation *loop);
  }];
}

#endif // MKERNEL_SM_CHANNEL_OPS
