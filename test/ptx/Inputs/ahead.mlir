// Items whose loads are on their way while the item before is worked on.
!t = tensor<?x?xf32, #mk.extents<TM, TN>>
!g = tensor<?x?xbf16, #mk.extents<TM, TN>>
!row = tensor<?xf32, #mk.extents<TN>>
!each = tensor<?xf32, #mk.extents<TM>>
mk.mesh @mesh (gpu = 1 via link)

// P -= rate * G, M = M / 2 + G, where they are; rates are of columns.
mk.kernel @step on @mesh dims(uniform M, uniform N) (in %g : memref<?x?xbf16> [M, N], in %rate : memref<?xf32> [N],
    inout %p : memref<?x?xf32> [M, N], inout %m : memref<?x?xf32> [M, N]) {
  %tm = mk.param "TM" = 16
  %tn = mk.param "TN" = 64
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  %h = arith.constant 0.5 : f32
  %half = tensor.splat %h[%tm, %tn] : !t
  mk.role @update ctas(rest) {
    mk.foreach (%i, %j) in (%rows, %columns) schedule(static) {
      %row = arith.muli %i, %tm : index
      %column = arith.muli %j, %tn : index
      %x = mk.load %g[%row, %column] : memref<?x?xbf16> -> !g
      %r = mk.load %rate[%column] : memref<?xf32> -> !row
      %p0 = mk.load %p[%row, %column] : memref<?x?xf32> -> !t
      %m0 = mk.load %m[%row, %column] : memref<?x?xf32> -> !t
      %w = arith.extf %x : !g to !t
      %rates = mk.broadcast %r dims [0] : !row -> !t
      %d = arith.mulf %w, %rates : !t
      %p1 = arith.subf %p0, %d : !t
      %m1 = arith.mulf %m0, %half : !t
      %m2 = arith.addf %m1, %w : !t
      mk.store %p1, %p[%row, %column] : !t, memref<?x?xf32>
      mk.store %m2, %m[%row, %column] : !t, memref<?x?xf32>
    }
  }
}
func.func @step_reference(%g: tensor<?x?xf64>, %rate: tensor<?xf64>, %p: tensor<?x?xf64>, %m: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %h = arith.constant 0.5 : f64
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%g, %rate : tensor<?x?xf64>, tensor<?xf64>) outs(%p, %m : tensor<?x?xf64>, tensor<?x?xf64>) {
  ^bb0(%x: f64, %f: f64, %a: f64, %b: f64):
    %d = arith.mulf %x, %f : f64
    %p1 = arith.subf %a, %d : f64
    %m1 = arith.mulf %b, %h : f64
    %m2 = arith.addf %m1, %x : f64
    linalg.yield %p1, %m2 : f64, f64
  } -> (tensor<?x?xf64>, tensor<?x?xf64>)
  return %r#0, %r#1 : tensor<?x?xf64>, tensor<?x?xf64>
}

// Rows minus a mean of all that a loop in the item adds up, in two passes: both load ahead.
mk.kernel @center on @mesh dims(uniform M, uniform N) (in %x : memref<?x?xf32> [M, N], in %n : memref<1xf32> [1], out %y : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tm = mk.param "TM" = 16
  %tn = mk.param "TN" = 64
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  %0 = arith.constant 0.0 : f32
  %none = tensor.splat %0[%tm] : !each
  mk.role @work ctas(rest) {
    mk.foreach (%i) in (%rows) schedule(static) {
      %row = arith.muli %i, %tm : index
      %f = memref.load %n[%c0] : memref<1xf32>
      %factor = tensor.splat %f[%tm] : !each
      %sum = scf.for %j = %c0 to %columns step %c1 iter_args(%s = %none) -> (!each) {
        %column = arith.muli %j, %tn : index
        %t = mk.load %x[%row, %column] : memref<?x?xf32> -> !t
        %part = mk.reduce add %t axis 1 : !t -> !each
        %next = arith.addf %s, %part : !each
        scf.yield %next : !each
      }
      %mean = arith.mulf %sum, %factor : !each
      scf.for %j = %c0 to %columns step %c1 {
        %column = arith.muli %j, %tn : index
        %t = mk.load %x[%row, %column] : memref<?x?xf32> -> !t
        %means = mk.broadcast %mean dims [1] : !each -> !t
        %d = arith.subf %t, %means : !t
        mk.store %d, %y[%row, %column] : !t, memref<?x?xf32>
      }
    }
  }
}
func.func @center_reference(%x: tensor<?x?xf64>, %n: tensor<1xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %k = tensor.dim %x, %c1 : tensor<?x?xf64>
  %f = tensor.extract %n[%c0] : tensor<1xf64>
  %e = tensor.empty(%m) : tensor<?xf64>
  %z = linalg.fill ins(%0 : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %s = linalg.reduce ins(%x : tensor<?x?xf64>) outs(%z : tensor<?xf64>) dimensions = [1] (%a: f64, %o: f64) {
    %v = arith.addf %a, %o : f64
    linalg.yield %v : f64
  }
  %o = tensor.empty(%m, %k) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x?xf64>, tensor<?xf64>) outs(%o : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %mean = arith.mulf %b, %f : f64
    %v = arith.subf %a, %mean : f64
    linalg.yield %v : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
