// Attention whose keys and values are gathered: O = softmax(Q * K^T / sqrt(D)) * V for each head, and the logarithm of each
// row's sum, with the sequence split over nodes of GPUs (context parallel). Q and O: B x HQ x S x D, K and V: B x HKV x S x D, LSE: B x
// HQ x S; bf16, summed in f32, LSE f32. HQ / HKV heads of Q share a head of K and V. @ag_attention sees all keys,
// @ag_attention_causal those up to the query's own place; ranks then send to later ranks only, and the last has
// the most to compute.
//
// Keys and values travel head by head, once to each node that needs them (@send), and on inside it (@push); where there is one
// node, copy engines do all of it (@copy). A query tile starts
// with the own keys and goes on through those of the ranks before, around the ring, as they arrive.
//
// Parameters: TM queries and TN keys are a tile; HD, the head dimension (D, where it is bound);
// PUSH, how many CTAs have this role; ENGINES, 0 where copy engines are not to.

!q = tensor<?x?xbf16, #mk.extents<TM, HD>>
!kv = tensor<?x?xbf16, #mk.extents<TN, HD>>
!s = tensor<?x?xf32, #mk.extents<TM, TN>>
!p = tensor<?x?xbf16, #mk.extents<TM, TN>>
!o = tensor<?x?xf32, #mk.extents<TM, HD>>
!row = tensor<?xf32, #mk.extents<TM>>
!own = memref<?x?x?x?xbf16>
!shared = memref<?x?x?x?xbf16, #mk.symmetric>
!ready = !mk.signal<?x?, sys, arrivals = 2>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @ag_attention on @mesh dims(uniform B, uniform HQ, uniform HKV, uniform S, uniform D) (
    in %q : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(), (), (node, gpu), ()],
    in %k : !shared [B, HKV, S, D] split [(), (), (node, gpu), ()],
    in %v : !shared [B, HKV, S, D] split [(), (), (node, gpu), ()],
    scratch %all_k : !shared [B, HKV, S, D],
    scratch %all_v : !shared [B, HKV, S, D],
    out %o : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(), (), (node, gpu), ()],
    out %lse : memref<?x?x?xf32> [B, HQ, S] split [(), (), (node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %hd = mk.param "HD" default(%D)
  %tile_rows, %tile_keys = func.call @tile_extents(%hd) : (index) -> (index, index)
  %tm = mk.param "TM" default(%tile_rows) in [64, 128, 192]
  %tn = mk.param "TN" default(%tile_keys) in [64, 80, 96, 112, 128, 144, 160, 176]
  mk.param "PUSH" = 2
  %engines_may = mk.param "ENGINES" = 1
  %fits = arith.cmpi eq, %hd, %D : index
  mk.require %fits, "D must be the head dimension HD that the kernel is compiled for"
  %whole = func.call @whole_groups(%HQ, %HKV) : (index, index) -> i1
  mk.require %whole, "HQ must be a multiple of HKV, which must be at least 1"

  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %S, %world : index      // places in a whole shard
  %queries = func.call @places(%me, %shard, %S) : (index, index, index) -> index
  %query_tiles = arith.ceildivui %queries, %tm : index
  %sharing = arith.divui %HQ, %HKV : index
  %heads = arith.muli %B, %HQ : index
  %kv_heads = arith.muli %B, %HKV : index
  %zero, %low, %none, %scale, %row_scale = func.call @constants(%tm, %tn, %hd)
      : (index, index, index) -> (!o, !row, !row, !s, !row)
  %ninf = arith.constant 0xFF800000 : f32
  %causal = arith.constant false

  // For each rank and head: keys and values.
  %ready = mk.signals(%world, %kv_heads) : !ready

  // Heads that copy engines take, and those that are left to CTAs.
  %copied, %pushed = func.call @by_engines(%engines_may, %kv_heads) : (index, index) -> (index, index)
  mk.role @copy ctas(engines) {
    func.call @copy(%k, %v, %all_k, %all_v, %ready, %copied, %HKV, %shard, %S, %D, %causal)
        : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1) -> ()
  }

  mk.role @send ctas(1) then @attention {
    func.call @send(%k, %v, %all_k, %all_v, %ready, %kv_heads, %HKV, %shard, %S, %D, %causal)
        : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1) -> ()
  }

  mk.role @push ctas(param PUSH) then @attention {
    func.call @push(%k, %v, %all_k, %all_v, %ready, %pushed, %HKV, %shard, %S, %D, %causal)
        : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1) -> ()
  }

  mk.role @attention ctas(rest) {
    mk.foreach (%bh, %i) in (%heads, %query_tiles) schedule(ticket) {
      %b = arith.divui %bh, %HQ : index
      %h = arith.remui %bh, %HQ : index
      %hkv = arith.divui %h, %sharing : index
      %first = arith.muli %b, %HKV : index
      %bhkv = arith.addi %first, %hkv : index
      %row = arith.muli %i, %tm : index
      %x = mk.load %q[%b, %h, %row, %c0] : !own -> !q
      %o1, %m1, %l1 = scf.for %back = %c0 to %world step %c1
          iter_args(%oa = %zero, %ma = %low, %la = %none) -> (!o, !row, !row) {
        // The rank %back places before me on the ring.
        %lap = arith.addi %me, %world : index
        %s_ = arith.subi %lap, %back : index
        %s = arith.remui %s_, %world : index
        %own = arith.cmpi eq, %s, %me : index
        %keys = func.call @places(%s, %shard, %S) : (index, index, index) -> index
        %begin = arith.muli %s, %shard : index
        %from = arith.select %own, %c0, %begin : index
        %k_from = mk.select %own, %k, %all_k : !shared, !shared -> !own
        %v_from = mk.select %own, %v, %all_v : !shared, !shared -> !own
        %there = arith.cmpi eq, %keys, %c0 : index
        %ready_now = arith.ori %own, %there : i1
        scf.if %ready_now {
        } else {
          mk.wait %ready[%s, %bhkv] ge %c2 : !ready
        }
        %key_tiles = arith.ceildivui %keys, %tn : index
        %o3, %m3, %l3 = mk.fold (%j) in (%key_tiles) iter(%o0 = %oa, %m0 = %ma, %l0 = %la) : !o, !row, !row {
          %key = arith.muli %j, %tn : index
          %left = arith.subi %keys, %key : index
          %at = arith.addi %from, %key : index
          %y = mk.load %k_from[%b, %hkv, %at, %c0] valid(%left, %hd) : !own -> !kv
          %z = mk.load %v_from[%b, %hkv, %at, %c0] valid(%left, %hd) : !own -> !kv
          %s0 = func.call @scores(%x, %y, %tm, %tn) : (!q, !kv, index, index) -> !s
          // Keys behind the rank's last one.
          %masked = mk.mask %s0 where affine_set<(r, c)[n] : (n - 1 - c >= 0)>[%left] else %ninf : !s
          %on, %mn, %ln = func.call @step(%masked, %z, %o0, %m0, %l0, %scale, %row_scale)
              : (!s, !kv, !o, !row, !row, !s, !row) -> (!o, !row, !row)
          mk.yield %on, %mn, %ln : !o, !row, !row
        }
        scf.yield %o3, %m3, %l3 : !o, !row, !row
      }
      func.call @finish(%o1, %m1, %l1, %o, %lse, %b, %h, %row, %tm)
          : (!o, !row, !row, memref<?x?x?x?xbf16>, memref<?x?x?xf32>, index, index, index, index) -> ()
    }
  }
}

