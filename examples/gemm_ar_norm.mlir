// GEMM + AllReduce + residual + RMSNorm: what a decoder layer does behind attention, and behind its feed-forward part.
//   Y = A * B^T + R, OUT = Y / sqrt(mean(Y^2) + 1e-5) * W, the mean over each row
// A: M x K, B: N x K, both split along K; R: M x N and W: N, the same on each rank; Y (the new residual stream) and OUT,
// whole on each rank. bf16, summed in f32, always in the same order: all ranks get the same bits, in every run.
//
// As in gemm_ar.mlir there are two shots in a node, both out of the product's epilogue, but GPUs own columns: column
// tiles are dealt out to them in turn. A rank multiplies what it has of K. A tile of another GPU goes to that GPU, into a slot
// of this rank's own. For an own tile the epilogue waits for what the others sent, and adds it and the residual in registers.
// It stores Y at every GPU of the node, and the sum of squares of each row of the tile beside it. (Slices of
// rows, which gemm_ar.mlir has, would be tiles of their own where rows are few, each multiplied by all ranks.)
//
// The last loop of @gemm normalises. It waits for all column tiles of a block of TM rows, adds up the sums of squares,
// and reads Y once. Each rank does that for all rows: norms would cross the links else, beside Y.
//
// On several nodes the owner stores the node's sum. Owners in the same place of their nodes exchange these, in bf16 (@send:
// (nodes - 1) * M * N * 2 bytes from each node, where 256 * gpus divides N; else N counts as the next such number).
// CTAs of their own (@publish) add the nodes' sums and go on as above; the last quarter is done by all that are
// done with products.
//
// Tiles of other GPUs never wait. The own ones of a block of TM rows come LAG blocks behind those: with few, results are sent
// while there are products, but parts may not be there yet. By default all own ones are last.
//
// Parameters: TM, TN, TK, the extents of a tile (TN divides 256 and is at least 16); RASTER, how many rows of tiles, of one
// GPU each, are walked together; LAG, by how many blocks the own tiles trail (more than there are makes them last); NR and
// NC, the rows and columns that are normalised at once; NT, of how many column tiles sums of squares are read at once; TR,
// how many rows of a tile @publish adds up at once; PUBLISH, how many CTAs it has.

!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!row_sums = tensor<?xf32, #mk.extents<TM>>
!part = tensor<?x?xbf16, #mk.extents<TR, TN>>
!sum = tensor<?x?xf32, #mk.extents<TR, TN>>
!part_sums = tensor<?xf32, #mk.extents<TR>>
!n = tensor<?x?xbf16, #mk.extents<NR, NC>>
!n_wide = tensor<?x?xf32, #mk.extents<NR, NC>>
!n_weight = tensor<?xbf16, #mk.extents<NC>>
!n_sums = tensor<?x?xf32, #mk.extents<NT, NR>>
!n_row = tensor<?xf32, #mk.extents<NR>>
!parts = !mk.signal<?x?, sys, arrivals = ?>
!reduced = !mk.signal<?, gpu, arrivals = ?>
!arrived = !mk.signal<?x?, sys, arrivals = 1>
!whole = !mk.signal<?, sys, arrivals = ?>

