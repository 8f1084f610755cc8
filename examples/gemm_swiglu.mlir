// The first half of a gated MLP: C = silu(A * W1^T) * (A * W3^T), A: M x K, W1 and W3: N x K,
// C: M x N; bf16, summed in f32. Both products are made from the same tiles of A.
//
// Parameters: TM, TN, TK, the extents of a tile; CLUSTER_M, CLUSTER_N, how many tiles along
// M and N follow each other, so that CTAs side by side can fetch together what they
// share; RASTER, how many rows of such groups are walked together; SCHEDULE, 0 static or 1 ticket;
// TEAMS, 2: two teams of warpgroups take the tiles of a CTA in turn, one applies silu
// while the other multiplies (with SCHEDULE 0, and accumulators that fit), 1: all share
// each tile.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!w = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_swiglu on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %w1 : memref<?x?xbf16> [N, K],
    in %w3 : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128, 192, 256]
  %tn = mk.param "TN" = 128 in [64, 72, 80, 88, 96, 104, 112, 120, 128]
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
  %1 = arith.constant 1.0 : f32
  %log2e_negative = arith.constant -1.44269504 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %one = tensor.splat %1[%tm, %tn] : !acc
  %base = tensor.splat %log2e_negative[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %gate, %up = mk.fold (%kt) in (%k_tiles) iter(%s1 = %zero, %s3 = %zero) combine(add) : !acc, !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y1 = mk.load %w1[%column, %k] : memref<?x?xbf16> -> !w
        %y3 = mk.load %w3[%column, %k] : memref<?x?xbf16> -> !w
        %n1 = mk.dot %x, %y1, %s1 transpose_b : !a, !w, !acc
        %n3 = mk.dot %x, %y3, %s3 transpose_b : !a, !w, !acc
        mk.yield %n1, %n3 : !acc, !acc
      }
      // silu(x) = x / (1 + exp(-x))
      %e0 = arith.mulf %gate, %base : !acc
      %e = math.exp2 %e0 : !acc
      %d = arith.addf %e, %one : !acc
      %silu = arith.divf %gate, %d : !acc
      %h = arith.mulf %silu, %up : !acc
      %out = arith.truncf %h : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %w1: tensor<?x?xf64>, %w3: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %gate = call @product(%a, %w1) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %up = call @product(%a, %w3) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %one = arith.constant 1.0 : f64
  %c = linalg.map ins(%gate, %up : tensor<?x?xf64>, tensor<?x?xf64>) outs(%gate : tensor<?x?xf64>) (%x: f64, %y: f64, %old: f64) {
    %minus = arith.negf %x : f64
    %e = math.exp %minus : f64
    %d = arith.addf %e, %one : f64
    %silu = arith.divf %x, %d : f64
    %h = arith.mulf %silu, %y : f64
    linalg.yield %h : f64
  }
  return %c : tensor<?x?xf64>
}

func.func private @product(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
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
