// GEMM + ReduceScatter, hierarchical: C = A * B^T, A: M x K, B: N x K, both split along K, C split by
// rows. bf16, summed in f32, always in the same order: results do not vary from run to run.
//
// A rank multiplies what it has of K for all rows of C and leaves each tile with the rank of its node
// that has the place of the owner in the owner's node (@gemm), in a slot of its own. There the slots are added up
// (@reduce), so that one sum for each node crosses the network (@send), in bf16: (nodes - 1) * M * N * 2
// bytes in all. The owner adds the sums of the other nodes and the slots of its own (@finish). Where a node has one
// GPU, there is nothing to add up: @send sends from the slots, and @gemm adds what has come to the own part itself.
//
// Tiles for other nodes are computed first and those for the own rank last. A block of TM rows is
// sent when all of its columns are there; it is contiguous.
//
// Parameters: TM, TN, TK, the extents of a tile; TR, how many of its rows are added up at once; RASTER, how many
// blocks of a node's shards are walked together (for each of its ranks); REDUCE and FINISH, how many CTAs have these roles
// (REDUCE = 0: an eighth of all, which help @gemm when they are done).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!part = tensor<?x?xbf16, #mk.extents<TR, TN>>
!sum = tensor<?x?xf32, #mk.extents<TR, TN>>
!arrived = !mk.signal<?x?, sys, arrivals = 1>
!parts = !mk.signal<?x?x?, sys, arrivals = ?>
!reduced = !mk.signal<?x?, gpu, arrivals = ?>

