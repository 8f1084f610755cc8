//===- TileTarget.td - What a target is ---------------------*- tablegen -*-===//
#ifndef MKERNEL_TILE_TARGET
#define MKERNEL_TILE_TARGET

include "TileAttrs.td"

class Mk_Described<string name, string mnemonic_> : Mk_Attr<name, mnemonic_> {
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mk_RegisterSplitAttr : Mk_Described<"RegisterSplit", "register_split"> {
  let summary = "registers of the threads of a producer and of a consumer";
  let description = [{
    What a thread of the producer and one of the consumer get where the consumer has so many
    warpgroups. With `above` it is for kernels whose tiles take more registers of a thread than
    that, and whose producers wait for nobody else.

    ```mlir
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>
    ```
  }];
  let parameters = (ins "int64_t":$warpgroups, "int64_t":$producer, "int64_t":$consumer,
                        DefaultValuedParameter<"int64_t", "0">:$above);
}

def Mk_RegisterReserveAttr : Mk_Described<"RegisterReserve", "register_reserve"> {
  let summary = "registers of a thread for all else than tiles";
  let description = [{
    Addresses, loops and temporaries take `scalars`, of which `idle` are free while no product
    runs. One instruction of a product takes `product` beside its accumulators, and `left` more if
    its left operand is in registers. What is loaded for a later iteration takes `early` at most. A
    thread that holds no tiles, but copies by addresses, has `mover`, `gatherer` where it
    also remembers rows of a list, and `net_mover` where it writes commands for the network.

    ```mlir
    #mk.register_reserve<scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>
    ```
  }];
  let parameters = (ins "int64_t":$scalars, "int64_t":$idle, "int64_t":$product, "int64_t":$left,
                        "int64_t":$early, "int64_t":$mover, "int64_t":$gatherer,
                        "int64_t":$net_mover);
}

def Mk_RegistersAttr : Mk_Described<"Registers", "registers"> {
  let summary = "the register file of an SM";
  let description = [{
    Registers of 32 bits: `of_sm` for all threads of an SM, from `least` to `most` for one
    thread, in steps of `step`. Tiles do not take those of `reserve`. `splits` has a `#mk.register_split` for each number of warpgroups
    that a consumer may have: the first of these numbers that divides the rows of its products is taken.

    ```mlir
    #mk.registers<of_sm = 65536, least = 24, most = 256, step = 8,
                  reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>,
                  splits = [#mk.register_split<warpgroups = 1, producer = 56, consumer = 240>]>
    ```
  }];
  let parameters = (ins "int64_t":$of_sm, "int64_t":$least, "int64_t":$most, "int64_t":$step,
                        "::mlir::mk::RegisterReserveAttr":$reserve, "::mlir::ArrayAttr":$splits);
  let extraClassDeclaration = [{
    /// Whether a thread may have so many.
    bool has(int64_t count) const {
      return count >= getLeast() && count <= getMost() && count % getStep() == 0;
    }
    /// What each of so many threads of a CTA has when it begins.
    int64_t getAtStart(int64_t threads) const {
      return std::min(getOfSm() / threads / getStep() * getStep(), getMost());
    }
    /// How many warpgroups may share the rows of an item's products, the best first.
    ::llvm::SmallVector<int64_t> getWarpgroupCounts() const;
  }];
}

def Mk_MatrixUnitAttr : Mk_Described<"MatrixUnit", "matrix_unit"> {
  let summary = "the instruction that multiplies matrices";
  let description = [{
    One instruction makes `rows` rows of a product, up to `columns` columns in steps of
    `column_step`, and takes `k_bytes` bytes of each operand's row. `operands` are the
    types that it multiplies, `transposed` those of them that need not be K-major. Sums of products of
    8 bits leave its accumulator after `k_of_8_bits` of them. Threads wait for all instructions
    but the last ones, `pending` at most.

    ```mlir
    #mk.matrix_unit<rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
                    pending = 7, operands = [bf16, f16], transposed = [bf16, f16]>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$column_step,
                        "int64_t":$k_bytes, "int64_t":$k_of_8_bits, "int64_t":$pending,
                        "::mlir::ArrayAttr":$operands, "::mlir::ArrayAttr":$transposed);
  let extraClassDeclaration = [{
    /// Whether operands of this type are multiplied.
    bool takes(::mlir::Type type) const;
    /// Whether operands of this type need not be K-major.
    bool transposes(::mlir::Type type) const;
  }];
}

def Mk_TensorMapsAttr : Mk_Described<"TensorMaps", "tensor_maps"> {
  let summary = "what the copy engine knows of a buffer";
  let description = [{
    A kernel has up to `count` maps, of buffers of up to `rank` dimensions, whose boxes
    have up to `box` elements along each.

    ```mlir
    #mk.tensor_maps<count = 64, rank = 5, box = 256>
    ```
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$rank, "int64_t":$box);
}

def Mk_ThresholdsAttr : Mk_Described<"Thresholds", "thresholds"> {
  let summary = "where passes decide one way or the other";
  let description = [{
    Measured on the machine. A ring has up to `ring_depth` slots, one whose slots have no more
    than `small_slot` bytes up to `small_ring_depth`: deeper ones hide no more latency. Puts copy
    through `put_slots` slots of `put_slot` bytes, beside rings through half as many (at least 2) of half
    the size. A store of up to `unrolled_parts` parts is code for each, one of more a loop. Up to
    `cheap_ops` ops, as of a scaling and a conversion, may be computed in each of two ways in which
    a store goes. A thread keeps up to `spilled_elements` elements of a tile in scratch in the order of
    its registers; sums of more leave none for addresses.

    A ring needs `busy_slots` slots to hide a copy's time: neither stores nor a second slot of rings
    that outer loops fill take room that these need. One more is taken in place of a second buffer for stores, where
    no loop is known to have fewer than `short_folds` iterations.
    Where each dot waits for the one before, `paired_turns` turns of the loop, an even number, are
    code of their own. Where it is known how many there are, `known_turns` are, or all or half of
    them, up to `few_turns`, which also limits a turn and what is left together. Of an item that
    CTAs share (stream-K), there are up to `item_parts` parts if one CTA adds them up, up to
    `sliced_parts` if each adds up a slice of all: one of up to `item_slices`, a power of two,
    of `slice_rows` rows at least. Parts of up to `parts_ahead` bytes, and `parts_together` of them,
    are loaded together, so that one is under way while one is added; more would take the
    registers that the sum is in. What a producer has drawn goes through `mailbox_slots`
    slots to its consumer. A sender has one piece of `posted_rows` rows of 128 bytes under way to
    its peer, so that the link's queue does not hold back copies of the same SM, and spreads a tile over `posted_share` percent of the time since the one before, and up to
    `posted_spread` nanoseconds: others wait for it. It sleeps `posted_nap` nanoseconds at a time.

    Up to `merged_signals` signals of a loop over peers are raised behind one fence, and up to
    `notified_peers` peers are told behind one that this rank has begun or ended: their addresses are
    in registers meanwhile. Each lane of a warp that copies a region by addresses has `moved_units` loads of 16 bytes
    under way, `multicast_units` where each goes to several peers, powers of two. A tile of up to `edge_tiles` in a row
    comes in up to `edge_boxes` boxes, so that the last one comes without rows behind the end that nobody sees; another
    box has to save `edge_rows` of these.

    The rest is of a thread. A branch skips the scaling of what a loop carries, where all factors
    are 1, if it has `guarded_elements` of it or more. It reduces in up to `reduce_chains` chains,
    which hide the latency of one. It loads `loaded_elements` at a time where each may take an
    address, `grouped_elements` where few are needed, and as it stores them. It reloads up to
    `reloaded_elements` of a tile in scratch at once, of larger ones those that are used next. Of
    tiles of up to `exchanged_elements` four threads load 16 bytes each, and exchange them; beside
    larger ones the exchange has no registers. Masks of rows of `marked_elements` of a thread or more are words with a bit
    for each. A thread that stores rows that lie in shared memory has `stored_pieces` pieces of 16 bytes of them under
    way. Puts of `large_put` bytes, which one warp does, get a remark.

    ```mlir
    #mk.thresholds<ring_depth = 8, small_ring_depth = 12, small_slot = 16384, put_slots = 6,
                   put_slot = 16384, unrolled_parts = 6, cheap_ops = 4, spilled_elements = 80,
                   busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24,
                   parts_ahead = 65536, item_parts = 8,
                   sliced_parts = 16, guarded_elements = 32, reduce_chains = 4,
                   loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64,
                   exchanged_elements = 128, posted_rows = 32, posted_spread = 37500,
                   parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2,
                   merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75,
                   moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8,
                   edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>
    ```
  }];
  let parameters = (ins "int64_t":$ring_depth, "int64_t":$small_ring_depth, "int64_t":$small_slot,
                        "int64_t":$put_slots, "int64_t":$put_slot, "int64_t":$unrolled_parts,
                        "int64_t":$cheap_ops, "int64_t":$spilled_elements,
                        "int64_t":$busy_slots, "int64_t":$paired_turns,
                        "int64_t":$known_turns, "int64_t":$few_turns, "int64_t":$short_folds,
                        "int64_t":$parts_ahead,
                        "int64_t":$item_parts, "int64_t":$sliced_parts,
                        "int64_t":$guarded_elements, "int64_t":$reduce_chains,
                        "int64_t":$loaded_elements, "int64_t":$grouped_elements,
                        "int64_t":$reloaded_elements, "int64_t":$exchanged_elements,
                        "int64_t":$posted_rows, "int64_t":$posted_spread,
                        "int64_t":$parts_together, "int64_t":$item_slices,
                        "int64_t":$slice_rows, "int64_t":$mailbox_slots,
                        "int64_t":$merged_signals, "int64_t":$notified_peers,
                        "int64_t":$posted_nap, "int64_t":$posted_share,
                        "int64_t":$moved_units, "int64_t":$multicast_units,
                        "int64_t":$edge_boxes, "int64_t":$edge_tiles, "int64_t":$edge_rows,
                        "int64_t":$marked_elements, "int64_t":$large_put,
                        "int64_t":$stored_pieces);
}

def Mk_RatesAttr : Mk_Described<"Rates", "rates"> {
  let summary = "how fast a machine is, for the cost model";
  let description = [{
    Calibrated from measurements (docs/cost-model.md). Of one SM: `products` of matrices in GFLOP/s,
    with operands of 16 bits; `operands`, what its matrix unit reads from shared memory, `copies`,
    what comes in from the L2 cache, `fetch`, its share of what comes from device memory, and `cache`, its share of
    what the cache hands out while all ask, in GB/s; `elements` of elementwise ops and `functions`
    (exponentials and their like) in 10^9 a second. Of all SMs: `sustained`, GFLOP/s that the
    machine's power allows for longer than some milliseconds, `memory`, what they read from
    device memory, and `written`, what they write there, in GB/s. In ns: `latency`, until a copy has come; what a launch costs besides (`launch`), a part
    of an item that is stored (`item`), the exchange of parts of items that CTAs share (`split`, of
    stream-K), a launch in front that copies arguments (`packing`), and clusters of twice as many CTAs (`join`).

    The cache hands out lines of `line` bytes. `clock` says in percent how fast products are where hardly any SM has
    some, of where all have: what power allows. Six rates say in percent how long things take
    that take longer: device memory where hardly any SM reads it (`few_sms`), asking it for rows that begin at multiples of half a line, and once more for each further
    half (`off_line`), copies by threads (`by_threads`), stores of a team beside products of another one (`beside`), products of CTAs that
    divide items into even parts (`apart`), or into uneven ones, so that no two are at the same turn of what they share (`uneven`).

    Things that overlap take the root of a sum of powers of their times: with a high exponent the longest one counts alone. `overlap` is the
    exponent of what an SM does side by side, `memory_overlap` of its work and device memory's.

    A warpgroup works on what its product has made before it can use the next one. Each reduction among that is `reduction` ns
    in which it does nothing else.

    ```mlir
    #mk.rates<products = 6300, operands = 205, copies = 150, fetch = 90, cache = 120, elements = 200, functions = 26,
              sustained = 690000, memory = 4200, written = 3100, latency = 1400, launch = 2000,
              item = 200, split = 3000, few_sms = 130, line = 128, off_line = 140, by_threads = 1800,
              beside = 250, apart = 110, uneven = 135, packing = 2000, join = 150, clock = 140,
              overlap = 10, memory_overlap = 3, reduction = 150>
    ```
  }];
  let parameters = (ins "int64_t":$products, "int64_t":$operands, "int64_t":$copies, "int64_t":$fetch, "int64_t":$cache,
                        "int64_t":$elements, "int64_t":$functions, "int64_t":$sustained,
                        "int64_t":$memory, "int64_t":$written, "int64_t":$latency,
                        "int64_t":$launch, "int64_t":$item, "int64_t":$split, "int64_t":$few_sms, "int64_t":$line,
                        "int64_t":$off_line, "int64_t":$by_threads, "int64_t":$beside,
                        "int64_t":$apart, "int64_t":$uneven, "int64_t":$packing,
                        "int64_t":$join, "int64_t":$clock, "int64_t":$overlap,
                        "int64_t":$memory_overlap, "int64_t":$reduction);
}

def Mk_SmAttr : Mk_Described<"Sm", "sm"> {
  let summary = "an SM, as the passes of the SM level need to know it";
  let description = [{
    A CTA has up to `threads` threads and `shared` bytes of shared memory, of which the
    threads of a role exchange elements in `exchange` at most; tiles lie there in columns of
    `chunk` bytes. A cluster has up to `cluster_limit` CTAs, of which passes let up to `cluster` share copies.
    `clustered` has for clusters of one CTA, of two, and so on how many CTAs run at once in them (empty: all of a grid). A thread
    reads and writes `access` bytes at once. Memory is written in sectors of `sector` bytes: what is a part of one is read
    before.

    See `#mk.target`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$cluster, "int64_t":$shared,
                        "int64_t":$exchange, "int64_t":$chunk, "int64_t":$access, "int64_t":$sector,
                        "::mlir::mk::RegistersAttr":$registers,
                        "::mlir::mk::MatrixUnitAttr":$matrix_unit,
                        "::mlir::mk::TensorMapsAttr":$tensor_maps,
                        "::mlir::mk::ThresholdsAttr":$thresholds,
                        DefaultValuedParameter<"::mlir::ArrayAttr", "::mlir::ArrayAttr::get($_ctxt, {})">:$clustered,
                        DefaultValuedParameter<"int64_t", "8">:$cluster_limit);
  let extraClassDeclaration = [{
    /// Whether so many CTAs can be a cluster.
    bool hasCluster(int64_t ctas) const;
    /// How many CTAs run at once in clusters of so many; none: all of a grid.
    std::optional<int64_t> getAtOnce(int64_t ctas) const;
    /// Bytes of a piece of a chunk. The engines place piece p of row r at p ^ r of its chunk.
    static constexpr int64_t kPiece = 16;
    /// The rows of the swizzle's period.
    int64_t getSwizzleRows() const { return getChunk() / kPiece; }
  }];
}

def Mk_LinksAttr : Mk_Described<"Links", "links"> {
  let summary = "how fast ranks of a node send each other something, for the cost model";
  let description = [{
    Of one rank: what comes in from all peers together, in GB/s, and when the first of it is on its way, in ns from the
    begin of a launch: `by_ctas` and `ctas_begin` where CTAs send it (peers have to be there), `by_engines` and
    `engines_begin` where copy engines do, which are asked for in front of the launch. `by_stores`: GB/s that its items
    with products store at all peers together. `copy`: ns that a copy takes an engine besides its bytes. `beside` says
    in percent how long products take while CTAs that have them send something, of those that only multiply.

    ```mlir
    #mk.links<by_ctas = 280, ctas_begin = 8000, by_engines = 340, engines_begin = 20000, by_stores = 330, copy = 5000,
              beside = 130>
    ```
  }];
  let parameters = (ins "int64_t":$by_ctas, "int64_t":$ctas_begin, "int64_t":$by_engines,
                        "int64_t":$engines_begin, "int64_t":$by_stores, "int64_t":$copy,
                        "int64_t":$beside);
}

def Mk_TargetAttr : Mk_Described<"Target", "target"> {
  let summary = "the machine that a module is compiled for";
  let description = [{
    `name` is what messages call it, `backend` who makes its code (docs/targets.md), `grid`
    the CTAs of a launch unless an option says otherwise. `sm` describes an SM; a target without
    takes no kernel at the SM level. `rates` says how fast the machine is; without, nothing is predicted. `links` says how
    fast ranks of a node reach each other; without, nothing that comes from peers is waited for in predictions.

    It is the attribute `mk.target` of a module. Compilation in one step writes it, from
    `--target`; passes by name read it, or go by the default of the SM level where there is none.

    ```mlir
    module attributes {mk.target = #mk.target<name = "host", backend = "host", grid = 16>} {}
    ```
  }];
  let parameters = (ins StringRefParameter<"what messages call it">:$name,
                        StringRefParameter<"who makes its code">:$backend, "int64_t":$grid,
                        OptionalParameter<"::mlir::mk::SmAttr">:$sm,
                        OptionalParameter<"::mlir::mk::RatesAttr">:$rates,
                        OptionalParameter<"::mlir::mk::LinksAttr">:$links);
}

#endif // MKERNEL_TILE_TARGET
