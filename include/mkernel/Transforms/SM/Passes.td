//===- Passes.td - Transformations at the SM level ----------*- tablegen -*-===//
#ifndef MKERNEL_TRANSFORMS_SM_PASSES
#define MKERNEL_TRANSFORMS_SM_PASSES

include "mlir/Pass/PassBase.td"

class SMPass<string name, list<string> dialects = []> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = !listconcat(dialects, [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::mk_sm::MkSMDialect"]);
}

def ForwardScalarsPass : SMPass<"mk-sm-forward-scalars"> {
  let summary = "Has the producer search for where an item lies, and send it";
  let description = [{
    Both partitions of a role compute where their item lies. Where a loop searches for it in memory, as for the group
    that a tile of a grouped product is in, the tensor cores stand still for that in front of each item: for a chain of
    reads, each of which waits for the one before. The producer does the same ahead, so it sends the consumer what
    follows from the search and is needed for more than to find the rest. Multiples, conditions and what else is no
    index are computed from that by the consumer itself: passes behind this one see what they are.

    For loops over items, not those of teams; for searches in what no kernel writes that stand in the body of such a
    loop, not in a branch or loop there, and end with numbers of type index.

    ```mlir
    mk.store %tile, %c[%row, %column] valid(%rows, %tn) : tensor<128x256xbf16>, memref<?x?xbf16>
    // becomes
    %r, %n = mk_sm.forward %row, %rows
    mk.store %tile, %c[%r, %column] valid(%n, %tn) : tensor<128x256xbf16>, memref<?x?xbf16>
    ```

    Runs in front of `mk-sm-split-roles`.
  }];
}

def ReverseFoldsPass : SMPass<"mk-sm-reverse-folds"> {
  let summary = "Walks the folds of every second item of a CTA from their end";
  let description = [{
    CTAs that work side by side share the panels of their operands. What they load last of
    these is still in the L2 cache when their next items begin, so these begin there.
    For folds with `combine` by a reduction, whose parts may be put together in any order, in
    loops over items in static order, if an iteration only loads and computes.

    Runs between the expansion of loops and that of folds.
  }];
}

def DropLimitsPass : SMPass<"mk-sm-drop-limits"> {
  let summary = "Loads tiles of dots whole where nothing behind their end is seen";
  let description = [{
    A `valid` of a load whose tile is only multiplied becomes the tile's extent, dimension by
    dimension, where what the product has of the rest is dropped by every store, or replaced by
    masks: those end at the same value. The copy engine then brings a box as it is; else the producer writes over the rest of
    it. Not along the dimension that a dot sums over: there a NaN would be seen.

    ```mlir
    %x = mk.load %a[%row, %k] valid(%rows, %tk) : memref<?x?xbf16> -> tensor<128x64xbf16>
    // becomes
    %x = mk.load %a[%row, %k] valid(%c128, %tk) : memref<?x?xbf16> -> tensor<128x64xbf16>
    ```
  }];
}

def StageLoadsPass : SMPass<"mk-sm-stage-loads"> {
  let summary = "Has tiles that threads work on brought by the copy engine, ahead";
  let description = [{
    A tile that elementwise ops take behind the products of an item, as a residual or what other ranks have left to be
    added, is loaded by threads that have nothing else to do while they wait for memory. Marked `staged`, it comes
    through the ring that products use, in as many slots as it takes, while these are still at work; threads read it out
    of shared memory. So is what each iteration of a loop works on, in a role that multiplies. Both have to be what the
    copy engine can bring, and what only the item itself writes (`own`), or nothing in the load's role and in those that its
    CTAs had before: the producer reads it ahead. Stores and puts at peers do not count where the role waits for their
    signal in front of the load, as the producer then does, too.
    Whether a ring has room is up to `mk-sm-split-roles`.

    ```mlir
    %x = mk.load %r[%row, %column] : memref<?x?xbf16> -> tensor<128x256xbf16>
    // becomes
    %x = mk.load %r[%row, %column] staged : memref<?x?xbf16> -> tensor<128x256xbf16>
    ```
  }];
}

def ChooseStoresPass : SMPass<"mk-sm-choose-stores"> {
  let summary = "Chooses which tiles leave through shared memory and the copy engine";
  let description = [{
    `mk-sm-split-roles` has consumers store all fragments from registers (`mk.store`). Those that
    the copy engine can store become `mk_sm.store`, through a staging area of two buffers: accumulators of floats of 16 or
    32 bits, in chunks of the target, of which the last one may overlap the one before where nothing is added; and their
    transposes, where elements have 16 bits.

    Accumulators that go to this rank's scratch of known extents stay `mk.store`: threads fill whole
    sectors of the L2, and a signal behind them need not wait for the copy engine.
    Where rows of the buffer are known to begin within a sector, as those of an odd multiple of 16 bytes, threads store
    what is in the staging area, row by row (`by_rows`): boxes of a chunk would write parts of sectors. That is for what
    is computed of accumulators and numbers alone, behind fewer than `short_folds` steps; a remark says why not.
    Roles that have a staging area are left alone.

    ```mlir
    mk.store %t, %c[%i, %j] signal %s[%n] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, ...
    // becomes
    mk_sm.store %t, %c[%i, %j] through %staging : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, ...
    mk.signal %s[%n] : ...
    ```
  }];
}

def DeferReductionsPass : SMPass<"mk-sm-defer-reductions"> {
  let summary = "Exchanges sums along rows between lanes behind the loop that carries them";
  let description = [{
    For a sum along the rows of accumulators that a loop carries, `l = l * a + reduce_add(x)` or
    `l = l + reduce_add(x)`: if nothing else in the loop sees `l` or the reduction, the loop carries a
    tile of partial sums instead (`mk_sm.partial_sum`, twice the registers), and they
    are reduced behind it. Floating-point sums are rounded otherwise.

    In partitions without dots the loop carries the tile itself, where that is dealt out and has few registers, for a
    sum, maximum or minimum along any axis.

    Runs in front of the passes that peel loops.
  }];
}

def OverlapDotsPass : SMPass<"mk-sm-overlap-dots"> {
  let summary = "Starts independent dots of the next iteration before dependent ones are done";
  let description = [{
    For a loop whose last dot takes what is computed from the results of earlier ones and is
    only carried on (`acc = acc * scale + f(x * y) * z`): the last dot is put off by an
    iteration, so that it runs together with the earlier dots of the next iteration,
    and what lies between them on the other units runs under it. Its operands in registers are
    carried instead. The first iteration and the last dot are peeled.

    The earlier dots must not depend on the last one's accumulator, nor on each other;
    what depends on the accumulator must be pure. Such a loop that does not meet this is left
    as it is: each dot is waited for at once.
  }];
}

def DeferWaitsPass : SMPass<"mk-sm-defer-waits", ["::mlir::ub::UBDialect"]> {
  let summary = "Keeps the dots of a loop in flight over its iterations";
  let description = [{
    For a loop that only accumulates (`acc = acc + x * y` with staged operands): the wait
    for the dots of an iteration moves behind those of the next, and with it the release of
    their slots. Accumulators that start from zero are not filled: the first dot ignores them.
  }];
}

def SkipHiddenPass : SMPass<"mk-sm-skip-hidden"> {
  let summary = "Lets a warpgroup leave out iterations of which it keeps nothing";
  let description = [{
    Of loops of products in which each warpgroup has some of the tile's rows. Where a mask is `skippable`
    and a constraint of it holds for none of these rows from some iteration on, the warpgroup leaves the loop there. Where
    the rows lie behind the end of all that is stored (of an argument, or of what `valid` says), it goes through no iteration
    of the loop (one that has been moved in front of it, as by `mk-sm-overlap-dots`, is done). What follows the loop is done for the warpgroup's
    own last iteration; behind that the slots of those that are left are waited for and released. Warpgroups that take turns stay
    together.
  }];
}

def SplitMasksPass : SMPass<"mk-sm-split-masks"> {
  let summary = "Splits a loop into iterations that need no mask and those that do";
  let description = [{
    Where every constraint of the masks in a loop holds for a whole tile up to some
    iteration (its symbols fall as the loop goes on, or are constant), the loop is split
    there, and the first part has no masks.
  }];
}

def TakeTurnsPass : SMPass<"mk-sm-take-turns"> {
  let summary = "Lets two warpgroups issue matrix ops alternately";
  let description = [{
    In a loop that keeps several dots in flight and computes on fragments meanwhile, the two
    warpgroups of a consumer issue their dots one after the other, so that one
    computes while the other's dots run ("ping-pong" in FlashAttention-3,
    arXiv:2407.08608).
  }];
}

