// Numbers of rows and columns: of dealt out tiles, of vectors, of accumulators, also where they are computed transposed.
mk.mesh @mesh (gpu = 1 via link)
!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!c = tensor<?x?xf32, #mk.extents<TM, TN>>
!n = tensor<?x?xi32, #mk.extents<TM, TN>>

// C = A B^T + rows - 3 columns.
mk.kernel @biased on @mesh dims(uniform M, uniform N, uniform K) (in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 64
  %tn = mk.param "TN" = 64
  %tk = mk.param "TK" = 64
  mk.param "SCHEDULE" = 0
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  %steps = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %3 = arith.constant 3 : i32
  %zero = tensor.splat %0[%tm, %tn] : !c
  %three = tensor.splat %3[%tm, %tn] : !n
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%rows, %columns) schedule(param SCHEDULE, tail = 1) {
      %row = arith.muli %i, %tm : index
      %column = arith.muli %j, %tn : index
      %acc = mk.fold (%kt) in (%steps) iter(%sum = %zero) combine(add) : !c {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !c
        mk.yield %next : !c
      }
      %r = mk.iota axis 0 : !n
      %q = mk.iota axis 1 : !n
      %row32 = arith.index_cast %row : index to i32
      %column32 = arith.index_cast %column : index to i32
      %r0 = tensor.splat %row32[%tm, %tn] : !n
      %q0 = tensor.splat %column32[%tm, %tn] : !n
      %rr = arith.addi %r, %r0 : !n
      %qq = arith.addi %q, %q0 : !n
      %q3 = arith.muli %qq, %three : !n
      %d = arith.subi %rr, %q3 : !n
      %f = arith.sitofp %d : !n to !c
      %out = arith.addf %acc, %f : !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xf32>
    }
  }
}
func.func @biased_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %bias = tensor.generate %m, %n {
  ^bb0(%r: index, %q: index):
    %q3 = arith.muli %q, %c3 : index
    %d = arith.subi %r, %q3 : index
    %i = arith.index_cast %d : index to i64
    %f = arith.sitofp %i : i64 to f64
    tensor.yield %f : f64
  } : tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%bias : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

// The first column with the most of each row, and numbers of 64 bits; a tile that stands beside the roles.
mk.kernel @first on @mesh dims(uniform M) (in %x : memref<?x48xf32> [M, 48], out %y : memref<?xi32> [M], out %z : memref<?x48xi64> [M, 48]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %items = arith.ceildivui %M, %c8 : index
  %q = mk.iota axis 1 : tensor<8x48xi32>
  %far = arith.constant dense<1000> : tensor<8x48xi32>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%items) {
      %row = arith.muli %i, %c8 : index
      %t = mk.load %x[%row, %c0] : memref<?x48xf32> -> tensor<8x48xf32>
      %most = mk.reduce max %t axis 1 : tensor<8x48xf32> -> tensor<8xf32>
      %all = mk.broadcast %most dims [1] : tensor<8xf32> -> tensor<8x48xf32>
      %is = arith.cmpf oeq, %t, %all : tensor<8x48xf32>
      %at = arith.select %is, %q, %far : tensor<8x48xi1>, tensor<8x48xi32>
      %first = mk.reduce min %at axis 1 : tensor<8x48xi32> -> tensor<8xi32>
      mk.store %first, %y[%row] : tensor<8xi32>, memref<?xi32>
      %n = mk.iota axis 0 : tensor<8x48xi64>
      mk.store %n, %z[%row, %c0] : tensor<8x48xi64>, memref<?x48xi64>
    }
  }
}
func.func @first_reference(%x: tensor<?x48xf64>) -> (tensor<?xi32>, tensor<?x48xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c48 = arith.constant 48 : index
  %m = tensor.dim %x, %c0 : tensor<?x48xf64>
  %zero = arith.constant 0 : i32
  %y = tensor.generate %m {
  ^bb0(%r: index):
    %v0 = tensor.extract %x[%r, %c0] : tensor<?x48xf64>
    %best:2 = scf.for %q = %c1 to %c48 step %c1 iter_args(%most = %v0, %at = %zero) -> (f64, i32) {
      %v = tensor.extract %x[%r, %q] : tensor<?x48xf64>
      %is = arith.cmpf ogt, %v, %most : f64
      %n = arith.index_cast %q : index to i32
      %m2 = arith.select %is, %v, %most : f64
      %a2 = arith.select %is, %n, %at : i32
      scf.yield %m2, %a2 : f64, i32
    }
    tensor.yield %best#1 : i32
  } : tensor<?xi32>
  %z = tensor.generate %m {
  ^bb0(%r: index, %q: index):
    %in = arith.remui %r, %c8 : index
    %n = arith.index_cast %in : index to i64
    tensor.yield %n : i64
  } : tensor<?x48xi64>
  return %y, %z : tensor<?xi32>, tensor<?x48xi64>
}
