// AllGather + GEMM of few rows, as at the front of a layer in inference: C[:, own columns] = A * B[own rows]^T,
// A: M x K (tokens) split by rows over all ranks, B: N x K (weights), C: M x N; bf16, summed in f32.
//
// A tile of tokens has rows of many ranks, so all tokens are gathered before the first product: each rank puts its rows to
// all ranks, itself included, beside the products (@gather). That takes microseconds. Then the
// weights are read once, by products that have tokens as columns, as in gemm_few.mlir. Where a rank has more rows than a
// tile, ag_gemm.mlir multiplies its own while others come.
//
// Each rank sends to each other one, also across the network: rows are few.
//
// Parameters: TM, TN, TK, the extents of a tile (tokens, features, K); CLUSTER_N, how many tiles along N
// follow each other; RASTER, how many rows of tiles are walked together; CLUSTER_K, how many CTAs do a tile together, each a
// part of K (TM is a multiple of 8 CLUSTER_K); PIECE, how many rows are moved at a time, at most.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TN, TM>>
!sums = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!rows = memref<?x?xbf16, #mk.symmetric>
!there = !mk.signal<1, sys, arrivals = ?>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @ag_gemm_few on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : !rows [M, K] split [(node, gpu), ()],
    in %b : memref<?x?xbf16> [N, K] split [(node, gpu), ()],
    scratch %all : !rows [M, K],
    out %c : memref<?x?xbf16> [M, N] split [(), (node, gpu)]) {
  %tm = mk.param "TM" = 16 in [8, 16, 32, 64, 128, 256]
  %tn = mk.param "TN" = 64 in [64, 128]
  %tk = mk.param "TK" = 128 in [64, 128, 256]
  %cn = mk.param "CLUSTER_N" = 2
  mk.param "RASTER" = 8
  %ck = mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4]
  %most = mk.param "PIECE" = 16 least 1
  %c0 = arith.constant 0 : index
  %eight = arith.constant 8 : index
  %parts = arith.muli %ck, %eight : index
  %beyond = arith.remui %tm, %parts : index
  %one = arith.constant 1 : index
  %whole = arith.cmpi eq, %ck, %one : index
  %even = arith.cmpi eq, %beyond, %c0 : index
  %fits = arith.ori %whole, %even : i1
  mk.require %fits, "TM is a multiple of 8 CLUSTER_K"
  %c1 = arith.constant 1 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index       // rows of a whole shard
  %columns = memref.dim %b, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %M, %tm : index
  %group_columns = arith.muli %tn, %cn : index
  %column_groups = arith.ceildivui %columns, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tn, %tm] : !acc

  // What a CTA moves at a time: even parts of a shard for all, but of PIECE rows at most, and at least 512 elements of one.
  %ctas = mk.ctas @gemm
  %part = arith.ceildivui %shard, %ctas : index
  %some_rows = arith.maxui %part, %c1 : index
  %piece = arith.minui %some_rows, %most : index
  %pieces = arith.ceildivui %shard, %piece : index  // of a shard
  %short = arith.constant 512 : index
  %most_slices = arith.ceildivui %K, %short : index
  %left_ctas = arith.divui %ctas, %pieces : index   // for more, where pieces are of one row
  %wanted = arith.maxui %left_ctas, %c1 : index
  %slices = arith.minui %wanted, %most_slices : index
  %slice = func.call @slice(%K, %slices) : (index, index) -> index
  %of_rank = arith.muli %pieces, %slices : index
  %arrivals = arith.muli %world, %of_rank : index
  %there = mk.signals() arrivals(%arrivals) : !there

  mk.role @gather ctas(beside @gemm) {
    %begin = arith.muli %me, %shard : index
    %left_ = arith.subi %M, %begin : index
    %left = arith.maxsi %left_, %c0 : index
    %own = arith.minsi %left, %shard : index
    mk.foreach (%j, %s) in (%pieces, %slices) {
      %from_ = arith.muli %j, %piece : index
      %from = arith.minui %from_, %own : index
      %rest = arith.subi %own, %from : index
      %rows = arith.minui %rest, %piece : index
      %to = arith.addi %begin, %from : index
      %k_ = arith.muli %s, %slice : index
      %k = arith.minui %k_, %K : index
      %k_left = arith.subi %K, %k : index
      %ks = arith.minui %k_left, %slice : index
      mk.foreach_peer (%p) along gpu including self {
        mk.put %a[%from, %k][%rows, %ks] to %all[%to, %k] on %p signal %there[%c0] : !rows to !rows, !there
      }
      mk.foreach_peer (%node) along node {
        %other_node = mk.coord node of %node
        mk.foreach_peer (%q) along gpu including self {
          %gpu = mk.coord gpu of %q
          %p = mk.rank(node = %other_node, gpu = %gpu)
          mk.put %a[%from, %k][%rows, %ks] to %all[%to, %k] on %p signal %there[%c0] : !rows to !rows, !there
        }
      }
    }
  }

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %j) in (%row_tiles, %column_groups, %cn) schedule(static, parts = CLUSTER_K) order(raster = RASTER) {
      %row = arith.muli %m, %tm : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      mk.wait %there[%c0] ge %arrivals : !there
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %weights = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %tokens = mk.load %all[%row, %k] : !rows -> !a
        %next = mk.dot %weights, %tokens, %sum transpose_b : !b, !a, !acc
        mk.yield %next : !acc
      }
      %sums = mk.transpose %acc : !acc -> !sums
      %out = arith.truncf %sums : !sums to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// Columns of a slice: a multiple of 64, so that rows that are aligned stay so.
func.func private @slice(%K: index, %slices: index) -> index {
  %c64 = arith.constant 64 : index
  %even = arith.ceildivui %K, %slices : index
  %lines = arith.ceildivui %even, %c64 : index
  %slice = arith.muli %lines, %c64 : index
  return %slice : index
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