mk.kernel @ag_attention_causal on @mesh dims(uniform B, uniform HQ, uniform HKV, uniform S, uniform D) (
    in %q : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(), (), (node, gpu), ()],
    in %k : !shared [B, HKV, S, D] split [(), (), (node, gpu), ()],
    in %v : !shared [B, HKV, S, D] split [(), (), (node, gpu), ()],
    scratch %all_k : !shared [B, HKV, S, D],
    scratch %all_v : !shared [B, HKV, S, D],
    out %o : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(), (), (node, gpu), ()],
    out %lse : memref<?x?x?xf32> [B, HQ, S] split [(), (), (node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %hd = mk.param "HD" default(%D)
  %tile_rows, %tile_keys = func.call @tile_extents(%hd) : (index) -> (index, index)
  %tm = mk.param "TM" default(%tile_rows) in [64, 128, 192]
  %tn = mk.param "TN" default(%tile_keys) in [64, 80, 96, 112, 128, 144, 160, 176]
  mk.param "PUSH" = 2
  %engines_may = mk.param "ENGINES" = 1
  %fits = arith.cmpi eq, %hd, %D : index
  mk.require %fits, "D must be the head dimension HD that the kernel is compiled for"
  %whole = func.call @whole_groups(%HQ, %HKV) : (index, index) -> i1
  mk.require %whole, "HQ must be a multiple of HKV, which must be at least 1"

  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %S, %world : index      // places in a whole shard
  %queries = func.call @places(%me, %shard, %S) : (index, index, index) -> index
  %query_tiles = arith.ceildivui %queries, %tm : index
  %sharing = arith.divui %HQ, %HKV : index
  %heads = arith.muli %B, %HQ : index
  %kv_heads = arith.muli %B, %HKV : index
  %zero, %low, %none, %scale, %row_scale = func.call @constants(%tm, %tn, %hd)
      : (index, index, index) -> (!o, !row, !row, !s, !row)
  %ninf = arith.constant 0xFF800000 : f32
  %causal = arith.constant true

  // For each rank and head: keys and values.
  %ready = mk.signals(%world, %kv_heads) : !ready

  // Heads that copy engines take, and those that are left to CTAs.
  %copied, %pushed = func.call @by_engines(%engines_may, %kv_heads) : (index, index) -> (index, index)
  mk.role @copy ctas(engines) {
    func.call @copy(%k, %v, %all_k, %all_v, %ready, %copied, %HKV, %shard, %S, %D, %causal)
        : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1) -> ()
  }

  mk.role @send ctas(1) then @attention {
    func.call @send(%k, %v, %all_k, %all_v, %ready, %kv_heads, %HKV, %shard, %S, %D, %causal)
        : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1) -> ()
  }

  mk.role @push ctas(param PUSH) then @attention {
    func.call @push(%k, %v, %all_k, %all_v, %ready, %pushed, %HKV, %shard, %S, %D, %causal)
        : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1) -> ()
  }

  mk.role @attention ctas(rest) {
    %sources = arith.addi %me, %c1 : index
    // The last queries see most keys and go first.
    mk.foreach (%bh, %i) in (%heads, %query_tiles) schedule(ticket) order(longest_first = 4) {
      %b = arith.divui %bh, %HQ : index
      %h = arith.remui %bh, %HQ : index
      %hkv = arith.divui %h, %sharing : index
      %first = arith.muli %b, %HKV : index
      %bhkv = arith.addi %first, %hkv : index
      %row = arith.muli %i, %tm : index
      %x = mk.load %q[%b, %h, %row, %c0] : !own -> !q
      %o1, %m1, %l1 = scf.for %back = %c0 to %sources step %c1
          iter_args(%oa = %zero, %ma = %low, %la = %none) -> (!o, !row, !row) {
        // The rank %back places before me on the ring.
        %lap = arith.addi %me, %world : index
        %s_ = arith.subi %lap, %back : index
        %s = arith.remui %s_, %world : index
        %own = arith.cmpi eq, %s, %me : index
        %keys = func.call @places(%s, %shard, %S) : (index, index, index) -> index
        %begin = arith.muli %s, %shard : index
        %from = arith.select %own, %c0, %begin : index
        %k_from = mk.select %own, %k, %all_k : !shared, !shared -> !own
        %v_from = mk.select %own, %v, %all_v : !shared, !shared -> !own
        %there = arith.cmpi eq, %keys, %c0 : index
        %ready_now = arith.ori %own, %there : i1
        scf.if %ready_now {
        } else {
          mk.wait %ready[%s, %bhkv] ge %c2 : !ready
        }
        // Of the own keys those that some row sees; of earlier ranks all.
        %end_ = arith.addi %row, %tm : index
        %end = arith.minui %end_, %keys : index
        %seen = arith.select %own, %end, %keys : index
        %key_tiles = arith.ceildivui %seen, %tn : index
        %o3, %m3, %l3 = mk.fold (%j) in (%key_tiles) iter(%o0 = %oa, %m0 = %ma, %l0 = %la) : !o, !row, !row {
          %key = arith.muli %j, %tn : index
          %left = arith.subi %keys, %key : index
          %at = arith.addi %from, %key : index
          %y = mk.load %k_from[%b, %hkv, %at, %c0] valid(%left, %hd) : !own -> !kv
          %z = mk.load %v_from[%b, %hkv, %at, %c0] valid(%left, %hd) : !own -> !kv
          %s0 = func.call @scores(%x, %y, %tm, %tn) : (!q, !kv, index, index) -> !s
          // Keys behind the rank's last one, and behind the own place.
          %ahead_ = arith.subi %row, %key : index
          %ahead = arith.select %own, %ahead_, %tn : index
          %masked = mk.mask %s0 where affine_set<(r, c)[n, d] : (n - 1 - c >= 0, r - c + d >= 0)>[%left, %ahead] else %ninf skippable : !s
          %on, %mn, %ln = func.call @step(%masked, %z, %o0, %m0, %l0, %scale, %row_scale)
              : (!s, !kv, !o, !row, !row, !s, !row) -> (!o, !row, !row)
          mk.yield %on, %mn, %ln : !o, !row, !row
        }
        scf.yield %o3, %m3, %l3 : !o, !row, !row
      }
      func.call @finish(%o1, %m1, %l1, %o, %lse, %b, %h, %row, %tm)
          : (!o, !row, !row, memref<?x?x?x?xbf16>, memref<?x?x?xf32>, index, index, index, index) -> ()
    }
  }
}

