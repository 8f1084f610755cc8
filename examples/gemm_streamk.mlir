// GEMM whose last tiles are split along K: C = A * B^T, A: M x K, B: N x K, C: M x N; bf16,
// summed in f32. Tiles that fill whole waves (one for each CTA) are computed as they are;
// the steps along K of the others are divided evenly, so that no CTA idles while few tiles are
// left. That parts are added up is said by the fold's combine.
//
// Parameters: TM, TN, TK, the extents of a tile; RASTER, how many rows of tiles are
// walked together; TAIL, how many waves are split (the last, which is not full, and TAIL - 1
// before it).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_streamk on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(node, gpu), ()],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N] split [(node, gpu), ()]) {
  %tm = mk.param "TM" = 128 in [64, 128]
  %tn = mk.param "TN" = 256 in [128, 192, 256]
  %tk = mk.param "TK" = 64
  mk.param "RASTER" = 8
  mk.param "TAIL" = 1
  %c0 = arith.constant 0 : index
  %rows = memref.dim %a, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %rows, %tm : index
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles)
        schedule(stream_k, tail = TAIL) order(raster = RASTER) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
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
