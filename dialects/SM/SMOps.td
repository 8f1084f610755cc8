//===- SMOps.td - Operations of the SM dialect --------------*- tablegen -*-===//
#ifndef MKERNEL_SM_OPS
#define MKERNEL_SM_OPS

include "SMOpBase.td"

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def MkSM_PartitionOp : MkSM_Op<"partition", [SingleBlock, NoTerminator,
                                             ParentOneOf<["::mlir::mk::RoleOp", "::mlir::mk::PrepareOp"]>]> {
  let summary = "what a group of warps of a CTA does";
  let description = [{
    A role has at most one `producer`, a single warp that fills rings and draws
    tickets, and one `consumer` of whole warpgroups. Both start together and end on their own.
    A role beside another has nothing but a `mover`, a single warp that puts, signals and waits.
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
    mk_sm.partition mover warps(1) registers(40) { ... }
    ```

    The threads of a consumer that `agrees` know of each wait, when it has returned, whether the launch has failed, and
    all of them the same (`mk-sm-agree-on-failure`).
  }];
  let arguments = (ins MkSM_PartitionKindAttr:$kind, I64Attr:$warps, I64Attr:$registers,
                       DefaultValuedAttr<I64Attr, "1">:$teams, UnitAttr:$agrees);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` $kind `warps` `(` $warps `)` `registers` `(` $registers `)` (`teams` `(` $teams^ `)`)?
    (`agrees` $agrees^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Of a team: those that run the body together.
    int64_t getTeamWarps() { return getWarps() / getTeams(); }
    int64_t getNumThreads() { return getTeamWarps() * ::mlir::mk::kWarpThreads; }
    /// Of all teams.
    int64_t getNumWarpgroups() { return getWarps() / 4; }
  }];
}

class MkSM_CreateOp<string mnemonic> : MkSM_Op<mnemonic, [
    MkSM_SharedOwner, MemoryEffects<[MemAlloc]>, ParentOneOf<["::mlir::mk::RoleOp", "::mlir::mk::PrepareOp"]>]> {
  let arguments = (ins OptionalAttr<MkSM_Offsets>:$offsets);
  let assemblyFormat = "(`offsets` `` custom<Offsets>($offsets)^)? attr-dict";
}
class MkSM_CreateChannelOp<string mnemonic, Type type> : MkSM_CreateOp<mnemonic> {
  let results = (outs type:$result);
  let assemblyFormat = "(`offsets` `` custom<Offsets>($offsets)^)? attr-dict `:` qualified(type($result))";
  let builders = [OpBuilder<(ins "::mlir::Type":$type), "build($_builder, $_state, type, /*offsets=*/::mlir::DictionaryAttr());">];
}
def MkSM_CreateRingOp : MkSM_CreateChannelOp<"create_ring", MkSM_RingType> {
  let summary = "declares a ring between the partitions of a role";
  let description = [{
    ```mlir
    %ring = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x64xbf16>>
    %laid = mk_sm.create_ring offsets(empty = 16392, full = 16384, slots = 0) : !mk_sm.ring<1, tensor<128x64xbf16>>
    ```
  }];
}
def MkSM_CreateMailboxOp : MkSM_CreateChannelOp<"create_mailbox", MkSM_MailboxType> {
  let summary = "declares a mailbox between the partitions of a role";
  let description = [{
    ```mlir
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    ```
  }];
}
def MkSM_CreateStagingOp : MkSM_CreateChannelOp<"create_staging", MkSM_StagingType> {
  let summary = "declares buffers through which the consumer stores";
  let description = [{
    ```mlir
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    ```
  }];
}
def MkSM_CreateScratchOp : MkSM_CreateOp<"create_scratch"> {
  let summary = "declares what ops of a role need of shared memory besides";
  let description = [{
    Slots of puts, room for what threads exchange, barriers: those that ops of the role or of `mk.prepare` use.
    `mk-sm-lay-out-shared` makes it.

    ```mlir
    mk_sm.create_scratch offsets(exchange = 98304, put_barriers = 114832, put_slots = 0)
    ```
  }];
  let hasVerifier = 1;
}

def MkSM_SharedMemoryOp : MkSM_Op<"shared_memory", [MkSM_SharedOwner, HasParent<"::mlir::mk::KernelOp">]> {
  let summary = "says that a kernel's shared memory is laid out";
  let description = [{
    The shared memory of a CTA has so many bytes. Each op that owns a part of it (channels, staging
    areas, scratch of roles, this one) says in `offsets` where its pieces lie. Pieces
    do not overlap, but for tiles of different roles, puts and exchanges among them: a CTA is in one role at a time.

    This op has the result of an op that one thread does, the word that says that the CTA has failed,
    requests of copies if some are done by threads (`copiers`), and `tracks(n)` bytes for records of
    times, if times are recorded.

    ```mlir
    mk_sm.shared_memory 197144 copiers offsets(failed = 196712, posted = 197136, requests = 196720, result = 196704)
    ```
  }];
  let arguments = (ins I64Attr:$bytes, DefaultValuedAttr<I64Attr, "0">:$tracks, UnitAttr:$copiers,
                       OptionalAttr<MkSM_Offsets>:$offsets);
  let assemblyFormat = [{
    $bytes (`copiers` $copiers^)? (`tracks` `(` $tracks^ `)`)? (`offsets` `` custom<Offsets>($offsets)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def MkSM_WarpsOp : MkSM_Op<"warps", [HasParent<"::mlir::mk::KernelOp">]> {
  let summary = "says which warps of a CTA do what, and in which order";
  let description = [{
    The first warpgroup is the producer's: its warp 0 runs the producers of all roles. Its other warps are the
    `copiers`, which copy for it, or its warp 1 is the `sender` of tiles that are posted, or they do nothing. The last of them
    are `movers`: warp 3 runs the first role that is named there, warp 2 the second. Behind it are so many warps of the `consumer`; a
    consumer partition of fewer warps has the first of these. `registers` are those of a thread of the
    producer's warpgroup and of a thread of the consumer, between which they are moved at the start; without it every thread
    has the most there is.

    A CTA comes to the roles in `order`: its own, and those that it goes on with (`then`). Movers begin with the kernel.

    `barriers` are the named barriers of the CTA: `warpgroup` and those behind it are the consumer's warpgroups', each
    for itself, `consumer` is that of a consumer partition, `cta` of all warps that work, between roles and at the
    end, `turn` and the next one are those of `turn_wait`, `request` is that of the copiers, or of the sender, `finish` of all threads
    when all is done. Barrier 0 has the same threads: a warp that arrives at one with a count of threads, while others wait
    without, is an illegal instruction.

    ```mlir
    mk_sm.warps consumer(8) copiers registers [40, 232] order [@push, @gemm]
        barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
    ```
  }];
  let arguments = (ins I64Attr:$consumer, UnitAttr:$copiers, UnitAttr:$sender, OptionalAttr<FlatSymbolRefArrayAttr>:$movers,
                       OptionalAttr<DenseI64ArrayAttr>:$registers, FlatSymbolRefArrayAttr:$order, DictionaryAttr:$barriers);
  let assemblyFormat = [{
    `consumer` `(` $consumer `)` (`copiers` $copiers^)? (`sender` $sender^)? (`movers` $movers^)?
    (`registers` $registers^)? `order` $order `barriers` $barriers attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumThreads() { return ::mlir::mk::kWarpgroupThreads + ::mlir::mk::kWarpThreads * getConsumer(); }
    int64_t getNumMovers() { return getMovers() ? getMovers()->size() : 0; }
    /// The warp of mover i, and how many warps are left to copiers.
    static int64_t getMoverWarp(int64_t i) { return 3 - i; }
    int64_t getNumCopiers() { return 3 - getNumMovers(); }
    static constexpr int64_t kMostMovers = 2;
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

def MkSM_OrderOp : MkSM_EffectOp<"order"> {
  let summary = "orders own accesses";
  let description = [{
    Loads and stores of the CTA's own memory in front of it, by threads and by the copy engine, happen before those behind it
    (`mk-sm-order-accesses`). All threads of the partition, or of a team, come to it.

    ```mlir
    mk_sm.order
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def MkSM_KeepWordsOp : MkSM_EffectOp<"keep_words"> {
  let summary = "keeps what addresses are computed from in registers during a loop";
  let description = [{
    Says of the `scf.for` that it stands in: addresses, extents and strides of buffers that its ops name, at any depth, are read
    once, in front of it. Elsewhere they are read again wherever they are needed, which takes no registers.

    ```mlir
    scf.for %k = %c0 to %count step %c1 {
      mk_sm.keep_words
      %n = memref.load %list[%k] : memref<?xi32>
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

include "SMChannelOps.td"
include "SMFragmentOps.td"
include "SMItemOps.td"
include "SMMatrixOps.td"

#endif // MKERNEL_SM_OPS
