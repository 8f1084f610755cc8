//===- ThreadChannelOps.td - Rings and mailboxes ------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_CHANNEL_OPS
#define MKERNEL_THREAD_CHANNEL_OPS

include "ThreadBase.td"

def MkThread_ChannelAttr : MkThread_Attr<"Channel", "channel"> {
  let summary = "where a ring or a mailbox lies in shared memory";
  let description = [{
    `depth` slots of `bytes` bytes each lie from byte `slots` on; each has a barrier in the array at `full`, at which the
    producer arrives once and the copy engine counts bytes, and one in that at `empty`, at which each warp of
    the consumer arrives once.

    ```mlir
    #mk_thread.channel<full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256>
    ```
  }];
  let parameters = (ins "int64_t":$full, "int64_t":$empty, "int64_t":$slots, "int64_t":$depth,
                        "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def MkThread_TurnBarrier : ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<14>]>;

// The slot of an op is the one at `stage`; `parity` is that of the phase for whose end it waits.

def MkThread_InitSlotsOp : MkThread_CompositeOp<"init_slots"> {
  let summary = "initialises the barriers of a channel";
  let description = [{
    Each warp of the consumer that reads a slot arrives at `empty`, so many times in all.

    ```mlir
    mk_thread.init_slots <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> readers(8)
    ```
  }];
  let arguments = (ins MkThread_ChannelAttr:$channel, ConfinedAttr<I64Attr, [IntPositive]>:$readers);
  let assemblyFormat = "$channel `readers` `(` $readers `)` attr-dict";
  let hasVerifier = 1;
}
def MkThread_TakeSlotOp : MkThread_CompositeOp<"take_slot"> {
  let summary = "waits until a slot of a ring is empty, or full";
  let description = [{
    By whole warps. The results are the address of the slot and that of its barrier `full`.

    ```mlir
    %slot, %full = mk_thread.take_slot empty of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256>
        at(%stage, %parity) report(<kind = 3, role = 0, number = 0>)
    %tile, %bar = mk_thread.take_slot full of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256>
        at(%stage, %parity) report(<kind = 3, role = 0, number = 0>)
    ```
  }];
  let arguments = (ins UnitAttr:$empty, MkThread_ChannelAttr:$channel, I32:$stage, I32:$parity,
                       MkThread_ReportAttr:$report);
  let results = (outs MkThread_Shared:$slot, MkThread_Shared:$full);
  let assemblyFormat = [{
    (`empty` $empty^):(`full`)? `of` $channel `at` `(` $stage `,` $parity `)` `report` `(` $report `)` attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_CommitSlotOp : MkThread_CompositeOp<"commit_slot"> {
  let summary = "the slot with this barrier is full once the copy engine has brought what was asked of it";
  let description = [{
    By a whole warp.

    ```mlir
    mk_thread.commit_slot %full
    ```
  }];
  let arguments = (ins MkThread_Shared:$full);
  let assemblyFormat = "$full attr-dict";
}
def MkThread_ReleaseSlotOp : MkThread_CompositeOp<"release_slot"> {
  let summary = "this warp has read what it needs of a slot";
  let description = [{
    Where CTAs of a cluster fill slots together all `writers`, a bit for each, are told.

    ```mlir
    mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%stage) lane(%lane)
    mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%stage) lane(%lane)
        writers(%mask)
    ```
  }];
  let arguments = (ins MkThread_ChannelAttr:$channel, I32:$stage, I32:$lane, Optional<I32>:$writers);
  let assemblyFormat = [{
    $channel `at` `(` $stage `)` `lane` `(` $lane `)` (`writers` `(` $writers^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_SendWordsOp : MkThread_CompositeOp<"send_words"> {
  let summary = "puts words into the next slot of a mailbox";
  let description = [{
    By a warp, of which this is `lane`, once the slot is empty.

    ```mlir
    mk_thread.send_words %n, %m to <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 16> at(%stage, %parity)
        lane(%lane) report(<kind = 3, role = 0, number = -1>)
    ```
  }];
  let arguments = (ins Variadic<I64>:$words, MkThread_ChannelAttr:$channel, I32:$stage, I32:$parity, I32:$lane,
                       MkThread_ReportAttr:$report);
  let assemblyFormat = [{
    $words `to` $channel `at` `(` $stage `,` $parity `)` `lane` `(` $lane `)` `report` `(` $report `)` attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_ReceiveWordsOp : MkThread_CompositeOp<"receive_words"> {
  let summary = "takes words from the next slot of a mailbox, which are the same in all lanes";
  let description = [{
    By a warp, of which this is `lane`, once the slot is full; then it is given back.

    ```mlir
    %k, %l = mk_thread.receive_words from <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 16>
        at(%stage, %parity) lane(%lane) report(<kind = 3, role = 0, number = -1>) : i64, i64
    ```
  }];
  let arguments = (ins MkThread_ChannelAttr:$channel, I32:$stage, I32:$parity, I32:$lane,
                       MkThread_ReportAttr:$report);
  let results = (outs Variadic<I64>:$words);
  let assemblyFormat = [{
    `from` $channel `at` `(` $stage `,` $parity `)` `lane` `(` $lane `)` `report` `(` $report `)` attr-dict
    `:` type($words)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

// Two warpgroups take turns. The first one's barrier is the named barrier `first`, the other one has the next: who passes
// arrives at the other's, who takes a turn waits at its own. With the turn it gets stages and parities, which lie
// in a word of shared memory each.

def MkThread_TakeTurnOp : MkThread_CompositeOp<"take_turn"> {
  let summary = "waits for this warpgroup's turn";
  let description = [{
    For each word the results are a stage and a parity.

    ```mlir
    mk_thread.take_turn first(8) words []
    %stage, %parity = mk_thread.take_turn first(8) words [512] : i32, i32
    ```
  }];
  let arguments = (ins MkThread_TurnBarrier:$first, DenseI64ArrayAttr:$words);
  let results = (outs Variadic<I32>:$places);
  let assemblyFormat = "`first` `(` $first `)` `words` $words attr-dict (`:` type($places)^)?";
  let hasVerifier = 1;
}
def MkThread_PassTurnOp : MkThread_CompositeOp<"pass_turn"> {
  let summary = "gives the other warpgroup the turn";
  let description = [{
    Thread 0 of the partition hands over a stage and a parity for each word.

    ```mlir
    mk_thread.pass_turn first(8) words [512] of (%stage, %parity) thread(%thread)
    ```
  }];
  let arguments = (ins MkThread_TurnBarrier:$first, DenseI64ArrayAttr:$words, Variadic<I32>:$places, I32:$thread);
  let assemblyFormat = [{
    `first` `(` $first `)` `words` $words `of` `(` $places `)` `thread` `(` $thread `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_CHANNEL_OPS
