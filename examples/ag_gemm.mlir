// AllGather + GEMM, hierarchical: C[:, own columns] = A * B[own rows]^T.
//
// A is split by rows over all ranks. Every rank sends its rows once to the rank
// with its place in each other node (@send), pushes them to the ranks of its own
// node and forwards there what arrives from other nodes (@push): all CTAs do so beside
// the products, a piece each, and one of them sends whole blocks across a network; or, in one node, copy engines push
// them (@copy). Meanwhile @gemm starts on the own rows and goes on with blocks of TM rows of other ranks in the order in
// which they come, a block of each rank in turn, those of the node first, or, from copy engines, one rank after the
// other: as soon as a block is there, or its first columns.
//
// Parameters: TM, TN, TK, the extents of a tile; RASTER, how many blocks are walked together; SCHEDULE, 1 where CTAs draw
// them, 0 where they are dealt out; PIECE, how many rows are moved at a time inside a node, at most; SLAB, how many
// columns of A are one arrival at most, in one node and where tiles are no more than four for each CTA.
//
// ENGINES: in one node copy engines push rows if a rank has 1536 own columns or more, and if K times the tiles of a CTA,
// times the number of other ranks, is more than this (0: never, 1: whenever there are so many columns). Where sizes are
// known the cost model chooses between 0 and 1, together with the tiles. Engines leave memory and links of each SM to the
// products, but each copy takes them 5 us besides its bytes. So each copy has as many blocks as a wave of tiles takes, or
// CHUNK KiB if that is more, but for that a quarter of a shard at most.

