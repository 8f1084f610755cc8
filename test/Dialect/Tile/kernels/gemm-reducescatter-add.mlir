// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// GEMM + ReduceScatter by remote adds: C = A * B^T with K split over the ranks,
// the rows of C too. Every rank adds its part of a tile at the tile's owner, in
// any order; that works over links only. The output is zeroed before peers are
// told that this rank is ready.

// CHECK: mk.kernel @gemm_reducescatter on @box
// CHECK: mk.prepare
// CHECK: mk.store
// CHECK: mk.role @gemm
// CHECK: order(own = last, stagger)
// CHECK: mk.store {{.*}} valid({{.*}}) on {{.*}} reduce(add)

mk.mesh @box (gpu = ? via link)

mk.kernel @gemm_reducescatter on @box dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (gpu)],
    out %c : memref<?x?xf32, #mk.symmetric> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>

  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %blocks = arith.ceildivui %shard, %c128 : index
  %column_tiles = arith.ceildivui %N, %c256 : index
  %k = memref.dim %a, %c1 : memref<?x?xbf16>
  %k_tiles = arith.ceildivui %k, %c64 : index

  mk.prepare {
    mk.foreach (%i, %n) in (%blocks, %column_tiles) {
      %row = arith.muli %i, %c128 : index
      %column = arith.muli %n, %c256 : index
      mk.store %zero, %c[%row, %column] : tensor<128x256xf32>, memref<?x?xf32, #mk.symmetric>
    }
  }

  mk.role @gemm ctas(rest) {
    mk.foreach (%s, %i, %n) in (%world, %blocks, %column_tiles)
        schedule(ticket) order(own = last, stagger) own(%me, %c1) {
      %r, %rows, %at = func.call @block(%s, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %c256 : index
        %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : tensor<128x256xf32> {
          %k_at = arith.muli %kt, %c64 : index
          %x = mk.load %a[%at, %k_at] valid(%rows, %c64) : memref<?x?xbf16> -> tensor<128x64xbf16>
          %y = mk.load %b[%column, %k_at] : memref<?x?xbf16> -> tensor<256x64xbf16>
          %next = mk.dot %x, %y, %sum transpose_b
              : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
          mk.yield %next : tensor<128x256xf32>
        }
        mk.store %acc, %c[%r, %column] valid(%rows, %c256) on %s reduce(add)
            : tensor<128x256xf32>, memref<?x?xf32, #mk.symmetric>
      }
    }
  }
}

// Block %i of shard %s: its first row in the shard, its rows (none if the shard
// ends before it), its first row in the whole.
func.func private @block(%s: index, %i: index, %shard: index, %M: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %begin = arith.muli %s, %shard : index
  %left = arith.subi %M, %begin : index
  %in_shard = arith.minsi %left, %shard : index
  %r = arith.muli %i, %c128 : index
  %rest = arith.subi %in_shard, %r : index
  %some = arith.maxsi %rest, %c0 : index
  %rows = arith.minsi %some, %c128 : index
  %at = arith.addi %begin, %r : index
  return %r, %rows, %at : index, index, index
}
