// Loads with a pad, reductions, broadcasts, masks and carried tiles: rows of a causal
// softmax with a running maximum and sum, in one pass over the columns.
// REQUIRES: compiler
// RUN: mk-run %s --gpus 2 --bind M=130 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --gpus 3 --bind M=77 --check --seed 3 | FileCheck %s
// CHECK: check: PASS y

mk.mesh @mesh (gpu = ? via link)

// y[i] = sum over j <= i of exp(x[i, j] - max) * x[i, j] / sum of exp(...).
mk.kernel @softmax on @mesh dims(uniform M) (
    in %x : memref<?x?xf32> [M, M] split [(gpu), ()],
    out %y : memref<?xf32> [M] split [(gpu)]) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %first = arith.muli %me, %shard : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %row_tiles = arith.ceildivui %rows, %c16 : index
  %column_tiles = arith.ceildivui %M, %c32 : index
  %ninf = arith.constant 0xFF800000 : f32
  %low = arith.constant dense<-1.0e30> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>

  mk.role @rows ctas(rest) {
    mk.foreach (%t) in (%row_tiles) order(longest_first) {
      %row = arith.muli %t, %c16 : index
      %global = arith.addi %first, %row : index
      %m, %l, %o = mk.fold (%u) in (%column_tiles) iter(%m0 = %low, %l0 = %zero, %o0 = %zero)
          : tensor<16xf32>, tensor<16xf32>, tensor<16xf32> {
        %column = arith.muli %u, %c32 : index
        %d = arith.subi %global, %column : index
        %a = mk.load %x[%row, %column] pad(%ninf : f32) : memref<?x?xf32> -> tensor<16x32xf32>
        %s = mk.mask %a where affine_set<(r, c)[d] : (r - c + d >= 0)>[%d] else %ninf : tensor<16x32xf32>
        %top = mk.reduce max %s axis 1 : tensor<16x32xf32> -> tensor<16xf32>
        %m1 = arith.maximumf %m0, %top : tensor<16xf32>
        %old = arith.subf %m0, %m1 : tensor<16xf32>
        %scale = math.exp %old : tensor<16xf32>
        %m1b = mk.broadcast %m1 dims [1] : tensor<16xf32> -> tensor<16x32xf32>
        %e0 = arith.subf %s, %m1b : tensor<16x32xf32>
        %e = math.exp %e0 : tensor<16x32xf32>
        %sum = mk.reduce add %e axis 1 : tensor<16x32xf32> -> tensor<16xf32>
        %l1 = arith.mulf %l0, %scale : tensor<16xf32>
        %l2 = arith.addf %l1, %sum : tensor<16xf32>
        %z = arith.constant 0.0 : f32
        %plain = mk.mask %a where affine_set<(r, c)[d] : (r - c + d >= 0)>[%d] else %z : tensor<16x32xf32>
        %ea = arith.mulf %e, %plain : tensor<16x32xf32>
        %part = mk.reduce add %ea axis 1 : tensor<16x32xf32> -> tensor<16xf32>
        %o1 = arith.mulf %o0, %scale : tensor<16xf32>
        %o2 = arith.addf %o1, %part : tensor<16xf32>
        mk.yield %m1, %l2, %o2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
      }
      %q = arith.divf %o, %l : tensor<16xf32>
      mk.store %q, %y[%row] : tensor<16xf32>, memref<?xf32>
    }
  }
}

func.func @reference(%x: tensor<?x?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m) : tensor<?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
  %sums:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf64>) outs(%init, %init : tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%v: f64, %l: f64, %o: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %in = arith.cmpi sle, %j, %i : index
    %e = math.exp %v : f64
    %w = arith.select %in, %e, %zero : f64
    %wv = arith.mulf %w, %v : f64
    %l1 = arith.addf %l, %w : f64
    %o1 = arith.addf %o, %wv : f64
    linalg.yield %l1, %o1 : f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>)
  %y = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%sums#1, %sums#0 : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
  ^bb0(%o: f64, %l: f64, %u: f64):
    %q = arith.divf %o, %l : f64
    linalg.yield %q : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}
