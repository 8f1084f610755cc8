// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// AllGather -> GEMM -> bias + GELU -> GEMM -> ReduceScatter: a tensor-parallel
// feed-forward layer. The rows of X and C are split over all ranks, the hidden
// dimension F as well. The hidden activations never leave the GPU, but the second
// loop of @gemm reads what other CTAs have stored in the first: a signal counts
// the column tiles of each row block.

// CHECK: mk.kernel @mlp on @mesh sizes(node, gpu)
// CHECK: mk.role @send
// CHECK: mk.role @push {{.*}} then @gemm
// CHECK: mk.role @gemm
// CHECK: mk.select
// CHECK: mk.signal
// CHECK: mk.wait
// CHECK: mk.role @reduce
// CHECK: mk.role @finish
// CHECK: mk.broadcast

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @mlp on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K, uniform F) (
    in %a : memref<?x?xbf16, #mk.symmetric> [M, K] split [(node, gpu), ()],
    in %w1 : memref<?x?xbf16> [F, K] split [(node, gpu), ()],
    in %bias : memref<?xf32> [F] split [(node, gpu)],
    in %w2 : memref<?x?xbf16> [N, F] split [(), (node, gpu)],
    scratch %full : memref<?x?xbf16, #mk.symmetric> [M, K],
    scratch %hidden : memref<?x?xbf16> [M, F ceildiv (node * gpu)],
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
  %k_tiles = arith.ceildivui %K, %c64 : index
  %column_tiles = arith.ceildivui %N, %c256 : index
  %f = memref.dim %w1, %c0 : memref<?x?xbf16>     // own part of F, may be 0
  %f_tiles = arith.ceildivui %f, %c256 : index
  %f_steps = arith.ceildivui %f, %c64 : index

  // One for each block of each shard.
  %ready = mk.signals(%world, %blocks) : !mk.signal<?x?, sys, arrivals = 1>
  // The column tiles of the hidden activations of a block.
  %filled = mk.signals(%world, %blocks) arrivals(%f_tiles) : !mk.signal<?x?, gpu, arrivals = ?>
  // For each node, block and column tile: a part from each GPU of my node.
  %part = mk.signals(%nodes, %blocks, %column_tiles) arrivals(%gpus)
      : !mk.signal<?x?x?, sys, arrivals = ?>
  // A sum from each node, the own one included.
  %summed = mk.signals(%blocks, %column_tiles) arrivals(%nodes) : !mk.signal<?x?, sys, arrivals = ?>

  mk.role @send ctas(1) {
    mk.foreach (%i) in (%blocks) {
      %r, %rows, %at = func.call @block(%me, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.foreach_peer (%p) along node {
          mk.put %a[%r, %c0][%rows, %K] to %full[%at, %c0] on %p signal %ready[%me, %i]
              : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !mk.signal<?x?, sys, arrivals = 1>
        }
      }
    }
  }

  mk.role @push ctas(2) then @gemm {
    mk.foreach (%i) in (%blocks) {
      %r, %rows, %at = func.call @block(%me, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.foreach_peer (%p) along gpu {
          mk.put %a[%r, %c0][%rows, %K] to %full[%at, %c0] on %p signal %ready[%me, %i]
              : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !mk.signal<?x?, sys, arrivals = 1>
        }
      }
    }
    // What the ranks in my place of other nodes sent me.
    mk.foreach (%i) in (%blocks) {
      mk.foreach_peer (%s) along node {
        %r, %rows, %at = func.call @block(%s, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
        %some = arith.cmpi sgt, %rows, %c0 : index
        scf.if %some {
          mk.wait %ready[%s, %i] ge %c1 : !mk.signal<?x?, sys, arrivals = 1>
          mk.foreach_peer (%p) along gpu {
            mk.put %full[%at, %c0][%rows, %K] to %full[%at, %c0] on %p signal %ready[%s, %i]
                : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !mk.signal<?x?, sys, arrivals = 1>
          }
        }
      }
    }
  }

  mk.role @gemm ctas(rest) {
    mk.foreach (%s, %i, %n) in (%world, %blocks, %f_tiles)
        schedule(ticket) order(own = first) own(%me, %c1) {
      %r, %rows, %at = func.call @block(%s, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %own = arith.cmpi eq, %s, %me : index
        %x_from = mk.select %own, %a, %full
            : memref<?x?xbf16, #mk.symmetric>, memref<?x?xbf16, #mk.symmetric> -> memref<?x?xbf16>
        %x_row = arith.select %own, %r, %at : index
        scf.if %own {
        } else {
          mk.wait %ready[%s, %i] ge %c1 : !mk.signal<?x?, sys, arrivals = 1>
        }
        %column = arith.muli %n, %c256 : index
        %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : tensor<128x256xf32> {
          %k_at = arith.muli %kt, %c64 : index
          %x = mk.load %x_from[%x_row, %k_at] valid(%rows, %c64) : memref<?x?xbf16> -> tensor<128x64xbf16>
          %y = mk.load %w1[%column, %k_at] : memref<?x?xbf16> -> tensor<256x64xbf16>
          %next = mk.dot %x, %y, %partial transpose_b
              : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
          mk.yield %next : tensor<128x256xf32>
        }
        %b = mk.load %bias[%column] : memref<?xf32> -> tensor<256xf32>
        %h = func.call @bias_gelu(%acc, %b) : (tensor<128x256xf32>, tensor<256xf32>) -> tensor<128x256xf32>
        %t = arith.truncf %h : tensor<128x256xf32> to tensor<128x256xbf16>
        mk.store %t, %hidden[%at, %column] valid(%rows, %c256) : tensor<128x256xbf16>, memref<?x?xbf16>
        mk.signal %filled[%s, %i] : !mk.signal<?x?, gpu, arrivals = ?>
      }
    }
    // The own rows last: what other ranks add is under way by then.
    mk.foreach (%s, %i, %n) in (%world, %blocks, %column_tiles)
        schedule(ticket) order(own = last, stagger) own(%me, %c1) {
      %r, %rows, %at = func.call @block(%s, %i, %shard, %M) : (index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.wait %filled[%s, %i] ge %f_tiles : !mk.signal<?x?, gpu, arrivals = ?>
        %column = arith.muli %n, %c256 : index
        %acc = mk.fold (%ft) in (%f_steps) iter(%partial = %zero) combine(add) : tensor<128x256xf32> {
          %f_at = arith.muli %ft, %c64 : index
          // The last rank may have less of F than %hidden has room for.
          %f_left = arith.subi %f, %f_at : index
          %x = mk.load %hidden[%at, %f_at] valid(%rows, %f_left) : memref<?x?xbf16> -> tensor<128x64xbf16>
          %y = mk.load %w2[%column, %f_at] : memref<?x?xbf16> -> tensor<256x64xbf16>
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

// gelu(x + bias) = y / 2 * (1 + erf(y / sqrt 2))
func.func private @bias_gelu(%x: tensor<128x256xf32>, %bias: tensor<256xf32>) -> tensor<128x256xf32> {
  %half = arith.constant dense<0.5> : tensor<128x256xf32>
  %one = arith.constant dense<1.0> : tensor<128x256xf32>
  %rsqrt2 = arith.constant dense<0.707106769> : tensor<128x256xf32>
  %b = mk.broadcast %bias dims [0] : tensor<256xf32> -> tensor<128x256xf32>
  %y = arith.addf %x, %b : tensor<128x256xf32>
  %z = arith.mulf %y, %rsqrt2 : tensor<128x256xf32>
  %erf = math.erf %z : tensor<128x256xf32>
  %factor = arith.addf %erf, %one : tensor<128x256xf32>
  %h = arith.mulf %y, %half : tensor<128x256xf32>
  %result = arith.mulf %h, %factor : tensor<128x256xf32>
  return %result : tensor<128x256xf32>
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
