// A batch of GEMMs: C[i] = A[i] * B[i]^T for L matrices, A: L x M x K, B: L x N x K,
// C: L x M x N; bf16, summed in f32. Each rank has its own part of the batch.
//
// Parameters: TM, TN, TK, the extents of a tile; SCHEDULE, 0 static or 1 ticket.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_batched on @mesh dims(uniform L, uniform M, uniform N, uniform K) (
    in %a : memref<?x?x?xbf16> [L, M, K] split [(gpu), (), ()],
    in %b : memref<?x?x?xbf16> [L, N, K] split [(gpu), (), ()],
    out %c : memref<?x?x?xbf16> [L, M, N] split [(gpu), (), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128]
  %tn = mk.param "TN" = 256 in [64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256]
  %tk = mk.param "TK" = 64
  mk.param "SCHEDULE" = 0
  %batch = memref.dim %a, %c0 : memref<?x?x?xbf16>
  %row_tiles = arith.ceildivui %M, %tm : index
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %m, %n) in (%batch, %row_tiles, %column_tiles) schedule(param SCHEDULE) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%i, %row, %k] : memref<?x?x?xbf16> -> !a
        %y = mk.load %b[%i, %column, %k] : memref<?x?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%i, %row, %column] : !c, memref<?x?x?xbf16>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?x?xf64>, %b: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %l = tensor.dim %a, %c0 : tensor<?x?x?xf64>
  %m = tensor.dim %a, %c1 : tensor<?x?x?xf64>
  %n = tensor.dim %b, %c1 : tensor<?x?x?xf64>
  %empty = tensor.empty(%l, %m, %n) : tensor<?x?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %c = linalg.batch_matmul indexing_maps = [affine_map<(l, m, n, k) -> (l, m, k)>, affine_map<(l, m, n, k) -> (l, n, k)>, affine_map<(l, m, n, k) -> (l, m, n)>]
      ins(%a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%zero : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %c : tensor<?x?x?xf64>
}
