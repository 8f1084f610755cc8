// A feed-forward layer in one kernel, tensor parallel on nodes of GPUs: AllGather -> GEMM -> bias + GELU -> GEMM
// -> ReduceScatter. C = gelu(A * W1^T + bias) * W2^T, A: M x K, W1: F x K, W2: N x F; bf16, summed in f32, bias bf16.
// The rows of A and C are split over all ranks, and so is F.
//
// Rows of A travel as in ag_gemm.mlir, once to each node (@send) and on inside it (@push). @gemm computes the hidden
// activations of all rows for its part of F, then their products with its part of W2. These are added up as in
// gemm_rs.mlir: over the node (@reduce), then by the owner (@finish), always in the order of ranks; (nodes - 1) * M * (K + N) * 2
// bytes cross the network in all. Hidden activations never leave the GPU, but other CTAs read them than those
// that stored them: a signal counts the column tiles of each block.
//
// Parameters: TM, TN, TK, the extents of a tile (TN of F in the first product); TR, how many of its rows are added up
// at once; RASTER1 and RASTER2, how many blocks are walked together in each product; PUSH, REDUCE and FINISH, how many CTAs
// have these roles.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!bias = tensor<?xbf16, #mk.extents<TN>>
!wide = tensor<?xf32, #mk.extents<TN>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!part = tensor<?x?xbf16, #mk.extents<TR, TN>>
!sum = tensor<?x?xf32, #mk.extents<TR, TN>>
!arrived = !mk.signal<?x?, sys, arrivals = 1>
!parts = !mk.signal<?x?x?, sys, arrivals = ?>
!filled = !mk.signal<?x?, gpu, arrivals = ?>