!stream = memref<?x?xbf16>
!slots = memref<?x?x?xbf16, #mk.symmetric>
!shared = memref<?x?xbf16, #mk.symmetric>
!squares = memref<?x?xf32, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @gemm_ar_norm on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K) (
    in %a : !stream [M, K] split [(), (node, gpu)],
    in %b : !stream [N, K] split [(), (node, gpu)],
    in %r : !stream [M, N],
    in %w : memref<?xbf16> [N],
    // My columns: from each other GPU of the node, and summed over each node (of several).
    scratch %slot : !slots [gpu - 1, M, ((N ceildiv 256) ceildiv gpu) * 256],
    scratch %sum : !slots [node * ((node - 1) ceildiv node), M, ((N ceildiv 256) ceildiv gpu) * 256],
    // For each column tile and row: the sum of its squares.
    scratch %square : !squares [N ceildiv 16, M],
    out %y : !shared [M, N],
    out %out : !stream [M, N]) {
  %tm = mk.param "TM" = 128 in [64, 128]
  %tn = mk.param "TN" = 256 in [64, 128, 256]
  %tk = mk.param "TK" = 64
  %tr = mk.param "TR" = 32
  %nr = mk.param "NR" = 16
  %nc = mk.param "NC" = 1024
  %nt = mk.param "NT" = 32
  mk.param "RASTER" = 16
  %any_lag = mk.param "LAG" = 1000000
  mk.param "PUBLISH" = 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc

  %my_node = mk.coord node
  %my_gpu = mk.coord gpu
  %nodes = mk.size node
  %gpus = mk.size gpu
  %others = arith.subi %gpus, %c1 : index           // in the node
  %blocks = arith.ceildivui %M, %tm : index
  %lag = arith.minsi %any_lag, %blocks : index
  %column_tiles = arith.ceildivui %N, %tn : index
  %turns = arith.ceildivui %column_tiles, %gpus : index  // column tiles of a GPU, at most
  %mine_ = arith.subi %column_tiles, %my_gpu : index
  %mine_1 = arith.maxsi %mine_, %c0 : index
  %mine = arith.ceildivui %mine_1, %gpus : index    // my column tiles
  %width = memref.dim %slot, %c2 : !slots
  %k_own = memref.dim %a, %c1 : !stream             // own part of K, may be 0
  %k_tiles = arith.ceildivui %k_own, %tk : index
  %alone = arith.cmpi eq, %nodes, %c1 : index
  %nobody = arith.cmpi eq, %mine, %c0 : index
  %silent = arith.ori %alone, %nobody : i1
  %exchanged = arith.select %silent, %c0, %blocks : index
  %early_ = arith.muli %exchanged, %c3 : index
  %early = arith.divui %early_, %c4 : index         // of these: published by @publish

  %rest = arith.remui %c256, %tn : index
  %divides = arith.cmpi eq, %rest, %c0 : index
  %enough = arith.cmpi uge, %tn, %c16 : index
  %fits = arith.andi %divides, %enough : i1
  mk.require %fits, "TN must divide 256 and be at least 16: choose 16, 32, 64, 128 or 256"

  // For each block and column tile of mine: a part from each other GPU of my node.
  %part = mk.signals(%blocks, %turns) arrivals(%others) : !parts
  // For each block: my column tiles in %sum, of the own node.
  %reduced = mk.signals(%blocks) arrivals(%mine) : !reduced
  // From each node: a block in %sum.
  %arrived = mk.signals(%nodes, %blocks) : !arrived
  // For each block: the column tiles of Y and their sums of squares.
  %whole = mk.signals(%blocks) arrivals(%column_tiles) : !whole

  mk.role @gemm ctas(rest) {
    %all_rows = arith.muli %blocks, %gpus : index
    %sent_rows = arith.muli %blocks, %others : index
    mk.foreach (%q, %turn) in (%all_rows, %turns)
        schedule(ticket) order(raster = RASTER, own = last) own(%sent_rows, %blocks) {
      %i, %p_ = func.call @row(%q, %blocks, %gpus, %lag) : (index, index, index, index) -> (index, index)
      %owner = func.call @behind(%my_gpu, %p_, %gpus) : (index, index, index) -> index
      %before = arith.muli %turn, %gpus : index
      %n = arith.addi %before, %owner : index
      %some = arith.cmpi slt, %n, %column_tiles : index
      scf.if %some {
        %row = arith.muli %i, %tm : index
        %rows = arith.subi %M, %row : index
        %column = arith.muli %n, %tn : index
        %acc = mk.fold (%kt) in (%k_tiles) iter(%partial = %zero) combine(add) : !acc {
          %k = arith.muli %kt, %tk : index
          %x = mk.load %a[%row, %k] : !stream -> !a
          %y_ = mk.load %b[%column, %k] : !stream -> !b
          %next = mk.dot %x, %y_, %partial transpose_b : !a, !b, !acc
          mk.yield %next : !acc
        }
        %at = arith.muli %turn, %tn : index         // in slots and sums
        %own = arith.cmpi eq, %owner, %my_gpu : index
        scf.if %own {
          %shared = arith.cmpi ne, %others, %c0 : index
          scf.if %shared {
            mk.wait %part[%i, %turn] ge %others : !parts
          }
          %total = scf.for %g = %c0 to %others step %c1 iter_args(%sum_g = %acc) -> (!acc) {
            %x = mk.load %slot[%g, %row, %at] : !slots -> !c
            %wide = arith.extf %x : !c to !acc
            %next = arith.addf %sum_g, %wide : !acc
            scf.yield %next : !acc
          }
          scf.if %alone {
            %x = mk.load %r[%row, %column] : !stream -> !c
            %wide = arith.extf %x : !c to !acc
            %stream = arith.addf %total, %wide : !acc
            %t = arith.truncf %stream : !acc to !c
            // Of what is stored, as whoever reads Y would compute it.
            %back = arith.extf %t : !c to !acc
            %squares = arith.mulf %back, %back : !acc
            %sums = mk.reduce add %squares axis 1 : !acc -> !row_sums
            mk.foreach_peer (%p) along gpu including self {
              mk.store %sums, %square[%n, %row] on %p : !row_sums, !squares
            }
            // In a loop of its own, which is left to the CTA's sender.
            mk.foreach_peer (%p) along gpu including self {
              mk.store %t, %y[%row, %column] on %p : !c, !shared
            }
            // Behind all stores: the first signal waits for them, the others for nothing.
            mk.foreach_peer (%p) along gpu including self {
              mk.signal %whole[%i] on %p : !whole
            }
          } else {
            %t = arith.truncf %total : !acc to !c
            mk.store %t, %sum[%my_node, %row, %at] : !c, !slots
            mk.signal %reduced[%i] : !reduced
          }
        } else {
          %from = func.call @among_others(%my_gpu, %owner) : (index, index) -> index
          %t = arith.truncf %acc : !acc to !c
          %p = mk.rank(gpu = %owner)
          mk.store %t, %slot[%from, %row, %at] on %p signal %part[%i, %turn] : !c, !slots, !parts
        }
      }
    }
    %late = arith.subi %exchanged, %early : index
    mk.foreach (%i_, %turn) in (%late, %mine) schedule(ticket) {
      %i = arith.addi %early, %i_ : index
      func.call @publish(%sum, %r, %y, %square, %reduced, %arrived, %whole, %i, %turn, %mine, %tm, %tn, %tr, %M)
          : (!slots, !stream, !shared, !squares, !reduced, !arrived, !whole,
             index, index, index, index, index, index, index) -> ()
    }
    // RMSNorm.
    %slabs = arith.ceildivui %tm, %nr : index
    %all_slabs = arith.muli %blocks, %slabs : index
    %pieces = arith.ceildivui %N, %nc : index
    mk.foreach (%s, %piece) in (%all_slabs, %pieces) schedule(ticket) {
      %i = arith.divui %s, %slabs : index
      %slab = arith.remui %s, %slabs : index
      %down = arith.muli %slab, %nr : index
      %left = arith.subi %tm, %down : index
      %block = arith.muli %i, %tm : index
      %row = arith.addi %block, %down : index
      %some = arith.cmpi slt, %row, %M : index
      scf.if %some {
        %column = arith.muli %piece, %nc : index
        %weight = mk.load %w[%column] : memref<?xbf16> -> !n_weight
        mk.wait %whole[%i] ge %column_tiles : !whole
        %x = mk.load %y[%row, %column] valid(%left, %nc) : !shared -> !n
        %nothing = tensor.splat %0[%nt, %nr] : !n_sums
        %sums = scf.for %t = %c0 to %column_tiles step %nt iter_args(%sums_t = %nothing) -> (!n_sums) {
          %tiles = arith.subi %column_tiles, %t : index
          %squares = mk.load %square[%t, %row] valid(%tiles, %left) : !squares -> !n_sums
          %next = arith.addf %sums_t, %squares : !n_sums
          scf.yield %next : !n_sums
        }
        %row_sum = mk.reduce add %sums axis 0 : !n_sums -> !n_row
        %factor = func.call @inverse_root_of_mean(%row_sum, %N, %nr) : (!n_row, index, index) -> !n_row
        %factors = mk.broadcast %factor dims [1] : !n_row -> !n_wide
        %weights_ = mk.broadcast %weight dims [0] : !n_weight -> !n
        %weights = arith.extf %weights_ : !n to !n_wide
        %wide = arith.extf %x : !n to !n_wide
        %scaled = arith.mulf %wide, %factors : !n_wide
        %weighted = arith.mulf %scaled, %weights : !n_wide
        %o = arith.truncf %weighted : !n_wide to !n
        mk.store %o, %out[%row, %column] valid(%left, %nc) : !n, !stream
      }
    }
  }

  // Between nodes: each block once to each other node.
  mk.role @send ctas(1) then @gemm {
    mk.foreach (%i) in (%exchanged) {
      %row = arith.muli %i, %tm : index
      %left = arith.subi %M, %row : index
      %rows = arith.minsi %left, %tm : index
      mk.wait %reduced[%i] ge %mine : !reduced
      mk.foreach_peer (%p) along node {
        mk.put %sum[%my_node, %row, %c0][%c1, %rows, %width] to %sum[%my_node, %row, %c0] on %p signal %arrived[%my_node, %i]
            : !slots to !slots, !arrived
      }
    }
  }

  mk.role @publish ctas(param PUBLISH) then @gemm {
    mk.foreach (%i, %turn) in (%early, %mine) schedule(ticket) {
      func.call @publish(%sum, %r, %y, %square, %reduced, %arrived, %whole, %i, %turn, %mine, %tm, %tn, %tr, %M)
          : (!slots, !stream, !shared, !squares, !reduced, !arrived, !whole,
             index, index, index, index, index, index, index) -> ()
    }
  }
}

