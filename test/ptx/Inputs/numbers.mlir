// Products of rows that other ranks send, and sums of numbers that come with them: threads load these between the tiles of a product.
!x = tensor<64x64xbf16>
!acc = tensor<64x64xf32>
!row = tensor<64xf32>
!m = memref<?x?xbf16, #mk.symmetric>
!s = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<?x?, sys, arrivals = ?>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @numbers on @mesh sizes(gpu) dims(uniform M, uniform N, uniform K) (
    in %q : !m [M, K] split [(gpu), ()],
    in %qs : !s [M, K ceildiv 64] split [(gpu), ()], in %w : memref<?x?xbf16> [N, K],
    scratch %all : !m [M, K], scratch %scales : !s [M, K ceildiv 64],
    out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %tm = arith.constant 64 : index
  %me = mk.rank
  %world = mk.size
  %own = memref.dim %q, %c0 : !m
  %each = arith.ceildivui %M, %world : index
  %mt = arith.ceildivui %M, %tm : index
  %nt = arith.ceildivui %N, %tm : index
  %kt = arith.ceildivui %K, %tm : index
  %0 = arith.constant 0.0 : f32
  %none = tensor.splat %0 : !row
  %zero = tensor.splat %0 : !acc
  %got = mk.signals(%world, %kt) arrivals(%c1) : !sig
  %got2 = mk.signals(%world, %kt) arrivals(%c1) : !sig
  mk.role @push ctas(2) {
    mk.foreach (%i) in (%kt) {
      %at = arith.muli %me, %each : index
      %k = arith.muli %i, %tm : index
      %left = arith.subi %K, %k : index
      %n = arith.minsi %left, %tm : index
      mk.foreach_peer (%p) along gpu including self {
        mk.put %q[%c0, %k][%own, %n] to %all[%at, %k] on %p signal %got[%me, %i] : !m to !m, !sig
        mk.put %qs[%c0, %i][%own, %c1] to %scales[%at, %i] on %p signal %got2[%me, %i] : !s to !s, !sig
      }
    }
  }
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%mt, %nt) {
      %r = arith.muli %i, %tm : index
      %col = arith.muli %j, %tm : index
      %acc, %sum = mk.fold (%l) in (%kt) iter(%a0 = %zero, %n0 = %none) : !acc, !row {
        %k = arith.muli %l, %tm : index
        scf.for %s = %c0 to %world step %c1 {
          mk.wait %got[%s, %l] ge %c1 : !sig
          mk.wait %got2[%s, %l] ge %c1 : !sig
        }
        %t = mk.load %all[%r, %k] : !m -> !x
        %s2 = mk.load %scales[%r, %l] : !s -> tensor<64x1xf32>
        %z = mk.load %w[%col, %k] : memref<?x?xbf16> -> !x
        %s1 = mk.reduce add %s2 axis 1 : tensor<64x1xf32> -> !row
        %n1 = arith.addf %n0, %s1 : !row
        %a1 = mk.dot %t, %z, %a0 transpose_b : !x, !x, !acc
        mk.yield %a1, %n1 : !acc, !row
      }
      %nb = mk.broadcast %sum dims [1] : !row -> !acc
      %o = arith.addf %acc, %nb : !acc
      mk.store %o, %c[%r, %col] : !acc, memref<?x?xf32>
    }
  }
}

func.func @reference(%q: tensor<?x?xf64>, %qs: tensor<?x?xf64>, %w: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %q, %c0 : tensor<?x?xf64>
  %n = tensor.dim %w, %c0 : tensor<?x?xf64>
  %row = tensor.empty(%m) : tensor<?xf64>
  %none = linalg.fill ins(%zero : f64) outs(%row : tensor<?xf64>) -> tensor<?xf64>
  %sums = linalg.reduce ins(%qs : tensor<?x?xf64>) outs(%none : tensor<?xf64>) dimensions = [1] (%x: f64, %old: f64) {
    %new = arith.addf %x, %old : f64
    linalg.yield %new : f64
  }
  %all = tensor.empty(%m, %n) : tensor<?x?xf64>
  %start = linalg.broadcast ins(%sums : tensor<?xf64>) outs(%all : tensor<?x?xf64>) dimensions = [1]
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q, %w : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
