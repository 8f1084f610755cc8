// GEMM that adds to a residual stream: C = A * B^T + R, A: M x K, B: N x K, R and C: M x N;
// bf16, summed in f32.
//
// Parameters: TM, TN, TK, the extents of a tile; CLUSTER_M, CLUSTER_N, how many tiles along M
// and N follow each other, so that CTAs side by side fetch together what they share; RASTER, how
// many rows of such groups are walked together; SCHEDULE, 0 static or 1 ticket; TEAMS, 2: two
// teams of warpgroups take the tiles of a CTA in turn, one multiplies while the other adds the
// residual and stores (with SCHEDULE 0).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_residual on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %b : memref<?x?xbf16> [N, K],
    in %r : memref<?x?xbf16> [M, N] split [(gpu), ()],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128, 192, 256]
  %tn = mk.param "TN" = 256 in [64, 80, 96, 112, 128, 144, 160, 168, 176, 192, 200, 208, 224, 240, 256]
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2]
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0
  mk.param "TEAMS" = 1 in [1, 2]
  %rows = memref.dim %a, %c0 : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %residual = mk.load %r[%row, %column] : memref<?x?xbf16> -> !c
      %wide = arith.extf %residual : !c to !acc
      %total = arith.addf %acc, %wide : !acc
      %out = arith.truncf %total : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %r: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%r : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
