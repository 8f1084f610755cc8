//===- SMOps.td - Operations of the SM dialect --------------*- tablegen -*-===//
#ifndef MKERNEL_SM_OPS
#define MKERNEL_SM_OPS

include "SMTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def MkSM_PartitionKind : I32EnumAttr<"PartitionKind", "what a partition is for", [
  I32EnumAttrCase<"Producer", 0, "producer">, I32EnumAttrCase<"Consumer", 1, "consumer">
]> {
  let cppNamespace = "::mlir::mk_sm";
  let genSpecializedAttr = 0;
}
def MkSM_PartitionKindAttr : EnumAttr<MkSM_Dialect, MkSM_PartitionKind, "partition_kind"> {
  let assemblyFormat = "$value";
}

def MkSM_Fragment : RankedTensorOf<[AnyType]>;
def MkSM_DotOperand : AnyTypeOf<[MkSM_StagedType, MkSM_Fragment]>;

class MkSM_EffectOp<string mnemonic, list<Trait> traits = []>
    : MkSM_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def MkSM_PartitionOp : MkSM_Op<"partition", [SingleBlock, NoTerminator,
                                             ParentOneOf<["::mlir::mk::RoleOp", "::mlir::mk::PrepareOp"]>]> {
  let summary = "what a group of warps of a CTA does";
  let description = [{
    A role has at most one `producer`, a single warp that fills rings and draws
    tickets, and one `consumer` of whole warpgroups. Both start together and end on their own.
    `registers` is the budget of one thread. Every thread of a partition runs its body;
    ops that act once for the CTA (copies, sends, signals, counts, pushes, puts) are
    executed by one thread after all threads of the partition have come to them.

    With `teams(t)` the warps of a consumer form t teams of as many warps. Each runs the body
    for itself, as if it were the partition: `warpgroups` of its fragments' layouts are those of
    a team, and a slot of a ring is waited for and released by one team alone. Between
    `turn_wait` and `turn_pass` a team has the rings, and goes on in them where the team
    before it stopped.

    ```mlir
    mk_sm.partition producer warps(1) registers(40) { ... }
    mk_sm.partition consumer warps(8) registers(232) { ... }
    mk_sm.partition consumer warps(8) registers(240) teams(2) { ... }
    ```
  }];
  let arguments = (ins MkSM_PartitionKindAttr:$kind, I64Attr:$warps, I64Attr:$registers,
                       DefaultValuedAttr<I64Attr, "1">:$teams);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` $kind `warps` `(` $warps `)` `registers` `(` $registers `)` (`teams` `(` $teams^ `)`)?
    $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Of a team: those that run the body together.
    int64_t getTeamWarps() { return getWarps() / getTeams(); }
    int64_t getNumThreads() { return getTeamWarps() * 32; }
    /// Of all teams.
    int64_t getNumWarpgroups() { return getWarps() / 4; }
  }];
}

class MkSM_CreateOp<string mnemonic, Type type> : MkSM_Op<mnemonic, [
    MemoryEffects<[MemAlloc]>, ParentOneOf<["::mlir::mk::RoleOp", "::mlir::mk::PrepareOp"]>]> {
  let results = (outs type:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}
def MkSM_CreateRingOp : MkSM_CreateOp<"create_ring", MkSM_RingType> {
  let summary = "declares a ring between the partitions of a role";
  let description = [{
    ```mlir
    %ring = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x64xbf16>>
    ```
  }];
}
def MkSM_CreateMailboxOp : MkSM_CreateOp<"create_mailbox", MkSM_MailboxType> {
  let summary = "declares a mailbox between the partitions of a role";
  let description = [{
    ```mlir
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    ```
  }];
}
def MkSM_CreateStagingOp : MkSM_CreateOp<"create_staging", MkSM_StagingType> {
  let summary = "declares buffers through which the consumer stores";
  let description = [{
    ```mlir
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    ```
  }];
}

def MkSM_SharedMemoryOp : MkSM_Op<"shared_memory", [HasParent<"::mlir::mk::KernelOp">]> {
  let summary = "says that a kernel's shared memory is laid out";
  let description = [{
    The shared memory of a CTA has so many bytes. Each op that owns a part of it (channels, staging
    areas, roles with puts or exchanges, this one) says in `mk_sm.shared` where its pieces lie. Pieces
    do not overlap, but for tiles of different roles, puts and exchanges among them: a CTA is in one role at a time.

    This op has the result of an op that one thread does, the word that says that the CTA has failed,
    requests of copies if some are done by threads (`copiers`), and `tracks(n)` bytes for records of
    times, if times are recorded.

    ```mlir
    mk_sm.shared_memory 197144 copiers {mk_sm.shared = {failed = 196712, posted = 197136, requests = 196720, result = 196704}}
    ```
  }];
  let arguments = (ins I64Attr:$bytes, DefaultValuedAttr<I64Attr, "0">:$tracks, UnitAttr:$copiers);
  let assemblyFormat = "$bytes (`copiers` $copiers^)? (`tracks` `(` $tracks^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def MkSM_WarpsOp : MkSM_Op<"warps", [HasParent<"::mlir::mk::KernelOp">]> {
  let summary = "says which warps of a CTA do what, and in which order";
  let description = [{
    The first warpgroup is the producer's: its warp 0 runs the producers of all roles. Its other warps are the
    `copiers`, which copy for it, or do nothing. Behind it are so many warps of the `consumer`; a
    consumer partition of fewer warps has the first of these. `registers` are those of a thread of the
    producer's warpgroup and of a thread of the consumer, between which they are moved at the start; without it every thread
    has the most there is.

    A CTA comes to the roles in `order`: its own, and those that it goes on with (`then`).

    `barriers` are the named barriers of the CTA: `warpgroup` and those behind it are the consumer's warpgroups', each
    for itself, `consumer` is that of a consumer partition, `cta` of all warps that work, between roles and at the
    end, `turn` and the next one are those of `turn_wait`, `request` is that of the copiers, `finish` of all threads
    when all is done. Barrier 0 has the same threads: a warp that arrives at one with a count of threads, while others wait
    without, is an illegal instruction.

    ```mlir
    mk_sm.warps consumer(8) copiers registers [40, 232] order [@push, @gemm]
        barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
    ```
  }];
  let arguments = (ins I64Attr:$consumer, UnitAttr:$copiers, OptionalAttr<DenseI64ArrayAttr>:$registers,
                       FlatSymbolRefArrayAttr:$order, DictionaryAttr:$barriers);
  let assemblyFormat = [{
    `consumer` `(` $consumer `)` (`copiers` $copiers^)? (`registers` $registers^)? `order` $order
    `barriers` $barriers attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumThreads() { return 128 + 32 * getConsumer(); }
    /// The named barrier, or the first of several.
    int64_t getBarrier(::llvm::StringRef name) {
      return getBarriers().getAs<::mlir::IntegerAttr>(name).getInt();
    }
  }];
}
def MkSM_SyncWarpsOp : MkSM_EffectOp<"sync_warps", [ParentOneOf<["::mlir::mk::RoleOp"]>]> {
  let summary = "lets all warps of a CTA meet before it goes on with a role";
  let description = [{
    In CTAs that come from one of the roles: the producer's warp and all warps of the consumer wait for one another at
    the role's beginning. What they have written to shared memory comes before what the copy engine writes there.

    ```mlir
    mk_sm.sync_warps from [@push]
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$from);
  let assemblyFormat = "`from` $from attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

// `at(stage, parity)` is where in its channel an op that waits for a slot, or gives one back, is:
// the slot's number, and the parity of the phase of its barrier. mk-sm-assign-stages adds it.
def MkSM_AcquireOp : MkSM_EffectOp<"acquire"> {
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
  let hasVerifier = 1;
}
def MkSM_CopyOp : MkSM_EffectOp<"copy", [AttrSizedOperandSegments]> {
  let summary = "copies a tile from memory into a slot, asynchronously";
  let description = [{
    Source, offsets, `valid` and `pad` are those of `mk.load`; the tile is number
    `index` of the slot. A later `commit` of the slot covers it.

    With `shared(c)` the CTAs of a cluster of c execute the copy with equal operands, and
    use the ring equally often: each fetches one c-th of the tile's rows for all of them.

    ```mlir
    mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
    mk_sm.copy %a[%row, %k] to %slot[0] shared(2) : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>>
    ```

    Where `valid` or `pad` ask for what the copy engine does not do, the producer waits until the tile has landed, and writes
    over the rest of it. The cursor `landing` counts such waits (mk-sm-assign-stages).
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$offsets, Variadic<Index>:$valid,
                       Optional<AnyType>:$pad, MkSM_SlotType:$slot, I64Attr:$index,
                       DefaultValuedAttr<I64Attr, "1">:$shared, Optional<MkSM_CursorType>:$landing);
  let assemblyFormat = [{
    $source `[` $offsets `]` (`valid` `(` $valid^ `)`)? (`pad` `(` $pad^ `:` type($pad) `)`)?
    `to` $slot `[` $index `]` (`shared` `(` $shared^ `)`)? (`landing` `(` $landing^ `)`)? attr-dict `:` qualified(type($source)) `,` qualified(type($slot))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTileType();
    /// Whether the producer may have to write over a part of the tile.
    bool mayTrim() { return getPad() || !getValid().empty(); }
  }];
}
def MkSM_CommitOp : MkSM_EffectOp<"commit"> {
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
def MkSM_WaitOp : MkSM_EffectOp<"wait"> {
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
  let hasVerifier = 1;
}
def MkSM_ReleaseOp : MkSM_EffectOp<"release"> {
  let summary = "gives the oldest slot that the consumer holds back to the producer";
  let description = [{
    Matrix ops that read the slot must be complete (`mma_wait`).

    ```mlir
    mk_sm.release %ring : !mk_sm.ring<4, tensor<128x64xbf16>>
    ```
  }];
  let arguments = (ins MkSM_RingType:$ring, Variadic<I32>:$place);
  let assemblyFormat = "$ring (`at` `(` $place^ `)`)? attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}
def MkSM_TileOp : MkSM_Op<"tile", [Pure]> {
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
def MkSM_SendOp : MkSM_EffectOp<"send", [AttrSizedOperandSegments]> {
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
def MkSM_ReceiveOp : MkSM_EffectOp<"receive", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
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
  let hasVerifier = 1;
}

def MkSM_CursorOp : MkSM_Op<"cursor", [MemoryEffects<[MemAlloc]>]> {
  let summary = "counts one kind of use of a channel by a partition";
  let description = [{
    Stands at a partition's beginning: at slot 0, in a phase of this parity. Who fills slots begins with
    1, since the phase before the first is over. Without a channel it counts so many slots that the
    partition has for itself: those of puts, or the barrier of tiles that are trimmed.

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

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

def MkSM_CtaIndexOp : MkSM_Op<"cta_index", [Pure]> {
  let summary = "index of this CTA among those of its role";
  let description = [{
    In `mk.prepare`, among all CTAs that have a role. A role that others go on with
    (`then`) cannot ask: the CTAs that help have none.

    ```mlir
    %i = mk_sm.cta_index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def MkSM_ReadDimOp : MkSM_EffectOp<"read_dim"> {
  let summary = "reads a dimension of the kernel where it stands";
  let description = [{
    The same number as the dimension; not kept in a register from elsewhere.

    ```mlir
    %m = mk_sm.read_dim %M
    ```
  }];
  let arguments = (ins Index:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}
def MkSM_TeamIndexOp : MkSM_Op<"team_index", [Pure]> {
  let summary = "index of this team among those of its partition";
  let description = [{
    ```mlir
    %t = mk_sm.team_index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def MkSM_ItemsOp : MkSM_Op<"items", [SingleBlock, NoTerminator, RecursiveMemoryEffects,
                                     DeclareOpInterfaceMethods<LoopLikeOpInterface>]> {
  let summary = "visits the items of this CTA, in static order";
  let description = [{
    Of the items 0 .. total-1 those whose number is the CTA's index (`cta_index`) modulo the
    CTAs among which the items are divided: those of its role, in `mk.prepare` all that
    have a role. `item` is the number, `round` counts the items of the CTA from 0. Every loop
    of a target over items in static order is this op: nothing else divides items.

    `teams(t)` asks for a consumer whose t teams take the items in turn. `every(n)` visits the
    first of each n items only.

    ```mlir
    mk_sm.items (%item) round(%n) of %total { ... }
    mk_sm.items (%item) round(%n) of %total teams(2) { ... }
    ```
  }];
  let arguments = (ins Index:$total, DefaultValuedAttr<I64Attr, "1">:$teams,
                       DefaultValuedAttr<I64Attr, "1">:$every);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$total, CArg<"int64_t", "1">:$teams,
                                 CArg<"int64_t", "1">:$every)>];
  let extraClassDeclaration = [{
    ::mlir::Value getItem() { return getBody().getArgument(0); }
    ::mlir::Value getRound() { return getBody().getArgument(1); }
  }];
}
def MkSM_AtItemOp : MkSM_EffectOp<"at_item"> {
  let summary = "says at which item of a loop the CTA is";
  let description = [{
    For reports of waits that do not end. `loop` is the number of the loop in the kernel's
    package metadata.

    ```mlir
    mk_sm.at_item loop(0) [%m, %n]
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<511>]>:$loop,
                       Variadic<Index>:$indices);
  let assemblyFormat = "`loop` `(` $loop `)` `[` $indices `]` attr-dict";
  let hasVerifier = 1;
}
def MkSM_TicketOp : MkSM_EffectOp<"ticket"> {
  let summary = "draws the next item of a distributed loop";
  let description = [{
    Counts from 0 in each launch, over all CTAs of the GPU; `loop` is the number
    of the loop in the kernel's package metadata. By the producer, where the role has one.

    ```mlir
    %t = mk_sm.ticket loop(0)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<511>]>:$loop);
  let results = (outs Index:$result);
  let assemblyFormat = "`loop` `(` $loop `)` attr-dict";
  let hasVerifier = 1;
}
def MkSM_PopOp : MkSM_EffectOp<"pop", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "waits for an entry of a queue and reads it";
  let description = [{
    The words of record `entry`, in the order pushed. By the producer, where the role has one.

    ```mlir
    %b, %e = mk_sm.pop %q[%entry] : !mk.queue<?x2xi32>
    ```
  }];
  let arguments = (ins AnyType:$queue, Index:$entry);
  let results = (outs Variadic<Index>:$record);
  let assemblyFormat = "$queue `[` $entry `]` attr-dict `:` qualified(type($queue))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

def MkSM_MmaFenceOp : MkSM_EffectOp<"mma_fence", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "orders accesses to registers before matrix ops";
  let description = [{
    Fragments that matrix ops are about to use, and that other ops have written, pass
    through it. Without operands it fences only (accumulators in flight must not be
    touched).

    ```mlir
    mk_sm.mma_fence none
    %p1, %o1 = mk_sm.mma_fence %p, %o : tensor<128x128xbf16, #mk_sm.mma<warpgroups = 2>>, tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins Variadic<MkSM_Fragment>:$fragments);
  let results = (outs Variadic<MkSM_Fragment>:$results);
  // A name on the next line would be taken for an operand without a keyword.
  let assemblyFormat = "($fragments^ `:` type($fragments)) : (`none`)? attr-dict";
  let hasVerifier = 1;
}
def MkSM_MmaOp : MkSM_EffectOp<"mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "starts acc + a * b on the tensor cores";
  let description = [{
    Shapes and transpositions are those of `mk.dot`. `a` is staged or a fragment with the
    accumulator's layout; `b` is staged. The result is in flight: only `mma` (as
    accumulator) and `mma_wait` may use it. Matrix ops complete in order, and each op
    is one group for `mma_wait`. With `accumulate(%c)` the accumulator counts as zero
    where %c is false.

    ```mlir
    %n = mk_sm.mma %x, %y, %c transpose_b : !mk_sm.staged<tensor<128x64xbf16>>, !mk_sm.staged<tensor<256x64xbf16>>, tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins MkSM_DotOperand:$lhs, MkSM_DotOperand:$rhs, MkSM_Fragment:$acc,
                       Optional<I1>:$accumulate, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`accumulate` `(` $accumulate^ `)`)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? attr-dict `:` qualified(type($lhs)) `,` qualified(type($rhs)) `,` type($acc)
  }];
  let hasVerifier = 1;
}
def MkSM_MmaWaitOp : MkSM_EffectOp<"mma_wait", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "waits until at most so many matrix ops are in flight";
  let description = [{
    The fragments named are complete behind it: they are results of ops that the wait covers.

    ```mlir
    %s1 = mk_sm.mma_wait 1, %s : tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>>
    mk_sm.mma_wait 0
    ```
  }];
  let arguments = (ins I64Attr:$pending, Variadic<MkSM_Fragment>:$fragments);
  let results = (outs Variadic<MkSM_Fragment>:$results);
  let assemblyFormat = "$pending (`,` $fragments^ `:` type($fragments))? attr-dict";
  let hasVerifier = 1;
}
def MkSM_ConvertLayoutOp : MkSM_Op<"convert_layout", [Pure]> {
  let summary = "moves a fragment's elements to the threads of another layout";
  let description = [{
    ```mlir
    %b = mk_sm.convert_layout %a : tensor<128xf32, #A> -> tensor<128xf32, #B>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$source);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def MkSM_PartialSumOp : MkSM_Op<"partial_sum", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "adds up what a thread holds of each row";
  let description = [{
    Column c of the result is the sum of the columns of `source` that are congruent to c mod 8:
    these are in one thread, so none moves. The source has `#mk_sm.mma`, the result as many
    rows, 8 columns and the same layout; `mk.reduce add` of it along axis 1 is that of the source. The
    order of a sum is not defined.

    ```mlir
    %p = mk_sm.partial_sum %x : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$source);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}
def MkSM_StoreOp : MkSM_EffectOp<"store", [AttrSizedOperandSegments]> {
  let summary = "writes a fragment through shared memory and the copy engine";
  let description = [{
    Like `mk.store` without a signal; `add` is `reduce(add)`. Returns when the fragment has
    been read; the copy engine writes on. Later signals of the partition wait for it. Tiles
    that are partly valid, and buffers that have no tensor map, are stored directly.

    A warpgroup stores 64 rows of 128 bytes at a time: `unrolled` ones one behind the other, else
    in a loop.

    ```mlir
    mk_sm.store %t, %c[%i, %j] through %out
        : tensor<128x256xbf16, #mk_sm.mma<warpgroups = 2>>, memref<?x?xbf16>, !mk_sm.staging<2>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$tile, AnyMemRef:$dest, Variadic<Index>:$offsets,
                       Variadic<Index>:$valid, Optional<Index>:$peer,
                       MkSM_StagingType:$staging, UnitAttr:$add, UnitAttr:$unrolled);
  let assemblyFormat = [{
    $tile `,` $dest `[` $offsets `]` (`valid` `(` $valid^ `)`)? (`on` $peer^)? (`add` $add^)?
    `through` $staging (`unrolled` $unrolled^)? attr-dict
    `:` type($tile) `,` qualified(type($dest)) `,` qualified(type($staging))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

def MkSM_TurnWaitOp : MkSM_EffectOp<"turn_wait"> {
  let summary = "waits for this warpgroup's turn";
  let description = [{
    The two warpgroups of a consumer take turns, the first one first: what stands between
    `turn_wait` and `turn_pass` is not issued by both at a time. Both execute
    the pair equally often. Teams hand their place in the rings over with the turn:
    `with` the cursors that wait for slots, and release them.

    ```mlir
    mk_sm.turn_wait
    ```
  }];
  let arguments = (ins Variadic<MkSM_CursorType>:$cursors);
  let assemblyFormat = "(`with` `(` $cursors^ `)`)? attr-dict";
  let hasVerifier = 1;
}
def MkSM_TurnPassOp : MkSM_EffectOp<"turn_pass"> {
  let summary = "passes the turn to the other warpgroup";
  let description = [{
    ```mlir
    mk_sm.turn_pass
    ```
  }];
  let arguments = (ins Variadic<MkSM_CursorType>:$cursors);
  let assemblyFormat = "(`with` `(` $cursors^ `)`)? attr-dict";
  let hasVerifier = 1;
}

#endif // MKERNEL_SM_OPS
