// GEMM with weights of 8 bits: C = X * (scale * W)^T, X: M x K in bf16, W: N x K in int8, a scale for each row of W, as
// weight-only quantization has them; C: M x N in bf16, summed in f32.
//
// Threads convert W on its way to the tensor cores, which take one operand from registers, the left one. So the product is
// computed transposed: its rows are those of W, its columns the tokens. Where tokens are few that reads half the bytes of
// bf16 weights.
//
// Parameters: TM, TN, TK, the extents of a tile: TN a multiple of 64, TK of 128, so that W comes in boxes of the copy
// engine, which are 128 bytes wide, without what nobody needs; RASTER, how many rows of tiles are walked together; SCHEDULE, 0 static or 1 ticket.

!x = tensor<?x?xbf16, #mk.extents<TM, TK>>
!w = tensor<?x?xi8, #mk.extents<TN, TK>>
!wide = tensor<?x?xbf16, #mk.extents<TN, TK>>
!scales = tensor<?xf32, #mk.extents<TN>>
!acc = tensor<?x?xf32, #mk.extents<TN, TM>>
!ct = tensor<?x?xbf16, #mk.extents<TN, TM>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_w8 on @mesh dims(uniform M, uniform N, uniform K) (
    in %x : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %w : memref<?x?xi8> [N, K],
    in %scale : memref<?xf32> [N],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [16, 32, 64, 128]
  %tn = mk.param "TN" = 128 in [64, 128]
  %tk = mk.param "TK" = 128
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0
  %rows = memref.dim %x, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %rows, %tm : index
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tn, %tm] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%n, %m) in (%column_tiles, %row_tiles) schedule(param SCHEDULE) order(raster = RASTER) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %q = mk.load %w[%column, %k] : memref<?x?xi8> -> !w
        %y = arith.sitofp %q : !w to !wide
        %t = mk.load %x[%row, %k] : memref<?x?xbf16> -> !x
        %next = mk.dot %y, %t, %sum transpose_b : !wide, !x, !acc
        mk.yield %next : !acc
      }
      %s = mk.load %scale[%column] : memref<?xf32> -> !scales
      %scales = mk.broadcast %s dims [1] : !scales -> !acc
      %scaled = arith.mulf %acc, %scales : !acc
      %out = arith.truncf %scaled : !acc to !ct
      %turned = mk.transpose %out : !ct -> !c
      mk.store %turned, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%x: tensor<?x?xf64>, %q: tensor<?x?xi8>, %scale: tensor<?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %w = arith.sitofp %q : tensor<?x?xi8> to tensor<?x?xf64>
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %w, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%scale : tensor<?xf64>) outs(%product : tensor<?x?xf64>) {
  ^bb0(%s: f64, %v: f64):
    %y = arith.mulf %v, %s : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