// Places in the shard of rank %s: none, if the sequence ends before it.
func.func private @places(%s: index, %shard: index, %S: index) -> index {
  %c0 = arith.constant 0 : index
  %begin = arith.muli %s, %shard : index
  %left = arith.subi %S, %begin : index
  %some = arith.maxsi %left, %c0 : index
  %places = arith.minsi %some, %shard : index
  return %places : index
}

// Own keys and values to the rank of my place in each other node.
func.func private @send(%k: !shared, %v: !shared, %all_k: !shared, %all_v: !shared, %ready: !ready, %kv_heads: index,
                        %HKV: index, %shard: index, %S: index, %D: index, %causal: i1) {
  mk.foreach (%bh) in (%kv_heads) {
    mk.foreach_peer (%p) along node {
      func.call @put_own(%k, %v, %all_k, %all_v, %ready, %bh, %HKV, %shard, %S, %D, %causal, %p)
          : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1, index) -> ()
    }
  }
  return
}

// How many of the heads copy engines take: all in one node, none else.
func.func private @by_engines(%may: index, %heads: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %world = mk.size
  %gpus = mk.size gpu
  %wanted = arith.cmpi ne, %may, %c0 : index
  %one_node = arith.cmpi eq, %world, %gpus : index
  %by_engines = arith.andi %wanted, %one_node : i1
  %copied = arith.select %by_engines, %heads, %c0 : index
  %pushed = arith.select %by_engines, %c0, %heads : index
  return %copied, %pushed : index, index
}

