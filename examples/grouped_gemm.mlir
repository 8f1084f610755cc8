// Grouped GEMM: the rows of X are sorted by group, group e ends before row offs[e], and
// each group has a matrix of its own: C[r] = X[r] * W[e]^T for the rows r of group e.
// X: T x K, W: G x N x K, C: T x N, bf16, summed in f32; offs: G values of i32 that do not
// decrease, the last is T. Groups may be empty; without groups there are no rows. Each
// rank has some of the columns.
//
// Group e starts at row s(e), and has the row tiles t of f(e) <= t < f(e + 1) with
// f(e) = floor(s(e) / TM) + e. These are as many as its rows need, and at most one
// more, which is skipped. f increases, so a binary search finds a tile's group. Tiles of a
// group follow each other, so that its matrix is read while it is in the cache. What is likely
// is that half of the groups have such a tile more, and none is empty.
//
// Parameters: TM, TN, TK, the extents of a tile; RASTER, how many rows of a group's tiles
// are walked together; SCHEDULE, 0 static or 1 ticket.

!x = tensor<?x?xbf16, #mk.extents<TM, TK>>
!w = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @grouped_gemm on @mesh dims(uniform T, uniform G, uniform N, uniform K) (
    in %x : memref<?x?xbf16> [T, K],
    in %w : memref<?x?x?xbf16> [G, N, K] split [(), (gpu), ()],
    in %offs : memref<?xi32> [G],
    out %c : memref<?x?xbf16> [T, N] split [(), (gpu)]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %tm = mk.param "TM" = 128 in [64, 128, 184, 256]
  %tn = mk.param "TN" = 256 in [128, 192, 256]
  %tk = mk.param "TK" = 64
  %raster = mk.param "RASTER" = 32
  mk.param "SCHEDULE" = 1
  %some_rows = arith.cmpi uge, %raster, %c1 : index
  mk.require %some_rows, "RASTER must be at least 1: so many rows of tiles are walked together"
  %some_group = arith.cmpi uge, %G, %c1 : index
  %no_row = arith.cmpi ult, %T, %c1 : index
  %placed = arith.ori %some_group, %no_row : i1
  mk.require %placed, "T must be 0 where G is 0: each row is in a group"
  %columns = memref.dim %w, %c1 : memref<?x?x?xbf16>
  %whole_tiles = arith.divui %T, %tm : index
  %row_tiles = arith.addi %whole_tiles, %G : index   // f(G)
  %column_tiles = arith.ceildivui %columns, %tn : index
  %tiles = arith.muli %row_tiles, %column_tiles : index
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
      %c0 = arith.constant 0 : index
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        // Rows of the next group may be loaded; they are not stored.
        %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %a = mk.load %x[%row, %k] : memref<?x?xbf16> -> !x
          %b = mk.load %w[%e, %column, %k] : memref<?x?x?xbf16> -> !w
          %next = mk.dot %a, %b, %sum transpose_b : !x, !w, !acc
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
func.func @reference(%x: tensor<?x?xf64>, %w: tensor<?x?x?xf64>, %offs: tensor<?xi32>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
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
    %p = arith.mulf %a, %b : f64
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
