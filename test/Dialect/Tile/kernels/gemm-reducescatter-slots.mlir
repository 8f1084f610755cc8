// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// GEMM + ReduceScatter through slots: C = A * B^T with K split over all ranks,
// the rows of C too. Parts are added first over the GPUs of a node, in rank
// order, so that one sum for each node crosses the network; the owner adds those
// in rank order.

// CHECK: mk.kernel @gemm_reducescatter on @mesh sizes(node, gpu)
// CHECK: mk.role @gemm
// CHECK: mk.coord node of
// CHECK: mk.store {{.*}} on {{.*}} signal
// CHECK: mk.role @reduce
// CHECK: mk.wait
// CHECK: mk.put {{.*}} signal
// CHECK: mk.role @finish
// CHECK: mk.wait

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_reducescatter on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (node, gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (node, gpu)],
    // Parts from each GPU of the node, for the rows of my place in each node.
    scratch %slot : memref<?x?x?x?x128x256xbf16, #mk.symmetric>
        [gpu, node, (M ceildiv (node * gpu)) ceildiv 128, N ceildiv 256, 128, 256],
    // Sums over this node on their way to other nodes.
    scratch %away : memref<?x?x?x128x256xf32, #mk.symmetric>
        [node, (M ceildiv (node * gpu)) ceildiv 128, N ceildiv 256, 128, 256],
    // Sums from each node for my rows.
    scratch %sum : memref<?x?x?x128x256xf32, #mk.symmetric>
        [node, (M ceildiv (node * gpu)) ceildiv 128, N ceildiv 256, 128, 256],
    out %c : memref<?x?xbf16> [M, N] split [(node, gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>

  %me = mk.rank
  %world = mk.size
  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %shard = arith.ceildivui %M, %world : index
  %blocks = arith.ceildivui %shard, %c128 : index
  %column_tiles = arith.ceildivui %N, %c256 : index
  %k = memref.dim %a, %c1 : memref<?x?xbf16>
  %k_tiles = arith.ceildivui %k, %c64 : index

  // For each node, block and column tile: a part from each GPU of my node.
  %part = mk.signals(%nodes, %blocks, %column_tiles) arrivals(%gpus)
      : !mk.signal<?x?x?, sys, arrivals = ?>
  // A sum from each node, the own one included.
  %summed = mk.signals(%blocks, %column_tiles) arrivals(%nodes) : !mk.signal<?x?, sys, arrivals = ?>

  mk.role @gemm ctas(rest) {
    mk.foreach (%s, %i, %n) in (%world, %blocks, %column_tiles)
        schedule(ticket) order(own = last, stagger) own(%me, %c1) {
      %r, %rows, %at = func.call @block(%s, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %c256 : index
        %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : tensor<128x256xf32> {
          %k_at = arith.muli %kt, %c64 : index
          %x = mk.load %a[%at, %k_at] valid(%rows, %c64) : memref<?x?xbf16> -> tensor<128x64xbf16>
          %y = mk.load %b[%column, %k_at] : memref<?x?xbf16> -> tensor<256x64xbf16>
          %next = mk.dot %x, %y, %partial transpose_b
              : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
          mk.yield %next : tensor<128x256xf32>
        }
        %t = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
        // The GPU of my node that has the place of the owner in its node.
        %d = mk.coord node of %s
        %place = mk.coord gpu of %s
        %p = mk.rank(gpu = %place)
        mk.store %t, %slot[%my_gpu, %d, %i, %n, %c0, %c0] on %p signal %part[%d, %i, %n]
            : tensor<128x256xbf16>, memref<?x?x?x?x128x256xbf16, #mk.symmetric>,
              !mk.signal<?x?x?, sys, arrivals = ?>
      }
    }
  }

  mk.role @reduce ctas(share = 0.1) {
    mk.foreach (%d, %i, %n) in (%nodes, %blocks, %column_tiles)
        order(own = last) own(%my_node, %c1) {
      %s = mk.rank(node = %d)
      %r, %rows, %at = func.call @block(%s, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.wait %part[%d, %i, %n] ge %gpus : !mk.signal<?x?x?, sys, arrivals = ?>
        %total = scf.for %g = %c0 to %gpus step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
          %x = mk.load %slot[%g, %d, %i, %n, %c0, %c0]
              : memref<?x?x?x?x128x256xbf16, #mk.symmetric> -> tensor<128x256xbf16>
          %wide = arith.extf %x : tensor<128x256xbf16> to tensor<128x256xf32>
          %next = arith.addf %acc, %wide : tensor<128x256xf32>
          scf.yield %next : tensor<128x256xf32>
        }
        %mine = arith.cmpi eq, %d, %my_node : index
        scf.if %mine {
          mk.store %total, %sum[%my_node, %i, %n, %c0, %c0]
              : tensor<128x256xf32>, memref<?x?x?x128x256xf32, #mk.symmetric>
          mk.signal %summed[%i, %n] : !mk.signal<?x?, sys, arrivals = ?>
        } else {
          mk.store %total, %away[%d, %i, %n, %c0, %c0]
              : tensor<128x256xf32>, memref<?x?x?x128x256xf32, #mk.symmetric>
          mk.put %away[%d, %i, %n, %c0, %c0][%c1, %c1, %c1, %c128, %c256]
              to %sum[%my_node, %i, %n, %c0, %c0] on %s signal %summed[%i, %n]
              : memref<?x?x?x128x256xf32, #mk.symmetric> to memref<?x?x?x128x256xf32, #mk.symmetric>,
                !mk.signal<?x?, sys, arrivals = ?>
        }
      }
    }
  }

  mk.role @finish ctas(share = 0.05) {
    mk.foreach (%i, %n) in (%blocks, %column_tiles) {
      %r, %rows, %at = func.call @block(%me, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.wait %summed[%i, %n] ge %nodes : !mk.signal<?x?, sys, arrivals = ?>
        %total = scf.for %d = %c0 to %nodes step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
          %x = mk.load %sum[%d, %i, %n, %c0, %c0]
              : memref<?x?x?x128x256xf32, #mk.symmetric> -> tensor<128x256xf32>
          %next = arith.addf %acc, %x : tensor<128x256xf32>
          scf.yield %next : tensor<128x256xf32>
        }
        %t = arith.truncf %total : tensor<128x256xf32> to tensor<128x256xbf16>
        %column = arith.muli %n, %c256 : index
        mk.store %t, %c[%r, %column] valid(%rows, %c256) : tensor<128x256xbf16>, memref<?x?xbf16>
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
