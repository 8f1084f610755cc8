// GEMM, C = A * B, in the four layouts of its operands: @gemm_nt, @gemm_nn, @gemm_tn
// and @gemm_tt, chosen by --kernel. The first letter is t where A is stored as K x M,
// the second where B is stored as N x K (K-major, as the weights of a linear layer).
//
// bf16 in and out, summed in f32. There is no communication: each rank multiplies
// its rows of A (columns, where A is K x M) by the whole of B.
//
// Parameters: TM, TN, TK, the extents of a tile; CLUSTER_M, CLUSTER_N, how many tiles along M
// and N follow each other, so that CTAs side by side do them and can fetch together
// what they share (not by tickets; 8 tiles at most); RASTER, how many rows of such
// groups are walked together; SCHEDULE, 0 static, 1 ticket or 2 stream_k, which splits the
// last TAIL waves along K; CLUSTER_K, how many CTAs do a tile together, each a part of K (with
// SCHEDULE 0, TEAMS 1; TN, or TM where that is no multiple of 64, is a multiple of 8 CLUSTER_K); TEAMS, 2: two teams of warpgroups take the tiles of a CTA in turn
// (with SCHEDULE 0), 1: all share each tile.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!at = tensor<?x?xbf16, #mk.extents<TK, TM>>
!b = tensor<?x?xbf16, #mk.extents<TK, TN>>
!bt = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_nt on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %tm = mk.param "TM" = 128
      in [64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 256]
  %tn = mk.param "TN" = 256
      in [64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256]
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2, 4]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2, 4]
  mk.param "RASTER" = 8
  %schedule = mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  %teams = mk.param "TEAMS" = 1 in [1, 2]
  %ck = mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4, 5, 6, 8]
  %one = arith.constant 1 : index
  %whole = arith.cmpi eq, %ck, %one : index
  %cluster = arith.muli %cm, %cn : index
  %most = arith.constant 8 : index
  %not_large = arith.cmpi ule, %cluster, %most : index
  mk.require %not_large, "CLUSTER_M times CLUSTER_N is 8 at most"
  %cluster_teams = arith.muli %cluster, %teams : index
  %more = arith.addi %cluster_teams, %schedule : index
  %plain = arith.cmpi eq, %more, %one : index
  %fits = arith.ori %whole, %plain : i1
  mk.require %fits, "CLUSTER_K goes with SCHEDULE 0, TEAMS 1 and no other clusters"
  %rows_at = arith.constant 0 : index
  %rows = memref.dim %a, %rows_at : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !bt
        %next = mk.dot %x, %y, %sum transpose_b : !a, !bt, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

mk.kernel @gemm_nn on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %b : memref<?x?xbf16> [K, N],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %tm = mk.param "TM" = 128
      in [64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 256]
  %tn = mk.param "TN" = 256
      in [64, 96, 128, 160, 176, 192, 224, 256] // with rows of b along N others were measured to gain nothing
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2, 4]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2, 4]
  mk.param "RASTER" = 8
  %schedule = mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  %teams = mk.param "TEAMS" = 1 in [1, 2]
  %ck = mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4, 5, 6, 8]
  %one = arith.constant 1 : index
  %whole = arith.cmpi eq, %ck, %one : index
  %cluster = arith.muli %cm, %cn : index
  %most = arith.constant 8 : index
  %not_large = arith.cmpi ule, %cluster, %most : index
  mk.require %not_large, "CLUSTER_M times CLUSTER_N is 8 at most"
  %cluster_teams = arith.muli %cluster, %teams : index
  %more = arith.addi %cluster_teams, %schedule : index
  %plain = arith.cmpi eq, %more, %one : index
  %fits = arith.ori %whole, %plain : i1
  mk.require %fits, "CLUSTER_K goes with SCHEDULE 0, TEAMS 1 and no other clusters"
  %rows_at = arith.constant 0 : index
  %rows = memref.dim %a, %rows_at : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%k, %column] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum : !a, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

mk.kernel @gemm_tn on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [K, M] split [(), (gpu)],
    in %b : memref<?x?xbf16> [K, N],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %tm = mk.param "TM" = 128
      in [64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 256]
  %tn = mk.param "TN" = 256
      in [64, 96, 128, 160, 176, 192, 224, 256] // as in gemm_nn
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2, 4]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2, 4]
  mk.param "RASTER" = 8
  %schedule = mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  %teams = mk.param "TEAMS" = 1 in [1, 2]
  %ck = mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4, 5, 6, 8]
  %one = arith.constant 1 : index
  %whole = arith.cmpi eq, %ck, %one : index
  %cluster = arith.muli %cm, %cn : index
  %most = arith.constant 8 : index
  %not_large = arith.cmpi ule, %cluster, %most : index
  mk.require %not_large, "CLUSTER_M times CLUSTER_N is 8 at most"
  %cluster_teams = arith.muli %cluster, %teams : index
  %more = arith.addi %cluster_teams, %schedule : index
  %plain = arith.cmpi eq, %more, %one : index
  %fits = arith.ori %whole, %plain : i1
  mk.require %fits, "CLUSTER_K goes with SCHEDULE 0, TEAMS 1 and no other clusters"
  %rows_at = arith.constant 1 : index
  %rows = memref.dim %a, %rows_at : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%k, %row] : memref<?x?xbf16> -> !at
        %y = mk.load %b[%k, %column] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_a : !at, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

mk.kernel @gemm_tt on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [K, M] split [(), (gpu)],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %tm = mk.param "TM" = 128
      in [64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 256]
  %tn = mk.param "TN" = 256
      in [64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256]
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 1 in [1, 2, 4]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2, 4]
  mk.param "RASTER" = 8
  %schedule = mk.param "SCHEDULE" = 0 in [0, 2]
  mk.param "TAIL" = 1 in [1, 2]
  %teams = mk.param "TEAMS" = 1 in [1, 2]
  %ck = mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4, 5, 6, 8]
  %one = arith.constant 1 : index
  %whole = arith.cmpi eq, %ck, %one : index
  %cluster = arith.muli %cm, %cn : index
  %most = arith.constant 8 : index
  %not_large = arith.cmpi ule, %cluster, %most : index
  mk.require %not_large, "CLUSTER_M times CLUSTER_N is 8 at most"
  %cluster_teams = arith.muli %cluster, %teams : index
  %more = arith.addi %cluster_teams, %schedule : index
  %plain = arith.cmpi eq, %more, %one : index
  %fits = arith.ori %whole, %plain : i1
  mk.require %fits, "CLUSTER_K goes with SCHEDULE 0, TEAMS 1 and no other clusters"
  %rows_at = arith.constant 1 : index
  %rows = memref.dim %a, %rows_at : memref<?x?xbf16>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER, alternate = TEAMS) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%k, %row] : memref<?x?xbf16> -> !at
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !bt
        %next = mk.dot %x, %y, %sum transpose_a transpose_b : !at, !bt, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// What they compute, on whole tensors.
func.func @gemm_nt_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %da = arith.constant 0 : index
  %db = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %da : tensor<?x?xf64>
  %n = tensor.dim %b, %db : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func @gemm_nn_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %da = arith.constant 0 : index
  %db = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %da : tensor<?x?xf64>
  %n = tensor.dim %b, %db : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func @gemm_tn_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %da = arith.constant 1 : index
  %db = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %da : tensor<?x?xf64>
  %n = tensor.dim %b, %db : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func @gemm_tt_reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %da = arith.constant 1 : index
  %db = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %da : tensor<?x?xf64>
  %n = tensor.dim %b, %db : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
