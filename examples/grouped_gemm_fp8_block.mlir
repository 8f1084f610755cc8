// Grouped GEMM of fp8 whose operands are scaled by blocks: the rows of X are sorted by
// group, group e ends before row offs[e], and each group has a matrix of its own:
// C[r] = (X[r] * SX[r]) * (W[e] * SW[e])^T for the rows r of group e.
// X: T x K, W: G x N x K, e4m3; C: T x N, bf16; offs: G values of i32 that do not
// decrease, the last is T. Groups may be empty; without groups there are no rows. Each
// rank has some of the columns.
//
// X has an f32 scale for each row and 128 of K, W[e] one for 128 rows and 128 of K. What a
// block of K gives is scaled and added in f32. SX is stored block by block,
// ceil(K / 128) x T (any strides), SW as G x ceil(N / 128) x ceil(K / 128); each rank has all of it.
//
// Group e starts at row s(e), and has the row tiles t of f(e) <= t < f(e + 1) with
// f(e) = floor(s(e) / TM) + e. These are as many as its rows need, and at most one
// more, which is skipped. f increases, so a binary search finds a tile's group. Tiles of a
// group follow each other, so that its matrix is read while it is in the cache. What is likely
// is that half of the groups have such a tile more, and none is empty.
//
// Parameters: TM, TN, TK, the extents of a tile; TN and TK divide 128; RASTER, how many
// rows of a group's tiles are walked together; SCHEDULE, 0 static or 1 ticket.

!x = tensor<?x?xf8E4M3FN, #mk.extents<TM, TK>>
!w = tensor<?x?xf8E4M3FN, #mk.extents<TN, TK>>
!rows = tensor<?xf32, #mk.extents<TM>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @grouped_gemm_fp8_block on @mesh dims(uniform T, uniform G, uniform N, uniform K) (
    in %x : memref<?x?xf8E4M3FN> [T, K],
    in %w : memref<?x?x?xf8E4M3FN> [G, N, K] split [(), (gpu), ()],
    in %sx : memref<?x?xf32> [K ceildiv 128, T],
    in %sw : memref<?x?x?xf32> [G, N ceildiv 128, K ceildiv 128],
    in %offs : memref<?xi32> [G],
    out %c : memref<?x?xbf16> [T, N] split [(), (gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %tm = mk.param "TM" = 128 in [64, 128]
  %tn = mk.param "TN" = 128 in [64, 128]
  %tk = mk.param "TK" = 128
  %raster = mk.param "RASTER" = 32
  mk.param "SCHEDULE" = 0
  %some_rows = arith.cmpi uge, %raster, %c1 : index
  mk.require %some_rows, "RASTER must be at least 1: so many rows of tiles are walked together"
  %some_group = arith.cmpi uge, %G, %c1 : index
  %no_row = arith.cmpi ult, %T, %c1 : index
  %placed = arith.ori %some_group, %no_row : i1
  mk.require %placed, "T must be 0 where G is 0: each row is in a group"
  %n_left = arith.remui %c128, %tn : index
  %n_fits = arith.cmpi eq, %n_left, %c0 : index
  mk.require %n_fits, "TN must divide 128: all columns of a tile have one scale"
  %k_left = arith.remui %c128, %tk : index
  %k_fits = arith.cmpi eq, %k_left, %c0 : index
  mk.require %k_fits, "TK must divide 128: all of a step along K has one scale"
  // The columns of a rank begin at one of a tile.
  %me = mk.coord gpu
  %ranks = mk.size
  %share = arith.ceildivui %N, %ranks : index
  %share_left = arith.remui %share, %tn : index
  %share_fits = arith.cmpi eq, %share_left, %c0 : index
  %alone = arith.cmpi eq, %ranks, %c1 : index
  %placed_columns = arith.ori %share_fits, %alone : i1
  mk.require %placed_columns, "N / ranks, rounded up, must be a multiple of TN: all columns of a tile have one scale"
  %first_column = arith.muli %me, %share : index
  %columns = memref.dim %w, %c1 : memref<?x?x?xf8E4M3FN>
  %whole_tiles = arith.divui %T, %tm : index
  %row_tiles = arith.addi %whole_tiles, %G : index   // f(G)
  %column_tiles = arith.ceildivui %columns, %tn : index
  %tiles = arith.muli %row_tiles, %column_tiles : index
  %c2 = arith.constant 2 : index
  %half = arith.divui %G, %c2 : index
  %cut = arith.addi %whole_tiles, %half : index
  %groups = arith.minui %G, %T : index
  %likely_rows = arith.maxui %cut, %groups : index
  %likely = arith.muli %likely_rows, %column_tiles : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  mk.role @gemm ctas(rest) {
    mk.foreach (%t) in (%tiles) likely(%likely) schedule(param SCHEDULE) {
      %e, %row, %rows, %n = func.call @locate(%offs, %G, %t, %tm, %column_tiles, %raster)
          : (memref<?xi32>, index, index, index, index, index) -> (index, index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        %of_all = arith.addi %first_column, %column : index
        %block = arith.divui %of_all, %c128 : index
        // Rows of the next group may be loaded; they are not stored.
        %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %a = mk.load %x[%row, %k] : memref<?x?xf8E4M3FN> -> !x
          %b = mk.load %w[%e, %column, %k] : memref<?x?x?xf8E4M3FN> -> !w
          %k_block = arith.divui %k, %c128 : index
          %sa = mk.load %sx[%k_block, %row] : memref<?x?xf32> -> !rows
          %sb = memref.load %sw[%e, %block, %k_block] : memref<?x?x?xf32>
          %sbs = tensor.splat %sb[%tm] : !rows
          %s = arith.mulf %sa, %sbs : !rows
          %scales = mk.broadcast %s dims [1] : !rows -> !acc
          %p = mk.dot %a, %b, %zero transpose_b : !x, !w, !acc
          %scaled = arith.mulf %p, %scales : !acc
          %next = arith.addf %sum, %scaled : !acc
          mk.yield %next : !acc
        }
        %out = arith.truncf %acc : !acc to !c
        mk.store %out, %c[%row, %column] valid(%rows, %tn) : !c, memref<?x?xbf16>
      }
    }
  }
}

