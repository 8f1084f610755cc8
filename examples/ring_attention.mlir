// Ring attention, forward: the sequence is cut over all ranks, keys and values travel
// around the ring of ranks, and each tile of queries carries its output, maximum and
// sum over the whole ring in one launch. O = softmax(Q * K^T / sqrt(D)) * V for each head,
// and the logarithm of each row's sum. Q and O: HQ x S x D, LSE: HQ x S, KV: keys (0) and
// values (1), 2 x HKV x S x D; bf16, summed in f32, LSE f32. HQ / HKV heads of Q share a
// head of K and V; a batch is more heads of both.
//
// @ring_attention sees all keys. @ring_attention_causal sees those up to the query's own
// place in a sequence laid out in zigzag, so that all ranks have equal work: of 2P chunks
// for P ranks, rank r holds chunk r and, behind it, chunk 2P - 1 - r. A whole shard has
// C = ceil(S / P) rows, ceil(C / 2) of them are its first chunk. The last shards may be
// short or empty; their second chunk is the first to be short.
//
// In step s a rank works on what came from the rank s places before it, and @ring passes it
// on: across a network one contiguous piece for each head. In one node whose steps have places of their own copy engines
// send what is a rank's own to all others at once (@copy), and nobody passes anything on. SLOTS steps have a place
// in the ring's buffer; P - 1 are enough for all. With less, a place is used again when all
// tiles of queries and what is passed on are done with it. But a tile holds its
// CTA until the last step, so that then all tiles have to be running, and a step cannot be
// passed on while it fills the only place: at least 2.
//
// Parameters: TM queries and TN keys are a tile; HD, the head dimension (D, where it is
// bound); SLACK, by how much (powers of two) a row's maximum may be exceeded before what was
// summed is scaled anew; RING, how many CTAs pass keys and values on before they help with tiles; ENGINES, 0 where copy
// engines are not to.

!q = tensor<?x?xbf16, #mk.extents<TM, HD>>
!kv = tensor<?x?xbf16, #mk.extents<TN, HD>>
!s = tensor<?x?xf32, #mk.extents<TM, TN>>
!p = tensor<?x?xbf16, #mk.extents<TM, TN>>
!o = tensor<?x?xf32, #mk.extents<TM, HD>>
!row = tensor<?xf32, #mk.extents<TM>>
!rows = tensor<?xi1, #mk.extents<TM>>

