// GEMM + ReduceScatter, hierarchical: C = A * B^T, A: M x K, B: N x K, both split along K, C split by
// rows. bf16, summed in f32, always in the same order: results do not vary from run to run.
//
// A rank multiplies what it has of K for all rows of C. The GPU of its node that has the place of a tile's owner in the
// owner's node makes the node's sum. Tiles for other places go there, in a slot of this rank's own. In those for the own place
// the epilogue waits for what the other GPUs of the node sent and adds it in registers. Sums for other nodes
// cross the network (@send), in bf16: (nodes - 1) * M * N * 2 bytes in all. To those for the own rows the epilogue also
// adds what other nodes sent, and stores the result.
//
// Rows for other nodes come first, since their sums have to cross. Of these, and of the own node's, rows for other places
// never wait; those for the own place are LAG blocks behind. A block of TM rows is sent when all of its columns are there;
// it is contiguous.
//
// Parameters: TM, TN, TK, the extents of a tile; RASTER, how many rows of tiles are walked together; LAG, by how many
// blocks of a shard the own ones trail those for other GPUs (more than there are makes them last, few keep links busy
// for longer).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!arrived = !mk.signal<?x?, sys, arrivals = 1>
!parts = !mk.signal<?x?x?, sys, arrivals = ?>
!reduced = !mk.signal<?x?, gpu, arrivals = ?>