!slots = memref<?x?x?x?xbf16, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_rs on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (node, gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (node, gpu)],
    // From each GPU of the node, for the shards of my place in each node.
    scratch %slot : !slots [gpu, node, M ceildiv (node * gpu), N],
    // The node's sums for these shards, and those of other nodes for mine.
    scratch %away : !slots [1, node, M ceildiv (node * gpu), N],
    scratch %sum : !slots [1, node, M ceildiv (node * gpu), N],
    out %c : memref<?x?xbf16> [M, N] split [(node, gpu), ()]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 256
  %tk = mk.param "TK" = 64
  %tr = mk.param "TR" = 32
  mk.param "RASTER" = 2
  mk.param "REDUCE" = 0
  mk.param "FINISH" = 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %nothing = tensor.splat %0[%tr, %tn] : !sum

  %me = mk.rank
  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %world = mk.size
  %others = arith.subi %nodes, %c1 : index
  %alone = arith.cmpi eq, %gpus, %c1 : index        // in the node
  %shard = arith.ceildivui %M, %world : index       // rows of a whole shard
  %blocks = arith.ceildivui %shard, %tm : index     // blocks of TM rows in it
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_own = memref.dim %a, %c1 : memref<?x?xbf16>    // own part of K, may be 0
  %k_tiles = arith.ceildivui %k_own, %tk : index

  // For each node, block and column tile: a part from each GPU of my node.
  %part = mk.signals(%nodes, %blocks, %column_tiles) arrivals(%gpus) : !parts
  // For each other node and block: its column tiles in %away, or in the only slot.
  %reduced = mk.signals(%nodes, %blocks) arrivals(%column_tiles) : !reduced
  // From each node: a block in %sum.
  %arrived = mk.signals(%nodes, %blocks) : !arrived

  mk.role @gemm ctas(rest) then @finish {
    %node_blocks = arith.muli %nodes, %blocks : index
    mk.foreach (%b_, %n, %p_) in (%node_blocks, %column_tiles, %gpus)
        schedule(ticket) order(raster = RASTER) {
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
        %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %x = mk.load %a[%at, %k] valid(%rows, %tk) : memref<?x?xbf16> -> !a
          %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
          %next = mk.dot %x, %y, %partial transpose_b : !a, !b, !acc
          mk.yield %next : !acc
        }
        scf.if %alone {
          %mine = arith.cmpi eq, %d, %my_node : index
          scf.if %mine {
            %total = scf.for %j = %c0 to %others step %c1 iter_args(%sum_j = %acc) -> (!acc) {
              %behind = arith.cmpi uge, %j, %my_node : index
              %next = arith.addi %j, %c1 : index
              %from = arith.select %behind, %next, %j : index
              mk.wait %arrived[%from, %i] ge %c1 : !arrived
              %x = mk.load %sum[%c0, %from, %r, %column] valid(%rows, %tn) : !slots -> !c
              %wide = arith.extf %x : !c to !acc
              %more = arith.addf %sum_j, %wide : !acc
              scf.yield %more : !acc
            }
            %t = arith.truncf %total : !acc to !c
            mk.store %t, %c[%r, %column] valid(%rows, %tn) : !c, memref<?x?xbf16>
          } else {
            %t = arith.truncf %acc : !acc to !c
            mk.store %t, %slot[%c0, %d, %r, %column] valid(%rows, %tn) : !c, !slots
            mk.signal %reduced[%d, %i] : !reduced
          }
        } else {
          %t = arith.truncf %acc : !acc to !c
          %p = mk.rank(gpu = %place)
          mk.store %t, %slot[%my_gpu, %d, %r, %column] valid(%rows, %tn) on %p signal %part[%d, %i, %n]
              : !c, !slots, !parts
        }
      }
    }
  }

  // In the node: adds up what goes to other nodes.
  mk.role @reduce ctas(param REDUCE, share = 0.125) then @gemm {
    %added = arith.select %alone, %c0, %others : index
    mk.foreach (%d_, %i, %n) in (%added, %blocks, %column_tiles) schedule(ticket) {
      %d = func.call @behind(%my_node, %d_, %nodes) : (index, index, index) -> index
      %owner = mk.rank(node = %d)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        mk.wait %part[%d, %i, %n] ge %gpus : !parts
        scf.for %down = %c0 to %rows step %tr {
          %row = arith.addi %r, %down : index
          %left = arith.subi %rows, %down : index
          %total = func.call @add_slots(%nothing, %slot, %d, %row, %column, %left, %tn)
              : (!sum, !slots, index, index, index, index, index) -> !sum
          %t = arith.truncf %total : !sum to !part
          mk.store %t, %away[%c0, %d, %row, %column] valid(%left, %tn) : !part, !slots
        }
        mk.signal %reduced[%d, %i] : !reduced
      }
    }
  }

  // Between nodes: each block once, to its owner.
  mk.role @send ctas(1) then @gemm {
    mk.foreach (%d_, %i) in (%others, %blocks) {
      %d = func.call @behind(%my_node, %d_, %nodes) : (index, index, index) -> index
      %owner = mk.rank(node = %d)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.wait %reduced[%d, %i] ge %column_tiles : !reduced
        scf.if %alone {
          mk.put %slot[%c0, %d, %r, %c0][%c1, %c1, %rows, %N] to %sum[%c0, %my_node, %r, %c0] on %owner signal %arrived[%my_node, %i]
              : !slots to !slots, !arrived
        } else {
          mk.put %away[%c0, %d, %r, %c0][%c1, %c1, %rows, %N] to %sum[%c0, %my_node, %r, %c0] on %owner signal %arrived[%my_node, %i]
              : !slots to !slots, !arrived
        }
      }
    }
  }

  // The own rows: sums of the other nodes and parts of my own, in the order of nodes.
  mk.role @finish ctas(param FINISH) {
    %left_over = arith.select %alone, %c0, %blocks : index
    mk.foreach (%i, %n) in (%left_over, %column_tiles) schedule(ticket) {
      %r, %rows, %at = func.call @block(%me, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        scf.for %down = %c0 to %rows step %tr {
          %row = arith.addi %r, %down : index
          %left = arith.subi %rows, %down : index
          %total = scf.for %d = %c0 to %nodes step %c1 iter_args(%acc = %nothing) -> (!sum) {
            %here = arith.cmpi eq, %d, %my_node : index
            %next = scf.if %here -> (!sum) {
              mk.wait %part[%d, %i, %n] ge %gpus : !parts
              %own = func.call @add_slots(%acc, %slot, %d, %row, %column, %left, %tn)
                  : (!sum, !slots, index, index, index, index, index) -> !sum
              scf.yield %own : !sum
            } else {
              mk.wait %arrived[%d, %i] ge %c1 : !arrived
              %x = mk.load %sum[%c0, %d, %row, %column] valid(%left, %tn) : !slots -> !part
              %wide = arith.extf %x : !part to !sum
              %other = arith.addf %acc, %wide : !sum
              scf.yield %other : !sum
            }
            scf.yield %next : !sum
          }
          %t = arith.truncf %total : !sum to !part
          mk.store %t, %c[%row, %column] valid(%left, %tn) : !part, memref<?x?xbf16>
        }
      }
    }
  }
}

// Adds rows from %row on of what the GPUs of the node left for node %d, in the order of GPUs.
func.func private @add_slots(%sum: !sum, %slot: !slots, %d: index, %row: index, %column: index, %left: index, %tn: index) -> !sum {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gpus = mk.size gpu
  %total = scf.for %g = %c0 to %gpus step %c1 iter_args(%acc = %sum) -> (!sum) {
    %x = mk.load %slot[%g, %d, %row, %column] valid(%left, %tn) : !slots -> !part
    %wide = arith.extf %x : !part to !sum
    %next = arith.addf %acc, %wide : !sum
    scf.yield %next : !sum
  }
  return %total : !sum
}

// The %j-th place behind %own of %n, which comes last itself.
func.func private @behind(%own: index, %j: index, %n: index) -> index {
  %c1 = arith.constant 1 : index
  %next = arith.addi %own, %c1 : index
  %place = arith.addi %next, %j : index
  %result = arith.remui %place, %n : index
  return %result : index
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