!part = memref<?x?x?x?xbf16, #mk.symmetric>
!arrived = !mk.signal<?x?, sys, arrivals = 2>
!free = !mk.signal<?, sys, arrivals = 1>
!used = !mk.counter<?>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @ring_attention on @mesh sizes(node, gpu)
    dims(uniform HQ, uniform HKV, uniform S, uniform D, uniform SLOTS) (
    in %q : memref<?x?x?xbf16> [HQ, S, D] split [(), (node, gpu), ()],
    in %kv : !part [2, HKV, S, D] split [(), (), (node, gpu), ()],
    scratch %ring : !part [SLOTS * 2, HKV, S ceildiv (node * gpu), D],
    out %o : memref<?x?x?xbf16> [HQ, S, D] split [(), (node, gpu), ()],
    out %lse : memref<?x?xf32> [HQ, S] split [(), (node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %hd = mk.param "HD" default(%D)
  %c128 = arith.constant 128 : index
  %tile_rows, %tile_keys = func.call @tile_extents(%hd, %c128) : (index, index) -> (index, index)
  %tm = mk.param "TM" default(%tile_rows) in [64, 128, 192]
  %tn = mk.param "TN" default(%tile_keys) in [64, 80, 96, 112, 128, 144, 160, 176]
  %over = mk.param "SLACK" = 8
  mk.param "RING" = 4
  %engines_may = mk.param "ENGINES" = 1
  %fits = arith.cmpi eq, %hd, %D : index
  mk.require %fits, "D must be the head dimension HD that the kernel is compiled for"
  %whole = func.call @whole_groups(%HQ, %HKV) : (index, index) -> i1
  mk.require %whole, "HQ must be a multiple of HKV, which must be at least 1"

  %me = mk.rank
  %world = mk.size
  %rows = memref.dim %q, %c1 : memref<?x?x?xbf16>
  %group = arith.divui %HQ, %HKV : index
  %query_tiles = arith.ceildivui %rows, %tm : index
  %tiles = arith.muli %HQ, %query_tiles : index
  %ctas = mk.ctas @attention
  %enough = func.call @enough_slots(%SLOTS, %world, %tiles, %ctas) : (index, index, index, index) -> i1
  mk.require %enough, "SLOTS must be the number of ranks less 1, or at least 2 with no more tiles of queries than CTAs of @attention: ceil(rows / TM) for each of the HQ heads"

  // Keys and values of a head for a step; step 0 is the own.
  %arrived = mk.signals(%world, %HKV) : !arrived
  // The next rank is done with what it got for a step.
  %free = mk.signals(%world) : !free
  %used = mk.counters(%world) : !used

  %zero, %low, %none, %scale, %row_scale, %slack = func.call @constants(%tm, %tn, %hd, %over)
      : (index, index, index, index) -> (!o, !row, !row, !s, !row, !row)
  %ninf = arith.constant 0xFF800000 : f32

  %by_engines = func.call @engines_send(%engines_may, %SLOTS) : (index, index) -> i1
  mk.role @copy ctas(engines) {
    func.call @send_own(%kv, %ring, %arrived, %S, %HKV, %D, %SLOTS, %by_engines)
        : (!part, !part, !arrived, index, index, index, index, i1) -> ()
  }

  mk.role @ring ctas(param RING) then @attention {
    func.call @pass_on(%kv, %ring, %arrived, %free, %used, %S, %HKV, %D, %SLOTS, %tiles, %by_engines)
        : (!part, !part, !arrived, !free, !used, index, index, index, index, index, i1) -> ()
  }

  mk.role @attention ctas(rest) {
    mk.foreach (%h, %i) in (%HQ, %query_tiles) schedule(ticket) {
      %row = arith.muli %i, %tm : index
      %head = arith.divui %h, %group : index
      %x = mk.load %q[%h, %row, %c0] : memref<?x?x?xbf16> -> !q
      %o2, %m2, %l2 = scf.for %s = %c0 to %world step %c1
          iter_args(%o0 = %zero, %m0 = %low, %l0 = %none) -> (!o, !row, !row) {
        %from, %begin, %keys = func.call @source(%kv, %ring, %me, %s, %S, %SLOTS)
            : (!part, !part, index, index, index, index) -> (memref<?x?x?x?xbf16>, index, index)
        %values = arith.addi %begin, %c1 : index
        %come = arith.cmpi ne, %s, %c0 : index
        scf.if %come {
          mk.wait %arrived[%s, %head] ge %c2 : !arrived
        }
        %key_tiles = arith.ceildivui %keys, %tn : index
        %o1, %m1, %l1 = mk.fold (%j) in (%key_tiles)
            iter(%oj = %o0, %mj = %m0, %lj = %l0) : !o, !row, !row {
          %key = arith.muli %j, %tn : index
          %left = arith.subi %keys, %key : index
          %y = mk.load %from[%begin, %head, %key, %c0] valid(%left, %hd) : memref<?x?x?x?xbf16> -> !kv
          %z = mk.load %from[%values, %head, %key, %c0] valid(%left, %hd) : memref<?x?x?x?xbf16> -> !kv
          %p = func.call @scores(%x, %y, %tm, %tn) : (!q, !kv, index, index) -> !s
          // Keys behind the last one of the shard.
          %masked = mk.mask %p where affine_set<(r, c)[n] : (n - 1 - c >= 0)>[%left] else %ninf : !s
          %on, %mn, %ln = func.call @step(%masked, %z, %oj, %mj, %lj, %scale, %row_scale, %slack)
              : (!s, !kv, !o, !row, !row, !s, !row, !row) -> (!o, !row, !row)
          mk.yield %on, %mn, %ln : !o, !row, !row
        }
        func.call @done(%used, %free, %s, %world, %HKV, %SLOTS, %tiles)
            : (!used, !free, index, index, index, index, index) -> ()
        scf.yield %o1, %m1, %l1 : !o, !row, !row
      }
      func.call @finish(%o2, %m2, %l2, %o, %lse, %h, %row, %rows, %tm, %hd)
          : (!o, !row, !row, memref<?x?x?xbf16>, memref<?x?xf32>, index, index, index, index, index) -> ()
    }
  }
}

mk.kernel @ring_attention_causal on @mesh sizes(node, gpu)
    dims(uniform HQ, uniform HKV, uniform S, uniform D, uniform SLOTS) (
    in %q : memref<?x?x?xbf16> [HQ, S, D] split [(), (node, gpu), ()],
    in %kv : !part [2, HKV, S, D] split [(), (), (node, gpu), ()],
    scratch %ring : !part [SLOTS * 2, HKV, S ceildiv (node * gpu), D],
    out %o : memref<?x?x?xbf16> [HQ, S, D] split [(), (node, gpu), ()],
    out %lse : memref<?x?xf32> [HQ, S] split [(), (node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %hd = mk.param "HD" default(%D)
  %c128 = arith.constant 128 : index
  %tile_rows, %tile_keys = func.call @tile_extents(%hd, %c128) : (index, index) -> (index, index)
  %tm = mk.param "TM" default(%tile_rows)
  %tn = mk.param "TN" default(%tile_keys)
  %over = mk.param "SLACK" = 8
  mk.param "RING" = 4
  %engines_may = mk.param "ENGINES" = 1
  %fits = arith.cmpi eq, %hd, %D : index
  mk.require %fits, "D must be the head dimension HD that the kernel is compiled for"
  %whole = func.call @whole_groups(%HQ, %HKV) : (index, index) -> i1
  mk.require %whole, "HQ must be a multiple of HKV, which must be at least 1"

  %me = mk.rank
  %world = mk.size
  %rows = memref.dim %q, %c1 : memref<?x?x?xbf16>
  %group = arith.divui %HQ, %HKV : index
  // Tiles of both chunks, of a whole shard.
  %shard = arith.ceildivui %S, %world : index
  %chunk = arith.ceildivui %shard, %c2 : index
  %chunk_tiles = arith.ceildivui %chunk, %tm : index
  %query_tiles = arith.muli %chunk_tiles, %c2 : index
  %tiles = arith.muli %HQ, %query_tiles : index
  %ctas = mk.ctas @attention
  %enough = func.call @enough_slots(%SLOTS, %world, %tiles, %ctas) : (index, index, index, index) -> i1
  mk.require %enough, "SLOTS must be the number of ranks less 1, or at least 2 with no more tiles of queries than CTAs of @attention: 2 * ceil(chunk / TM) for each of the HQ heads"

  %arrived = mk.signals(%world, %HKV) : !arrived
  %free = mk.signals(%world) : !free
  %used = mk.counters(%world) : !used

  %zero, %low, %none, %scale, %row_scale, %slack = func.call @constants(%tm, %tn, %hd, %over)
      : (index, index, index, index) -> (!o, !row, !row, !s, !row, !row)
  %ninf = arith.constant 0xFF800000 : f32

  %by_engines = func.call @engines_send(%engines_may, %SLOTS) : (index, index) -> i1
  mk.role @copy ctas(engines) {
    func.call @send_own(%kv, %ring, %arrived, %S, %HKV, %D, %SLOTS, %by_engines)
        : (!part, !part, !arrived, index, index, index, index, i1) -> ()
  }

  mk.role @ring ctas(param RING) then @attention {
    func.call @pass_on(%kv, %ring, %arrived, %free, %used, %S, %HKV, %D, %SLOTS, %tiles, %by_engines)
        : (!part, !part, !arrived, !free, !used, index, index, index, index, index, i1) -> ()
  }

  mk.role @attention ctas(rest) {
    // The second chunk sees more keys than the first and goes first, in groups of heads
    // that share keys.
    mk.foreach (%h, %t) in (%HQ, %query_tiles) schedule(ticket) order(longest_first = 4) {
      %head = arith.divui %h, %group : index
      // Tile i of chunk u of the own shard: its first row there, the end of the chunk, and
      // its first row in a sequence of whole chunks.
      %u = arith.divui %t, %chunk_tiles : index
      %i = arith.remui %t, %chunk_tiles : index
      %begin_u, %rows_u, %place_u = func.call @chunk(%me, %u, %chunk, %rows, %world)
          : (index, index, index, index, index) -> (index, index, index)
      %down = arith.muli %i, %tm : index
      %row = arith.addi %begin_u, %down : index
      %end = arith.addi %begin_u, %rows_u : index
      %valid = arith.subi %end, %row : index
      %place = arith.addi %place_u, %down : index
      %place_end = arith.addi %place, %tm : index

      %x = mk.load %q[%h, %row, %c0] valid(%valid, %hd) : memref<?x?x?xbf16> -> !q
      %o3, %m3, %l3 = scf.for %s = %c0 to %world step %c1
          iter_args(%o0 = %zero, %m0 = %low, %l0 = %none) -> (!o, !row, !row) {
        %from, %begin, %keys = func.call @source(%kv, %ring, %me, %s, %S, %SLOTS)
            : (!part, !part, index, index, index, index) -> (memref<?x?x?x?xbf16>, index, index)
        %values = arith.addi %begin, %c1 : index
        %come = arith.cmpi ne, %s, %c0 : index
        scf.if %come {
          mk.wait %arrived[%s, %head] ge %c2 : !arrived
        }
        %sender = func.call @before(%me, %s, %world) : (index, index, index) -> index
        %o2, %m2, %l2 = scf.for %w = %c0 to %c2 step %c1
            iter_args(%ou = %o0, %mu = %m0, %lu = %l0) -> (!o, !row, !row) {
          %begin_w, %rows_w, %place_w = func.call @chunk(%sender, %w, %chunk, %keys, %world)
              : (index, index, index, index, index) -> (index, index, index)
          // Keys that some query of the tile sees.
          %ahead = arith.subi %place_end, %place_w : index
          %some = arith.maxsi %ahead, %c0 : index
          %seen = arith.minsi %some, %rows_w : index
          %key_tiles = arith.ceildivui %seen, %tn : index
          %distance = arith.subi %place, %place_w : index
          %o1, %m1, %l1 = mk.fold (%j) in (%key_tiles)
              iter(%oj = %ou, %mj = %mu, %lj = %lu) : !o, !row, !row {
            %key = arith.muli %j, %tn : index
            %key_row = arith.addi %begin_w, %key : index
            %left = arith.subi %rows_w, %key : index
            %ahead_j = arith.subi %distance, %key : index
            %y = mk.load %from[%begin, %head, %key_row, %c0] valid(%left, %hd) : memref<?x?x?x?xbf16> -> !kv
            %z = mk.load %from[%values, %head, %key_row, %c0] valid(%left, %hd) : memref<?x?x?x?xbf16> -> !kv
            %p = func.call @scores(%x, %y, %tm, %tn) : (!q, !kv, index, index) -> !s
            // Keys behind the own place, and those behind the chunk's last one.
            %masked = mk.mask %p where affine_set<(r, c)[d, n] : (r - c + d >= 0, n - 1 - c >= 0)>[%ahead_j, %left]
                else %ninf skippable : !s
            %on, %mn, %ln = func.call @step(%masked, %z, %oj, %mj, %lj, %scale, %row_scale, %slack)
                : (!s, !kv, !o, !row, !row, !s, !row, !row) -> (!o, !row, !row)
            mk.yield %on, %mn, %ln : !o, !row, !row
          }
          scf.yield %o1, %m1, %l1 : !o, !row, !row
        }
        func.call @done(%used, %free, %s, %world, %HKV, %SLOTS, %tiles)
            : (!used, !free, index, index, index, index, index) -> ()
        scf.yield %o2, %m2, %l2 : !o, !row, !row
      }
      func.call @finish(%o3, %m3, %l3, %o, %lse, %h, %row, %end, %tm, %hd)
          : (!o, !row, !row, memref<?x?x?xbf16>, memref<?x?xf32>, index, index, index, index, index) -> ()
    }
  }
}

// Extents of tiles for which registers and shared memory do: queries, and keys, of which two
// blocks and two of values have room; no more than %most with heads of more than 64.
func.func private @tile_extents(%hd: index, %most: index) -> (index, index) {
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c16384 = arith.constant 16384 : index
  %large = arith.cmpi ugt, %hd, %c128 : index
  %queries = arith.select %large, %c64, %c128 : index
  %small = arith.cmpi ule, %hd, %c64 : index
  %limit = arith.select %small, %c128, %most : index
  %room = arith.divui %c16384, %hd : index
  %few = arith.minui %room, %limit : index
  %sixteens = arith.divui %few, %c16 : index
  %keys = arith.muli %sixteens, %c16 : index
  return %queries, %keys : index, index
}

// Whether each head of K and V has as many heads of Q.
func.func private @whole_groups(%HQ: index, %HKV: index) -> i1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.cmpi uge, %HKV, %c1 : index
  %n = arith.maxui %HKV, %c1 : index
  %left = arith.remui %HQ, %n : index
  %even = arith.cmpi eq, %left, %c0 : index
  %whole = arith.andi %some, %even : i1
  return %whole : i1
}

// The ring
// --------

// Whether copy engines send each rank's own keys and values to all others, which takes a place for each.
func.func private @engines_send(%may: index, %SLOTS: index) -> i1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %world = mk.size
  %gpus = mk.size gpu
  %last = arith.subi %world, %c1 : index
  %wanted = arith.cmpi ne, %may, %c0 : index
  %one_node = arith.cmpi eq, %world, %gpus : index
  %places = arith.cmpi uge, %SLOTS, %last : index
  %reached = arith.andi %one_node, %places : i1
  %send = arith.andi %wanted, %reached : i1
  return %send : i1
}

// Head by head, to the rank that needs it in step %s.
func.func private @send_own(%kv: !part, %ring: !part, %arrived: !arrived, %S: index, %HKV: index, %D: index,
                            %SLOTS: index, %by_engines: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %me = mk.rank
  %world = mk.size
  %rows = func.call @shard_rows(%me, %c0, %S) : (index, index, index) -> index
  %heads = arith.select %by_engines, %HKV, %c0 : index
  mk.foreach (%h) in (%heads) {
    scf.for %s = %c1 to %world step %c1 {
      %to_ = arith.addi %me, %s : index
      %to = arith.remui %to_, %world : index
      %at = func.call @slot(%s, %SLOTS) : (index, index) -> index
      scf.for %w = %c0 to %c2 step %c1 {
        %at_w = arith.addi %at, %w : index
        mk.put %kv[%w, %h, %c0, %c0][%c1, %c1, %rows, %D] to %ring[%at_w, %h, %c0, %c0]
            on %to signal %arrived[%s, %h] : !part to !part, !arrived
      }
    }
  }
  return
}

// Hands the keys and values of each head to the next rank, step by step: first the own,
// then what arrives.
func.func private @pass_on(%kv: !part, %ring: !part, %arrived: !arrived, %free: !free, %used: !used,
                           %S: index, %HKV: index, %D: index, %SLOTS: index, %tiles: index, %by_engines: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %me = mk.rank
  %world = mk.size
  %last = arith.subi %world, %c1 : index
  %next_ = arith.addi %me, %c1 : index
  %next = arith.remui %next_, %world : index
  // Step by step and, where each step has a place of its own, on a slant: a head's next step with the step before of the
  // next head, which has come meanwhile. Tiles wait for all steps of the first heads first.
  %slants = arith.cmpi uge, %SLOTS, %last : index
  %behind = arith.subi %last, %c1 : index
  %more = arith.select %slants, %behind, %c0 : index
  %turns_ = arith.addi %HKV, %more : index
  %turns = arith.maxsi %turns_, %c0 : index
  %inner = arith.select %slants, %last, %turns : index
  %rounds = arith.select %slants, %turns, %last : index
  %outer = arith.select %by_engines, %c0, %rounds : index
  mk.foreach (%i, %j) in (%outer, %inner) {
    %s = arith.select %slants, %j, %i : index
    %late = arith.subi %i, %j : index
    %h = arith.select %slants, %late, %j : index
    %begun = arith.cmpi sge, %h, %c0 : index
    %goes_on = arith.cmpi slt, %h, %HKV : index
    %exists = arith.andi %begun, %goes_on : i1
    scf.if %exists {
      %own = arith.cmpi eq, %s, %c0 : index
      scf.if %own {
      } else {
        mk.wait %arrived[%s, %h] ge %c2 : !arrived
      }
      %to = arith.addi %s, %c1 : index
      // The place of step %to held step %to - SLOTS before.
      %again = arith.cmpi ugt, %to, %SLOTS : index
      scf.if %again {
        %old = arith.subi %to, %SLOTS : index
        mk.wait %free[%old] ge %c1 : !free
      }
      %rows = func.call @shard_rows(%me, %s, %S) : (index, index, index) -> index
      %from = func.call @slot(%s, %SLOTS) : (index, index) -> index
      %at = func.call @slot(%to, %SLOTS) : (index, index) -> index
      scf.for %w = %c0 to %c2 step %c1 {
        %from_w = arith.addi %from, %w : index
        %at_w = arith.addi %at, %w : index
        scf.if %own {
          mk.put %kv[%w, %h, %c0, %c0][%c1, %c1, %rows, %D] to %ring[%at_w, %h, %c0, %c0]
              on %next signal %arrived[%to, %h] : !part to !part, !arrived
        } else {
          mk.put %ring[%from_w, %h, %c0, %c0][%c1, %c1, %rows, %D] to %ring[%at_w, %h, %c0, %c0]
              on %next signal %arrived[%to, %h] : !part to !part, !arrived
        }
      }
      // Its place may be used again when it has been passed on. Else all puts are under way at once.
      %passed = func.call @is_reused(%s, %world, %SLOTS) : (index, index, index) -> i1
      scf.if %passed {
        mk.settle
      }
      func.call @done(%used, %free, %s, %world, %HKV, %SLOTS, %tiles)
          : (!used, !free, index, index, index, index, index) -> ()
    }
  }
  return
}

// One user is done with what step %s brought: a tile of queries, or a head that is passed
// on. The last one tells the sender, if it waits to use the place again.
func.func private @done(%used: !used, %free: !free, %s: index, %world: index, %HKV: index, %SLOTS: index,
                        %tiles: index) {
  %c1 = arith.constant 1 : index
  %wanted = func.call @is_reused(%s, %world, %SLOTS) : (index, index, index) -> i1
  scf.if %wanted {
    %before = mk.count %used[%s] add %c1 : !used
    %now = arith.addi %before, %c1 : index
    %users = arith.addi %tiles, %HKV : index
    %all = arith.cmpi eq, %now, %users : index
    scf.if %all {
      %me = mk.rank
      %previous = func.call @before(%me, %c1, %world) : (index, index, index) -> index
      mk.signal %free[%s] on %previous : !free
    }
  }
  return
}

// Whether the place of what step %s brought is used again; the own keys have none.
func.func private @is_reused(%s: index, %world: index, %SLOTS: index) -> i1 {
  %c0 = arith.constant 0 : index
  %came = arith.cmpi ugt, %s, %c0 : index
  %later = arith.addi %s, %SLOTS : index
  %again = arith.cmpi ult, %later, %world : index
  %wanted = arith.andi %came, %again : i1
  return %wanted : i1
}

// Whether no tile that has not started is waited for.
func.func private @enough_slots(%SLOTS: index, %world: index, %tiles: index, %ctas: index) -> i1 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %steps = arith.subi %world, %c1 : index
  %all = arith.cmpi uge, %SLOTS, %steps : index
  %two = arith.cmpi uge, %SLOTS, %c2 : index
  %run = arith.cmpi ule, %tiles, %ctas : index
  %resident = arith.andi %two, %run : i1
  %enough = arith.ori %all, %resident : i1
  return %enough : i1
}

// Where the ring's buffer holds the keys of step %s (the values are behind them); step 0 is not
// there.
func.func private @slot(%s: index, %SLOTS: index) -> index {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // Nothing is divided by 0 on one rank, which needs no slots.
  %n = arith.maxui %SLOTS, %c1 : index
  %up = arith.addi %s, %n : index
  %down = arith.subi %up, %c1 : index
  %slot = arith.remui %down, %n : index
  %at = arith.muli %slot, %c2 : index
  return %at : index
}

// What a rank works on in step %s: the buffer, its place there, and the rows.
func.func private @source(%kv: !part, %ring: !part, %me: index, %s: index, %S: index, %SLOTS: index)
    -> (memref<?x?x?x?xbf16>, index, index) {
  %c0 = arith.constant 0 : index
  %own = arith.cmpi eq, %s, %c0 : index
  %from = mk.select %own, %kv, %ring : !part, !part -> memref<?x?x?x?xbf16>
  %slot = func.call @slot(%s, %SLOTS) : (index, index) -> index
  %at = arith.select %own, %c0, %slot : index
  %rows = func.call @shard_rows(%me, %s, %S) : (index, index, index) -> index
  return %from, %at, %rows : memref<?x?x?x?xbf16>, index, index
}

// The rank %s places before rank %r.
func.func private @before(%r: index, %s: index, %world: index) -> index {
  %up = arith.addi %r, %world : index
  %down = arith.subi %up, %s : index
  %rank = arith.remui %down, %world : index
  return %rank : index
}

// Rows of the shard of the rank %s places before %r.
func.func private @shard_rows(%r: index, %s: index, %S: index) -> index {
  %c0 = arith.constant 0 : index
  %world = mk.size
  %rank = func.call @before(%r, %s, %world) : (index, index, index) -> index
  %shard = arith.ceildivui %S, %world : index
  %begin = arith.muli %rank, %shard : index
  %left = arith.subi %S, %begin : index
  %some = arith.maxsi %left, %c0 : index
  %rows = arith.minsi %some, %shard : index
  return %rows : index
}

// Chunk %u, 0 or 1, of rank %r, whose shard has %rows rows: its first row there, its rows,
// and its first row in a sequence of whole chunks.
func.func private @chunk(%r: index, %u: index, %chunk: index, %rows: index, %world: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %second = arith.cmpi ne, %u, %c0 : index
  %first_rows = arith.minsi %rows, %chunk : index
  %rest = arith.subi %rows, %first_rows : index
  %begin = arith.select %second, %first_rows, %c0 : index
  %count = arith.select %second, %rest, %first_rows : index
  %chunks = arith.muli %world, %c2 : index
  %top = arith.subi %chunks, %c1 : index
  %mirror = arith.subi %top, %r : index
  %number = arith.select %second, %mirror, %r : index
  %place = arith.muli %number, %chunk : index
  return %begin, %count, %place : index, index, index
}

// Tiles
// -----

// What a row starts from: output, maximum (low, but finite: a difference of two is
// defined), sum; log2(e) / sqrt(D) for scores and for rows; and by how much a row's
// maximum may be exceeded.
func.func private @constants(%tm: index, %tn: index, %hd: index, %over: index) -> (!o, !row, !row, !s, !row, !row) {
  %0 = arith.constant 0.0 : f32
  %low_ = arith.constant -1.0e30 : f32
  %log2e = arith.constant 1.44269504 : f32
  %d_ = arith.index_cast %hd : index to i32
  %d = arith.sitofp %d_ : i32 to f32
  %root = math.sqrt %d : f32
  %scale_ = arith.divf %log2e, %root : f32
  %zero = tensor.splat %0[%tm, %hd] : !o
  %low = tensor.splat %low_[%tm] : !row
  %none = tensor.splat %0[%tm] : !row
  %scale = tensor.splat %scale_[%tm, %tn] : !s
  %row_scale = tensor.splat %scale_[%tm] : !row
  %over_ = arith.index_cast %over : index to i32
  %slack_ = arith.sitofp %over_ : i32 to f32
  %slack = tensor.splat %slack_[%tm] : !row
  return %zero, %low, %none, %scale, %row_scale, %slack : !o, !row, !row, !s, !row, !row
}

func.func private @scores(%x: !q, %y: !kv, %tm: index, %tn: index) -> !s {
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !s
  %s = mk.dot %x, %y, %zero transpose_b : !q, !kv, !s
  return %s : !s
}

// One block of keys: its scores and values; what was carried and what is carried on.
func.func private @step(%s: !s, %z: !kv, %o: !o, %m: !row, %l: !row, %scale: !s, %row_scale: !row, %slack: !row) -> (!o, !row, !row) {
  %top = mk.reduce max %s axis 1 : !s -> !row
  %top1 = arith.mulf %top, %row_scale : !row
  %bound = arith.addf %m, %slack : !row
  %grows = arith.cmpf ogt, %top1, %bound : !row
  %m1 = arith.select %grows, %top1, %m : !rows, !row
  %m1s = mk.broadcast %m1 dims [1] : !row -> !s
  %t = arith.mulf %s, %scale fastmath<contract> : !s
  %d = arith.subf %t, %m1s fastmath<contract> : !s
  %e = math.exp2 %d : !s
  %sum = mk.reduce add %e axis 1 : !s -> !row
  %old = arith.subf %m, %m1 : !row
  %a = math.exp2 %old : !row
  %la = arith.mulf %l, %a : !row
  %l1 = arith.addf %la, %sum : !row
  %as = mk.broadcast %a dims [1] : !row -> !o
  %oa = arith.mulf %o, %as : !o
  %p = arith.truncf %e : !s to !p
  %o1 = mk.dot %p, %z, %oa : !p, !kv, !o
  return %o1, %m1, %l1 : !o, !row, !row
}

// Divides by the sum and stores the rows before %end; LSE = ln(2) * (m + log2(l)).
func.func private @finish(%o: !o, %m: !row, %l: !row, %out: memref<?x?x?xbf16>, %lse: memref<?x?xf32>,
                          %h: index, %row: index, %end: index, %tm: index, %hd: index) {
  %c0 = arith.constant 0 : index
  %1 = arith.constant 1.0 : f32
  %ln2_ = arith.constant 0.693147181 : f32
  %valid = arith.subi %end, %row : index
  %one = tensor.splat %1[%tm] : !row
  %ln2 = tensor.splat %ln2_[%tm] : !row
  %inverse = arith.divf %one, %l : !row
  %spread = mk.broadcast %inverse dims [1] : !row -> !o
  %y = arith.mulf %o, %spread : !o
  %z = arith.truncf %y : !o to !q
  mk.store %z, %out[%h, %row, %c0] valid(%valid, %hd) : !q, memref<?x?x?xbf16>
  %log = math.log2 %l : !row
  %sum = arith.addf %m, %log : !row
  %e = arith.mulf %sum, %ln2 : !row
  mk.store %e, %lse[%h, %row] valid(%valid) : !row, memref<?x?xf32>
  return
}

// What they compute, on whole tensors.
func.func @ring_attention_reference(%q: tensor<?x?x?xf64>, %kv: tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>) {
  // In one chunk, every key that counts.
  %all = arith.constant false
  %o, %lse = call @softmax_of_products(%q, %kv, %all)
      : (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, i1) -> (tensor<?x?x?xf64>, tensor<?x?xf64>)
  return %o, %lse : tensor<?x?x?xf64>, tensor<?x?xf64>
}

func.func @ring_attention_causal_reference(%q: tensor<?x?x?xf64>, %kv: tensor<?x?x?x?xf64>)
    -> (tensor<?x?x?xf64>, tensor<?x?xf64>) {
  %causal = arith.constant true
  %o, %lse = call @softmax_of_products(%q, %kv, %causal)
      : (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, i1) -> (tensor<?x?x?xf64>, tensor<?x?xf64>)
  return %o, %lse : tensor<?x?x?xf64>, tensor<?x?xf64>
}

// The chunk, of two for each rank, that holds row %i of the zigzag layout.
func.func private @chunk_of_row(%i: index, %S: index) -> index {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %world = mk.size
  %shard = arith.ceildivui %S, %world : index
  %half = arith.ceildivui %shard, %c2 : index
  %rank = arith.divui %i, %shard : index
  %in_shard = arith.remui %i, %shard : index
  %first = arith.cmpi ult, %in_shard, %half : index
  %chunks = arith.muli %world, %c2 : index
  %top = arith.subi %chunks, %c1 : index
  %mirror = arith.subi %top, %rank : index
  %chunk = arith.select %first, %rank, %mirror : index
  return %chunk : index
}

#products = affine_map<(h, i, j, d) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
#each = affine_map<(h, i, j) -> (h, i, j)>

func.func private @softmax_of_products(%q: tensor<?x?x?xf64>, %kv: tensor<?x?x?x?xf64>, %causal: i1)
    -> (tensor<?x?x?xf64>, tensor<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = arith.constant 0.0 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %hq = tensor.dim %q, %c0 : tensor<?x?x?xf64>
  %s = tensor.dim %q, %c1 : tensor<?x?x?xf64>
  %d = tensor.dim %q, %c2 : tensor<?x?x?xf64>
  %hkv = tensor.dim %kv, %c1 : tensor<?x?x?x?xf64>
  %shared = arith.divui %hq, %hkv : index
  %d_ = arith.index_cast %d : index to i64
  %df = arith.sitofp %d_ : i64 to f64
  %root = math.sqrt %df : f64

  %empty_s = tensor.empty(%hq, %s, %s) : tensor<?x?x?xf64>
  %zero_s = linalg.fill ins(%0 : f64) outs(%empty_s : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %products = linalg.generic {
      indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, #products],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q : tensor<?x?x?xf64>) outs(%zero_s : tensor<?x?x?xf64>) {
  ^bb0(%x: f64, %sum: f64):
    %h = linalg.index 0 : index
    %j = linalg.index 2 : index
    %di = linalg.index 3 : index
    %hk = arith.divui %h, %shared : index
    %y = tensor.extract %kv[%c0, %hk, %j, %di] : tensor<?x?x?x?xf64>
    %p = arith.mulf %x, %y : f64
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?x?xf64>
  %scores = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%products : tensor<?x?x?xf64>) outs(%empty_s : tensor<?x?x?xf64>) {
  ^bb0(%x: f64, %old: f64):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    // A key is behind the query if its chunk is, or its row in the same chunk.
    %chunk_i = func.call @chunk_of_row(%i, %s) : (index, index) -> index
    %chunk_j = func.call @chunk_of_row(%j, %s) : (index, index) -> index
    %later_chunk = arith.cmpi ugt, %chunk_j, %chunk_i : index
    %same_chunk = arith.cmpi eq, %chunk_j, %chunk_i : index
    %later_row = arith.cmpi ugt, %j, %i : index
    %later_in_it = arith.andi %same_chunk, %later_row : i1
    %later = arith.ori %later_chunk, %later_in_it : i1
    %hidden = arith.andi %later, %causal : i1
    %y = arith.divf %x, %root : f64
    %z = arith.select %hidden, %ninf, %y : f64
    linalg.yield %z : f64
  } -> tensor<?x?x?xf64>

  %empty_r = tensor.empty(%hq, %s) : tensor<?x?xf64>
  %low = linalg.fill ins(%ninf : f64) outs(%empty_r : tensor<?x?xf64>) -> tensor<?x?xf64>
  %top = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scores : tensor<?x?x?xf64>) outs(%low : tensor<?x?xf64>) {
  ^bb0(%x: f64, %m: f64):
    %y = arith.maximumf %x, %m : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  %weights = linalg.generic {indexing_maps = [#each, #row, #each], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %top : tensor<?x?x?xf64>, tensor<?x?xf64>) outs(%empty_s : tensor<?x?x?xf64>) {
  ^bb0(%x: f64, %m: f64, %old: f64):
    %y = arith.subf %x, %m : f64
    %e = math.exp %y : f64
    linalg.yield %e : f64
  } -> tensor<?x?x?xf64>
  %zero_r = linalg.fill ins(%0 : f64) outs(%empty_r : tensor<?x?xf64>) -> tensor<?x?xf64>
  %sums = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%weights : tensor<?x?x?xf64>) outs(%zero_r : tensor<?x?xf64>) {
  ^bb0(%x: f64, %sum: f64):
    %y = arith.addf %x, %sum : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  %lse = linalg.map ins(%sums, %top : tensor<?x?xf64>, tensor<?x?xf64>) outs(%empty_r : tensor<?x?xf64>) (%l: f64, %m: f64, %old: f64) {
    %log = math.log %l : f64
    %y = arith.addf %log, %m : f64
    linalg.yield %y : f64
  }

  %empty_o = tensor.empty(%hq, %s, %d) : tensor<?x?x?xf64>
  %zero_o = linalg.fill ins(%0 : f64) outs(%empty_o : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %o = linalg.generic {
      indexing_maps = [affine_map<(h, i, d, j) -> (h, i, j)>, affine_map<(h, i, d, j) -> (h, i)>,
                       affine_map<(h, i, d, j) -> (h, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%weights, %sums : tensor<?x?x?xf64>, tensor<?x?xf64>) outs(%zero_o : tensor<?x?x?xf64>) {
  ^bb0(%w: f64, %l: f64, %sum: f64):
    %h = linalg.index 0 : index
    %di = linalg.index 2 : index
    %j = linalg.index 3 : index
    %hk = arith.divui %h, %shared : index
    %y = tensor.extract %kv[%c1, %hk, %j, %di] : tensor<?x?x?x?xf64>
    %u = arith.divf %w, %l : f64
    %p = arith.mulf %u, %y : f64
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?x?xf64>
  return %o, %lse : tensor<?x?x?xf64>, tensor<?x?xf64>
}