// The group of tile %t, its first row, how many rows are left of the group there (none for a
// surplus tile), and its column of tiles, of %columns. %raster rows of tiles are a band,
// which is walked column by column.
func.func private @locate(%offs: memref<?xi32>, %G: index, %t: index, %tm: index, %columns: index, %raster: index)
    -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // Halving a range of G groups ends after as many steps as G has bits.
  %g = arith.index_cast %G : index to i32
  %zeros_ = math.ctlz %g : i32
  %zeros = arith.index_cast %zeros_ : i32 to index
  %steps = arith.subi %c32, %zeros : index
  // f(low) <= row of tiles < f(high)
  %tile_row = arith.divui %t, %columns : index
  %e, %high = scf.for %i = %c0 to %steps step %c1 iter_args(%l = %c0, %h = %G) -> (index, index) {
    %sum = arith.addi %l, %h : index
    %mid = arith.shrui %sum, %c1 : index
    %start = func.call @start(%offs, %mid) : (memref<?xi32>, index) -> index
    %before = arith.divui %start, %tm : index
    %f = arith.addi %before, %mid : index
    %below = arith.cmpi ule, %f, %tile_row : index
    %l1 = arith.select %below, %mid, %l : index
    %h1 = arith.select %below, %h, %mid : index
    scf.yield %l1, %h1 : index, index
  }
  %start = func.call @start(%offs, %e) : (memref<?xi32>, index) -> index
  %end_ = memref.load %offs[%e] : memref<?xi32>
  %end = arith.index_cast %end_ : i32 to index
  %length = arith.subi %end, %start : index
  %height = arith.ceildivui %length, %tm : index
  // Which tile of the group, and of its band.
  %before = arith.divui %start, %tm : index
  %f = arith.addi %before, %e : index
  %first = arith.muli %f, %columns : index
  %place = arith.subi %t, %first : index
  %in_band = arith.muli %raster, %columns : index
  %band = arith.divui %place, %in_band : index
  %skipped = arith.muli %band, %in_band : index
  %in = arith.subi %place, %skipped : index
  %top = arith.muli %band, %raster : index
  %below_top = arith.subi %height, %top : index
  %at_most = arith.minsi %below_top, %raster : index
  %band_rows = arith.maxsi %at_most, %c1 : index
  %column = arith.divui %in, %band_rows : index
  %down_band = arith.remui %in, %band_rows : index
  %down_tiles = arith.addi %top, %down_band : index
  %down = arith.muli %down_tiles, %tm : index
  %row = arith.addi %start, %down : index
  %left = arith.subi %end, %row : index
  %tiles = arith.muli %height, %columns : index
  %some = arith.cmpi ult, %place, %tiles : index
  %rows = arith.select %some, %left, %c0 : index
  return %e, %row, %rows, %column : index, index, index, index
}