def PairDotsPass : SMPass<"mk-sm-pair-dots"> {
  let summary = "Keeps a dot in flight while the result of the one before is worked on";
  let description = [{
    For a loop with one dot that starts from zero and is waited for, and whose result ops of the
    same iteration take (`acc = acc + scale * (x * y)`, or fp8, whose products are added up in f32):
    four iterations go together, whose products take two sets of registers in turn. The dot of the next
    iteration is started before the result of one is worked on, so that the tensor cores have
    something to do meanwhile. The loop itself is left for what is no multiple of four.

    Loads of numbers and of few registers, out of what no kernel writes, go with the dot.
    Left alone are loops for which registers do not suffice, and those that act on what others see.
  }];
}

def AdvanceLoadsPass : SMPass<"mk-sm-advance-loads", ["::mlir::memref::MemRefDialect"]> {
  let summary = "Has an iteration load what the next one takes";
  let description = [{
    In a loop with dots: what is loaded into few registers out of what no kernel writes, or the item alone (`own`), from
    places that follow from the iteration alone, is loaded an iteration ahead, behind the start of the dots, and carried;
    two iterations ahead where all of it is scalars. Pure ops that take it and stand in front of the dots go behind them.
    Reads of slots go behind the start of a loop's only dot, if that does not take them.

    In a loop of a consumer without dots that only loads and stores: up to eight iterations ahead, four in a partition that has dots elsewhere, as
    far as registers reach that nothing needs over the loop. One that only reads loads whatever it is: nothing is waited for in it, so
    what others write meanwhile it may see or not in any case. One that stores loads ahead what no kernel writes, or the item alone (`own`).
  }];
}

