// Products whose rows begin within a sector of the L2 cache, so that threads store whole rows. In pieces of STEP columns, which
// begin and end anywhere; to several buffers, one of which the copy engine stores to. scripts/test-gpu runs both kernels.
!a = tensor<?x64xbf16, #mk.extents<TM>>
!b = tensor<?x64xbf16, #mk.extents<TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @pieces on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K], out %c : memref<?x?xbf16> [M, N]) {
  %c64 = arith.constant 64 : index
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 128
  %step = mk.param "STEP" = 101
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %step : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  mk.role @r ctas(rest) {
    mk.foreach (%m, %n) in (%rows, %columns) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %step : index
      %sum = mk.fold (%kt) in (%k_tiles) iter(%s = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %t = mk.dot %x, %y, %s transpose_b : !a, !b, !acc
        mk.yield %t : !acc
      }
      %t = arith.truncf %sum : !acc to !c
      mk.store %t, %c[%row, %column] valid(%tm, %step) : !c, memref<?x?xbf16>
    }
  }
}

func.func @pieces_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %a, %c0 : tensor<?x?xf64>
  %N = tensor.dim %b, %c0 : tensor<?x?xf64>
  %0 = arith.constant 0.0 : f64
  %e = tensor.empty(%M, %N) : tensor<?x?xf64>
  %z = linalg.fill ins(%0 : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

mk.kernel @several on @mesh dims(uniform M, uniform N, uniform E, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [E, K],
    out %c : memref<?x?xbf16> [M, N], out %d : memref<?x?xf32> [M, N], out %e : memref<?x?xbf16> [M, E]) {
  %c64 = arith.constant 64 : index
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 128
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %E, %tn : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  mk.role @r ctas(rest) {
    mk.foreach (%m, %n) in (%rows, %columns) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %tn : index
      %sum = mk.fold (%kt) in (%k_tiles) iter(%s = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %t = mk.dot %x, %y, %s transpose_b : !a, !b, !acc
        mk.yield %t : !acc
      }
      %t = arith.truncf %sum : !acc to !c
      mk.store %t, %e[%row, %column] : !c, memref<?x?xbf16>
      mk.store %t, %c[%row, %column] : !c, memref<?x?xbf16>
      mk.store %sum, %d[%row, %column] : !acc, memref<?x?xf32>
    }
  }
}

func.func @several_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %N: index {mk.dim = "N"})
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %a, %c0 : tensor<?x?xf64>
  %E = tensor.dim %b, %c0 : tensor<?x?xf64>
  %0 = arith.constant 0.0 : f64
  %empty = tensor.empty(%M, %E) : tensor<?x?xf64>
  %z = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = tensor.extract_slice %e[0, 0] [%M, %N] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  return %c, %c, %e : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}