// The first row of group %e: the end of the one before.
func.func private @start(%offs: memref<?xi32>, %e: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = arith.cmpi eq, %e, %c0 : index
  %before_ = arith.subi %e, %c1 : index
  %before = arith.select %first, %c0, %before_ : index
  %end_ = memref.load %offs[%before] : memref<?xi32>
  %end = arith.index_cast %end_ : i32 to index
  %start = arith.select %first, %c0, %end : index
  return %start : index
}

// What it computes, on whole tensors: each row is multiplied by the matrix of the group
// that it is in.
func.func @reference(%x: tensor<?x?xf64>, %w: tensor<?x?x?xf64>, %sx: tensor<?x?xf64>,
                     %sw: tensor<?x?x?xf64>, %offs: tensor<?xi32>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %c128 = arith.constant 128 : index
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %w, %c1 : tensor<?x?x?xf64>
  // The group of a row: how many groups end before it.
  %empty_groups = tensor.empty(%t) : tensor<?xi32>
  %no_groups = linalg.fill ins(%none : i32) outs(%empty_groups : tensor<?xi32>) -> tensor<?xi32>
  %groups = linalg.generic {indexing_maps = [affine_map<(r, e) -> (e)>, affine_map<(r, e) -> (r)>],
                            iterator_types = ["parallel", "reduction"]}
      ins(%offs : tensor<?xi32>) outs(%no_groups : tensor<?xi32>) {
  ^bb0(%end: i32, %count: i32):
    %r_ = linalg.index 0 : index
    %r = arith.index_cast %r_ : index to i32
    %behind = arith.cmpi sle, %end, %r : i32
    %add = arith.select %behind, %one, %none : i32
    %sum = arith.addi %count, %add : i32
    linalg.yield %sum : i32
  } -> tensor<?xi32>
  %empty = tensor.empty(%t, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(r, n, k) -> (r, k)>, affine_map<(r, n, k) -> (r)>, affine_map<(r, n, k) -> (r, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %groups : tensor<?x?xf64>, tensor<?xi32>) outs(%zero : tensor<?x?xf64>) {
  ^bb0(%a: f64, %e_: i32, %sum: f64):
    %e = arith.index_cast %e_ : i32 to index
    %column = linalg.index 1 : index
    %k = linalg.index 2 : index
    %b = tensor.extract %w[%e, %column, %k] : tensor<?x?x?xf64>
    %r = linalg.index 0 : index
    %block = arith.divui %column, %c128 : index
    %k_block = arith.divui %k, %c128 : index
    %sa = tensor.extract %sx[%k_block, %r] : tensor<?x?xf64>
    %sb = tensor.extract %sw[%e, %block, %k_block] : tensor<?x?x?xf64>
    %s = arith.mulf %sa, %sb : f64
    %p = arith.mulf %a, %b : f64
    %scaled = arith.mulf %p, %s : f64
    %next = arith.addf %sum, %scaled : f64
    linalg.yield %next : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
