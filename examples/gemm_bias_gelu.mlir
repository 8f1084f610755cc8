// A linear layer with activation: C = gelu(A * B^T + bias), A: M x K, B: N x K, bias: N,
// C: M x N; bf16, summed in f32, with the tanh form of GELU.
//
// Parameters: TM, TN, TK, the extents of a tile; CLUSTER_M, CLUSTER_N, how many tiles along M
// and N follow each other, so that CTAs side by side fetch together what they share; RASTER, how
// many rows of such groups are walked together; SCHEDULE, 0 static or 1 ticket; TEAMS, 2: two
// teams of warpgroups take the tiles of a CTA in turn, one multiplies while the other stores
// (with SCHEDULE 0).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!bias = tensor<?xbf16, #mk.extents<TN>>
!wide = tensor<?xf32, #mk.extents<TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_bias_gelu on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %b : memref<?x?xbf16> [N, K],
    in %bias : memref<?xbf16> [N],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128, 192, 256]
  %tn = mk.param "TN" = 256 in [64, 80, 96, 112, 128, 144, 160, 168, 176, 192, 208, 224, 240, 256]
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2]
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0
  mk.param "TEAMS" = 1 in [1, 2]
  %rows = memref.dim %a, %c0 : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %bias_narrow = mk.load %bias[%column] : memref<?xbf16> -> !bias
      %bias_wide = arith.extf %bias_narrow : !bias to !wide
      %bias_tile = mk.broadcast %bias_wide dims [0] : !wide -> !acc
      %x = arith.addf %acc, %bias_tile : !acc
      %y = func.call @gelu(%x, %tm, %tn) : (!acc, index, index) -> !acc
      %out = arith.truncf %y : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
func.func private @gelu(%x: !acc, %tm: index, %tn: index) -> !acc {
  %half_ = arith.constant 0.5 : f32
  %one_ = arith.constant 1.0 : f32
  %root_ = arith.constant 0.7978845608 : f32
  %cubic_ = arith.constant 0.0356774081 : f32   // root * 0.044715
  %half = tensor.splat %half_[%tm, %tn] : !acc
  %one = tensor.splat %one_[%tm, %tn] : !acc
  %root = tensor.splat %root_[%tm, %tn] : !acc
  %cubic = tensor.splat %cubic_[%tm, %tn] : !acc
  %x2 = arith.mulf %x, %x : !acc
  %p = arith.mulf %x2, %cubic : !acc
  %q = arith.addf %p, %root : !acc
  %u = arith.mulf %x, %q : !acc
  %t = math.tanh %u : !acc
  %t1 = arith.addf %t, %one : !acc
  %h = arith.mulf %x, %half : !acc
  %y = arith.mulf %h, %t1 : !acc
  return %y : !acc
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %bias: tensor<?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %root = arith.constant 0.79788456080286541 : f64
  %cubic = arith.constant 0.044715 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<?x?xf64>, tensor<?xf64>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%s: f64, %add: f64, %old: f64):
    %x = arith.addf %s, %add : f64
    %x2 = arith.mulf %x, %x : f64
    %x3 = arith.mulf %x2, %x : f64
    %p = arith.mulf %x3, %cubic : f64
    %q = arith.addf %x, %p : f64
    %u = arith.mulf %q, %root : f64
    %t = math.tanh %u : f64
    %t1 = arith.addf %t, %one : f64
    %h = arith.mulf %x, %half : f64
    %y = arith.mulf %h, %t1 : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
