// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// GEMM + AllReduce: C = A * B^T with K split over all ranks, C whole on each.
//
// A tile of C belongs to one GPU of each node. @gemm stores its part of a tile
// into a slot of its own at the owner in the node; @reduce adds the slots in
// rank order and exchanges sums with the owners in other nodes; @publish adds
// those in rank order and stores the tile at every GPU of the node. A tile is
// contiguous in the staging buffers, so that it crosses a net axis in one piece.

// CHECK: mk.kernel @gemm_allreduce on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K)
// CHECK: mk.role @gemm
// CHECK: order(own = spread(3))
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: mk.store {{.*}} on {{.*}} signal
// CHECK: mk.role @reduce
// CHECK: mk.wait
// CHECK: mk.store
// CHECK: mk.signal
// CHECK: mk.foreach_peer {{.*}} along node
// CHECK: mk.put
// CHECK: mk.role @publish
// CHECK: mk.foreach_peer {{.*}} along gpu including self

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_allreduce on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (node, gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (node, gpu)],
    // Parts from each GPU of the node, for the row tiles that are mine.
    scratch %slot : memref<?x?x?x128x256xbf16, #mk.symmetric>
        [gpu, (M ceildiv 128) ceildiv gpu, N ceildiv 256, 128, 256],
    // Sums from each node.
    scratch %sum : memref<?x?x?x128x256xf32, #mk.symmetric>
        [node, (M ceildiv 128) ceildiv gpu, N ceildiv 256, 128, 256],
    out %c : memref<?x?xbf16, #mk.symmetric> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>

  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %row_tiles = arith.ceildivui %M, %c128 : index
  %column_tiles = arith.ceildivui %N, %c256 : index
  %k = memref.dim %a, %c1 : memref<?x?xbf16>      // own part of K, may be 0
  %k_tiles = arith.ceildivui %k, %c64 : index
  // Row tiles of a GPU; the last GPUs may have fewer or none.
  %each = arith.ceildivui %row_tiles, %gpus : index
  %first = arith.muli %my_gpu, %each : index
  %left = arith.subi %row_tiles, %first : index
  %left0 = arith.maxsi %left, %c0 : index
  %own = arith.minsi %left0, %each : index

  %part = mk.signals(%each, %column_tiles) arrivals(%gpus) : !mk.signal<?x?, sys, arrivals = ?>
  // One arrival from each node, the own one included.
  %summed = mk.signals(%each, %column_tiles) arrivals(%nodes) : !mk.signal<?x?, sys, arrivals = ?>

  mk.role @gemm ctas(rest) {
    // An own tile after every three that others wait for.
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) schedule(ticket)
        order(own = spread(3)) own(%first, %own) {
      %row = arith.muli %m, %c128 : index
      %column = arith.muli %n, %c256 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%s = %zero) combine(add) : tensor<128x256xf32> {
        %at = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %at] : memref<?x?xbf16> -> tensor<128x64xbf16>
        %y = mk.load %b[%column, %at] : memref<?x?xbf16> -> tensor<256x64xbf16>
        %next = mk.dot %x, %y, %s transpose_b
            : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
        mk.yield %next : tensor<128x256xf32>
      }
      %t = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
      %owner = arith.divui %m, %each : index
      %i = arith.remui %m, %each : index
      %p = mk.rank(gpu = %owner)
      mk.store %t, %slot[%my_gpu, %i, %n, %c0, %c0] on %p signal %part[%i, %n]
          : tensor<128x256xbf16>, memref<?x?x?x128x256xbf16, #mk.symmetric>, !mk.signal<?x?, sys, arrivals = ?>
    }
  }

  mk.role @reduce ctas(share = 0.1) {
    mk.foreach (%i, %n) in (%own, %column_tiles) {
      mk.wait %part[%i, %n] ge %gpus : !mk.signal<?x?, sys, arrivals = ?>
      %s = scf.for %g = %c0 to %gpus step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
        %x = mk.load %slot[%g, %i, %n, %c0, %c0]
            : memref<?x?x?x128x256xbf16, #mk.symmetric> -> tensor<128x256xbf16>
        %wide = arith.extf %x : tensor<128x256xbf16> to tensor<128x256xf32>
        %next = arith.addf %acc, %wide : tensor<128x256xf32>
        scf.yield %next : tensor<128x256xf32>
      }
      mk.store %s, %sum[%my_node, %i, %n, %c0, %c0]
          : tensor<128x256xf32>, memref<?x?x?x128x256xf32, #mk.symmetric>
      // @publish runs on other CTAs: it must be told of the own sum too.
      mk.signal %summed[%i, %n] : !mk.signal<?x?, sys, arrivals = ?>
      mk.foreach_peer (%p) along node {
        mk.put %sum[%my_node, %i, %n, %c0, %c0][%c1, %c1, %c1, %c128, %c256]
            to %sum[%my_node, %i, %n, %c0, %c0] on %p signal %summed[%i, %n]
            : memref<?x?x?x128x256xf32, #mk.symmetric> to memref<?x?x?x128x256xf32, #mk.symmetric>,
              !mk.signal<?x?, sys, arrivals = ?>
      }
    }
  }

  mk.role @publish ctas(share = 0.05) {
    mk.foreach (%i, %n) in (%own, %column_tiles) {
      mk.wait %summed[%i, %n] ge %nodes : !mk.signal<?x?, sys, arrivals = ?>
      %s = scf.for %d = %c0 to %nodes step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
        %x = mk.load %sum[%d, %i, %n, %c0, %c0]
            : memref<?x?x?x128x256xf32, #mk.symmetric> -> tensor<128x256xf32>
        %next = arith.addf %acc, %x : tensor<128x256xf32>
        scf.yield %next : tensor<128x256xf32>
      }
      %t = arith.truncf %s : tensor<128x256xf32> to tensor<128x256xbf16>
      %m = arith.addi %first, %i : index
      %row = arith.muli %m, %c128 : index
      %column = arith.muli %n, %c256 : index
      // The kernel ends when what all owners publish to this rank is there.
      mk.foreach_peer (%p) along gpu including self {
        mk.store %t, %c[%row, %column] on %p
            : tensor<128x256xbf16>, memref<?x?xbf16, #mk.symmetric>
      }
    }
  }
}