!operand = memref<?x?xbf16>
!slots = memref<?x?x?x?xbf16, #mk.symmetric>
!sums = memref<?x?x?xbf16, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_rs on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : !operand [M, K] split [(), (node, gpu)],
    in %b : !operand [N, K] split [(), (node, gpu)],
    // From each other GPU of the node, for the shards of my place in each node.
    scratch %slot : !slots [gpu - 1, node, M ceildiv (node * gpu), N],
    // The node's sums for other nodes' shards of these, and those of other nodes for mine.
    scratch %away : !sums [node - 1, M ceildiv (node * gpu), N],
    scratch %sum : !sums [node - 1, M ceildiv (node * gpu), N],
    out %c : memref<?x?xbf16> [M, N] split [(node, gpu), ()]) {
  %tm = mk.param "TM" = 128 in [128, 192]
  %tn = mk.param "TN" = 256 in [192, 256]
  %tk = mk.param "TK" = 64
  mk.param "RASTER" = 8
  %any_lag = mk.param "LAG" = 1000000
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index

  %me = mk.rank
  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %world = mk.size
  %other_nodes = arith.subi %nodes, %c1 : index
  %last_other = arith.subi %other_nodes, %c1 : index
  %other_gpus = arith.subi %gpus, %c1 : index       // in the node
  %shard = arith.ceildivui %M, %world : index       // rows of a whole shard
  %blocks = arith.ceildivui %shard, %tm : index     // blocks of TM rows in it
  %column_tiles = arith.ceildivui %N, %tn : index
  %lag = arith.minsi %any_lag, %blocks : index

  // For each node, block and column tile: a part from each other GPU of my node.
  %part = mk.signals(%nodes, %blocks, %column_tiles) arrivals(%other_gpus) : !parts
  // For each other node and block: its column tiles in %away.
  %reduced = mk.signals(%other_nodes, %blocks) arrivals(%column_tiles) : !reduced
  // From each other node: a block in %sum.
  %arrived = mk.signals(%other_nodes, %blocks) : !arrived

  mk.role @gemm ctas(rest) {
    // Shards of other nodes.
    %away_blocks = arith.muli %other_nodes, %blocks : index
    %away_rows = arith.muli %away_blocks, %gpus : index
    %away_sent = arith.muli %away_blocks, %other_gpus : index
    mk.foreach (%q, %n) in (%away_rows, %column_tiles)
        schedule(ticket) order(raster = RASTER, own = last) own(%away_sent, %away_blocks) {
      %b_, %p_ = func.call @row(%q, %away_blocks, %gpus, %lag) : (index, index, index, index) -> (index, index)
      %d_ = arith.divui %b_, %blocks : index
      %i = arith.remui %b_, %blocks : index
      %d = func.call @behind(%my_node, %d_, %nodes) : (index, index, index) -> index
      %place = func.call @behind(%my_gpu, %p_, %gpus) : (index, index, index) -> index
      %owner = mk.rank(node = %d, gpu = %place)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        %acc = func.call @product(%a, %b, %at, %rows, %column, %tm, %tn, %tk)
            : (!operand, !operand, index, index, index, index, index, index) -> !acc
        %own = arith.cmpi eq, %place, %my_gpu : index
        scf.if %own {
          %total = func.call @add_parts(%acc, %slot, %part, %d, %i, %n, %r, %column, %rows, %tn)
              : (!acc, !slots, !parts, index, index, index, index, index, index, index) -> !acc
          %t = arith.truncf %total : !acc to !c
          %to_ = func.call @among_others(%d, %my_node) : (index, index) -> index
          %to = arith.minui %to_, %last_other : index     // it is no more anyway: no check on GPUs
          mk.store %t, %away[%to, %r, %column] valid(%rows, %tn) : !c, !sums
          mk.signal %reduced[%to, %i] : !reduced
        } else {
          func.call @leave(%acc, %slot, %part, %place, %d, %i, %n, %r, %column, %rows, %tn)
              : (!acc, !slots, !parts, index, index, index, index, index, index, index, index) -> ()
        }
      }
    }
    // Those of the own node.
    %own_rows = arith.muli %blocks, %gpus : index
    %own_sent = arith.muli %blocks, %other_gpus : index
    mk.foreach (%q, %n) in (%own_rows, %column_tiles)
        schedule(ticket) order(raster = RASTER, own = last) own(%own_sent, %blocks) {
      %i, %p_ = func.call @row(%q, %blocks, %gpus, %lag) : (index, index, index, index) -> (index, index)
      %place = func.call @behind(%my_gpu, %p_, %gpus) : (index, index, index) -> index
      %owner = mk.rank(gpu = %place)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        %acc = func.call @product(%a, %b, %at, %rows, %column, %tm, %tn, %tk)
            : (!operand, !operand, index, index, index, index, index, index) -> !acc
        %own = arith.cmpi eq, %place, %my_gpu : index
        scf.if %own {
          %mine = func.call @add_parts(%acc, %slot, %part, %my_node, %i, %n, %r, %column, %rows, %tn)
              : (!acc, !slots, !parts, index, index, index, index, index, index, index) -> !acc
          %total = scf.for %d = %c0 to %other_nodes step %c1 iter_args(%sum_d = %mine) -> (!acc) {
            mk.wait %arrived[%d, %i] ge %c1 : !arrived
            %x = mk.load %sum[%d, %r, %column] valid(%rows, %tn) : !sums -> !c
            %wide = arith.extf %x : !c to !acc
            %next = arith.addf %sum_d, %wide : !acc
            scf.yield %next : !acc
          }
          %t = arith.truncf %total : !acc to !c
          mk.store %t, %c[%r, %column] valid(%rows, %tn) : !c, memref<?x?xbf16>
        } else {
          func.call @leave(%acc, %slot, %part, %place, %my_node, %i, %n, %r, %column, %rows, %tn)
              : (!acc, !slots, !parts, index, index, index, index, index, index, index, index) -> ()
        }
      }
    }
  }

  // Between nodes: each block once, to its owner.
  mk.role @send ctas(1) then @gemm {
    mk.foreach (%d_, %i) in (%other_nodes, %blocks) {
      %d = func.call @behind(%my_node, %d_, %nodes) : (index, index, index) -> index
      %owner = mk.rank(node = %d)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %to = func.call @among_others(%d, %my_node) : (index, index) -> index
        %from = func.call @among_others(%my_node, %d) : (index, index) -> index
        mk.wait %reduced[%to, %i] ge %column_tiles : !reduced
        mk.put %away[%to, %r, %c0][%c1, %rows, %N] to %sum[%from, %r, %c0] on %owner signal %arrived[%from, %i]
            : !sums to !sums, !arrived
      }
    }
  }
}

