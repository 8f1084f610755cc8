// GEMM + AllReduce, hierarchical: C = A * B^T, A: M x K, B: N x K, both split along K, C whole on each
// rank. bf16, summed in f32, always in the same order: all ranks get the same bits, in every run.
//
// Two shots in a node: each GPU owns a slice of C's rows. A rank multiplies what it has of K for all rows. Tiles of other
// slices go to their owner in the node, in a slot of this rank's own. In those of the own slice the epilogue waits for what
// the other GPUs sent, adds it in registers and stores the result at every GPU of the node.
//
// On several nodes it stores the node's sum, which is exchanged with the owners of the slice in other nodes, in bf16
// (@send; (nodes - 1) * M * N * 2 bytes from each node). The nodes' sums are added and stored everywhere by CTAs of their own
// (@publish), the last quarter of them by all that are done with products.
//
// Rows of tiles for other GPUs never wait; those of the own slice are LAG blocks behind, so that results are sent
// while there are products. A block of TM rows is sent to other nodes when all of its columns are there; it is contiguous.
//
// Parameters: TM, TN, TK, the extents of a tile; TR, how many of its rows @publish adds up at once; RASTER, how many rows of
// tiles are walked together; LAG, by how many blocks of a slice the own ones trail those for other GPUs (more than there
// are makes them last); PUBLISH, how many CTAs have this role.

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
!whole = memref<?x?xbf16, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_ar on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(), (node, gpu)],
    in %b : memref<?x?xbf16> [N, K] split [(), (node, gpu)],
    // My slice: from each other GPU of the node, and summed over each node (of several).
    scratch %slot : !sums [gpu - 1, M ceildiv gpu, N],
    scratch %sum : !sums [node * ((node - 1) ceildiv node), M ceildiv gpu, N],
    out %c : !whole [M, N]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 256 in [192, 256]
  %tk = mk.param "TK" = 64
  %tr = mk.param "TR" = 32
  mk.param "RASTER" = 8
  %any_lag = mk.param "LAG" = 1000000
  mk.param "PUBLISH" = 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %others = arith.subi %gpus, %c1 : index           // in the node
  %slice = arith.ceildivui %M, %gpus : index        // rows of a whole slice
  %blocks = arith.ceildivui %slice, %tm : index     // blocks of TM rows in it
  %column_tiles = arith.ceildivui %N, %tn : index
  %lag = arith.minsi %any_lag, %blocks : index
  %k_own = memref.dim %a, %c1 : memref<?x?xbf16>    // own part of K, may be 0
  %k_tiles = arith.ceildivui %k_own, %tk : index
  %alone = arith.cmpi eq, %nodes, %c1 : index
  %exchanged = arith.select %alone, %c0, %blocks : index
  %early_ = arith.muli %exchanged, %c3 : index
  %early = arith.divui %early_, %c4 : index         // of these: published by @publish

  // For each block and column tile of my slice: a part from each other GPU of my node.
  %part = mk.signals(%blocks, %column_tiles) arrivals(%others) : !parts
  // For each block: its column tiles in %sum, of the own node.
  %reduced = mk.signals(%blocks) arrivals(%column_tiles) : !reduced
  // From each node: a block in %sum.
  %arrived = mk.signals(%nodes, %blocks) : !arrived

  mk.role @gemm ctas(rest) {
    %all_rows = arith.muli %blocks, %gpus : index
    %sent_rows = arith.muli %blocks, %others : index
    mk.foreach (%q, %n) in (%all_rows, %column_tiles)
        schedule(ticket) order(raster = RASTER, own = last) own(%sent_rows, %blocks) {
      %i, %p_ = func.call @row(%q, %blocks, %gpus, %lag) : (index, index, index, index) -> (index, index)
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
        %own = arith.cmpi eq, %owner, %my_gpu : index
        scf.if %own {
          %shared = arith.cmpi ne, %others, %c0 : index
          scf.if %shared {
            mk.wait %part[%i, %n] ge %others : !parts
          }
          %total = scf.for %g = %c0 to %others step %c1 iter_args(%sum_g = %acc) -> (!acc) {
            %x = mk.load %slot[%g, %r, %column] valid(%rows, %tn) : !sums -> !c
            %wide = arith.extf %x : !c to !acc
            %next = arith.addf %sum_g, %wide : !acc
            scf.yield %next : !acc
          }
          %t = arith.truncf %total : !acc to !c
          scf.if %alone {
            mk.foreach_peer (%p) along gpu including self {
              mk.store %t, %c[%at, %column] valid(%rows, %tn) on %p : !c, !whole
            }
          } else {
            mk.store %t, %sum[%my_node, %r, %column] valid(%rows, %tn) : !c, !sums
            mk.signal %reduced[%i] : !reduced
          }
        } else {
          %from = func.call @among_others(%my_gpu, %owner) : (index, index) -> index
          %t = arith.truncf %acc : !acc to !c
          %p = mk.rank(gpu = %owner)
          mk.store %t, %slot[%from, %r, %column] valid(%rows, %tn) on %p signal %part[%i, %n]
              : !c, !sums, !parts
        }
      }
    }
    %late = arith.subi %exchanged, %early : index
    mk.foreach (%i_, %n) in (%late, %column_tiles) schedule(ticket) {
      %i = arith.addi %early, %i_ : index
      func.call @publish(%sum, %c, %reduced, %arrived, %i, %n, %column_tiles, %tm, %tn, %tr, %slice, %M)
          : (!sums, !whole, !reduced, !arrived, index, index, index, index, index, index, index, index) -> ()
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

  // The kernel ends when what all owners publish to this rank is there.
  mk.role @publish ctas(param PUBLISH) then @gemm {
    mk.foreach (%i, %n) in (%early, %column_tiles) schedule(ticket) {
      func.call @publish(%sum, %c, %reduced, %arrived, %i, %n, %column_tiles, %tm, %tn, %tr, %slice, %M)
          : (!sums, !whole, !reduced, !arrived, index, index, index, index, index, index, index, index) -> ()
    }
  }
}

