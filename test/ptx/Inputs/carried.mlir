// Tiles of columns from the last one to the first, each with all that came before: what is carried into an iteration is stored at
// another place there than where it was loaded, so that nothing of it may be missing.
!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TK, TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @carried on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [K, N],
    out %c : memref<?x?xbf16> [M, N]) {
  %tm = mk.param "TM" = 64 in [64, 128]
  %tn = mk.param "TN" = 128 in [64, 128]
  %tk = mk.param "TK" = 64
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %rt = arith.ceildivui %M, %tm : index
  %ct = arith.ceildivui %N, %tn : index
  %kt = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  mk.role @gemm ctas(rest) {
    mk.foreach (%m) in (%rt) schedule(static) {
      %row = arith.muli %m, %tm : index
      %last = scf.for %t = %i0 to %ct step %i1 iter_args(%prev = %zero) -> (!acc) {
        %u = arith.addi %t, %i1 : index
        %j = arith.subi %ct, %u : index
        %column = arith.muli %j, %tn : index
        %acc = scf.for %q = %i0 to %kt step %i1 iter_args(%sum = %prev) -> (!acc) {
          %k = arith.muli %q, %tk : index
          %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
          %y = mk.load %b[%k, %column] : memref<?x?xbf16> -> !b
          %next = mk.dot %x, %y, %sum : !a, !b, !acc
          scf.yield %next : !acc
        }
        %out = arith.truncf %acc : !acc to !c
        mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
        scf.yield %acc : !acc
      }
    }
  }
}
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c1 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<?x?xf64>) {
  ^bb0(%o: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c128 = arith.constant 128 : index
    %k0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f64
    %j2 = arith.addi %j, %c128 : index
    %in = arith.cmpi ult, %j2, %n : index
    %js = arith.select %in, %j2, %k0 : index
    %e = tensor.extract %p[%i, %j] : tensor<?x?xf64>
    %e2 = tensor.extract %p[%i, %js] : tensor<?x?xf64>
    %e3 = arith.select %in, %e2, %z : f64
    %s = arith.addf %e, %e3 : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