def SpreadLoadsPass : SMPass<"mk-sm-spread-loads"> {
  let summary = "Has each thread load what it needs of a row that is broadcast";
  let description = [{
    A row that is loaded, maybe converted, and broadcast to a tile whose elements are dealt out to threads in
    runs: each thread loads its runs of the row (`spread`), instead of getting them from other threads through shared
    memory, which all wait for.
  }];
}

def OrderAccessesPass : SMPass<"mk-sm-order-accesses"> {
  let summary = "Orders a store behind own accesses of the same memory";
  let description = [{
    Loads and stores of a CTA are in program order where the second one is a store (docs/memory-model.md). Where they may have an
    element in common that is not the same thread's in both, threads meet in front of the store, and what the copy
    engine stores is waited for (`mk_sm.order`). Tiles at the same place with the same layout need nothing, nor do
    tiles that lie apart, or with a signal, count, put or fence in between. A store `on` a rank that may be the own one
    comes behind own accesses, too; nothing has to come behind it.

    From one iteration to the next `mk-sm-order-tiles` has looked. Left for this pass is what threads have written in front
    of a place where all meet: what the engine stores in the next iteration goes another way, and might overtake it.
  }];
}

def OrderTilesPass : SMPass<"mk-sm-order-tiles"> {
  let summary = "Orders a store behind own accesses of tiles at other places";
  let description = [{
    What `mk-sm-order-accesses` does, while loops are what the author wrote: from one iteration to the next, too, and from a
    role to those that its CTAs go on with. Tiles at the same place are left to that pass. From one item to the next it looks where one CTA has all
    items, or the loop is static: else which CTA gets which is chance. Teams that take items in turn never meet: items that may are refused.
  }];
}

