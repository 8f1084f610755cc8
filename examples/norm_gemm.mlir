// GEMM of normalized rows. rms_norm_gemm: C = (A / sqrt(mean of a^2 + 1e-5)) * B^T, as in front of the products of a
// decoder layer. layer_norm_gemm: C = ((A - mean) / sqrt(variance + 1e-5)) * B^T + T. A: M x K, B: N x K, C: M x N; bf16,
// summed in f32.
//
// The gains of a norm belong into B (B[n, k] = gain[k] * W[n, k]), its biases into T (T[n] = sum over k of bias[k] *
// W[n, k]): they do not change from launch to launch. S[n] is the sum over k of B[n, k], by which the mean is taken out
// of a product: sum of (a - mean) b = sum of a b - mean * S. So A is read once: squares of its elements (and elements) are
// added up beside the products, out of the tiles that these take, and each row is scaled at the end. The variance is the
// mean of squares less the square of the mean, in f32: rows whose mean is many times their deviation lose digits.
//
// Parameters: TM, TN, TK, the extents of a tile; CLUSTER_M, CLUSTER_N, how many tiles along M
// and N follow each other, so that CTAs side by side fetch together what they share; RASTER, how
// many rows of such groups are walked together; SCHEDULE, 0 static, 1 ticket or 2 stream_k, which splits the last TAIL waves
// along K, where tiles are few; TEAMS, 2: two teams of warpgroups take the tiles of a CTA in turn (with SCHEDULE 0);
// CLUSTER_K, how many CTAs do a tile together, each a part of K (TN is a multiple of 8 CLUSTER_K).

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!wide = tensor<?x?xf32, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!row = tensor<?xf32, #mk.extents<TM>>
!column = tensor<?xf32, #mk.extents<TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @rms_norm_gemm on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128, 256]
  %tn = mk.param "TN" = 256 in [64, 96, 128, 160, 192, 224, 256]
  %extent = arith.muli %tm, %tn : index
  %most = arith.constant 49152 : index
  %fits = arith.cmpi ule, %extent, %most : index
  mk.require %fits, "TM times TN is 49152 at most"
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2]
  mk.param "RASTER" = 8
  %schedule = mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  %teams = mk.param "TEAMS" = 1
  %ck = mk.param "CLUSTER_K" = 1 in [1, 2, 4]
  %one = arith.constant 1 : index
  %whole = arith.cmpi eq, %ck, %one : index
  %cluster = arith.muli %cm, %cn : index
  %cluster_teams = arith.muli %cluster, %teams : index
  %choices = arith.addi %cluster_teams, %schedule : index
  %plain = arith.cmpi eq, %choices, %one : index
  %alone = arith.ori %whole, %plain : i1
  mk.require %alone, "CLUSTER_K goes with SCHEDULE 0, TEAMS 1 and no other clusters"
  %rows = memref.dim %a, %c0 : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %none = tensor.splat %0[%tm] : !row
  %columns = arith.index_cast %K : index to i32
  %count = arith.sitofp %columns : i32 to f32
  %1 = arith.constant 1.0 : f32
  %share = arith.divf %1, %count : f32
  %mean_of = tensor.splat %share[%tm] : !row
  %epsilon = arith.constant 1.0e-5 : f32
  %least = tensor.splat %epsilon[%tm] : !row

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc, %squares = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero, %q = %none) combine(add)
          : !acc, !row {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        %w = arith.extf %x : !a to !wide
        %w2 = arith.mulf %w, %w : !wide
        %more = mk.reduce add %w2 axis 1 : !wide -> !row
        %q_next = arith.addf %q, %more : !row
        mk.yield %next, %q_next : !acc, !row
      }
      %mean = arith.mulf %squares, %mean_of : !row
      %over = arith.addf %mean, %least : !row
      %scale = math.rsqrt %over : !row
      %scales = mk.broadcast %scale dims [1] : !row -> !acc
      %scaled = arith.mulf %acc, %scales : !acc
      %out = arith.truncf %scaled : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

