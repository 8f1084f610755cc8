// GEMM of fp8 whose operands are scaled by blocks: C = (A * SA) * (B * SB)^T, A: M x K,
// B: N x K (both K-major), C: M x N.
//
// e4m3 in, bf16 out. A has an f32 scale for each row and 128 of K, B one for 128 rows and
// 128 of K, as in DeepSeek-V3 (arXiv:2412.19437, section 3.3). What a block of K gives is
// scaled and added in f32. SA is stored block by block, ceil(K / 128) x M (any strides), SB
// as ceil(N / 128) x ceil(K / 128).
//
// Parameters: TM, TN, TK, the extents of a tile: one of TM and TN is a multiple of 64, and where that is TN alone, as for a
// few tokens, the product is computed transposed; TN divides 128 or is 192, TK divides 128; CLUSTER_M,
// CLUSTER_N, how many tiles along M and N follow each other, so that CTAs side by side do
// them and can fetch together what they share (not by tickets; 8 tiles at most);
// RASTER, how many rows of such groups are walked together; SCHEDULE, 0 static, 1 ticket or
// 2 stream_k, which splits the last TAIL waves along K; CLUSTER_K, how many CTAs do a tile together,
// each a part of K (with SCHEDULE 0; TN, or TM where
// that is no multiple of 64, is a multiple of 8 CLUSTER_K).