// Adds a tile's sums of all nodes, in their order, and the residual; stores it and its sums of squares at every GPU
// of the own node.
func.func private @publish(%sum: !slots, %r: !stream, %y: !shared, %square: !squares, %reduced: !reduced, %arrived: !arrived,
                           %whole: !whole, %i: index, %turn: index, %mine: index, %tm: index, %tn: index, %tr: index, %M: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tr, %tn] : !sum
  %my_gpu = mk.coord gpu
  %gpus = mk.size gpu
  %nodes = mk.size node
  %before = arith.muli %turn, %gpus : index
  %n = arith.addi %before, %my_gpu : index
  %column = arith.muli %n, %tn : index
  %at = arith.muli %turn, %tn : index
  %block = arith.muli %i, %tm : index
  %left = arith.subi %M, %block : index
  %rows = arith.minsi %left, %tm : index
  mk.wait %reduced[%i] ge %mine : !reduced
  mk.foreach_peer (%p) along node {
    %d = mk.coord node of %p
    mk.wait %arrived[%d, %i] ge %c1 : !arrived
  }
  scf.for %down = %c0 to %rows step %tr {
    %row = arith.addi %block, %down : index
    %slab = arith.subi %rows, %down : index
    %total = scf.for %d = %c0 to %nodes step %c1 iter_args(%acc = %zero) -> (!sum) {
      %x = mk.load %sum[%d, %row, %at] valid(%slab, %tn) : !slots -> !part
      %wide = arith.extf %x : !part to !sum
      %next = arith.addf %acc, %wide : !sum
      scf.yield %next : !sum
    }
    %x = mk.load %r[%row, %column] valid(%slab, %tn) : !stream -> !part
    %wide = arith.extf %x : !part to !sum
    %stream = arith.addf %total, %wide : !sum
    %t = arith.truncf %stream : !sum to !part
    %back = arith.extf %t : !part to !sum
    %squares = arith.mulf %back, %back : !sum
    %sums = mk.reduce add %squares axis 1 : !sum -> !part_sums
    mk.foreach_peer (%p) along gpu including self {
      mk.store %t, %y[%row, %column] valid(%slab, %tn) on %p : !part, !shared
      mk.store %sums, %square[%n, %row] valid(%slab) on %p : !part_sums, !squares
    }
  }
  mk.foreach_peer (%p) along gpu including self {
    mk.signal %whole[%i] on %p : !whole
  }
  return
}