// Row %q of the tiles of %blocks blocks for each of %gpus GPUs: its block, and how far its GPU is behind the own
// one, less one. Rows for other GPUs come block by block, each own one %lag blocks behind, or when there are no others left.
func.func private @row(%q: index, %blocks: index, %gpus: index, %lag: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %others = arith.subi %gpus, %c1 : index
  %head = arith.muli %lag, %others : index          // rows before the first own one
  %rounds = arith.subi %blocks, %lag : index        // of a block for each other GPU and one of its own
  %past_ = arith.subi %q, %head : index
  %past = arith.maxsi %past_, %c0 : index
  %round_ = arith.divui %past, %gpus : index
  %round = arith.minsi %round_, %rounds : index     // as many own rows were in rounds
  %done = arith.muli %round, %gpus : index
  %in_round = arith.subi %past, %done : index

  %tail = arith.muli %rounds, %gpus : index
  %in_tail = arith.cmpi sge, %past_, %tail : index
  %ends_round = arith.cmpi eq, %in_round, %others : index
  %own = arith.ori %in_tail, %ends_round : i1
  %behind = arith.select %in_tail, %in_round, %c0 : index
  %own_block = arith.addi %round, %behind : index

  %sent = arith.subi %q, %round : index             // rows for others before this one
  %some = arith.maxsi %others, %c1 : index
  %other_block = arith.divui %sent, %some : index
  %p = arith.remui %sent, %some : index
  %block = arith.select %own, %own_block, %other_block : index
  %place = arith.select %own, %others, %p : index
  return %block, %place : index, index
}

// The product of rows of A and of B.
func.func private @product(%a: !operand, %b: !operand, %at: index, %rows: index, %column: index,
                           %tm: index, %tn: index, %tk: index) -> !acc {
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %k_own = memref.dim %a, %c1 : !operand            // own part of K, may be 0
  %k_tiles = arith.ceildivui %k_own, %tk : index
  %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : !acc {
    %k = arith.muli %kt, %tk : index
    %x = mk.load %a[%at, %k] valid(%rows, %tk) : !operand -> !a
    %y = mk.load %b[%column, %k] : !operand -> !b
    %next = mk.dot %x, %y, %partial transpose_b : !a, !b, !acc
    mk.yield %next : !acc
  }
  return %acc : !acc
}

// Leaves a tile with the GPU of the node that makes the sum.
func.func private @leave(%acc: !acc, %slot: !slots, %part: !parts, %place: index, %d: index, %i: index, %n: index,
                         %r: index, %column: index, %rows: index, %tn: index) {
  %my_gpu = mk.coord gpu
  %from = func.call @among_others(%my_gpu, %place) : (index, index) -> index
  %p = mk.rank(gpu = %place)
  %t = arith.truncf %acc : !acc to !c
  mk.store %t, %slot[%from, %d, %r, %column] valid(%rows, %tn) on %p signal %part[%d, %i, %n] : !c, !slots, !parts
  return
}

// Adds what the other GPUs of the node left for node %d, in their order.
func.func private @add_parts(%acc: !acc, %slot: !slots, %part: !parts, %d: index, %i: index, %n: index, %r: index,
                             %column: index, %rows: index, %tn: index) -> !acc {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gpus = mk.size gpu
  %others = arith.subi %gpus, %c1 : index
  %some = arith.cmpi ne, %others, %c0 : index
  scf.if %some {
    mk.wait %part[%d, %i, %n] ge %others : !parts
  }
  %total = scf.for %g = %c0 to %others step %c1 iter_args(%sum = %acc) -> (!acc) {
    %x = mk.load %slot[%g, %d, %r, %column] valid(%rows, %tn) : !slots -> !c
    %wide = arith.extf %x : !c to !acc
    %next = arith.addf %sum, %wide : !acc
    scf.yield %next : !acc
  }
  return %total : !acc
}

// The %j-th place behind %own of %n, which comes last itself.
func.func private @behind(%own: index, %j: index, %n: index) -> index {
  %c1 = arith.constant 1 : index
  %next = arith.addi %own, %c1 : index
  %place = arith.addi %next, %j : index
  %result = arith.remui %place, %n : index
  return %result : index
}

// Where %of stands in a list of all but %without.
func.func private @among_others(%of: index, %without: index) -> index {
  %c1 = arith.constant 1 : index
  %behind = arith.cmpi ugt, %of, %without : index
  %less = arith.subi %of, %c1 : index
  %place = arith.select %behind, %less, %of : index
  return %place : index
}

// Block %i of shard %s: its first row in the shard, its rows (none if the shard
// ends before it), its first row in the whole.
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

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