def AdvanceItemsPass : SMPass<"mk-sm-advance-items", ["::mlir::memref::MemRefDialect"]> {
  let summary = "Has an item load what the next one takes";
  let description = [{
    In a role without products whose items come in static order: what an item loads out of what no kernel writes, or the item
    alone (`own`), from places that follow from its number by arithmetic, is loaded while the item before is worked on, and
    carried, as far as registers reach. So loads are under way all the time. Loads behind a loop inside of the item stay,
    and so do numbers where no tile is loaded ahead: they would only be waited for earlier.
  }];
}

def AdvanceWaitsPass : SMPass<"mk-sm-advance-waits"> {
  let summary = "Has an iteration wait for the slots of the next one";
  let description = [{
    In a loop of one dot that is waited for at once, as its result is worked on: while it runs, its warps wait for the slots of the
    next iteration and find out where their tiles lie, so that the next dot starts as soon as that work is done. If threads
    compute the dot's left operand out of such tiles and of scalars, and nothing else takes that, they do so an iteration
    ahead as well. The last iteration stands behind the loop. Not where an iteration acts on what others see or waits for them, and not
    where rings have no room for `busy_slots` slots and one more.
  }];
}

def AlternateItemsPass : SMPass<"mk-sm-alternate-items"> {
  let summary = "Has the teams of a consumer take its items in turn";
  let description = [{
    In a consumer with two teams (`mk.order<alternate = 2>`) team t does the items t, t + 2, ...
    of its CTA. A team has the turn from an item's first wait for a slot to its last matrix
    op; what stands behind (waiting for the product, epilogue, stores) runs while the other
    team's matrix ops do ("ping-pong" in CUTLASS, include/cutlass/gemm/kernel/
    sm90_gemm_tma_warpspecialized_pingpong.hpp).
  }];
}

def PostStoresPass : SMPass<"mk-sm-post-stores"> {
  let summary = "Leaves stores at peers to a warp that has few bytes under way";
  let description = [{
    What a consumer stores at a peer while it multiplies goes through the same queues as the copies of its operands, and a
    signal behind it makes the consumer wait until it has crossed the link. Such stores are `posted`, with their signal, in
    roles that have a producer and room for the whole tile in the staging area beside three slots of each ring:
    the consumer goes on when the tile is in shared memory.

    A loop over known ranks that stores one tile at each of them becomes one store.
  }];
}

def SelectRowsPass : SMPass<"mk-sm-select-rows"> {
  let summary = "Looks up once for a loop which rows its copies gather";
  let description = [{
    In front of a copy of gathered rows, or of the loops and branches around it in which the list, the place in it and the
    source stay the same, `mk_sm.select_rows` has the copiers look up where the rows lie; the copy is `selected`.
    It stays inside of a loop in which something else is gathered, waited for or sent.
  }];
}

