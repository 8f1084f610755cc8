// GEMM of few rows, as those of a linear layer in inference: C = A * B^T, A: M x K (tokens),
// B: N x K (weights), C: M x N; bf16, summed in f32.
//
// A product of the tensor cores has at least 64 rows, and any number of columns that is a
// multiple of 8. So features are the rows here and tokens the columns: each tile of C is computed transposed,
// and 16 tokens take a quarter of the work and of the shared memory that 64 would. mk.transpose moves nothing:
// threads hold what the product left them, and store it at the place where it belongs.
//
// There is no communication: each rank has some rows of B, and computes these columns of C.
//
// Parameters: TM, TN, TK, the extents of a tile (tokens, features, K); CLUSTER_N, how many tiles along N
// follow each other, so that CTAs side by side do them and can fetch the tokens together (with
// SCHEDULE 0); RASTER, how many
// rows of tiles are walked together; SCHEDULE, 0 static or 2 stream_k, which splits the last TAIL
// waves along K: all there is, where tiles are fewer than SMs; CLUSTER_K, how many CTAs do a tile
// together, each a part of K (with SCHEDULE 0; TM is a multiple of 8 CLUSTER_K).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TN, TM>>
!sums = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_few on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K] split [(gpu), ()],
    out %c : memref<?x?xbf16> [M, N] split [(), (gpu)]) {
  %tm = mk.param "TM" = 16 in [8, 16, 24, 32, 40, 48, 64, 96, 128]
  %tn = mk.param "TN" = 64 in [64, 128]
  %tk = mk.param "TK" = 128 in [64, 128, 256]
  %cn = mk.param "CLUSTER_N" = 2 in [2, 4]
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4, 5, 6]
  %c0 = arith.constant 0 : index
  %columns = memref.dim %b, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %M, %tm : index
  %group_columns = arith.muli %tn, %cn : index
  %column_groups = arith.ceildivui %columns, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tn, %tm] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %j) in (%row_tiles, %column_groups, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER) {
      %row = arith.muli %m, %tm : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %weights = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %tokens = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %next = mk.dot %weights, %tokens, %sum transpose_b : !b, !a, !acc
        mk.yield %next : !acc
      }
      %sums = mk.transpose %acc : !acc -> !sums
      %out = arith.truncf %sums : !sums to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
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
