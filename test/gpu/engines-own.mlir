// Copy engines gather the rows of all ranks, the own ones too, beside products, which leave no room on an SM: what a
// rank puts to itself has to be there all the same.

!x = memref<?x?xbf16, #mk.symmetric>
!there = !mk.signal<?, sys, arrivals = 1>
!tile = tensor<128x64xbf16>
!acc = tensor<128x128xf32>
!out = tensor<128x128xbf16>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @engines_own on @mesh dims(uniform M, uniform N, uniform K) (
    in %x : !x [M, K] split [(gpu), ()], in %w : memref<?x?xbf16> [N, K],
    scratch %full : !x [M, K],
    out %c : memref<?x?xbf16> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %rows = memref.dim %x, %c0 : !x
  %at_ = arith.muli %me, %shard : index
  %at = arith.minui %at_, %M : index
  %row_tiles = arith.ceildivui %M, %c128 : index
  %column_tiles = arith.ceildivui %N, %c128 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  %zero = arith.constant dense<0.0> : !acc
  %there = mk.signals(%world) : !there

  mk.role @copy ctas(engines) {
    mk.foreach_peer (%p) along gpu including self {
      mk.put %x[%c0, %c0][%rows, %K] to %full[%at, %c0] on %p signal %there[%me] : !x to !x, !there
    }
  }
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%row_tiles, %column_tiles) {
      scf.for %s = %c0 to %world step %c1 {
        mk.wait %there[%s] ge %c1 : !there
      }
      %r = arith.muli %i, %c128 : index
      %n = arith.muli %j, %c128 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) : !acc {
        %k = arith.muli %kt, %c64 : index
        %a = mk.load %full[%r, %k] : !x -> !tile
        %b = mk.load %w[%n, %k] : memref<?x?xbf16> -> !tile
        %next = mk.dot %a, %b, %sum transpose_b : !tile, !tile, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !out
      mk.store %out, %c[%r, %n] : !out, memref<?x?xbf16>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %da = arith.constant 0 : index
  %db = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %x, %da : tensor<?x?xf64>
  %n = tensor.dim %w, %db : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