!slots = memref<?x?x?x?xbf16, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @ag_mlp_rs on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K, uniform F) (
    in %a : memref<?x?xbf16, #mk.symmetric> [M, K] split [(node, gpu), ()],
    in %w1 : memref<?x?xbf16> [F, K] split [(node, gpu), ()],
    in %bias : memref<?xbf16> [F] split [(node, gpu)],
    in %w2 : memref<?x?xbf16> [N, F] split [(), (node, gpu)],
    scratch %full : memref<?x?xbf16, #mk.symmetric> [M, K],
    scratch %hidden : memref<?x?xbf16> [M, F ceildiv (node * gpu)],
    // From each GPU of the node, for the shards of my place in each node.
    scratch %slot : !slots [gpu, node, M ceildiv (node * gpu), N],
    // The node's sums for these shards, and those of other nodes for mine.
    scratch %away : memref<?x?x?xbf16, #mk.symmetric> [node, M ceildiv (node * gpu), N],
    scratch %sum : memref<?x?x?xbf16, #mk.symmetric> [node, M ceildiv (node * gpu), N],
    out %c : memref<?x?xbf16> [M, N] split [(node, gpu), ()]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 256
  %tk = mk.param "TK" = 64
  %tr = mk.param "TR" = 32
  mk.param "RASTER1" = 8
  mk.param "RASTER2" = 2
  mk.param "PUSH" = 2
  mk.param "REDUCE" = 2
  mk.param "FINISH" = 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %nothing = tensor.splat %0[%tr, %tn] : !sum

  %me = mk.rank
  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %world = mk.size
  %others = arith.subi %nodes, %c1 : index
  %shard = arith.ceildivui %M, %world : index       // rows of a whole shard
  %blocks = arith.ceildivui %shard, %tm : index     // blocks of TM rows in it
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %f = memref.dim %w1, %c0 : memref<?x?xbf16>       // own part of F, may be 0
  %f_tiles = arith.ceildivui %f, %tn : index
  %f_steps = arith.ceildivui %f, %tk : index

  // One for each block of each shard: its rows of A.
  %ready = mk.signals(%world, %blocks) : !arrived
  // The same: the tiles of its hidden activations.
  %filled = mk.signals(%world, %blocks) arrivals(%f_tiles) : !filled
  // For each node, block and column tile: a part from each GPU of my node.
  %part = mk.signals(%nodes, %blocks, %column_tiles) arrivals(%gpus) : !parts
  // For each node and block: its column tiles in %away.
  %reduced = mk.signals(%nodes, %blocks) arrivals(%column_tiles) : !filled
  // From each node: a block in %sum.
  %arrived = mk.signals(%nodes, %blocks) : !arrived

  mk.role @push ctas(param PUSH) then @gemm {
    mk.foreach (%i) in (%blocks) {
      %r, %rows, %at = func.call @block(%me, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.foreach_peer (%p) along gpu {
          mk.put %a[%r, %c0][%rows, %K] to %full[%at, %c0] on %p signal %ready[%me, %i]
              : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !arrived
        }
      }
    }
    // What the ranks in my place of other nodes sent me.
    mk.foreach (%i) in (%blocks) {
      mk.foreach_peer (%s) along node {
        %r, %rows, %at = func.call @block(%s, %i, %tm, %shard, %M)
            : (index, index, index, index, index) -> (index, index, index)
        %some = arith.cmpi sgt, %rows, %c0 : index
        scf.if %some {
          mk.wait %ready[%s, %i] ge %c1 : !arrived
          mk.foreach_peer (%p) along gpu {
            mk.put %full[%at, %c0][%rows, %K] to %full[%at, %c0] on %p signal %ready[%s, %i]
                : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !arrived
          }
        }
      }
    }
  }

  mk.role @gemm ctas(rest) then @finish {
    // Hidden activations: the own rows first, then those of the node, of the next node, ...
    %all_blocks = arith.muli %world, %blocks : index
    mk.foreach (%b_, %n) in (%all_blocks, %f_tiles) schedule(ticket) order(raster = RASTER1) {
      %s_ = arith.divui %b_, %blocks : index
      %i = arith.remui %b_, %blocks : index
      %d_ = arith.divui %s_, %gpus : index
      %g_ = arith.remui %s_, %gpus : index
      %d = func.call @after(%my_node, %d_, %nodes) : (index, index, index) -> index
      %g = func.call @after(%my_gpu, %g_, %gpus) : (index, index, index) -> index
      %s = mk.rank(node = %d, gpu = %g)
      %r, %rows, %at = func.call @block(%s, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %own = arith.cmpi eq, %s, %me : index
        %x_from = mk.select %own, %a, %full
            : memref<?x?xbf16, #mk.symmetric>, memref<?x?xbf16, #mk.symmetric> -> memref<?x?xbf16>
        %x_row = arith.select %own, %r, %at : index
        scf.if %own {
        } else {
          mk.wait %ready[%s, %i] ge %c1 : !arrived
        }
        %column = arith.muli %n, %tn : index
        %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %x = mk.load %x_from[%x_row, %k] valid(%rows, %tk) : memref<?x?xbf16> -> !a
          %y = mk.load %w1[%column, %k] : memref<?x?xbf16> -> !b
          %next = mk.dot %x, %y, %partial transpose_b : !a, !b, !acc
          mk.yield %next : !acc
        }
        %bias_narrow = mk.load %bias[%column] : memref<?xbf16> -> !bias
        %bias_wide = arith.extf %bias_narrow : !bias to !wide
        %bias_tile = mk.broadcast %bias_wide dims [0] : !wide -> !acc
        %sum_ = arith.addf %acc, %bias_tile : !acc
        %h = func.call @gelu(%sum_, %tm, %tn) : (!acc, index, index) -> !acc
        %t = arith.truncf %h : !acc to !c
        mk.store %t, %hidden[%at, %column] valid(%rows, %tn) : !c, memref<?x?xbf16>
        mk.signal %filled[%s, %i] : !filled
      }
    }
    // Their products: rows of other nodes first, the own rows last.
    %node_blocks = arith.muli %nodes, %blocks : index
    mk.foreach (%b_, %n, %p_) in (%node_blocks, %column_tiles, %gpus)
        schedule(ticket) order(raster = RASTER2) {
      %d_ = arith.divui %b_, %blocks : index
      %i = arith.remui %b_, %blocks : index
      %d_1 = arith.addi %d_, %c1 : index
      %p_1 = arith.addi %p_, %c1 : index
      %d = func.call @after(%my_node, %d_1, %nodes) : (index, index, index) -> index
      %place = func.call @after(%my_gpu, %p_1, %gpus) : (index, index, index) -> index
      %owner = mk.rank(node = %d, gpu = %place)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.wait %filled[%owner, %i] ge %f_tiles : !filled
        %column = arith.muli %n, %tn : index
        %acc = mk.fold (%ft) in (%f_steps) iter(%partial = %zero) combine(add) : !acc {
          %f_at = arith.muli %ft, %tk : index
          // The last ranks may have less of F than %hidden has room for.
          %f_left = arith.subi %f, %f_at : index
          %x = mk.load %hidden[%at, %f_at] valid(%rows, %f_left) : memref<?x?xbf16> -> !a
          %y = mk.load %w2[%column, %f_at] : memref<?x?xbf16> -> !b
          %next = mk.dot %x, %y, %partial transpose_b : !a, !b, !acc
          mk.yield %next : !acc
        }
        %t = arith.truncf %acc : !acc to !c
        %p = mk.rank(gpu = %place)
        mk.store %t, %slot[%my_gpu, %d, %r, %column] valid(%rows, %tn) on %p signal %part[%d, %i, %n]
            : !c, !slots, !parts
      }
    }
  }

  // In the node: adds up what goes to other nodes.
  mk.role @reduce ctas(param REDUCE) then @gemm {
    mk.foreach (%d_, %i, %n) in (%others, %blocks, %column_tiles) schedule(ticket) {
      %d_1 = arith.addi %d_, %c1 : index
      %d = func.call @after(%my_node, %d_1, %nodes) : (index, index, index) -> index
      %owner = mk.rank(node = %d)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        mk.wait %part[%d, %i, %n] ge %gpus : !parts
        scf.for %down = %c0 to %rows step %tr {
          %row = arith.addi %r, %down : index
          %left = arith.subi %rows, %down : index
          %total = func.call @add_slots(%nothing, %slot, %d, %row, %column, %left, %tn)
              : (!sum, !slots, index, index, index, index, index) -> !sum
          %t = arith.truncf %total : !sum to !part
          mk.store %t, %away[%d, %row, %column] valid(%left, %tn) : !part, memref<?x?x?xbf16, #mk.symmetric>
        }
        mk.signal %reduced[%d, %i] : !filled
      }
    }
  }

  // Between nodes: the own rows of A once to each, then each block of sums once to its owner.
  mk.role @send ctas(1) then @gemm {
    mk.foreach (%i) in (%blocks) {
      %r, %rows, %at = func.call @block(%me, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.foreach_peer (%p) along node {
          mk.put %a[%r, %c0][%rows, %K] to %full[%at, %c0] on %p signal %ready[%me, %i]
              : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !arrived
        }
      }
    }
    mk.foreach (%d_, %i) in (%others, %blocks) {
      %d_1 = arith.addi %d_, %c1 : index
      %d = func.call @after(%my_node, %d_1, %nodes) : (index, index, index) -> index
      %owner = mk.rank(node = %d)
      %r, %rows, %at = func.call @block(%owner, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        mk.wait %reduced[%d, %i] ge %column_tiles : !filled
        mk.put %away[%d, %r, %c0][%c1, %rows, %N] to %sum[%my_node, %r, %c0] on %owner signal %arrived[%my_node, %i]
            : memref<?x?x?xbf16, #mk.symmetric> to memref<?x?x?xbf16, #mk.symmetric>, !arrived
      }
    }
  }

  // The own rows: sums of the other nodes and parts of my own, in the order of nodes.
  mk.role @finish ctas(param FINISH) {
    mk.foreach (%i, %n) in (%blocks, %column_tiles) schedule(ticket) {
      %r, %rows, %at = func.call @block(%me, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %rows, %c0 : index
      scf.if %some {
        %column = arith.muli %n, %tn : index
        scf.for %down = %c0 to %rows step %tr {
          %row = arith.addi %r, %down : index
          %left = arith.subi %rows, %down : index
          %total = scf.for %d = %c0 to %nodes step %c1 iter_args(%acc = %nothing) -> (!sum) {
            %here = arith.cmpi eq, %d, %my_node : index
            %next = scf.if %here -> (!sum) {
              mk.wait %part[%d, %i, %n] ge %gpus : !parts
              %own = func.call @add_slots(%acc, %slot, %d, %row, %column, %left, %tn)
                  : (!sum, !slots, index, index, index, index, index) -> !sum
              scf.yield %own : !sum
            } else {
              mk.wait %arrived[%d, %i] ge %c1 : !arrived
              %x = mk.load %sum[%d, %row, %column] valid(%left, %tn) : memref<?x?x?xbf16, #mk.symmetric> -> !part
              %wide = arith.extf %x : !part to !sum
              %other = arith.addf %acc, %wide : !sum
              scf.yield %other : !sum
            }
            scf.yield %next : !sum
          }
          %t = arith.truncf %total : !sum to !part
          mk.store %t, %c[%row, %column] valid(%left, %tn) : !part, memref<?x?xbf16>
        }
      }
    }
  }
}