// Row %q of tiles, of %blocks blocks for each of %gpus GPUs: its block, and how far its GPU is behind the own one, less
// one. Those for other GPUs come block by block, each own one %lag blocks behind, or when there are no others left.
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

// 1 / sqrt(sum / N + eps)
func.func private @inverse_root_of_mean(%sum: !n_row, %N: index, %nr: index) -> !n_row {
  %eps_ = arith.constant 1.0e-5 : f32
  %one = arith.constant 1.0 : f32
  %n_ = arith.index_cast %N : index to i32
  %n = arith.sitofp %n_ : i32 to f32
  %share_ = arith.divf %one, %n : f32
  %share = tensor.splat %share_[%nr] : !n_row
  %eps = tensor.splat %eps_[%nr] : !n_row
  %mean = arith.mulf %sum, %share : !n_row
  %more = arith.addf %mean, %eps : !n_row
  %factor = math.rsqrt %more : !n_row
  return %factor : !n_row
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %r: tensor<?x?xf64>, %w: tensor<?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %eps = arith.constant 1.0e-5 : f64
  %m = tensor.dim %r, %c0 : tensor<?x?xf64>
  %n = tensor.dim %r, %c1 : tensor<?x?xf64>
  %n_ = arith.index_cast %n : index to i64
  %nf = arith.sitofp %n_ : i64 to f64
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%r : tensor<?x?xf64>) -> tensor<?x?xf64>
  %empty_sums = tensor.empty(%m) : tensor<?xf64>
  %no_sums = linalg.fill ins(%0 : f64) outs(%empty_sums : tensor<?xf64>) -> tensor<?xf64>
  %sums = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<?x?xf64>) outs(%no_sums : tensor<?xf64>) {
    ^bb0(%x: f64, %sum: f64):
      %square = arith.mulf %x, %x : f64
      %next = arith.addf %sum, %square : f64
      linalg.yield %next : f64
  } -> tensor<?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %out = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%y, %sums, %w : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%x: f64, %sum: f64, %weight: f64, %old: f64):
      %mean = arith.divf %sum, %nf : f64
      %more = arith.addf %mean, %eps : f64
      %root = math.sqrt %more : f64
      %factor = arith.divf %one, %root : f64
      %scaled = arith.mulf %x, %factor : f64
      %weighted = arith.mulf %scaled, %weight : f64
      linalg.yield %weighted : f64
  } -> tensor<?x?xf64>
  return %y, %out : tensor<?x?xf64>, tensor<?x?xf64>
}