// The same to the ranks of my node, by copy engines.
func.func private @copy(%k: !shared, %v: !shared, %all_k: !shared, %all_v: !shared, %ready: !ready, %kv_heads: index,
                        %HKV: index, %shard: index, %S: index, %D: index, %causal: i1) {
  mk.foreach (%bh) in (%kv_heads) {
    mk.foreach_peer (%p) along gpu {
      func.call @put_own(%k, %v, %all_k, %all_v, %ready, %bh, %HKV, %shard, %S, %D, %causal, %p)
          : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1, index) -> ()
    }
  }
  return
}

// The same to the ranks of my node; then what the ranks of my place in other nodes have sent.
func.func private @push(%k: !shared, %v: !shared, %all_k: !shared, %all_v: !shared, %ready: !ready, %kv_heads: index,
                        %HKV: index, %shard: index, %S: index, %D: index, %causal: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %me = mk.rank
  mk.foreach (%bh) in (%kv_heads) {
    mk.foreach_peer (%p) along gpu {
      func.call @put_own(%k, %v, %all_k, %all_v, %ready, %bh, %HKV, %shard, %S, %D, %causal, %p)
          : (!shared, !shared, !shared, !shared, !ready, index, index, index, index, index, i1, index) -> ()
    }
  }
  mk.foreach (%bh) in (%kv_heads) {
    %b = arith.divui %bh, %HKV : index
    %h = arith.remui %bh, %HKV : index
    mk.foreach_peer (%s) along node {
      %places = func.call @places(%s, %shard, %S) : (index, index, index) -> index
      %nothing = func.call @hidden(%s, %me, %places, %causal) : (index, index, index, i1) -> i1
      scf.if %nothing {
      } else {
        %at = arith.muli %s, %shard : index
        mk.wait %ready[%s, %bh] ge %c2 : !ready
        mk.foreach_peer (%p) along gpu {
          mk.put %all_k[%b, %h, %at, %c0][%c1, %c1, %places, %D] to %all_k[%b, %h, %at, %c0] on %p signal %ready[%s, %bh]
              : !shared to !shared, !ready
          mk.put %all_v[%b, %h, %at, %c0][%c1, %c1, %places, %D] to %all_v[%b, %h, %at, %c0] on %p signal %ready[%s, %bh]
              : !shared to !shared, !ready
        }
      }
    }
  }
  return
}