!a = tensor<?x?xf8E4M3FN, #mk.extents<TM, TK>>
!b = tensor<?x?xf8E4M3FN, #mk.extents<TN, TK>>
!rows = tensor<?xf32, #mk.extents<TM>>
!where = tensor<?x?xi1, #mk.extents<TM, TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm_fp8_block on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xf8E4M3FN> [M, K] split [(gpu), ()],
    in %b : memref<?x?xf8E4M3FN> [N, K],
    in %sa : memref<?x?xf32> [K ceildiv 128, M] split [(), (gpu)],
    in %sb : memref<?x?xf32> [N ceildiv 128, K ceildiv 128],
    out %c : memref<?x?xbf16> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %tm = mk.param "TM" = 128 in [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128]
  %tn = mk.param "TN" = 128 in [64, 128, 192]
  %tk = mk.param "TK" = 128
  %cm = mk.param "CLUSTER_M" = 2 in [1, 2, 4]
  %cn = mk.param "CLUSTER_N" = 1 in [1, 2, 4]
  mk.param "RASTER" = 8
  mk.param "SCHEDULE" = 0
  mk.param "TAIL" = 1
  mk.param "CLUSTER_K" = 1 in [1, 2, 3, 4, 5, 6, 8]
  // Columns of a tile have the scales of up to three pieces of it, each of which lies in one block of 128.
  %c64 = arith.constant 64 : index
  %n_left = arith.remui %c128, %tn : index
  %divides = arith.cmpi eq, %n_left, %c0 : index
  %c192 = arith.constant 192 : index
  %in_pieces = arith.cmpi eq, %tn, %c192 : index
  %n_fits = arith.ori %divides, %in_pieces : i1
  mk.require %n_fits, "TN must divide 128, or be 192: a tile has three pieces of one scale at most"
  %piece = arith.select %divides, %tn, %c64 : index
  %two_pieces = arith.addi %piece, %piece : index
  %true = arith.constant true
  %false = arith.constant false
  %all = tensor.splat %true[%tm, %tn] : !where
  // Scales of B are loaded beside the products: of tiles as wide as this they come late, unless CTAs
  // side by side fetch the tiles together.
  %two = arith.constant 2 : index
  %shares = arith.cmpi uge, %cm, %two : index
  %comes = arith.ori %divides, %shares : i1
  mk.require %comes, "TN of 192 goes with CLUSTER_M of 2 or more"
  // Each thread holds two accumulators, of the sum and of a block of K. With 80 to 112 rows these are of
  // products that are computed transposed, by three warpgroups, and there are not enough registers.
  %c80 = arith.constant 80 : index
  %is_low = arith.cmpi ult, %tm, %c80 : index
  %is_128 = arith.cmpi eq, %tm, %c128 : index
  %fits0 = arith.ori %is_low, %is_128 : i1
  %fits = arith.ori %fits0, %divides : i1
  mk.require %fits, "TN of 192 goes with TM of less than 80, or of 128"
  %k_left = arith.remui %c128, %tk : index
  %k_fits = arith.cmpi eq, %k_left, %c0 : index
  mk.require %k_fits, "TK must divide 128: all of a step along K has one scale"
  %rows = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
  %group_rows = arith.muli %tm, %cm : index
  %group_columns = arith.muli %tn, %cn : index
  %row_groups = arith.ceildivui %rows, %group_rows : index
  %column_groups = arith.ceildivui %N, %group_columns : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %blocks = arith.ceildivui %N, %c128 : index
  %last_block = arith.subi %blocks, %c1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i, %j) in (%row_groups, %column_groups, %cm, %cn)
        schedule(param SCHEDULE, tail = TAIL, parts = CLUSTER_K) order(raster = RASTER) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column0 = arith.muli %n, %group_columns : index
      %column1 = arith.muli %j, %tn : index
      %column = arith.addi %column0, %column1 : index
      // Tiles, or pieces of them, may lie behind the last column.
      %piece1 = arith.addi %column, %piece : index
      %piece2 = arith.addi %column, %two_pieces : index
      %in0 = arith.divui %column, %c128 : index
      %in1 = arith.divui %piece1, %c128 : index
      %in2 = arith.divui %piece2, %c128 : index
      %block0 = arith.minui %in0, %last_block : index
      %block1 = arith.minui %in1, %last_block : index
      %block2 = arith.minui %in2, %last_block : index
      %is_first = arith.cmpi eq, %block1, %block0 : index  // else it is the last one's
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %k_block = arith.divui %k, %c128 : index
        %x = mk.load %a[%row, %k] : memref<?x?xf8E4M3FN> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xf8E4M3FN> -> !b
        %sx = mk.load %sa[%k_block, %row] : memref<?x?xf32> -> !rows
        %y0 = memref.load %sb[%block0, %k_block] : memref<?x?xf32>
        %y2 = memref.load %sb[%block2, %k_block] : memref<?x?xf32>
        %y1 = arith.select %is_first, %y0, %y2 : f32
        %s0 = func.call @scale(%sx, %y0, %tm, %tn) : (!rows, f32, index, index) -> !acc
        %s1 = func.call @scale(%sx, %y1, %tm, %tn) : (!rows, f32, index, index) -> !acc
        %s2 = func.call @scale(%sx, %y2, %tm, %tn) : (!rows, f32, index, index) -> !acc
        %in_first = mk.mask %all where affine_set<(r, c)[p] : (p - 1 - c >= 0)>[%piece] else %false : !where
        %in_two = mk.mask %all where affine_set<(r, c)[p] : (p - 1 - c >= 0)>[%two_pieces] else %false : !where
        %s12 = arith.select %in_two, %s1, %s2 : !where, !acc
        %scales = arith.select %in_first, %s0, %s12 : !where, !acc
        %p = mk.dot %x, %y, %zero transpose_b : !a, !b, !acc
        %scaled = arith.mulf %p, %scales : !acc
        %next = arith.addf %sum, %scaled : !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

// Of each element of a tile: that of its row times that of a block of B.
func.func private @scale(%sx: !rows, %sy: f32, %tm: index, %tn: index) -> !acc {
  %sys = tensor.splat %sy[%tm] : !rows
  %s = arith.mulf %sx, %sys : !rows
  %scales = mk.broadcast %s dims [1] : !rows -> !acc
  return %scales : !acc
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %sa: tensor<?x?xf64>, %sb: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %block = arith.divui %j, %c128 : index
    %k_block = arith.divui %k, %c128 : index
    %sx = tensor.extract %sa[%k_block, %i] : tensor<?x?xf64>
    %sy = tensor.extract %sb[%block, %k_block] : tensor<?x?xf64>
    %s = arith.mulf %sx, %sy : f64
    %p = arith.mulf %x, %y : f64
    %scaled = arith.mulf %p, %s : f64
    %next = arith.addf %sum, %scaled : f64
    linalg.yield %next : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
