// GEMM + AllToAll on nodes of GPUs: the projection in front of attention that is parallel over heads (Ulysses). Each rank has
// some rows of A (tokens) and all of B, and gets some heads of C for all tokens: C[h] = A * B[h]^T, A: M x K,
// B: H x D x K, C: H x M x D, as attention.mlir wants its operands; bf16, summed in f32.
//
// Within the node a tile is stored where it belongs. What another node needs goes first to the GPU of the own node that has
// the owner's place there (@gemm), and from there across the network (@send): each byte once, between GPUs of the same place
// only, (nodes - 1) / nodes * H * M * D * 2 bytes in all. Tiles for other nodes are computed first. TM rows of a
// head are sent at a time; they are contiguous.
//
// Parameters: TM, TN, TK, the extents of a tile (TN of D); RASTER, how many blocks of rows are walked
// together (for each GPU of a node); SEND, how many CTAs have this role.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!parts = !mk.signal<?x?x?x?, sys, arrivals = ?>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_a2a on @mesh sizes(node, gpu) dims(uniform M, uniform H, uniform D, uniform K) (
    in %a : memref<?x?xbf16> [M, K] split [(node, gpu), ()],
    in %b : memref<?x?x?xbf16> [H, D, K],
    // For the heads of my place in each node: the rows of all ranks of my node.
    scratch %away : memref<?x?x?xbf16, #mk.symmetric>
        [node * (H ceildiv (node * gpu)), gpu * (M ceildiv (node * gpu)), D],
    out %c : memref<?x?x?xbf16, #mk.symmetric> [H, M, D] split [(node, gpu), (), ()]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 128
  %tk = mk.param "TK" = 64
  mk.param "RASTER" = 2
  mk.param "SEND" = 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  %me = mk.rank
  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %world = mk.size
  %others = arith.subi %nodes, %c1 : index
  %shard = arith.ceildivui %M, %world : index       // rows of a whole shard
  %blocks = arith.ceildivui %shard, %tm : index     // blocks of TM rows in it
  %heads = arith.ceildivui %H, %world : index       // heads of a rank; the last may have less or none
  %head_tiles = arith.ceildivui %D, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index

  // For each node, head, GPU of my node and block of its rows: column tiles in %away.
  %part = mk.signals(%nodes, %heads, %gpus, %blocks) arrivals(%head_tiles) : !parts

  mk.role @gemm ctas(rest) {
    %node_blocks = arith.muli %nodes, %blocks : index
    %column_tiles = arith.muli %heads, %head_tiles : index
    mk.foreach (%b_, %n_, %p_) in (%node_blocks, %column_tiles, %gpus)
        schedule(ticket) order(raster = RASTER) {
      %d_ = arith.divui %b_, %blocks : index
      %d_1 = arith.addi %d_, %c1 : index
      %p_1 = arith.addi %p_, %c1 : index
      %d = func.call @after(%my_node, %d_1, %nodes) : (index, index, index) -> index
      %place = func.call @after(%my_gpu, %p_1, %gpus) : (index, index, index) -> index
      %owner = mk.rank(node = %d, gpu = %place)
      %j = arith.divui %n_, %head_tiles : index
      %n = arith.remui %n_, %head_tiles : index
      %i = arith.remui %b_, %blocks : index
      %r, %rows, %at = func.call @block(%me, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %head, %exists = func.call @head(%owner, %j, %heads, %H) : (index, index, index, index) -> (index, i1)
      %filled = arith.cmpi sgt, %rows, %c0 : index
      %some = arith.andi %filled, %exists : i1
      scf.if %some {
        %column = arith.muli %n, %tn : index
        %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %x = mk.load %a[%r, %k] : memref<?x?xbf16> -> !a
          %y = mk.load %b[%head, %column, %k] : memref<?x?x?xbf16> -> !b
          %next = mk.dot %x, %y, %partial transpose_b : !a, !b, !acc
          mk.yield %next : !acc
        }
        %t = arith.truncf %acc : !acc to !c
        %p = mk.rank(gpu = %place)
        %near = arith.cmpi eq, %d, %my_node : index
        scf.if %near {
          mk.store %t, %c[%j, %at, %column] valid(%rows, %tn) on %p : !c, memref<?x?x?xbf16, #mk.symmetric>
        } else {
          %first = arith.muli %my_gpu, %shard : index
          %row = arith.addi %first, %r : index
          %heads_before = arith.muli %d, %heads : index
          %slot = arith.addi %heads_before, %j : index
          mk.store %t, %away[%slot, %row, %column] valid(%rows, %tn) on %p signal %part[%d, %j, %my_gpu, %i]
              : !c, memref<?x?x?xbf16, #mk.symmetric>, !parts
        }
      }
    }
  }

  // Between nodes: what the ranks of my node have for the heads of my place. The kernel
  // ends when what others send to this rank is there.
  mk.role @send ctas(param SEND) then @gemm {
    mk.foreach (%d_, %i, %j, %g) in (%others, %blocks, %heads, %gpus) {
      %d_1 = arith.addi %d_, %c1 : index
      %d = func.call @after(%my_node, %d_1, %nodes) : (index, index, index) -> index
      %owner = mk.rank(node = %d)
      %s = mk.rank(gpu = %g)
      %r, %rows, %at = func.call @block(%s, %i, %tm, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %head, %exists = func.call @head(%owner, %j, %heads, %H) : (index, index, index, index) -> (index, i1)
      %filled = arith.cmpi sgt, %rows, %c0 : index
      %some = arith.andi %filled, %exists : i1
      scf.if %some {
        %first = arith.muli %g, %shard : index
        %row = arith.addi %first, %r : index
        %heads_before = arith.muli %d, %heads : index
        %slot = arith.addi %heads_before, %j : index
        mk.wait %part[%d, %j, %g, %i] ge %head_tiles : !parts
        mk.put %away[%slot, %row, %c0][%c1, %rows, %D] to %c[%j, %at, %c0] on %owner
            : memref<?x?x?xbf16, #mk.symmetric> to memref<?x?x?xbf16, #mk.symmetric>
      }
    }
  }
}

// Head %j of rank %s, and whether there is one.
func.func private @head(%s: index, %j: index, %heads: index, %H: index) -> (index, i1) {
  %first = arith.muli %s, %heads : index
  %head = arith.addi %first, %j : index
  %exists = arith.cmpi ult, %head, %H : index
  return %head, %exists : index, i1
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

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %h = tensor.dim %b, %c0 : tensor<?x?x?xf64>
  %d = tensor.dim %b, %c1 : tensor<?x?x?xf64>
  %empty = tensor.empty(%h, %m, %d) : tensor<?x?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %c = linalg.contract
      indexing_maps = [affine_map<(h, m, d, k) -> (m, k)>, affine_map<(h, m, d, k) -> (h, d, k)>, affine_map<(h, m, d, k) -> (h, m, d)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?x?xf64>) outs(%zero : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %c : tensor<?x?x?xf64>
}