// Own keys and values of head %bh to rank %p, unless it sees none of them.
func.func private @put_own(%k: !shared, %v: !shared, %all_k: !shared, %all_v: !shared, %ready: !ready, %bh: index,
                           %HKV: index, %shard: index, %S: index, %D: index, %causal: i1, %p: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = mk.rank
  %places = func.call @places(%me, %shard, %S) : (index, index, index) -> index
  %nothing = func.call @hidden(%me, %p, %places, %causal) : (index, index, index, i1) -> i1
  scf.if %nothing {
  } else {
    %b = arith.divui %bh, %HKV : index
    %h = arith.remui %bh, %HKV : index
    %at = arith.muli %me, %shard : index
    mk.put %k[%b, %h, %c0, %c0][%c1, %c1, %places, %D] to %all_k[%b, %h, %at, %c0] on %p signal %ready[%me, %bh]
        : !shared to !shared, !ready
    mk.put %v[%b, %h, %c0, %c0][%c1, %c1, %places, %D] to %all_v[%b, %h, %at, %c0] on %p signal %ready[%me, %bh]
        : !shared to !shared, !ready
  }
  return
}

// Whether rank %p sees no key of rank %s, which has %places of them.
func.func private @hidden(%s: index, %p: index, %places: index, %causal: i1) -> i1 {
  %c0 = arith.constant 0 : index
  %none = arith.cmpi eq, %places, %c0 : index
  %earlier = arith.cmpi ult, %p, %s : index
  %masked = arith.andi %earlier, %causal : i1
  %hidden = arith.ori %none, %masked : i1
  return %hidden : i1
}

