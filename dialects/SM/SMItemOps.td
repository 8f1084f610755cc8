//===- SMItemOps.td - Items, turns, and the end after a failure -*- tablegen -*-===//
#ifndef MKERNEL_SM_ITEM_OPS
#define MKERNEL_SM_ITEM_OPS

include "SMOpBase.td"

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

def MkSM_InitialItemOp : MkSM_Op<"initial_item", [Pure, MkSM_Ranged]> {
  let summary = "the item that this CTA need not draw, or -1";
  let description = [{
    Of a loop over tickets with which the CTAs of a role begin, the first items are dealt out: CTA
    i of the role has item i. A CTA that comes from another role (`then`) gets
    -1: it draws its first item, as all do the later ones. Tickets of such a loop count from 0 as
    always; the number of CTAs of the role is added to them.

    ```mlir
    %i = mk_sm.initial_item
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def MkSM_ReadDimOp : MkSM_EffectOp<"read_dim", [MkSM_Ranged]> {
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
def MkSM_TeamIndexOp : MkSM_Op<"team_index", [MkSM_InConsumer, Pure, MkSM_Ranged]> {
  let summary = "index of this team among those of its partition";
  let description = [{
    ```mlir
    %t = mk_sm.team_index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}
def MkSM_WarpgroupIndexOp : MkSM_Op<"warpgroup_index", [MkSM_InConsumer, Pure, MkSM_Ranged]> {
  let summary = "index of this warpgroup among those of its partition";
  let description = [{
    Warpgroups that go by it go apart: none may come to an op for which it waits for the others.

    ```mlir
    %w = mk_sm.warpgroup_index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}
def MkSM_ItemsOp : MkSM_Op<"items", [MkSM_InScope, SingleBlock, NoTerminator, RecursiveMemoryEffects,
                                     MkSM_Ranged, DeclareOpInterfaceMethods<LoopLikeOpInterface,
                                         ["getInitsMutable", "getRegionIterArgs"]>]> {
  let summary = "visits the items of this CTA, in static order";
  let description = [{
    Of the items 0 .. total-1 those whose number is the CTA's index modulo the
    CTAs among which the items are divided: those of its role, in `mk.prepare` all that
    have a role. `item` is the number, `round` counts the items of the CTA from 0. Every loop
    of a target over items in static order is this op: nothing else divides items.

    `teams(t)` asks for a consumer whose t teams take the items in turn. `every(n)` visits the
    first of each n items only. `parts(p)`: p CTAs side by side may do an item together (`mk-divide-items`).
    With `iter_args` an item begins with what the one before gave by `mk_sm.carry`, the first one with the initial values.

    ```mlir
    mk_sm.items (%item) round(%n) of %total { ... }
    mk_sm.items (%item) round(%n) of %total teams(2) { ... }
    mk_sm.items (%item) round(%n) of %total iter_args(%x = %zero : tensor<64xf32>) { ... mk_sm.carry %next : tensor<64xf32> }
    ```
  }];
  let arguments = (ins Index:$total, Variadic<AnyType>:$inits, DefaultValuedAttr<I64Attr, "1">:$teams,
                       DefaultValuedAttr<I64Attr, "1">:$every,
                       DefaultValuedAttr<I64Attr, "1">:$parts);
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
def MkSM_CarryOp : MkSM_Op<"carry", [Pure, Terminator, HasParent<"ItemsOp">]> {
  let summary = "gives values to the next item";
  let description = [{
    The end of an item whose loop has `iter_args`, one value for each.

    ```mlir
    mk_sm.carry %next : tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values `:` type($values) attr-dict";
}
def MkSM_AtItemOp : MkSM_EffectOp<"at_item", [MkSM_InScope]> {
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
}
def MkSM_ForwardOp : MkSM_Op<"forward", [MkSM_InScope, Pure, InferTypeOpAdaptor, MkSM_Ranged]> {
  let summary = "has the producer compute scalars of an item for the consumer";
  let description = [{
    In a role that is not split: the consumer gets these scalars from the producer, and computes nothing of what they follow
    from. In a loop of which the producer has nothing they are what they are.

    ```mlir
    %row, %rows = mk_sm.forward %r, %n
    ```
  }];
  let arguments = (ins Variadic<Index>:$scalars);
  let results = (outs Variadic<Index>:$results);
  let assemblyFormat = "$scalars attr-dict";
  let hasVerifier = 1;
}
def MkSM_TicketOp : MkSM_EffectOp<"ticket", [MkSM_InScope, MkSM_Ranged]> {
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
def MkSM_PopOp : MkSM_EffectOp<"pop", [MkSM_InScope, InferTypeOpAdaptor]> {
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
// Turns
//===----------------------------------------------------------------------===//

def MkSM_TurnWaitOp : MkSM_EffectOp<"turn_wait", [MkSM_InConsumer]> {
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
def MkSM_TurnPassOp : MkSM_EffectOp<"turn_pass", [MkSM_InConsumer]> {
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

//===----------------------------------------------------------------------===//
// After a failure
//===----------------------------------------------------------------------===//

def MkSM_LoadAgreedOp : MkSM_Op<"load_agreed", [
    TypesMatchWith<"the result is an element of the buffer", "memref", "result",
                   "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "reads a scalar, which is 0 after a failure";
  let description = [{
    Like `memref.load`, but 0 once the threads of the partition have agreed that the launch has failed. What is
    read there may be unfinished, and decides which barriers threads come to. The single warp of a producer or a mover
    agrees here, a consumer that `agrees` has done so behind its last wait.

    ```mlir
    %n = mk_sm.load_agreed %list[%c0] : memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "the buffer", [MemRead]>:$memref, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$memref `[` $indices `]` attr-dict `:` qualified(type($memref))";
  let hasVerifier = 1;
}
def MkSM_UntilFailedOp : MkSM_EffectOp<"until_failed"> {
  let summary = "lets a loop end once the launch has failed";
  let description = [{
    The condition of an `scf.while`, but false once the threads of the partition have agreed that the launch has
    failed: the loop may wait for what nobody writes any more.

    ```mlir
    %goes_on = mk_sm.until_failed %more
    ```
  }];
  let arguments = (ins I1:$condition);
  let results = (outs I1:$result);
  let assemblyFormat = "$condition attr-dict";
  let hasVerifier = 1;
}

#endif // MKERNEL_SM_ITEM_OPS
