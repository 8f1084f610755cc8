// GEMM + AllReduce, hierarchical: C = A * B^T, A: M x K, B: N x K, both split along K, C whole on each
// rank. bf16, summed in f32, always in the order of ranks: all ranks get the same bits, in every run.
//
// Two shots in a node: each GPU owns a slice of C's rows. A rank multiplies what it has of K and leaves each tile
// with its owner in the node, in a slot of its own (@gemm). The owner adds the slots up (@reduce), exchanges the sum with the
// owners of the slice in other nodes, in bf16 (@send; (nodes - 1) * M * N * 2 bytes from each node), adds the nodes' sums and stores
// the result at every GPU of its node (@publish; on one node that is @reduce's work).
//
// Own rows are computed last. A block of TM rows is sent when all of its columns are there; it is contiguous.
//
// Parameters: TM, TN, TK, the extents of a tile; TR, how many of its rows are added up at once; RASTER, how many
// blocks of a slice are walked together (for each GPU of the node); REDUCE and PUBLISH, how many CTAs have these roles.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!part = tensor<?x?xbf16, #mk.extents<TR, TN>>
!sum = tensor<?x?xf32, #mk.extents<TR, TN>>
!parts = !mk.signal<?x?, sys, arrivals = ?>
!reduced = !mk.signal<?, gpu, arrivals = ?>
!arrived = !mk.signal<?x?, sys, arrivals = 1>

