// A product and a residual. Items come in pairs with the same columns of the product, which CTAs side by side share.

!a = tensor<64x64xbf16>
!acc = tensor<64x64xf32>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @residual_pairs on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K],
    in %r : memref<?x?xf32> [M, N], out %c : memref<?x?xf32> [M, N]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0 : !acc
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivui %M, %c128 : index
  %columns = arith.ceildivui %N, %c64 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %half) in (%rows, %columns, %c2) {
      %pair = arith.muli %m, %c2 : index
      %tile = arith.addi %pair, %half : index
      %row = arith.muli %tile, %c64 : index
      %column = arith.muli %n, %c64 : index
      %product = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !a
        %next = mk.dot %x, %y, %sum transpose_b : !a, !a, !acc
        mk.yield %next : !acc
      }
      %residual = mk.load %r[%row, %column] : memref<?x?xf32> -> !acc
      %total = arith.addf %product, %residual : !acc
      mk.store %total, %c[%row, %column] : !acc, memref<?x?xf32>
    }
  }
}

func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %r: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%r : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
