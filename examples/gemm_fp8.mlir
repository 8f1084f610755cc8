// GEMM of fp8: C = scale * A * B^T, A: M x K, B: N x K (both K-major), C: M x N.
//
// e4m3 in, bf16 out, summed in f32; `scale` is one f32 for all of C, the product of
// the operands' own scales.
//
// Parameters: TM, TN, TK, the extents of a tile: one of TM and TN is a multiple of 64, and where that is TN alone, as for a
// few tokens, the product is computed transposed; CLUSTER_M, CLUSTER_N, how many tiles along
// M and N follow each other, so that CTAs side by side do them and can fetch together what
// they share (not by tickets; one of the two is 1); RASTER, how many rows of such groups are
// walked together; SCHEDULE, 0 static, 1 ticket or 2 stream_k, which splits the last TAIL
// waves along K; CLUSTER_K, how many CTAs do a tile together, each a part of K (with SCHEDULE 0; TN,
// or TM where that is no multiple of 64, is a multiple of 8 CLUSTER_K).

!a = tensor<?x?xf8E4M3FN, #mk.extents<TM, TK>>
!b = tensor<?x?xf8E4M3FN, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_fp8 on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xf8E4M3FN> [M, K] split [(gpu), ()],
    in %b : memref<?x?xf8E4M3FN> [N, K],
    in %scale : memref<?xf32> [1],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 192]
  %tn = mk.param "TN" = 128 in [64, 96, 128, 160, 192, 224, 256]
  %tk = mk.param "TK" = 128
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2, 4]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2, 4]
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1
  mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4, 5, 6, 8]
  %rows = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    %s = memref.load %scale[%c0] : memref<?xf32>
    %scales = tensor.splat %s[%tm, %tn] : !acc
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xf8E4M3FN> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xf8E4M3FN> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %scaled = arith.mulf %acc, %scales : !acc
      %out = arith.truncf %scaled : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %scale: tensor<?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = tensor.extract %scale[%c0] : tensor<?xf64>
  %c = linalg.map ins(%product : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) (%x: f64, %old: f64) {
    %y = arith.mulf %x, %s : f64
    linalg.yield %y : f64
  }
  return %c : tensor<?x?xf64>
}
