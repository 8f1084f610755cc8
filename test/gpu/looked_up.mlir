// Rows that a list names, in roles and epilogues: what threads gather themselves. A row that the table does not have is
// zero, and so are rows behind the list, or behind USED of it.
!t = tensor<?x?xbf16, #mk.extents<TM, TN>>
!f = tensor<?x?xf32, #mk.extents<TM, TN>>
!w = tensor<?xf32, #mk.extents<TM>>
!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
mk.mesh @mesh (gpu = 1 via link)

// Y[m] = sum over j of weight[j][m] * table[FIRST + list[j][m]], for the first USED rows m.
mk.kernel @combine on @mesh dims(uniform S, uniform J, uniform JM, uniform M, uniform N, uniform FIRST, uniform USED) (
    in %table : memref<?x?xbf16> [S, N],
    in %list : memref<?xi32> [JM],
    in %weight : memref<?x?xf32> [J, M],
    out %y : memref<?x?xbf16> [M, N]) {
  %tm = mk.param "TM" = 8
  %tn = mk.param "TN" = 128
  %c0 = arith.constant 0 : index
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !f
  mk.role @r ctas(rest) {
    mk.foreach (%i, %k) in (%rows, %columns) {
      %row = arith.muli %i, %tm : index
      %column = arith.muli %k, %tn : index
      %left = arith.subi %USED, %row : index
      %sum = mk.fold (%j) in (%J) iter(%part = %zero) : !f {
        %first = arith.muli %j, %M : index
        %at = arith.addi %first, %row : index
        %x = mk.load %table[%FIRST, %column] rows(%list[%at] : memref<?xi32>) valid(%left, %tn) : memref<?x?xbf16> -> !t
        %w = mk.load %weight[%j, %row] : memref<?x?xf32> -> !w
        %wide = arith.extf %x : !t to !f
        %all = mk.broadcast %w dims [1] : !w -> !f
        %scaled = arith.mulf %wide, %all : !f
        %next = arith.addf %part, %scaled : !f
        mk.yield %next : !f
      }
      %out = arith.truncf %sum : !f to !t
      mk.store %out, %y[%row, %column] : !t, memref<?x?xbf16>
    }
  }
}
func.func @combine_reference(%table: tensor<?x?xf64>, %list: tensor<?xi32>, %weight: tensor<?x?xf64>,
                             %FIRST: index {mk.dim = "FIRST"}, %USED: index {mk.dim = "USED"}) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %s = tensor.dim %table, %c0 : tensor<?x?xf64>
  %n = tensor.dim %table, %c1 : tensor<?x?xf64>
  %m = tensor.dim %weight, %c1 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c, j) -> (j, r)>, affine_map<(r, c, j) -> (r, c)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%weight : tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) {
  ^bb0(%w: f64, %sum: f64):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %j = linalg.index 2 : index
    %first = arith.muli %j, %m : index
    %at = arith.addi %first, %r : index
    %id = tensor.extract %list[%at] : tensor<?xi32>
    %number = arith.index_cast %id : i32 to index
    %row = arith.addi %number, %FIRST : index
    %exists = arith.cmpi ult, %row, %s : index
    %used = arith.cmpi slt, %r, %USED : index
    %is = arith.andi %exists, %used : i1
    %value = scf.if %is -> (f64) {
      %v = tensor.extract %table[%row, %c] : tensor<?x?xf64>
      scf.yield %v : f64
    } else {
      scf.yield %0 : f64
    }
    %scaled = arith.mulf %value, %w : f64
    %next = arith.addf %sum, %scaled : f64
    linalg.yield %next : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// C[m] = A[m] * B^T + table[list[m]], where another role has written the list.
mk.kernel @added on @mesh dims(uniform S, uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K],
    in %table : memref<?x?xbf16> [S, N],
    in %list : memref<?xi32> [M],
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
  %zero = tensor.splat %0[%tm, %tn] : !f
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
      %row = arith.muli %i, %tm : index
      %column = arith.muli %j, %tn : index
      %acc = mk.fold (%kt) in (%steps) iter(%sum = %zero) combine(add) : !f {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !f
        mk.yield %next : !f
      }
      mk.wait %made[%c0] ge %rows : !mk.signal<1, gpu, arrivals = ?>
      %e = mk.load %table[%c0, %column] rows(%planned[%row] : memref<?xi32>) : memref<?x?xbf16> -> !t
      %wide = arith.extf %e : !t to !f
      %with = arith.addf %acc, %wide : !f
      %out = arith.truncf %with : !f to !t
      mk.store %out, %c[%row, %column] : !t, memref<?x?xbf16>
    }
  }
}
func.func @added_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %table: tensor<?x?xf64>, %list: tensor<?xi32>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %s = tensor.dim %table, %c0 : tensor<?x?xf64>
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%list : tensor<?xi32>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%id: i32, %old: f64):
    %c = linalg.index 1 : index
    %row = arith.index_cast %id : i32 to index
    %exists = arith.cmpi ult, %row, %s : index
    %value = scf.if %exists -> (f64) {
      %v = tensor.extract %table[%row, %c] : tensor<?x?xf64>
      scf.yield %v : f64
    } else {
      scf.yield %0 : f64
    }
    linalg.yield %value : f64
  } -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