mk.kernel @layer_norm_gemm on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %b : memref<?x?xbf16> [N, K],
    in %s : memref<?xf32> [N],
    in %t : memref<?xf32> [N],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128, 256]
  %tn = mk.param "TN" = 256 in [64, 96, 128, 160, 192, 224, 256]
  %extent = arith.muli %tm, %tn : index
  %most = arith.constant 32768 : index
  %fits = arith.cmpi ule, %extent, %most : index
  mk.require %fits, "TM times TN is 32768 at most"
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2]
  mk.param "RASTER" = 8
  %schedule = mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  %teams = mk.param "TEAMS" = 1
  %ck = mk.param "CLUSTER_K" = 1 in [1, 2, 4]
  %one = arith.constant 1 : index
  %whole = arith.cmpi eq, %ck, %one : index
  %cluster = arith.muli %cm, %cn : index
  %cluster_teams = arith.muli %cluster, %teams : index
  %choices = arith.addi %cluster_teams, %schedule : index
  %plain = arith.cmpi eq, %choices, %one : index
  %alone = arith.ori %whole, %plain : i1
  mk.require %alone, "CLUSTER_K goes with SCHEDULE 0, TEAMS 1 and no other clusters"
  %rows = memref.dim %a, %c0 : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %none = tensor.splat %0[%tm] : !row
  %columns = arith.index_cast %K : index to i32
  %count = arith.sitofp %columns : i32 to f32
  %1 = arith.constant 1.0 : f32
  %share = arith.divf %1, %count : f32
  %mean_of = tensor.splat %share[%tm] : !row
  %epsilon = arith.constant 1.0e-5 : f32
  %least = tensor.splat %epsilon[%tm] : !row

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc, %squares, %elements = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero, %q = %none, %e = %none)
          combine(add) : !acc, !row, !row {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        %w = arith.extf %x : !a to !wide
        %w2 = arith.mulf %w, %w : !wide
        %more = mk.reduce add %w2 axis 1 : !wide -> !row
        %q_next = arith.addf %q, %more : !row
        %of_x = mk.reduce add %w axis 1 : !wide -> !row
        %e_next = arith.addf %e, %of_x : !row
        mk.yield %next, %q_next, %e_next : !acc, !row, !row
      }
      %mean = arith.mulf %elements, %mean_of : !row
      %mean2 = arith.mulf %mean, %mean : !row
      %q_mean = arith.mulf %squares, %mean_of : !row
      %variance = arith.subf %q_mean, %mean2 : !row
      %over = arith.addf %variance, %least : !row
      %scale = math.rsqrt %over : !row
      %s_part = mk.load %s[%column] : memref<?xf32> -> !column
      %t_part = mk.load %t[%column] : memref<?xf32> -> !column
      %means = mk.broadcast %mean dims [1] : !row -> !acc
      %of_mean = mk.broadcast %s_part dims [0] : !column -> !acc
      %taken = arith.mulf %means, %of_mean : !acc
      %rest = arith.subf %acc, %taken : !acc
      %scales = mk.broadcast %scale dims [1] : !row -> !acc
      %scaled = arith.mulf %rest, %scales : !acc
      %added = mk.broadcast %t_part dims [0] : !column -> !acc
      %total = arith.addf %scaled, %added : !acc
      %out = arith.truncf %total : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// What they compute, on whole tensors: sums of rows and of their squares, and what a product is scaled by.
func.func private @row_sums(%a: tensor<?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m) : tensor<?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
  %sum = linalg.reduce ins(%a : tensor<?x?xf64>) outs(%init : tensor<?xf64>) dimensions = [1] (%x: f64, %old: f64) {
    %new = arith.addf %x, %old : f64
    linalg.yield %new : f64
  }
  %squares = linalg.reduce ins(%a : tensor<?x?xf64>) outs(%init : tensor<?xf64>) dimensions = [1] (%x: f64, %old: f64) {
    %square = arith.mulf %x, %x : f64
    %new = arith.addf %square, %old : f64
    linalg.yield %new : f64
  }
  return %sum, %squares : tensor<?xf64>, tensor<?xf64>
}

func.func private @product(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func private @length(%a: tensor<?x?xf64>) -> f64 {
  %c1 = arith.constant 1 : index
  %k = tensor.dim %a, %c1 : tensor<?x?xf64>
  %number = arith.index_cast %k : index to i64
  %length = arith.sitofp %number : i64 to f64
  return %length : f64
}

func.func @rms_norm_gemm_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %epsilon = arith.constant 1.0e-5 : f64
  %sum, %squares = func.call @row_sums(%a) : (tensor<?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %length = func.call @length(%a) : (tensor<?x?xf64>) -> f64
  %product = func.call @product(%a, %b) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%squares : tensor<?xf64>) outs(%product : tensor<?x?xf64>) {
  ^bb0(%q: f64, %x: f64):
    %mean = arith.divf %q, %length : f64
    %over = arith.addf %mean, %epsilon : f64
    %scale = math.rsqrt %over : f64
    %y = arith.mulf %x, %scale : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func @layer_norm_gemm_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %s: tensor<?xf64>, %t: tensor<?xf64>) -> tensor<?x?xf64> {
  %epsilon = arith.constant 1.0e-5 : f64
  %sum, %squares = func.call @row_sums(%a) : (tensor<?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %length = func.call @length(%a) : (tensor<?x?xf64>) -> f64
  %product = func.call @product(%a, %b) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>,
                                        affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %squares, %s, %t : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%product : tensor<?x?xf64>) {
  ^bb0(%e: f64, %q: f64, %of_mean: f64, %added: f64, %x: f64):
    %mean = arith.divf %e, %length : f64
    %q_mean = arith.divf %q, %length : f64
    %mean2 = arith.mulf %mean, %mean : f64
    %variance = arith.subf %q_mean, %mean2 : f64
    %over = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %over : f64
    %taken = arith.mulf %mean, %of_mean : f64
    %rest = arith.subf %x, %taken : f64
    %scaled = arith.mulf %rest, %scale : f64
    %y = arith.addf %scaled, %added : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
