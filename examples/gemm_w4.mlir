// GEMM with weights of 4 bits: C = X * (scale * (Q - 8))^T, X: M x K in bf16, Q: N x K numbers from 0 to 15, a scale for
// each row of it and 128 columns, as weight-only quantization has them; C: M x N in bf16, summed in f32. K = 128 G.
//
// W has Q packed: byte 128 b + j of a row holds columns 256 b + j, in its lower half, and 256 b + 128 + j. Threads unpack
// both on their way to the tensor cores, which take one operand from registers, the left one. So the product is computed
// transposed, as in gemm_w8.mlir. Products of 128 columns are scaled before they are added up. Where tokens are few that
// reads a quarter of the bytes of bf16 weights.
//
// Parameters: TM, TN, the extents of a tile: TN a multiple of 64; RASTER, how many rows of tiles are walked together;
// SCHEDULE, 0 static or 1 ticket.

!x = tensor<?x128xbf16, #mk.extents<TM>>
!w = tensor<?x128xi8, #mk.extents<TN>>
!wide = tensor<?x128xbf16, #mk.extents<TN>>
!scales = tensor<?xf32, #mk.extents<TN>>
!acc = tensor<?x?xf32, #mk.extents<TN, TM>>
!ct = tensor<?x?xbf16, #mk.extents<TN, TM>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_w4 on @mesh dims(uniform M, uniform N, uniform G) (
    in %x : memref<?x?xbf16> [M, 128 * G] split [(gpu), ()],
    in %w : memref<?x?xi8> [N, 64 * G],
    in %scale : memref<?x?xf32> [G, N],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %odd = arith.remui %G, %c2 : index
  %even = arith.cmpi eq, %odd, %c0 : index
  mk.require %even, "G, which counts groups of 128 columns, must be even: a byte holds columns of two"
  %tm = mk.param "TM" = 16 in [16, 32, 64]
  %tn = mk.param "TN" = 128 in [64, 128, 256]
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0
  %rows = memref.dim %x, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %rows, %tm : index
  %column_tiles = arith.ceildivui %N, %tn : index
  %pairs = arith.divui %G, %c2 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tn, %tm] : !acc
  %low = arith.constant 15 : i8
  %half = arith.constant 4 : i8
  %middle = arith.constant 8 : i8
  %lows = tensor.splat %low[%tn] : !w
  %halves = tensor.splat %half[%tn] : !w
  %middles = tensor.splat %middle[%tn] : !w

  mk.role @gemm ctas(rest) {
    mk.foreach (%n, %m) in (%column_tiles, %row_tiles) schedule(param SCHEDULE) order(raster = RASTER) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%b) in (%pairs) iter(%sum = %zero) combine(add) : !acc {
        %byte = arith.muli %b, %c128 : index
        %g0 = arith.muli %b, %c2 : index
        %g1 = arith.addi %g0, %c1 : index
        %k0 = arith.muli %g0, %c128 : index
        %k1 = arith.muli %g1, %c128 : index
        %packed = mk.load %w[%column, %byte] : memref<?x?xi8> -> !w
        %q0 = arith.andi %packed, %lows : !w
        %q1 = arith.shrui %packed, %halves : !w
        %signed0 = arith.subi %q0, %middles : !w
        %signed1 = arith.subi %q1, %middles : !w
        %y0 = arith.sitofp %signed0 : !w to !wide
        %y1 = arith.sitofp %signed1 : !w to !wide
        %x0 = mk.load %x[%row, %k0] : memref<?x?xbf16> -> !x
        %x1 = mk.load %x[%row, %k1] : memref<?x?xbf16> -> !x
        %p0 = mk.dot %y0, %x0, %zero transpose_b : !wide, !x, !acc
        %p1 = mk.dot %y1, %x1, %zero transpose_b : !wide, !x, !acc
        %s0 = mk.load %scale[%g0, %column] : memref<?x?xf32> -> !scales
        %s1 = mk.load %scale[%g1, %column] : memref<?x?xf32> -> !scales
        %wide0 = mk.broadcast %s0 dims [1] : !scales -> !acc
        %wide1 = mk.broadcast %s1 dims [1] : !scales -> !acc
        %scaled0 = arith.mulf %p0, %wide0 : !acc
        %scaled1 = arith.mulf %p1, %wide1 : !acc
        %part = arith.addf %sum, %scaled0 : !acc
        %next = arith.addf %part, %scaled1 : !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !ct
      %turned = mk.transpose %out : !ct -> !c
      mk.store %turned, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%x: tensor<?x?xf64>, %w: tensor<?x?xi8>, %scale: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 15 : i8
  %half = arith.constant 4 : i8
  %middle = arith.constant 8 : i8
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %k = tensor.dim %x, %c1 : tensor<?x?xf64>
  %n = tensor.dim %w, %c0 : tensor<?x?xi8>
  %unpacked = tensor.generate %n, %k {
  ^bb0(%row: index, %column: index):
    %g = arith.divui %column, %c128 : index
    %b = arith.divui %g, %c2 : index
    %second = arith.remui %g, %c2 : index
    %j = arith.remui %column, %c128 : index
    %first = arith.muli %b, %c128 : index
    %at = arith.addi %first, %j : index
    %byte = tensor.extract %w[%row, %at] : tensor<?x?xi8>
    %q0 = arith.andi %byte, %low : i8
    %q1 = arith.shrui %byte, %half : i8
    %is = arith.cmpi eq, %second, %c0 : index
    %q = arith.select %is, %q0, %q1 : i8
    %signed = arith.subi %q, %middle : i8
    %number = arith.sitofp %signed : i8 to f64
    %s = tensor.extract %scale[%g, %row] : tensor<?x?xf64>
    %value = arith.mulf %number, %s : f64
    tensor.yield %value : f64
  } : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %unpacked : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