!x = tensor<?x?xbf16, #mk.extents<TM, TK>>
!y = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!out = tensor<?x?xbf16, #mk.extents<TM, TN>>
!rows = memref<?x?xbf16, #mk.symmetric>
!ready = !mk.signal<?x?x?, sys, arrivals = ?>
!arrived = !mk.signal<?x?, sys, arrivals = 1>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @ag_gemm on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : !rows [M, K] split [(node, gpu), ()],
    in %b : memref<?x?xbf16> [N, K] split [(node, gpu), ()],
    scratch %full : !rows [M, K],
    out %c : memref<?x?xbf16> [M, N] split [(), (node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %tm = mk.param "TM" = 128 in [128, 136, 144, 152, 160, 168, 176, 184, 200, 256]
  %tn = mk.param "TN" = 256 in [192, 200, 208, 216, 224, 232, 240, 248, 256]
  %tk = mk.param "TK" = 64
  mk.param "RASTER" = 16
  %most = mk.param "PIECE" = 16 least 1
  %want_slab = mk.param "SLAB" = 2048
  %engines_from = mk.param "ENGINES" = 40960 in [0, 1]
  %least_chunk = mk.param "CHUNK" = 4096
  mk.param "SCHEDULE" = 1
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index       // rows of a whole shard
  %blocks = arith.ceildivui %shard, %tm : index     // blocks of TM rows in it
  %columns = memref.dim %b, %c0 : memref<?x?xbf16>  // own columns of C
  %column_tiles = arith.ceildivui %columns, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index

  %gpus = mk.size gpu
  %one_node = arith.cmpi eq, %world, %gpus : index
  %ctas = mk.ctas @gemm
  %whole = arith.ceildivui %N, %world : index
  %whole_tiles = arith.ceildivui %whole, %tn : index
  %all_rows = arith.muli %world, %blocks : index
  %tiles = arith.muli %all_rows, %whole_tiles : index

  // Who pushes inside a node. The copy engines take whole blocks at a time, where own columns are so many that products take
  // about as long as the rows of all others do to come, and where there is much to do and to push; a CTA even parts of a
  // shard, but PIECE rows at most.
  %gpus_less = arith.subi %gpus, %c1 : index
  %near = arith.maxui %gpus_less, %c1 : index       // other ranks of the node
  %engines_may = arith.cmpi ne, %engines_from, %c0 : index
  %work = arith.muli %tiles, %K : index
  %work_and_rows = arith.muli %work, %near : index
  %no_more = arith.muli %ctas, %engines_from : index
  %enough = arith.cmpi ugt, %work_and_rows, %no_more : index
  %c1536 = arith.constant 1536 : index
  %many_columns = arith.cmpi uge, %whole, %c1536 : index
  %long = arith.andi %enough, %many_columns : i1
  %engines_here = arith.andi %engines_may, %long : i1
  %by_engines = arith.andi %engines_here, %one_node : i1
  %part = arith.ceildivui %shard, %ctas : index
  %some_rows = arith.maxui %part, %c1 : index
  %few_rows = arith.minui %some_rows, %most : index
  %piece = arith.select %by_engines, %tm, %few_rows : index
  %pieces = arith.ceildivui %tm, %piece : index     // of a block

  // Blocks that are one arrival: a CTA's pieces of each block, or what engines copy at once: as many blocks of a rank as one
  // wave of tiles takes, which begin together; if these are few, as many as have CHUNK KiB, up to a quarter of a shard.
  %c512 = arith.constant 512 : index
  %row_elements = arith.muli %tm, %K : index
  %block_kib = arith.divui %row_elements, %c512 : index
  %some_kib = arith.maxui %block_kib, %c1 : index
  %least_blocks = arith.ceildivui %least_chunk, %some_kib : index
  %c4 = arith.constant 4 : index
  %quarter = arith.ceildivui %blocks, %c4 : index
  %few_blocks = arith.minui %least_blocks, %quarter : index
  %some_tiles = arith.maxui %whole_tiles, %c1 : index
  %of_wave = arith.ceildivui %ctas, %some_tiles : index
  %wave = arith.minui %of_wave, %blocks : index
  %wave_or_few = arith.maxui %wave, %few_blocks : index
  %engine_blocks = arith.maxui %wave_or_few, %c1 : index
  %per = arith.select %by_engines, %engine_blocks, %c1 : index
  %chunk_rows = arith.muli %per, %tm : index
  %chunks = arith.ceildivui %blocks, %per : index

  // Where tiles are few, those of other ranks begin with the first while their rows still come: slab by slab of K. Across a
  // network, and by copy engines, whole rows travel.
  %four_waves = arith.muli %ctas, %c4 : index
  %few = arith.cmpi ule, %tiles, %four_waves : index
  %by_ctas = arith.xori %by_engines, %true : i1
  %few_by_ctas = arith.andi %few, %by_ctas : i1
  %by_slabs = arith.andi %few_by_ctas, %one_node : i1
  %wanted = arith.ceildivui %want_slab, %tk : index
  %most_tiles_ = arith.select %by_slabs, %wanted, %k_tiles : index
  %most_tiles = arith.maxui %most_tiles_, %c1 : index
  %parts_ = arith.ceildivui %k_tiles, %most_tiles : index
  %parts = arith.maxui %parts_, %c1 : index
  %even_tiles = arith.ceildivui %k_tiles, %parts : index
  %slab_tiles = arith.maxui %even_tiles, %c1 : index
  %slabs_ = arith.ceildivui %k_tiles, %slab_tiles : index
  %slabs = arith.maxui %slabs_, %c1 : index
  %slab = arith.muli %slab_tiles, %tk : index

  // Blocks are pushed in groups, each as many as one wave of tiles takes of a rank: the first slabs of all blocks of a
  // group, then the second ones.
  %in_wave_ = arith.muli %some_tiles, %near : index
  %in_wave = arith.ceildivui %ctas, %in_wave_ : index
  %many = arith.maxui %blocks, %c1 : index
  %group = arith.minui %in_wave, %many : index
  %groups = arith.ceildivui %blocks, %group : index
  %pushed_groups = arith.select %by_engines, %c0, %groups : index
  %copied_chunks = arith.select %by_engines, %chunks, %c0 : index

  // One for each slab of each block, or chunk of blocks, of each shard of the node, one for each block that comes from another node.
  %ready = mk.signals(%world, %chunks, %slabs) arrivals(%pieces) : !ready
  %arrived = mk.signals(%world, %blocks) : !arrived
  %several_nodes = arith.cmpi ne, %world, %gpus : index
  %my_place = arith.remui %me, %gpus : index        // in the node

  // To the ranks in my place of other nodes: a block a message. All by one CTA, so that blocks cross in the order in which
  // @gemm takes them.
  mk.role @send ctas(beside @gemm) {
    mk.foreach (%all) in (%c1) {
      scf.for %i = %c0 to %blocks step %c1 {
        %r, %rows, %at = func.call @block(%me, %i, %tm, %shard, %M)
            : (index, index, index, index, index) -> (index, index, index)
        %some = arith.cmpi sgt, %rows, %c0 : index
        scf.if %some {
          mk.foreach_peer (%p) along node {
            mk.put %a[%r, %c0][%rows, %K] to %full[%at, %c0] on %p signal %arrived[%me, %i] : !rows to !rows, !arrived
          }
        }
      }
    }
  }

  // To the other ranks of the node.
  mk.role @copy ctas(engines) {
    mk.foreach_peer (%p) along gpu {
      mk.foreach (%i) in (%copied_chunks) {
        %r, %rows, %at = func.call @block(%me, %i, %chunk_rows, %shard, %M)
            : (index, index, index, index, index) -> (index, index, index)
        %some = arith.cmpi sgt, %rows, %c0 : index
        scf.if %some {
          mk.put %a[%r, %c0][%rows, %K] to %full[%at, %c0] on %p signal %ready[%me, %i, %c0] : !rows to !rows, !ready
        }
      }
    }
  }
  mk.role @push ctas(beside @gemm) {
    mk.foreach (%g, %l, %i_, %j) in (%pushed_groups, %slabs, %group, %pieces) {
      %first = arith.muli %g, %group : index
      %i = arith.addi %first, %i_ : index
      %k = arith.muli %l, %slab : index
      %k_left = arith.subi %K, %k : index
      %ks = arith.minui %k_left, %slab : index
      %r, %rows, %at = func.call @block(%me, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %from, %to, %n = func.call @piece(%j, %piece, %r, %rows, %at)
            : (index, index, index, index, index) -> (index, index, index)
        mk.foreach_peer (%p) along gpu {
          mk.put %a[%from, %k][%n, %ks] to %full[%to, %k] on %p signal %ready[%me, %i, %l] : !rows to !rows, !ready
        }
      }
    }
    // What the ranks in my place of other nodes sent me.
    mk.foreach (%g, %l, %i_, %j) in (%groups, %slabs, %group, %pieces) {
      %first = arith.muli %g, %group : index
      %i = arith.addi %first, %i_ : index
      %k = arith.muli %l, %slab : index
      %k_left = arith.subi %K, %k : index
      %ks = arith.minui %k_left, %slab : index
      mk.foreach_peer (%s) along node {
        %r, %rows, %at = func.call @block(%s, %i, %tm, %shard, %M)
            : (index, index, index, index, index) -> (index, index, index)
        %some = arith.cmpi sgt, %rows, %c0 : index
        scf.if %some {
          mk.wait %arrived[%s, %i] ge %c1 : !arrived
          %from, %to, %n = func.call @piece(%j, %piece, %r, %rows, %at)
              : (index, index, index, index, index) -> (index, index, index)
          mk.foreach_peer (%p) along gpu {
            mk.put %full[%to, %k][%n, %ks] to %full[%to, %k] on %p signal %ready[%s, %i, %l] : !rows to !rows, !ready
          }
        }
      }
    }
  }

  mk.role @gemm ctas(rest) {
    %all_blocks = arith.muli %world, %blocks : index
    mk.foreach (%q, %n) in (%all_blocks, %column_tiles)
        schedule(param SCHEDULE) order(raster = RASTER, own = first) own(%c0, %blocks) {
      %s, %i = func.call @in_order(%q, %blocks, %by_engines) : (index, index, i1) -> (index, index)
      %r, %rows, %at = func.call @block(%s, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        // Own rows straight from the shard, others where they were gathered.
        %own = arith.cmpi eq, %s, %me : index
        %its_place = arith.remui %s, %gpus : index
        %same_place = arith.cmpi eq, %its_place, %my_place : index
        %over_net = arith.andi %several_nodes, %same_place : i1
        %x_from = mk.select %own, %a, %full
            : !rows, !rows -> memref<?x?xbf16>
        %x_row = arith.select %own, %r, %at : index
        %column = arith.muli %n, %tn : index
        %acc = scf.for %l = %c0 to %slabs step %c1 iter_args(%before = %zero) -> (!acc) {
          scf.if %own {
          } else {
            scf.if %over_net {
              mk.wait %arrived[%s, %i] ge %c1 : !arrived
            } else {
              %with = arith.divui %i, %per : index
              mk.wait %ready[%s, %with, %l] ge %pieces : !ready
            }
          }
          %first_k = arith.muli %l, %slab : index
          %first_tile = arith.muli %l, %slab_tiles : index
          %tiles_left = arith.subi %k_tiles, %first_tile : index
          %turns = arith.minui %tiles_left, %slab_tiles : index
          %after = mk.fold (%kt) in (%turns) iter(%sum = %before) combine(add) : !acc {
            %k_in = arith.muli %kt, %tk : index
            %k = arith.addi %first_k, %k_in : index
            %x = mk.load %x_from[%x_row, %k] valid(%rows, %tk) : memref<?x?xbf16> -> !x
            %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !y
            %next = mk.dot %x, %y, %sum transpose_b : !x, !y, !acc
            mk.yield %next : !acc
          }
          scf.yield %after : !acc
        }
        %out = arith.truncf %acc : !acc to !out
        mk.store %out, %c[%at, %column] valid(%rows, %tn) : !out, memref<?x?xbf16>
      }
    }
  }
}

// The %q-th block in the order in which they come: own ones, one of each other rank of the node in turn, then one of each
// rank of other nodes; by copy engines, which serve one rank after the other, all of the rank in front, then all of the
// one in front of that. Its rank, and its number there.
func.func private @in_order(%q: index, %blocks: index, %by_engines: i1) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = mk.rank
  %world = mk.size
  %gpus = mk.size gpu
  %place = arith.remui %me, %gpus : index           // in the node
  %node = arith.divui %me, %gpus : index
  %nodes = arith.divui %world, %gpus : index

  %past_own = arith.subi %q, %blocks : index
  %gpus_less = arith.subi %gpus, %c1 : index
  %near = arith.maxui %gpus_less, %c1 : index
  %near_block_ = arith.divui %past_own, %near : index
  %turn = arith.remui %past_own, %near : index
  %step_ = arith.addi %turn, %c1 : index
  %many = arith.maxui %blocks, %c1 : index
  %ranks_back = arith.divui %q, %many : index
  %rank_step = arith.subi %gpus, %ranks_back : index
  %rank_block = arith.remui %q, %many : index
  %near_block = arith.select %by_engines, %rank_block, %near_block_ : index
  %step = arith.select %by_engines, %rank_step, %step_ : index

  %near_blocks = arith.muli %gpus, %blocks : index
  %past_near = arith.subi %q, %near_blocks : index
  %far_ = arith.subi %world, %gpus : index
  %far = arith.maxui %far_, %c1 : index
  %far_block = arith.divui %past_near, %far : index
  %far_turn = arith.remui %past_near, %far : index
  %node_turn = arith.divui %far_turn, %gpus : index
  %node_step = arith.addi %node_turn, %c1 : index
  %far_step = arith.remui %far_turn, %gpus : index

  %is_own = arith.cmpi ult, %q, %blocks : index
  %is_near = arith.cmpi ult, %q, %near_blocks : index
  %step_or_far = arith.select %is_near, %step, %far_step : index
  %places = arith.select %is_own, %c0, %step_or_far : index
  %nodes_on = arith.select %is_near, %c0, %node_step : index
  %its_block = arith.select %is_near, %near_block, %far_block : index
  %block = arith.select %is_own, %q, %its_block : index

  %place_ = arith.addi %place, %places : index
  %its_place = arith.remui %place_, %gpus : index
  %node_ = arith.addi %node, %nodes_on : index
  %its_node = arith.remui %node_, %nodes : index
  %of_node = arith.muli %its_node, %gpus : index
  %rank = arith.addi %of_node, %its_place : index
  return %rank, %block : index, index
}

// Block %i of shard %s: its first row in the shard, its rows (none or less if the
// shard ends in it), its first row in the whole.
func.func private @block(%s: index, %i: index, %tm: index, %shard: index, %M: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %begin = arith.muli %s, %shard : index
  %left = arith.subi %M, %begin : index
  %in_shard = arith.minsi %left, %shard : index
  %r = arith.muli %i, %tm : index
  %rest = arith.subi %in_shard, %r : index
  %some = arith.maxsi %rest, %c0 : index
  %rows = arith.minsi %some, %tm : index
  %at = arith.addi %begin, %r : index
  return %r, %rows, %at : index, index, index
}

// Piece %j of a block of %rows rows that begins with row %r of the shard and row %at of the whole: the same of the
// piece, and its rows (none if the block ends before it).
func.func private @piece(%j: index, %piece: index, %r: index, %rows: index, %at: index) -> (index, index, index) {
  %begin_ = arith.muli %j, %piece : index
  %begin = arith.minui %begin_, %rows : index
  %left = arith.subi %rows, %begin : index
  %n = arith.minui %left, %piece : index
  %from = arith.addi %r, %begin : index
  %to = arith.addi %at, %begin : index
  return %from, %to, %n : index, index, index
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
