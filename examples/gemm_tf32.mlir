// GEMM of f32 in tensor cores: C = A * B^T, A: M x K, B: N x K, C: M x N, all f32. The
// operands are rounded to tf32 (10 bits of mantissa) where the target multiplies so;
// the host target does not round.
//
// Parameters: TM, TN, TK, the extents of a tile; RASTER, how many rows of tiles are
// walked together; SCHEDULE, 0 static or 1 ticket.

!a = tensor<?x?xf32, #mk.extents<TM, TK>>
!b = tensor<?x?xf32, #mk.extents<TN, TK>>
!c = tensor<?x?xf32, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_tf32 on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xf32> [M, K] split [(gpu), ()],
    in %b : memref<?x?xf32> [N, K],
    out %c : memref<?x?xf32> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128]
  %tn = mk.param "TN" = 256 in [64, 96, 128, 160, 192, 224, 256]
  %tk = mk.param "TK" = 32
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0
  %rows = memref.dim %a, %c0 : memref<?x?xf32>
  %row_tiles = arith.ceildivui %rows, %tm : index
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !c

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles)
        schedule(param SCHEDULE) order(raster = RASTER) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !c {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xf32> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xf32> -> !b
        %next = mk.dot %x, %y, %sum transpose_b precision = tf32 : !a, !b, !c
        mk.yield %next : !c
      }
      mk.store %acc, %c[%row, %column] : !c, memref<?x?xf32>
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