// Extents of tiles for which registers and shared memory do: queries, and keys, of which two
// blocks and two of values have room.
func.func private @tile_extents(%hd: index) -> (index, index) {
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c16384 = arith.constant 16384 : index
  %large = arith.cmpi ugt, %hd, %c128 : index
  %queries = arith.select %large, %c64, %c128 : index
  %room = arith.divui %c16384, %hd : index
  %few = arith.minui %room, %c128 : index
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

// What a row starts from: output, maximum (low, but finite: a difference of two is
// defined), sum; and log2(e) / sqrt(D) for scores and for rows.
func.func private @constants(%tm: index, %tn: index, %hd: index) -> (!o, !row, !row, !s, !row) {
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
  return %zero, %low, %none, %scale, %row_scale : !o, !row, !row, !s, !row
}

func.func private @scores(%x: !q, %y: !kv, %tm: index, %tn: index) -> !s {
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !s
  %s = mk.dot %x, %y, %zero transpose_b : !q, !kv, !s
  return %s : !s
}

// One block of keys: its scores and values; what was carried and what is carried on.
func.func private @step(%s: !s, %z: !kv, %o: !o, %m: !row, %l: !row, %scale: !s, %row_scale: !row) -> (!o, !row, !row) {
  %top = mk.reduce max %s axis 1 : !s -> !row
  %top1 = arith.mulf %top, %row_scale : !row
  %m1 = arith.maximumf %m, %top1 : !row
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

// Divides by the sum and stores; LSE = ln(2) * (m + log2(l)).
func.func private @finish(%o: !o, %m: !row, %l: !row, %out: memref<?x?x?x?xbf16>, %lse: memref<?x?x?xf32>,
                          %b: index, %h: index, %row: index, %tm: index) {
  %c0 = arith.constant 0 : index
  %1 = arith.constant 1.0 : f32
  %ln2_ = arith.constant 0.693147181 : f32
  %one = tensor.splat %1[%tm] : !row
  %ln2 = tensor.splat %ln2_[%tm] : !row
  %inverse = arith.divf %one, %l : !row
  %spread = mk.broadcast %inverse dims [1] : !row -> !o
  %y = arith.mulf %o, %spread : !o
  %z = arith.truncf %y : !o to !q
  mk.store %z, %out[%b, %h, %row, %c0] : !q, memref<?x?x?x?xbf16>
  %log = math.log2 %l : !row
  %sum = arith.addf %m, %log : !row
  %e = arith.mulf %sum, %ln2 : !row
  mk.store %e, %lse[%b, %h, %row] : !row, memref<?x?x?xf32>
  return
}

// What they compute, on whole tensors.
func.func @ag_attention_reference(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>, %v: tensor<?x?x?x?xf64>)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) {
  %all = arith.constant false
  %o, %lse = call @softmax_of_products(%q, %k, %v, %all)
      : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i1) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>)
  return %o, %lse : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>
}

func.func @ag_attention_causal_reference(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>, %v: tensor<?x?x?x?xf64>)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) {
  %causal = arith.constant true
  %o, %lse = call @softmax_of_products(%q, %k, %v, %causal)
      : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i1) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>)
  return %o, %lse : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>
}

#all = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
#each = affine_map<(b, h, i, j) -> (b, h, i, j)>