// Adds a tile's sums of all nodes, in their order, and stores it at every GPU of the own one.
func.func private @publish(%sum: !sums, %c: !whole, %reduced: !reduced, %arrived: !arrived, %i: index, %n: index,
                           %column_tiles: index, %tm: index, %tn: index, %tr: index, %slice: index, %M: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tr, %tn] : !sum
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
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
      %total = scf.for %d = %c0 to %nodes step %c1 iter_args(%acc = %zero) -> (!sum) {
        %x = mk.load %sum[%d, %row, %column] valid(%left, %tn) : !sums -> !part
        %wide = arith.extf %x : !part to !sum
        %next = arith.addf %acc, %wide : !sum
        scf.yield %next : !sum
      }
      %t = arith.truncf %total : !sum to !part
      mk.foreach_peer (%p) along gpu including self {
        mk.store %t, %c[%c_row, %column] valid(%left, %tn) on %p : !part, !whole
      }
    }
  }
  return
}

// Row %q of the tiles of %blocks blocks for each of %gpus GPUs: its block, and how far its GPU is behind the own
// one, less one. Rows for other GPUs come block by block, each own one %lag blocks behind, or when there are no others left.
func.func private @row(%q: index, %blocks: index, %gpus: index, %lag: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %others = arith.subi %gpus, %c1 : index
  %head = arith.muli %lag, %others : index          // rows before the first own one
  %rounds = arith.subi %blocks, %lag : index        // of a block for each other GPU and one of its own
  %past_ = arith.subi %q, %head : index
  %past = arith.maxsi %past_, %c0 : index
  %round_ = arith.divui %past, %gpus : index
  %round = arith.minsi %round_, %rounds : index     // as many own rows were in rounds
  %done = arith.muli %round, %gpus : index
  %in_round = arith.subi %past, %done : index

  %tail = arith.muli %rounds, %gpus : index
  %in_tail = arith.cmpi sge, %past_, %tail : index
  %ends_round = arith.cmpi eq, %in_round, %others : index
  %own = arith.ori %in_tail, %ends_round : i1
  %behind = arith.select %in_tail, %in_round, %c0 : index
  %own_block = arith.addi %round, %behind : index

  %sent = arith.subi %q, %round : index             // rows for others before this one
  %some = arith.maxsi %others, %c1 : index
  %other_block = arith.divui %sent, %some : index
  %p = arith.remui %sent, %some : index
  %block = arith.select %own, %own_block, %other_block : index
  %place = arith.select %own, %others, %p : index
  return %block, %place : index, index
}

// The %j-th place behind %own of %n, which comes last itself.
func.func private @behind(%own: index, %j: index, %n: index) -> index {
  %c1 = arith.constant 1 : index
  %next = arith.addi %own, %c1 : index
  %place = arith.addi %next, %j : index
  %result = arith.remui %place, %n : index
  return %result : index
}

// Where %of stands in a list of all but %without.
func.func private @among_others(%of: index, %without: index) -> index {
  %c1 = arith.constant 1 : index
  %behind = arith.cmpi ugt, %of, %without : index
  %less = arith.subi %of, %c1 : index
  %place = arith.select %behind, %less, %of : index
  return %place : index
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
