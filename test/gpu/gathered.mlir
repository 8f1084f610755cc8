// Rows that a list names, as operands of products: C[r] = A[FIRST + list[r]] * B^T for the first
// USED rows r; a row that A does not have is zero, and so are the others. bf16.
!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @gathered on @mesh dims(uniform S, uniform M, uniform N, uniform K, uniform FIRST, uniform USED) (
    in %a : memref<?x?xbf16> [S, K],
    in %list : memref<?xi32> [M],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N]) {
  %tm = mk.param "TM" = 64
  %tn = mk.param "TN" = 64
  %tk = mk.param "TK" = 64
  %c0 = arith.constant 0 : index
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  %steps = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%rows, %columns) {
      %row = arith.muli %i, %tm : index
      %column = arith.muli %j, %tn : index
      %left = arith.subi %USED, %row : index
      %acc = mk.fold (%kt) in (%steps) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%FIRST, %k] rows(%list[%row] : memref<?xi32>) valid(%left, %tk) : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}
mk.kernel @planned on @mesh dims(uniform S, uniform M, uniform N, uniform K, uniform FIRST, uniform USED) (
    in %a : memref<?x?xbf16> [S, K],
    in %list : memref<?xi32> [M],
    in %b : memref<?x?xbf16> [N, K],
    // The list, as another role has written it.
    scratch %planned : memref<?xi32> [M],
    out %c : memref<?x?xbf16> [M, N]) {
  %tm = mk.param "TM" = 64
  %tn = mk.param "TN" = 64
  %tk = mk.param "TK" = 64
  %c0 = arith.constant 0 : index
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  %steps = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %made = mk.signals() arrivals(%rows) : !mk.signal<1, gpu, arrivals = ?>
  mk.role @plan ctas(1) {
    mk.foreach (%i) in (%rows) {
      %row = arith.muli %i, %tm : index
      %some = mk.load %list[%row] : memref<?xi32> -> tensor<?xi32, #mk.extents<TM>>
      mk.store %some, %planned[%row] : tensor<?xi32, #mk.extents<TM>>, memref<?xi32>
      mk.signal %made[%c0] : !mk.signal<1, gpu, arrivals = ?>
    }
  }
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%rows, %columns) {
      mk.wait %made[%c0] ge %rows : !mk.signal<1, gpu, arrivals = ?>
      %row = arith.muli %i, %tm : index
      %column = arith.muli %j, %tn : index
      %left = arith.subi %USED, %row : index
      %acc = mk.fold (%kt) in (%steps) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%FIRST, %k] rows(%planned[%row] : memref<?xi32>) valid(%left, %tk) : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}
func.func @reference(%a: tensor<?x?xf64>, %list: tensor<?xi32>, %b: tensor<?x?xf64>,
                     %FIRST: index {mk.dim = "FIRST"}, %USED: index {mk.dim = "USED"}) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %list, %c0 : tensor<?xi32>
  %k = tensor.dim %a, %c1 : tensor<?x?xf64>
  %s = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %k) : tensor<?x?xf64>
  %x = linalg.generic {indexing_maps = [affine_map<(r, k) -> (r)>, affine_map<(r, k) -> (r, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%list : tensor<?xi32>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%id: i32, %old: f64):
    %r = linalg.index 0 : index
    %kk = linalg.index 1 : index
    %number = arith.index_cast %id : i32 to index
    %row = arith.addi %number, %FIRST : index
    %exists = arith.cmpi ult, %row, %s : index
    %used = arith.cmpi slt, %r, %USED : index
    %is = arith.andi %exists, %used : i1
    %value = scf.if %is -> (f64) {
      %v = tensor.extract %a[%row, %kk] : tensor<?x?xf64>
      scf.yield %v : f64
    } else {
      scf.yield %0 : f64
    }
    linalg.yield %value : f64
  } -> tensor<?x?xf64>
  // B may have more columns.
  %used_b = tensor.extract_slice %b[0, 0] [%n, %k] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %out = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%0 : f64) outs(%out : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %used_b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
