// C = A * B^T, with tiles that begin SM rows, SN columns and SK of K before the arguments do: loads give zeros there, stores
// drop what they have. Neither need offsets be multiples of what the copy engine asks for.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @shifted on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 128
  %tk = mk.param "TK" = 64
  %sm = mk.param "SM" = 0
  %sn = mk.param "SN" = 0
  %sk = mk.param "SK" = 0
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %all_rows = arith.addi %M, %sm : index
  %row_tiles = arith.ceildivui %all_rows, %tm : index
  %all_columns = arith.addi %N, %sn : index
  %column_tiles = arith.ceildivui %all_columns, %tn : index
  %all_k = arith.addi %K, %sk : index
  %k_tiles = arith.ceildivui %all_k, %tk : index
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) {
      %row_ = arith.muli %m, %tm : index
      %row = arith.subi %row_, %sm : index
      %column_ = arith.muli %n, %tn : index
      %column = arith.subi %column_, %sn : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k_ = arith.muli %kt, %tk : index
        %k = arith.subi %k_, %sk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %t = arith.truncf %acc : !acc to !c
      mk.store %t, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

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