func.func private @softmax_of_products(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>, %v: tensor<?x?x?x?xf64>, %causal: i1)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = arith.constant 0.0 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %b = tensor.dim %q, %c0 : tensor<?x?x?x?xf64>
  %hq = tensor.dim %q, %c1 : tensor<?x?x?x?xf64>
  %s = tensor.dim %q, %c2 : tensor<?x?x?x?xf64>
  %d = tensor.dim %q, %c3 : tensor<?x?x?x?xf64>
  %hkv = tensor.dim %k, %c1 : tensor<?x?x?x?xf64>
  %shared = arith.divui %hq, %hkv : index
  %d_ = arith.index_cast %d : index to i64
  %df = arith.sitofp %d_ : i64 to f64
  %root = math.sqrt %df : f64

  %empty_s = tensor.empty(%b, %hq, %s, %s) : tensor<?x?x?x?xf64>
  %zero_s = linalg.fill ins(%0 : f64) outs(%empty_s : tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %products = linalg.generic {
      indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q : tensor<?x?x?x?xf64>) outs(%zero_s : tensor<?x?x?x?xf64>) {
  ^bb0(%x: f64, %sum: f64):
    %bi = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 3 : index
    %di = linalg.index 4 : index
    %hk = arith.divui %h, %shared : index
    %y = tensor.extract %k[%bi, %hk, %j, %di] : tensor<?x?x?x?xf64>
    %p = arith.mulf %x, %y : f64
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?x?x?xf64>
  %scores = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%products : tensor<?x?x?x?xf64>) outs(%empty_s : tensor<?x?x?x?xf64>) {
  ^bb0(%x: f64, %old: f64):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %later = arith.cmpi ugt, %j, %i : index
    %hidden = arith.andi %later, %causal : i1
    %y = arith.divf %x, %root : f64
    %z = arith.select %hidden, %ninf, %y : f64
    linalg.yield %z : f64
  } -> tensor<?x?x?x?xf64>

  %empty_r = tensor.empty(%b, %hq, %s) : tensor<?x?x?xf64>
  %low = linalg.fill ins(%ninf : f64) outs(%empty_r : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %top = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%scores : tensor<?x?x?x?xf64>) outs(%low : tensor<?x?x?xf64>) {
  ^bb0(%x: f64, %m: f64):
    %y = arith.maximumf %x, %m : f64
    linalg.yield %y : f64
  } -> tensor<?x?x?xf64>
  %weights = linalg.generic {indexing_maps = [#each, #row, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %top : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) outs(%empty_s : tensor<?x?x?x?xf64>) {
  ^bb0(%x: f64, %m: f64, %old: f64):
    %y = arith.subf %x, %m : f64
    %e = math.exp %y : f64
    linalg.yield %e : f64
  } -> tensor<?x?x?x?xf64>
  %zero_r = linalg.fill ins(%0 : f64) outs(%empty_r : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %sums = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%weights : tensor<?x?x?x?xf64>) outs(%zero_r : tensor<?x?x?xf64>) {
  ^bb0(%x: f64, %sum: f64):
    %y = arith.addf %x, %sum : f64
    linalg.yield %y : f64
  } -> tensor<?x?x?xf64>
  %lse = linalg.map ins(%sums, %top : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%empty_r : tensor<?x?x?xf64>) (%l: f64, %m: f64, %old: f64) {
    %log = math.log %l : f64
    %y = arith.addf %log, %m : f64
    linalg.yield %y : f64
  }

  %empty_o = tensor.empty(%b, %hq, %s, %d) : tensor<?x?x?x?xf64>
  %zero_o = linalg.fill ins(%0 : f64) outs(%empty_o : tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %o = linalg.generic {
      indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, i)>,
                       affine_map<(b, h, i, d, j) -> (b, h, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%weights, %sums : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) outs(%zero_o : tensor<?x?x?x?xf64>) {
  ^bb0(%w: f64, %l: f64, %sum: f64):
    %bi = linalg.index 0 : index
    %h = linalg.index 1 : index
    %di = linalg.index 3 : index
    %j = linalg.index 4 : index
    %hk = arith.divui %h, %shared : index
    %y = tensor.extract %v[%bi, %hk, %j, %di] : tensor<?x?x?x?xf64>
    %u = arith.divf %w, %l : f64
    %p = arith.mulf %u, %y : f64
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?x?x?xf64>
  return %o, %lse : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>
}
