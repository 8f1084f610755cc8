// GEMM + ReduceScatter by remote adds, hierarchical: C = A * B^T, A: M x K, B: N x K, both split along K,
// C split by rows. bf16, summed in f32.
//
// As gemm_rs.mlir, but a rank adds its tile to those of the other ranks of its node where they are needed
// (@gemm), in f32, instead of leaving it in a slot: less memory, and nothing to add up afterwards, but the order of
// these sums varies from run to run. Adds work over links only; across the network goes the node's sum, in bf16
// (@narrow, @send). The owner adds the sums of the other nodes and of its own in the order of ranks (@finish).
//
// What is added to has to be zero before peers are told that this rank is ready (mk.prepare).
//
// Parameters: TM, TN, TK, the extents of a tile; TR, how many of its rows are added up at once; RASTER, how many
// blocks of a node's shards are walked together (for each of its ranks); NARROW and FINISH, how many CTAs have these roles.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!part = tensor<?x?xbf16, #mk.extents<TR, TN>>
!sum = tensor<?x?xf32, #mk.extents<TR, TN>>
!arrived = !mk.signal<?x?, sys, arrivals = 1>
!added = !mk.signal<?x?x?, sys, arrivals = ?>
!narrow = !mk.signal<?x?, gpu, arrivals = ?>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_rs_add on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (node, gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (node, gpu)],
    // The node's sums for the shards of my place in each node.
    scratch %parts : memref<?x?x?xf32, #mk.symmetric> [node, M ceildiv (node * gpu), N],
    // The same narrowed, and the sums of other nodes for mine.
    scratch %away : memref<?x?x?xbf16, #mk.symmetric> [node, M ceildiv (node * gpu), N],
    scratch %sum : memref<?x?x?xbf16, #mk.symmetric> [node, M ceildiv (node * gpu), N],
    out %c : memref<?x?xbf16> [M, N] split [(node, gpu), ()]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 256
  %tk = mk.param "TK" = 64
  %tr = mk.param "TR" = 32
  mk.param "RASTER" = 2
  mk.param "NARROW" = 2
  mk.param "FINISH" = 2
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
  %shard = arith.ceildivui %M, %world : index       // rows of a whole shard
  %blocks = arith.ceildivui %shard, %tm : index     // blocks of TM rows in it
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_own = memref.dim %a, %c1 : memref<?x?xbf16>    // own part of K, may be 0
  %k_tiles = arith.ceildivui %k_own, %tk : index

  // For each node, block and column tile: an add from each GPU of my node.
  %added = mk.signals(%nodes, %blocks, %column_tiles) arrivals(%gpus) : !added
  // For each node and block: its column tiles in %away.
  %narrow = mk.signals(%nodes, %blocks) arrivals(%column_tiles) : !narrow
  // From each node: a block in %sum.
  %arrived = mk.signals(%nodes, %blocks) : !arrived

  mk.prepare {
    %row_tiles = arith.ceildivui %shard, %tr : index
    mk.foreach (%d, %i, %n) in (%nodes, %row_tiles, %column_tiles) {
      %row = arith.muli %i, %tr : index
      %column = arith.muli %n, %tn : index
      mk.store %nothing, %parts[%d, %row, %column] : !sum, memref<?x?x?xf32, #mk.symmetric>
    }
  }

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
        %p = mk.rank(gpu = %place)
        mk.store %acc, %parts[%d, %r, %column] valid(%rows, %tn) on %p signal %added[%d, %i, %n] reduce(add)
            : !acc, memref<?x?x?xf32, #mk.symmetric>, !added
      }
    }
  }

  // In the node: what goes to other nodes, when all of the node have added to it.
  mk.role @narrow ctas(param NARROW) then @gemm {
    mk.foreach (%d_, %i, %n) in (%others, %blocks, %column_tiles) schedule(ticket) {
      %d = func.call @behind(%my_node, %d_, %nodes) : (index, index, index) -> index
      %owner = mk.rank(node = %d)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        mk.wait %added[%d, %i, %n] ge %gpus : !added
        scf.for %down = %c0 to %rows step %tr {
          %row = arith.addi %r, %down : index
          %left = arith.subi %rows, %down : index
          %total = mk.load %parts[%d, %row, %column] valid(%left, %tn) : memref<?x?x?xf32, #mk.symmetric> -> !sum
          %t = arith.truncf %total : !sum to !part
          mk.store %t, %away[%d, %row, %column] valid(%left, %tn) : !part, memref<?x?x?xbf16, #mk.symmetric>
        }
        mk.signal %narrow[%d, %i] : !narrow
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
        mk.wait %narrow[%d, %i] ge %column_tiles : !narrow
        mk.put %away[%d, %r, %c0][%c1, %rows, %N] to %sum[%my_node, %r, %c0] on %owner signal %arrived[%my_node, %i]
            : memref<?x?x?xbf16, #mk.symmetric> to memref<?x?x?xbf16, #mk.symmetric>, !arrived
      }
    }
  }

  // The own rows: sums of all nodes, in their order.
  mk.role @finish ctas(param FINISH) {
    mk.foreach (%i, %n) in (%blocks, %column_tiles) schedule(ticket) {
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
            %more = scf.if %here -> (!sum) {
              mk.wait %added[%d, %i, %n] ge %gpus : !added
              %x = mk.load %parts[%d, %row, %column] valid(%left, %tn) : memref<?x?x?xf32, #mk.symmetric> -> !sum
              scf.yield %x : !sum
            } else {
              mk.wait %arrived[%d, %i] ge %c1 : !arrived
              %x = mk.load %sum[%d, %row, %column] valid(%left, %tn) : memref<?x?x?xbf16, #mk.symmetric> -> !part
              %wide = arith.extf %x : !part to !sum
              scf.yield %wide : !sum
            }
            %next = arith.addf %acc, %more : !sum
            scf.yield %next : !sum
          }
          %t = arith.truncf %total : !sum to !part
          mk.store %t, %c[%row, %column] valid(%left, %tn) : !part, memref<?x?xbf16>
        }
      }
    }
  }
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