def ShareCopiesPass : SMPass<"mk-sm-share-copies"> {
  let summary = "Has the CTAs of a cluster fetch together what all of them copy";
  let description = [{
    In a loop that hands out items in turn, c CTAs that follow each other do c items that follow
    each other. Where these differ in a dimension of constant extent alone (the last of
    the loop's), copies whose operands do not depend on it are the same in all of them: such
    copies become `shared(c)`, for the largest c for which there are any, of the powers of two up to
    the target's clusters.

    The CTAs have to execute each copy into the ring equally often: all that decides about
    it is the same for them, the number of items is a multiple of c, and so are the role's
    number of CTAs and the number of its first.
  }];
}

def VerifyPhasePass : Pass<"mk-sm-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Checks what a phase of the SM level promises";
  let description = [{
    Each pass of the SM level needs one of these of its input:

    - `tiles`: loops over items, folds and calls are expanded, roles are not split, tiles have no
      layout;
    - `partitioned`: roles consist of channels and partitions, each tile is staged or a fragment of
      the consumer's threads, each matrix op is waited for at once, each slot is released in the
      block in which it was waited for;
    - `overlapped`: matrix ops may be in flight, teams take turns;
    - `sized`: rings have depths, copies are shared by whole clusters;
    - `placed`: uses of channels have stages and parities, what owns shared memory its offsets,
      warps their partitions.

    Pipelines run it between their passes unless they were built with MKERNEL_VERIFY_PHASES=OFF.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"sized\"",
           "tiles, partitioned, overlapped, sized or placed">
  ];
}

def DeferElementsPass : SMPass<"mk-sm-defer-elements"> {
  let summary = "Has elements of tiles computed where they are taken";
  let description = [{
    An epilogue on all elements of a tile at once would keep every intermediate tile in registers.
    Ops whose result only one store needs in the end wait for it (`mk_sm.defer`), and it takes them a part
    at a time. The same holds for loads that one op takes element by element, which would be a
    second tile beside what a loop carries, and for comparisons by which ops right behind them
    select, since there are few predicates.

    Between a load and what it waits for nothing but loads may have an effect, and a store has to write elsewhere. A tile
    that is read out of a slot waits as long as nothing in between gives a slot back.
  }];
}

def HoistLoadsPass : SMPass<"mk-sm-hoist-loads"> {
  let summary = "Has loads for an epilogue begin in front of the products";
  let description = [{
    A tile that an epilogue adds or multiplies with, as a residual, is loaded when the products are there, and all
    wait for memory. Where registers are left, `ahead` elements of such a deferred load are asked for in front of the loop
    of products; the others as the epilogue goes on. It may be as early as that where no kernel writes the tile, as one of
    an input, or the item alone does, behind the load (`own`).
  }];
}

def SkipRescalingPass : SMPass<"mk-sm-skip-rescaling"> {
  let summary = "Marks sums of which warps need not multiply rows by one";
  let description = [{
    A loop that follows a running maximum multiplies the rows of what it carries by factors that are one
    unless the maximum grew. Such products become `mk_sm.rescale` if a thread has `guarded_elements` of
    the target or more: a warp whose factors are all one goes past them. If the sum is the result of dots in
    flight, they are waited for there (`in_flight`), so that what stands in between, as the exponentials of other scores, is
    computed while they run; but not in loops in which warpgroups take turns. Where the sum is a constant of zeros, and the factors are
    known to lie between zero and one, the product is left out.
  }];
}

def SpillFragmentsPass : SMPass<"mk-sm-spill-fragments"> {
  let summary = "Keeps fragments in scratch in the order of registers";
  let description = [{
    Where a scratch argument holds tiles that only fragments of one type are stored to and loaded from, each
    in a place of its own, no one sees the order of elements in it: threads write their registers side by
    side (`mk_sm.spill`, `mk_sm.reload`), without shared memory, and without limits to be looked at.
    So parts of items, which schedule stream_k has CTAs add up, take the least time.

    ```mlir
    mk_sm.store %t, %parts[%w, %c0, %c0] through %out : ...
    // becomes
    mk_sm.spill %t, %parts[%w] : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>, memref<132x128x64xf32>
    ```
  }];
}

def UnrollStoresPass : SMPass<"mk-sm-unroll-stores"> {
  let summary = "Chooses which stores are unrolled, and which compute their inputs once";
  let description = [{
    A store from registers has two ways, in runs and one by one. What is deferred to it is computed in
    each, unless that is a load of a tile or more than a scaling and a conversion: then
    once, in front of both (`mk_sm.materialize`).

    A store through shared memory goes part by part: a part is a chunk of the rows that a warpgroup has in one product; of a
    store `by_rows`, the rows that its warps store at a time. Unrolled parts store faster (0.5 % of a GEMM) and keep fewer
    inputs live. A loop makes kernels with several stores a third shorter, and the assembler as much faster. More than a
    target's `unrolled_parts` do not fit the registers beside what they are computed from, unless that is expensive and so
    computed once.

    Only store of a kernel: unrolled up to `parts` parts, and where its inputs are expensive. One of
    several: unrolled if it has one part, with peers also two, and up to `parts` parts where a tile is loaded for it, so
    that the next part's elements are under way while one is stored.
  }];
  let options = [Option<"parts", "parts", "int64_t", "0",
                        "parts of a kernel's only store that are unrolled; 0: the target's">];
}

def LayOutSharedPass : SMPass<"mk-sm-lay-out-shared"> {
  let summary = "Says where everything lies in shared memory";
  let description = [{
    Gives each op that owns shared memory the `offsets` of its pieces, and the kernel the number of bytes
    (`mk_sm.shared_memory`). What is a role's itself its `mk_sm.create_scratch` owns. Tiles of all roles begin at 0, barriers and words
    follow the largest of these. What is laid out stays as it is, if there is room for records
    of times where these are asked for.
  }];
  let options = [
    Option<"timeline", "timeline", "bool", "false", "with room for records of times">,
    Option<"variant", "variant", "std::string", "\"any-strides\"",
           "any-strides, with room for copies by threads; or tensor-maps">,
    Option<"map", "map", "bool", "false", "print a table of what lies where">
  ];
}

def MergeSignalsPass : SMPass<"mk-sm-merge-signals"> {
  let summary = "Raises the signals of a loop over peers behind one fence";
  let description = [{
    A loop over peers, of known length, that stores tiles and raises signals, and does nothing else that anybody sees,
    stores them all first. Behind it stands a `mk_sm.signal_all`, which has one fence, with the signals of all iterations, or
    one for each group of iterations that together have at most `merged_signals` of the target. A signal behind each store
    would wait until this store has crossed its link, and hold up the next one; so they cross side by side. What a signal
    promises is still there before it. Strong signals are left alone, and so are stores that are left to the sender, which
    raises theirs, and signals between own accesses that they order.

    Runs behind the passes that change loops and stores, in front of those that place what is left (`mk-sm-assign-stages`):
    a signal that follows its store is what others know.
  }];
}

def MergePutsPass : SMPass<"mk-sm-merge-puts"> {
  let summary = "Has a mover read once what it puts to several peers";
  let description = [{
    A loop over peers, of known length, that does nothing but put the same region to the same place of each
    becomes one `mk_sm.multicast`, or several where there are more peers than one has registers for: the
    region is loaded once, what has been loaded is stored at each peer, and one fence stands in front of all
    signals. A link carries as many bytes as before; but who waits for loads and fences, as a single warp
    does, waits once. Only in movers: elsewhere the copy engine takes puts piece by piece through
    shared memory.

    Runs behind the passes that change loops and stores, in front of those that place what is left (`mk-sm-assign-stages`):
    a put to one peer is what others know.
  }];
}

def RematerializeScalarsPass : SMPass<"mk-sm-rematerialize-scalars"> {
  let summary = "Computes scalars anew for each item, instead of keeping them";
  let description = [{
    LLVM computes what does not change before a loop, and keeps it: counts of tiles and of items, in two
    registers each. The producer has few registers and much time; and of a consumer's several
    loops over items each would keep, beside its tiles, what the others need. There each iteration
    computes what it takes from outside by itself, as far as it follows from the kernel's
    dimensions, which are read from the parameters again (`mk_sm.read_dim`).
  }];
}

def AssignStagesPass : SMPass<"mk-sm-assign-stages"> {
  let summary = "Says which slot of its channel each op uses, in which phase";
  let description = [{
    `acquire`, `wait`, `release`, `send` and `receive` get the number of the slot and the parity of the
    phase of its barrier, `at(stage, parity)`. Each of them counts by itself (`mk_sm.cursor`). Teams
    take over where the other one is with `turn_wait`. What has a place keeps it.

    Puts are wrapped into `mk_sm.pipeline_put`, with two cursors of the slots that their pieces go through,
    and copies of which a part may have to be written over get the cursor of their barrier,
    `padding`.
  }];
}

def AssignWarpsPass : SMPass<"mk-sm-assign-warps"> {
  let summary = "Says which warps do what, with which registers and named barriers";
  let description = [{
    Adds `mk_sm.warps` to a kernel: as many warps of the consumer as its largest consumer partition has, copiers
    where tiles may be copied by threads, the registers of both sides, the order of the roles and the numbers of named barriers.
    `mk_sm.sync_warps` goes to the beginning of a role that CTAs come to behind another one, if warps of such a CTA
    could be in both at the same time and disturb each other. A kernel that has `mk_sm.warps` stays as it is.

    Runs behind mk-sm-lay-out-shared, which knows the variant of the code.

    ```mlir
    mk_sm.warps consumer(8) registers [40, 232] order [@push, @gemm]
        barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
    ```
  }];
}

def AgreeOnFailurePass : SMPass<"mk-sm-agree-on-failure", ["::mlir::memref::MemRefDialect"]> {
  let summary = "Says where threads agree that the launch has failed";
  let description = [{
    After a failure waits return at once, and what they guard has no meaning. Threads that meet at barriers
    have to go the same way then:

    - scalars that are loaded from what somebody writes are 0 from then on (`mk_sm.load_agreed`), without checks of
      bounds also those whose place is not known beforehand;
    - a consumer that waits and loads such scalars agrees at its beginning and behind each of its waits (`agrees`), the single
      warp of a producer or a mover at each load;
    - a loop that may wait for what nobody writes any more (`scf.while` without tickets) ends (`mk_sm.until_failed`).

    ```mlir
    mk_sm.partition consumer warps(8) registers(168) agrees {
      mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 2>
      %n = mk_sm.load_agreed %list[%c0] : memref<?xi32>
    }
    ```

    Runs in front of the conversion to the thread level.
  }];
  let options = [
    Option<"bounds", "bounds", "bool", "true", "indices are checked when the kernel runs">
  ];
}

def SpreadWaitsPass : SMPass<"mk-sm-spread-waits"> {
  let summary = "Has the threads of a consumer do the waits of a loop side by side";
  let description = [{
    A loop of a consumer that only waits, as for the signals of all peers or for the parts of an item, goes into
    `mk_sm.wait_all`: its threads share the iterations. It then takes as long as the longest wait, instead of a read from memory and a barrier
    for each. Not where times are recorded, which are of one wait at a time.

    ```mlir
    scf.for %i = %c0 to %count step %c1 {
      mk.wait %ready[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
    }
    // becomes
    mk_sm.wait_all {
      scf.for %i = %c0 to %count step %c1 {
        mk.wait %ready[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
      }
    }
    ```

    Runs behind `mk-sm-lay-out-shared`, which knows whether times are recorded.
  }];
}

def KeepWordsPass : SMPass<"mk-sm-keep-words"> {
  let summary = "Says in which loops words of buffers stay in registers";
  let description = [{
    Addresses, extents and strides of buffers lie in the parameters of a kernel, and are read from there again wherever
    an op needs them: registers cost more. Not in loops whose steps load beside products, or fill slots element by
    element: `mk_sm.keep_words` has them read in front of these.

    Runs behind `mk-sm-agree-on-failure`, in front of the conversion to the thread level.
  }];
}

#endif // MKERNEL_TRANSFORMS_SM_PASSES
