// The gradients of a linear layer's weights and bias: W = G^T * X, B[m] = sum over k of G[k, m]. G: K x M, what comes back of
// the layer's outputs for K tokens; X: K x N, its inputs; W: M x N; B: M; bf16, summed in f32, B is f32. Each rank has some
// columns of G.
//
// G is read once for both: sums of its columns are made beside the products, out of the tiles that these take. All tiles
// of W with the same rows make the same sums, which costs little while the tensor cores are at work; those in the
// first columns store them.
//
// Parameters: TM, TN, TK, the extents of a tile; CLUSTER_M, CLUSTER_N, how many tiles along M and N
// follow each other, so that CTAs side by side fetch together what they share; RASTER, how many rows of
// such groups are walked together; SCHEDULE, 0 static, 1 ticket or 2 stream_k, which splits the last TAIL waves along K.

!g = tensor<?x?xbf16, #mk.extents<TK, TM>>
!wide = tensor<?x?xf32, #mk.extents<TK, TM>>
!x = tensor<?x?xbf16, #mk.extents<TK, TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!w = tensor<?x?xbf16, #mk.extents<TM, TN>>
!sums = tensor<?xf32, #mk.extents<TM>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_wgrad on @mesh dims(uniform M, uniform N, uniform K) (
    in %g : memref<?x?xbf16> [K, M] split [(), (gpu)],
    in %x : memref<?x?xbf16> [K, N],
    out %w : memref<?x?xbf16> [M, N] split [(gpu), ()],
    out %b : memref<?xf32> [M] split [(gpu)]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128, 256]
  %tn = mk.param "TN" = 256 in [64, 96, 128, 160, 192, 224, 256]
  %extent = arith.muli %tm, %tn : index
  %most = arith.constant 32768 : index
  %fits = arith.cmpi ule, %extent, %most : index
  mk.require %fits, "TM times TN is 32768 at most"
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 2 in [1, 2]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2]
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  %rows = memref.dim %w, %c0 : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %none = tensor.splat %0[%tm] : !sums

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL) order(raster = RASTER) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc, %sums = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero, %s = %none) combine(add) : !acc, !sums {
        %k = arith.muli %kt, %tk : index
        %back = mk.load %g[%k, %row] : memref<?x?xbf16> -> !g
        %input = mk.load %x[%k, %column] : memref<?x?xbf16> -> !x
        %next = mk.dot %back, %input, %sum transpose_a : !g, !x, !acc
        %wide = arith.extf %back : !g to !wide
        %part = mk.reduce add %wide axis 0 : !wide -> !sums
        %more = arith.addf %s, %part : !sums
        mk.yield %next, %more : !acc, !sums
      }
      %out = arith.truncf %acc : !acc to !w
      mk.store %out, %w[%row, %column] : !w, memref<?x?xbf16>
      %first = arith.cmpi eq, %column, %c0 : index
      scf.if %first {
        mk.store %sums, %b[%row] : !sums, memref<?xf32>
      }
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%g: tensor<?x?xf64>, %x: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>) {
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %g, %c1 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %ew = tensor.empty(%m, %n) : tensor<?x?xf64>
  %eb = tensor.empty(%m) : tensor<?xf64>
  %zw = linalg.fill ins(%0 : f64) outs(%ew : tensor<?x?xf64>) -> tensor<?x?xf64>
  %zb = linalg.fill ins(%0 : f64) outs(%eb : tensor<?xf64>) -> tensor<?xf64>
  %w = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%g, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zw : tensor<?x?xf64>) -> tensor<?x?xf64>
  %b = linalg.reduce ins(%g : tensor<?x?xf64>) outs(%zb : tensor<?xf64>) dimensions = [0] (%v: f64, %old: f64) {
    %new = arith.addf %v, %old : f64
    linalg.yield %new : f64
  }
  return %w, %b : tensor<?x?xf64>, tensor<?xf64>
}