// Adds rows from %row on of what the GPUs of the node left for node %d, in the order of GPUs.
func.func private @add_slots(%sum: !sum, %slot: !slots, %d: index, %row: index, %column: index, %left: index, %tn: index) -> !sum {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gpus = mk.size gpu
  %total = scf.for %g = %c0 to %gpus step %c1 iter_args(%acc = %sum) -> (!sum) {
    %x = mk.load %slot[%g, %d, %row, %column] valid(%left, %tn) : !slots -> !part
    %wide = arith.extf %x : !part to !sum
    %next = arith.addf %acc, %wide : !sum
    scf.yield %next : !sum
  }
  return %total : !sum
}

// The place %j behind %own, of %n on a ring.
func.func private @after(%own: index, %j: index, %n: index) -> index {
  %place = arith.addi %own, %j : index
  %result = arith.remui %place, %n : index
  return %result : index
}

// Block %i of shard %s: its first row in the shard, its rows (none if the shard
// ends before it), its first row in the whole.
func.func private @block(%s: index, %i: index, %tm: index, %shard: index, %M: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %begin = arith.muli %s, %shard : index
  %left = arith.subi %M, %begin : index
  %in_shard = arith.minsi %left, %shard : index
  %r = arith.muli %i, %tm : index
  %rest = arith.subi %in_shard, %r : index
  %some = arith.maxsi %rest, %c0 : index
  %rows = arith.minsi %some, %tm : index
  %at = arith.addi %begin, %r : index
  return %r, %rows, %at : index, index, index
}

// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
func.func private @gelu(%x: !acc, %tm: index, %tn: index) -> !acc {
  %half_ = arith.constant 0.5 : f32
  %one_ = arith.constant 1.0 : f32
  %root_ = arith.constant 0.7978845608 : f32
  %cubic_ = arith.constant 0.0356774081 : f32   // root * 0.044715
  %half = tensor.splat %half_[%tm, %tn] : !acc
  %one = tensor.splat %one_[%tm, %tn] : !acc
  %root = tensor.splat %root_[%tm, %tn] : !acc
  %cubic = tensor.splat %cubic_[%tm, %tn] : !acc
  %x2 = arith.mulf %x, %x : !acc
  %p = arith.mulf %x2, %cubic : !acc
  %q = arith.addf %p, %root : !acc
  %u = arith.mulf %x, %q : !acc
  %t = math.tanh %u : !acc
  %t1 = arith.addf %t, %one : !acc
  %h = arith.mulf %x, %half : !acc
  %y = arith.mulf %h, %t1 : !acc
  return %y : !acc
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %w1: tensor<?x?xf64>, %bias: tensor<?xf64>, %w2: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %root = arith.constant 0.79788456080286541 : f64
  %cubic = arith.constant 0.044715 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %f = tensor.dim %w1, %c0 : tensor<?x?xf64>
  %n = tensor.dim %w2, %c0 : tensor<?x?xf64>
  %empty_h = tensor.empty(%m, %f) : tensor<?x?xf64>
  %zero_h = linalg.fill ins(%0 : f64) outs(%empty_h : tensor<?x?xf64>) -> tensor<?x?xf64>
  %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %w1 : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero_h : tensor<?x?xf64>) -> tensor<?x?xf64>
  %hidden = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                            iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_h : tensor<?x?xf64>) {
  ^bb0(%s: f64, %add: f64, %old: f64):
    %x = arith.addf %s, %add : f64
    %x2 = arith.mulf %x, %x : f64
    %x3 = arith.mulf %x2, %x : f64
    %p = arith.mulf %x3, %cubic : f64
    %q = arith.addf %x, %p : f64
    %u = arith.mulf %q, %root : f64
    %t = math.tanh %u : f64
    %t1 = arith.addf %t, %one : f64
    %h = arith.mulf %x, %half : f64
    %y = arith.mulf %h, %t1 : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  %empty_c = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero_c = linalg.fill ins(%0 : f64) outs(%empty_c : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%hidden, %w2 : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero_c : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
