// The kernel of docs/first-kernel.md: a linear layer whose columns are divided among the GPUs of a node, and the sum of
// each row of its result. C = relu(A * B^T), A: M x K, B: N x K split by rows; every rank gets all of C, and S, the sum
// of each row of it. bf16, summed in f32.
//
// Parameters: TM, TN, TK, the extents of a tile.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!rows = tensor<?xf32, #mk.extents<TM>>
!there = !mk.signal<?x?x?, sys, arrivals = 1>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @linear on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K] split [(gpu), ()],
    out %c : memref<?x?xbf16, #mk.symmetric> [M, N],
    out %sums : memref<?xf32> [M]) {
  %tm = mk.param "TM" = 128 in [64, 128]
  %tn = mk.param "TN" = 128 in [64, 128, 256]
  %tk = mk.param "TK" = 64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  %me = mk.rank
  %gpus = mk.size gpu
  %shard = arith.ceildivui %N, %gpus : index        // columns of a rank; the last one may have fewer
  %row_tiles = arith.ceildivui %M, %tm : index
  %column_tiles = arith.ceildivui %shard, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index

  // For each rank, and each tile of its columns: it is there.
  %there = mk.signals(%gpus, %row_tiles, %column_tiles) : !there

  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%row_tiles, %column_tiles) schedule(static) {
      %row = arith.muli %i, %tm : index
      %column = arith.muli %j, %tn : index
      %at, %left = func.call @place(%me, %column, %shard, %N) : (index, index, index, index) -> (index, index)
      %exists = arith.cmpi sgt, %left, %c0 : index
      scf.if %exists {
        %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
          %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
          %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
          mk.yield %next : !acc
        }
        %relu = arith.maximumf %acc, %zero : !acc
        %tile = arith.truncf %relu : !acc to !c
        mk.foreach_peer (%p) along gpu including self {
          mk.store %tile, %c[%row, %at] valid(%tm, %left) on %p signal %there[%me, %i, %j]
              : !c, memref<?x?xbf16, #mk.symmetric>, !there
        }
      }
    }
  }

  mk.role @sum ctas(2) {
    mk.foreach (%i) in (%row_tiles) schedule(static) {
      %row = arith.muli %i, %tm : index
      %none = tensor.splat %0[%tm] : !rows
      %total = scf.for %p = %c0 to %gpus step %c1 iter_args(%before = %none) -> !rows {
        %of_rank = scf.for %j = %c0 to %column_tiles step %c1 iter_args(%s = %before) -> !rows {
          %column = arith.muli %j, %tn : index
          %at, %left = func.call @place(%p, %column, %shard, %N) : (index, index, index, index) -> (index, index)
          %exists = arith.cmpi sgt, %left, %c0 : index
          %next = scf.if %exists -> !rows {
            mk.wait %there[%p, %i, %j] ge %c1 : !there
            %tile = mk.load %c[%row, %at] valid(%tm, %left) : memref<?x?xbf16, #mk.symmetric> -> !c
            %wide = arith.extf %tile : !c to !acc
            %part = mk.reduce add %wide axis 1 : !acc -> !rows
            %both = arith.addf %s, %part : !rows
            scf.yield %both : !rows
          } else {
            scf.yield %s : !rows
          }
          scf.yield %next : !rows
        }
        scf.yield %of_rank : !rows
      }
      mk.store %total, %sums[%row] : !rows, memref<?xf32>
    }
  }
}

// Where column `column` of rank p's shard lies in C, and how many columns the shard has from there on: none, or a
// negative number, behind its end.
func.func private @place(%p: index, %column: index, %shard: index, %all: index) -> (index, index) {
  %first = arith.muli %p, %shard : index
  %at = arith.addi %first, %column : index
  %end = arith.addi %first, %shard : index
  %last = arith.minsi %end, %all : index
  %left = arith.subi %last, %at : index
  return %at, %left : index, index
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.max ins(%product, %zero : tensor<?x?xf64>, tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %row = tensor.empty(%m) : tensor<?xf64>
  %none = linalg.fill ins(%0 : f64) outs(%row : tensor<?xf64>) -> tensor<?xf64>
  %sums = linalg.reduce ins(%c : tensor<?x?xf64>) outs(%none : tensor<?xf64>) dimensions = [1]
      (%x: f64, %s: f64) {
        %y = arith.addf %s, %x : f64
        linalg.yield %y : f64
      }
  return %c, %sums : tensor<?x?xf64>, tensor<?xf64>
}
