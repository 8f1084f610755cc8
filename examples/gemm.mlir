// GEMM, C = A * B^T, on each rank by itself: no communication.
//
// A is split by rows over the mesh, B is whole on every rank.

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xf32> [M, K] split [(gpu), ()],
    in %b : memref<?x?xf32> [N, K],
    out %c : memref<?x?xf32> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %rows = memref.dim %a, %c0 : memref<?x?xf32>
  %row_tiles = arith.ceildivui %rows, %c128 : index
  %column_tiles = arith.ceildivui %N, %c256 : index
  %k_tiles = arith.ceildivui %K, %c64 : index

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) schedule(ticket) order(raster = 8) {
      %row = arith.muli %m, %c128 : index
      %column = arith.muli %n, %c256 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : tensor<128x256xf32> {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xf32> -> tensor<128x64xf32>
        %y = mk.load %b[%column, %k] : memref<?x?xf32> -> tensor<256x64xf32>
        %next = mk.dot %x, %y, %sum transpose_b
            : tensor<128x64xf32>, tensor<256x64xf32>, tensor<128x256xf32>
        mk.yield %next : tensor<128x256xf32>
      }
      mk.store %acc, %c[%row, %column] : tensor<128x256xf32>, memref<?x?xf32>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