!sums = memref<?x?x?xbf16, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_ar on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (node, gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (node, gpu)],
    // My slice: from each GPU of the node, and summed over each node.
    scratch %slot : !sums [gpu, M ceildiv gpu, N],
    scratch %sum : !sums [node, M ceildiv gpu, N],
    out %c : memref<?x?xbf16, #mk.symmetric> [M, N]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 256
  %tk = mk.param "TK" = 64
  %tr = mk.param "TR" = 32
  mk.param "RASTER" = 2
  mk.param "REDUCE" = 2
  mk.param "PUBLISH" = 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %slice = arith.ceildivui %M, %gpus : index        // rows of a whole slice
  %blocks = arith.ceildivui %slice, %tm : index     // blocks of TM rows in it
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_own = memref.dim %a, %c1 : memref<?x?xbf16>    // own part of K, may be 0
  %k_tiles = arith.ceildivui %k_own, %tk : index
  %alone = arith.cmpi eq, %nodes, %c1 : index
  %exchanged = arith.select %alone, %c0, %blocks : index

  // For each block and column tile of my slice: a part from each GPU of my node.
  %part = mk.signals(%blocks, %column_tiles) arrivals(%gpus) : !parts
  // For each block: its column tiles in %sum, of the own node.
  %reduced = mk.signals(%blocks) arrivals(%column_tiles) : !reduced
  // From each node: a block in %sum.
  %arrived = mk.signals(%nodes, %blocks) : !arrived

  mk.role @gemm ctas(rest) then @publish {
    mk.foreach (%i, %n, %p_) in (%blocks, %column_tiles, %gpus) schedule(ticket) order(raster = RASTER) {
      %owner = func.call @behind(%my_gpu, %p_, %gpus) : (index, index, index) -> index
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %slice, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %x = mk.load %a[%at, %k] valid(%rows, %tk) : memref<?x?xbf16> -> !a
          %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
          %next = mk.dot %x, %y, %partial transpose_b : !a, !b, !acc
          mk.yield %next : !acc
        }
        %t = arith.truncf %acc : !acc to !c
        %p = mk.rank(gpu = %owner)
        mk.store %t, %slot[%my_gpu, %r, %column] valid(%rows, %tn) on %p signal %part[%i, %n]
            : !c, !sums, !parts
      }
    }
  }

  // In the node: adds up the own slice.
  mk.role @reduce ctas(param REDUCE) then @gemm {
    mk.foreach (%i, %n) in (%blocks, %column_tiles) schedule(ticket) {
      %r, %rows, %at = func.call @block(%my_gpu, %i, %tm, %slice, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        mk.wait %part[%i, %n] ge %gpus : !parts
        scf.for %down = %c0 to %rows step %tr {
          %row = arith.addi %r, %down : index
          %left = arith.subi %rows, %down : index
          %t = func.call @add_up(%slot, %gpus, %row, %column, %left, %tr, %tn)
              : (!sums, index, index, index, index, index, index) -> !part
          scf.if %alone {
            %c_row = arith.addi %at, %down : index
            func.call @publish(%t, %c, %c_row, %column, %left, %tn)
                : (!part, memref<?x?xbf16, #mk.symmetric>, index, index, index, index) -> ()
          } else {
            mk.store %t, %sum[%my_node, %row, %column] valid(%left, %tn) : !part, !sums
          }
        }
        scf.if %alone {
        } else {
          mk.signal %reduced[%i] : !reduced
        }
      }
    }
  }

  // Between nodes: each block once to each other node.
  mk.role @send ctas(1) then @gemm {
    mk.foreach (%i) in (%exchanged) {
      %r, %rows, %at = func.call @block(%my_gpu, %i, %tm, %slice, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.wait %reduced[%i] ge %column_tiles : !reduced
        mk.foreach_peer (%p) along node {
          mk.put %sum[%my_node, %r, %c0][%c1, %rows, %N] to %sum[%my_node, %r, %c0] on %p signal %arrived[%my_node, %i]
              : !sums to !sums, !arrived
        }
      }
    }
  }

  // Adds the nodes' sums. The kernel ends when what all owners publish to this rank is there.
  mk.role @publish ctas(param PUBLISH) {
    mk.foreach (%i, %n) in (%exchanged, %column_tiles) schedule(ticket) {
      %r, %rows, %at = func.call @block(%my_gpu, %i, %tm, %slice, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        mk.wait %reduced[%i] ge %column_tiles : !reduced
        mk.foreach_peer (%p) along node {
          %d = mk.coord node of %p
          mk.wait %arrived[%d, %i] ge %c1 : !arrived
        }
        scf.for %down = %c0 to %rows step %tr {
          %row = arith.addi %r, %down : index
          %left = arith.subi %rows, %down : index
          %c_row = arith.addi %at, %down : index
          %t = func.call @add_up(%sum, %nodes, %row, %column, %left, %tr, %tn)
              : (!sums, index, index, index, index, index, index) -> !part
          func.call @publish(%t, %c, %c_row, %column, %left, %tn)
              : (!part, memref<?x?xbf16, #mk.symmetric>, index, index, index, index) -> ()
        }
      }
    }
  }
}

// Adds the same rows of all %n ranks or nodes, in their order.
func.func private @add_up(%from: !sums, %n: index, %row: index, %column: index, %left: index, %tr: index, %tn: index) -> !part {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tr, %tn] : !sum
  %total = scf.for %s = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!sum) {
    %x = mk.load %from[%s, %row, %column] valid(%left, %tn) : !sums -> !part
    %wide = arith.extf %x : !part to !sum
    %next = arith.addf %acc, %wide : !sum
    scf.yield %next : !sum
  }
  %t = arith.truncf %total : !sum to !part
  return %t : !part
}

// Stores rows of C at every GPU of the node.
func.func private @publish(%t: !part, %c: memref<?x?xbf16, #mk.symmetric>, %at: index, %column: index, %rows: index, %tn: index) {
  mk.foreach_peer (%p) along gpu including self {
    mk.store %t, %c[%at, %column] valid(%rows, %tn) on %p : !part, memref<?x?xbf16, #mk.symmetric>
  }
  return
}

// The %j-th place behind %own of %n, which comes last itself.
func.func private @behind(%own: index, %j: index, %n: index) -> index {
  %c1 = arith.constant 1 : index
  %next = arith.addi %own, %c1 : index
  %place = arith.addi %next, %j : index
  %result = arith.remui %place, %n : index
  return %result : index
}

// Block %i of slice %s: its first row in the slice, its rows (none if the slice
// ends before it), its first row in the whole.
func.func private @block(%s: index, %i: index, %tm: index, %slice: index, %M: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %begin = arith.muli %s, %slice : index
  %left = arith.subi %M, %begin : index
  %in_slice = arith.minsi %left, %slice : index
  %r = arith.muli %i, %tm : index
  %rest = arith.subi %in_slice, %r : index
  %some = arith.maxsi %rest, %c0 : index
  %rows = arith.minsi %some, %tm : index
  %at = arith.addi %begin, %r : index
  return %r, %rows, %at : index, index, index
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
