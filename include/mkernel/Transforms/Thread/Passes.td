//===- Passes.td - Transformations at the thread level ------*- tablegen -*-===//
#ifndef MKERNEL_TRANSFORMS_THREAD_PASSES
#define MKERNEL_TRANSFORMS_THREAD_PASSES

include "mlir/Pass/PassBase.td"

def PromoteVariablesPass : Pass<"mk-thread-promote-variables", "::mlir::ModuleOp"> {
  let summary = "Turns variables of a thread into values that loops and branches carry";
  let description = [{
    A variable is an `llvm.alloca` of one scalar that is only loaded and stored whole: the stage
    and the parity of a use of a ring, a flag. Loads become the value stored last. A loop carries the
    variables that its body stores; a loop or a branch gives those that are loaded behind it.
    Variables with other uses stay.

    Stages and parities are SSA values from here on: a reader sees where they come from.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::mk_thread::MkThreadDialect"];
}

def MergeChecksPass : Pass<"mk-thread-merge-checks", "::mlir::ModuleOp"> {
  let summary = "Checks an index once, where several loads take it";
  let description = [{
    A check that gives back its index (`redirect`) makes way for one in front of it that dominates it, of the same index and the same
    extent. The report names the first load then.
  }];
}

def MergeElectedPass : Pass<"mk-thread-merge-elected", "::mlir::ModuleOp"> {
  let summary = "Makes one branch of what one thread of a warp does at a time";
  let description = [{
    Copies into a slot and the arrival behind them elect a thread each. Branches of such that follow each other become one; what
    stands in between and touches nothing moves in front of it. An arrival then says how many bytes its barrier
    expects, in place of `mbarrier_expect` of its own for each tile.

    ```mlir
    mk_thread.mbarrier_expect %full, 16384
    mk_thread.copy_tensor %map[%row, %column] to %slot counted by %full : i64
    mk_thread.mbarrier_arrive %full
    // becomes
    mk_thread.copy_tensor %map[%row, %column] to %slot counted by %full : i64
    mk_thread.mbarrier_arrive %full expect(%c16384)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def VerifyExpandedPass : Pass<"mk-thread-verify-expanded", "::mlir::ModuleOp"> {
  let summary = "Refuses ops that stand for several steps";
  let description = [{
    Runs behind the passes that expand them. No composite op is left: each op is what the conversion to LLVM lowers by one pattern.
  }];
}

/// Replaces ops that are work of several steps by these.
class ExpandPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::mk_thread::MkThreadDialect"];
}

def StageFragmentsPass : ExpandPass<"mk-thread-stage-fragments"> {
  let summary = "Turns stores of fragments into accesses to staging buffers, or to global memory, part by part";
  let description = [{
    Elements are taken as they are stored. Runs in front of `mk-thread-unroll-fragments`.
  }];
}

def StageRowsPass : ExpandPass<"mk-thread-stage-rows"> {
  let summary = "Turns stores of fragments by rows into accesses to staging buffers and to global memory";
  let description = [{
    Elements are taken as they are stored. Runs in front of `mk-thread-unroll-fragments`.
  }];
}

def UnrollFragmentsPass : ExpandPass<"mk-thread-unroll-fragments"> {
  let summary = "Turns fragments into the elements that a thread holds, a value each";
  let description = [{
    Ops of arith and math become ops on elements, from one element to the next; those on demand are computed where their
    elements are taken. Loads for them go together, as many as the target's thresholds say; blocks of columns of accumulators
    that may be `wide` become loads that quads share, and exchange where one of their elements is needed. No fragments are left.
  }];
}

def ExpandBoundsPass : ExpandPass<"mk-thread-expand-bounds"> {
  let summary = "Turns ends of loops that are counted in 32 bits into comparisons and a choice";
  let description = [{
    Runs in front of `mk-thread-dispatch-warps`, which keeps the report of a side where something may fail.
  }];
}

def DispatchWarpsPass : ExpandPass<"mk-thread-dispatch-warps"> {
  let summary = "Turns code of some warps, CTAs or one thread into branches on their numbers";
  let description = [{
    `specialize` becomes a branch on the number of the warpgroup, with the registers that change hands; a report of deferred
    failures stays where something defers one.
  }];
}

def ExpandLaunchPass : ExpandPass<"mk-thread-expand-launch"> {
  let summary = "Turns begin and end of a launch into barriers, and accesses to what counts from one launch to the next";
  let description = [{
    The CTA that ends last makes the counts of this launch those of the next (mkernel/ABI/Gpu.h).
  }];
}

def ExpandQueuesPass : ExpandPass<"mk-thread-expand-queues"> {
  let summary = "Turns tickets, counters and queues into atomics, waits and accesses";
}

def ExpandChannelsPass : ExpandPass<"mk-thread-expand-channels"> {
  let summary = "Turns uses of rings and mailboxes into waits and arrivals at barriers of their slots";
}

def ExpandTurnsPass : ExpandPass<"mk-thread-expand-turns"> {
  let summary = "Turns turns of two warpgroups into named barriers and words in shared memory";
}

def ExpandCopiesPass : ExpandPass<"mk-thread-expand-copies"> {
  let summary = "Turns copies of tiles by the copy engine into boxes, and the bytes that a barrier waits for";
}

def ExpandCopiersPass : ExpandPass<"mk-thread-expand-copiers"> {
  let summary = "Turns copies by other warps into requests in shared memory, and code that serves them";
  let description = [{
    What of a row lies in a chunk is brought by cp.async in pieces of 16, 8 or 4 bytes. Rows that begin within a word are
    shifted to their place when they are there; what is rare goes element by element.
  }];
}

def ExpandPaddingPass : ExpandPass<"mk-thread-expand-padding"> {
  let summary = "Turns padding of a tile in its slot into stores to shared memory";
}

def ExpandProductsPass : ExpandPass<"mk-thread-expand-products"> {
  let summary = "Turns products of a warpgroup into single instructions, and descriptors of their operands";
}

def ExpandStoresPass : ExpandPass<"mk-thread-expand-stores"> {
  let summary = "Turns stores from a staging buffer by threads into stores of words";
  let description = [{
    For what the copy engine cannot store: in pieces of 16 bytes, of 4, or element by element.
  }];
}

def ExpandExchangesPass : ExpandPass<"mk-thread-expand-exchanges"> {
  let summary = "Turns exchanges of elements between threads into accesses to shared memory";
}

def ExpandReductionsPass : ExpandPass<"mk-thread-expand-reductions"> {
  let summary = "Turns reductions along an axis into those of threads, of lanes, and through shared memory";
}

def ExpandElementsPass : ExpandPass<"mk-thread-expand-elements"> {
  let summary = "Turns masks of a thread's elements into comparisons, factors into products that warps may go past";
}

def ExpandAccessesPass : ExpandPass<"mk-thread-expand-accesses"> {
  let summary = "Turns accesses to elements of a tile in global memory into those of words, where they exist";
}

def ExpandMathPass : ExpandPass<"mk-thread-expand-math"> {
  let summary = "Turns functions of floats into what the hardware approximates, and polynomials";
  let description = [{
    Functions of f32, and of 16-bit floats by way of it; others stay. Division of f32 is good to 2 ulp. Runs
    behind passes that make maxima and minima.
  }];
}

def PairConversionsPass : ExpandPass<"mk-thread-pair-conversions"> {
  let summary = "Converts 8-bit elements two at a time";
  let description = [{
    From and to fp8, by the instructions for two; integers to floats by arithmetic on their bits, which is exact. Such an
    integer is a byte, or is taken out of a byte or a word by shifts, masks and constants, which are done with two at once, too.
    Two follow each other in a block, and the second one's operand is there at the first.
  }];
}

def ExpandSenderPass : ExpandPass<"mk-thread-expand-sender"> {
  let summary = "Turns posts of tiles into words in shared memory, and code of the warp that sends them";
  let description = [{
    The sender has a piece of a tile under way at a time. Runs in front of `mk-thread-expand-signals`: it
    raises signals behind tiles.
  }];
}

def ExpandRunsPass : ExpandPass<"mk-thread-expand-runs"> {
  let summary = "Turns puts into bulk copies, copies by threads, or commands";
  let description = [{
    A region is gone through in runs, which lie in one piece at both ends: `plan_runs` becomes arithmetic. `copy_runs`
    becomes bulk copies through slots of shared memory, loads and stores of 16 bytes by the lanes of a warp, or, where
    runs are not aligned, of an element a thread; `send_runs` becomes commands, one for a run.
  }];
}

def ExpandSignalsPass : ExpandPass<"mk-thread-expand-signals"> {
  let summary = "Turns signals into atomics, here or across links, or into commands";
  let description = [{
    Whether this device maps a peer's memory is found at run time, where some peers are reached by the
    proxy only.
  }];
}

def ExpandCommandsPass : ExpandPass<"mk-thread-expand-commands"> {
  let summary = "Turns commands for the proxy into accesses to its ring";
  let description = [{
    A place is reserved first, and written once the proxy has consumed what was there a lap ago. Runs behind
    passes that make commands.
  }];
}

#endif // MKERNEL_TRANSFORMS_THREAD_PASSES
