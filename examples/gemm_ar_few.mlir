// GEMM + AllReduce of few rows, as behind a layer in inference: C = A * B^T, A: M x K (tokens), B: N x K (weights), both
// split along K, C: M x N whole on each rank. bf16, summed in f32, in the order of ranks: all ranks get the same bits,
// in every run.
//
// Tokens are columns of the products, as in gemm_few.mlir. One shot: each rank gets each tile out of the others' epilogues
// and adds them all. Two shots, in one node: one rank gets a tile, adds and stores the result at every rank; it has a range
// of N. The first takes one trip over a link, the second moves 2 / (ranks in the node) of the bytes. Slots have features as
// rows, as the products have: threads that store side by side write side by side.
//
// Each rank sends to each other one, also across the network (@send), where the parts of all tiles go at once: rows are
// few. So a CTA has one tile there, or none. gemm_ar.mlir takes the sum over a node first.
//
// Parameters: TM, TN, TK, the extents of a tile (tokens, features, K); CLUSTER_N, how many tiles along N
// follow each other, so that CTAs side by side do them and can fetch the tokens together; RASTER, how many rows of
// tiles are walked together; SHOTS, 1 or 2, or 0: two where a rank would send more than 512 KiB in one (across nodes always one).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TN, TM>>
!part = tensor<?x?xbf16, #mk.extents<TN, TM>>
!sums = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!slots = memref<?x?x?xbf16, #mk.symmetric>
!whole = memref<?x?xbf16, #mk.symmetric>
!parts = !mk.signal<?x?, sys, arrivals = ?>
!left = !mk.signal<1, gpu, arrivals = ?>
!arrived = !mk.signal<?, sys, arrivals = 1>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_ar_few on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (node, gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (node, gpu)],
    // From each other rank.
    scratch %slot : !slots [node * gpu - 1, N, M],
    // For ranks of other nodes, if there are any.
    scratch %away : !slots [(node - 1) ceildiv node, N, M],
    out %c : !whole [M, N]) {
  %tm = mk.param "TM" = 16 in [8, 16, 32, 64, 128, 256]
  %tn = mk.param "TN" = 64 in [64, 128]
  %tk = mk.param "TK" = 128 in [64, 128, 256]
  %cn = mk.param "CLUSTER_N" = 2
  mk.param "RASTER" = 8
  %shots = mk.param "SHOTS" = 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tn, %tm] : !acc

  %me = mk.rank
  %my_node = mk.coord node
  %nodes = mk.size node
  %gpus = mk.size gpu
  %world = mk.size
  %other_nodes = arith.subi %nodes, %c1 : index
  %other_gpus = arith.subi %gpus, %c1 : index       // in the node
  %distant = arith.muli %other_nodes, %gpus : index // ranks of other nodes
  %row_tiles = arith.ceildivui %M, %tm : index
  %group_columns = arith.muli %tn, %cn : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %column_tiles = arith.muli %column_groups, %cn : index
  %k_own = memref.dim %a, %c1 : memref<?x?xbf16>    // own part of K, may be 0
  %k_tiles = arith.ceildivui %k_own, %tk : index
  %all_tiles = arith.muli %row_tiles, %column_tiles : index
  // A tile waits for what all tiles of ranks of other nodes have left.
  %ctas = mk.ctas @gemm
  %one_each = arith.cmpi ule, %all_tiles, %ctas : index
  %one_node = arith.cmpi eq, %nodes, %c1 : index
  %fits = arith.ori %one_each, %one_node : i1
  mk.require %fits, "TM and TN must leave each CTA at most one tile where a network is crossed"
  %c2 = arith.constant 2 : index
  %legal = arith.cmpi ule, %shots, %c2 : index
  mk.require %legal, "SHOTS must be 0, 1 or 2"
  %most_small = arith.constant 262144 : index       // elements in 512 KiB
  %elements = arith.muli %M, %N : index
  %other_ranks = arith.subi %world, %c1 : index
  %sent = arith.muli %elements, %other_ranks : index
  %is_large = arith.cmpi ugt, %sent, %most_small : index
  %by_size = arith.select %is_large, %c2, %c1 : index
  %asked = arith.cmpi ne, %shots, %c0 : index
  %taken = arith.select %asked, %shots, %by_size : index
  %one_ = arith.cmpi ne, %taken, %c2 : index
  %far = arith.cmpi ne, %other_nodes, %c0 : index
  %near = arith.cmpi ne, %other_gpus, %c0 : index
  %one = arith.ori %one_, %far : i1

  // For each tile: from each other GPU of my node.
  %part = mk.signals(%row_tiles, %column_tiles) arrivals(%other_gpus) : !parts
  // For other nodes: from all tiles.
  %left = mk.signals() arrivals(%all_tiles) : !left
  // From each rank of other nodes.
  %arrived = mk.signals(%distant) : !arrived

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %j) in (%row_tiles, %column_groups, %cn) order(raster = RASTER) {
      %row = arith.muli %m, %tm : index
      %tile0 = arith.muli %n, %cn : index
      %tile = arith.addi %tile0, %j : index
      %column = arith.muli %tile, %tn : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %weights = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %tokens = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %next = mk.dot %weights, %tokens, %sum transpose_b : !b, !a, !acc
        mk.yield %next : !acc
      }
      %mine = arith.truncf %acc : !acc to !part
      // Two shots: whose tile it is.
      %scaled = arith.muli %tile, %gpus : index
      %owner = arith.divui %scaled, %column_tiles : index
      scf.if %far {
        mk.store %mine, %away[%c0, %column, %row] : !part, !slots
        mk.signal %left[%c0] : !left
      }
      mk.foreach_peer (%p) along gpu {
        %g = mk.coord gpu of %p
        %theirs_ = arith.cmpi eq, %g, %owner : index
        %theirs = arith.ori %theirs_, %one : i1
        scf.if %theirs {
          %from = func.call @among_others(%me, %p) : (index, index) -> index
          mk.store %mine, %slot[%from, %column, %row] on %p signal %part[%m, %tile] : !part, !slots, !parts
        }
      }
      %my_gpu = mk.coord gpu
      %own_ = arith.cmpi eq, %my_gpu, %owner : index
      %own = arith.ori %own_, %one : i1
      scf.if %own {
        scf.for %d = %c0 to %distant step %c1 {
          mk.wait %arrived[%d] ge %c1 : !arrived
        }
        scf.if %near {
          mk.wait %part[%m, %tile] ge %other_gpus : !parts
        }
        // What is added is rounded at all ranks alike, the own part as well.
        %total = scf.for %r = %c0 to %world step %c1 iter_args(%sum = %zero) -> (!acc) {
          %is_own = arith.cmpi eq, %r, %me : index
          %x = scf.if %is_own -> (!part) {
            scf.yield %mine : !part
          } else {
            %from = func.call @among_others(%r, %me) : (index, index) -> index
            %theirs = mk.load %slot[%from, %column, %row] : !slots -> !part
            scf.yield %theirs : !part
          }
          %wide = arith.extf %x : !part to !acc
          %next = arith.addf %sum, %wide : !acc
          scf.yield %next : !acc
        }
        %sums = mk.transpose %total : !acc -> !sums
        %out = arith.truncf %sums : !sums to !c
        scf.if %one {
          mk.store %out, %c[%row, %column] : !c, !whole
        } else {
          mk.foreach_peer (%p) along gpu including self {
            mk.store %out, %c[%row, %column] on %p : !c, !whole
          }
        }
      }
    }
  }

  // Between nodes: to each rank what all tiles left.
  mk.role @send ctas(beside @gemm) {
    mk.foreach (%d_, %g) in (%other_nodes, %gpus) {
      %next = arith.addi %my_node, %c1 : index
      %behind = arith.addi %next, %d_ : index
      %d = arith.remui %behind, %nodes : index
      %p = mk.rank(node = %d, gpu = %g)
      %my_gpu = mk.coord gpu
      %from = func.call @number_afar(%my_node, %my_gpu, %d, %gpus) : (index, index, index, index) -> index
      %slot_there = func.call @among_others(%me, %p) : (index, index) -> index
      mk.wait %left[%c0] ge %all_tiles : !left
      mk.put %away[%c0, %c0, %c0][%c1, %N, %M] to %slot[%slot_there, %c0, %c0] on %p signal %arrived[%from]
          : !slots to !slots, !arrived
    }
  }
}

// The number of rank (%node, %gpu) among those that are not of node %without.
func.func private @number_afar(%node: index, %gpu: index, %without: index, %gpus: index) -> index {
  %d = func.call @among_others(%node, %without) : (index, index) -> index
  %first = arith.muli %d, %gpus : index
  %number = arith.addi %first, %gpu : index
  return %number : index
}

// Where %of stands in a list of all but %without.
func.func private @among_others(%of: index, %without: index) -> index {
  %c1 = arith.constant 1 : index
  %behind = arith.cmpi ugt, %of, %without : index
  %less = arith.subi %of, %c1 : index
  %place = arith.select %behind, %less, %of : index
  return %place : index
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
