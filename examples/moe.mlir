// Mixture of experts. topk_ids names the experts of each token; a value that is no expert (as
// -1) is no choice. Ranks hold T tokens each, of their own number, and ceil(E / P) of E
// experts (the last ranks less, or none). bf16, summed in f32.
//
// @moe_dispatch_gemm: each token is multiplied by the matrix of each expert it chooses,
// C[row] = X[token] * W[expert]^T with X: T x H, W: E x N x H. C of a rank holds the rows of
// its experts one behind the other, those of an expert in the order of tokens, without gaps; rows
// behind the last are 0. counts says how many rows each expert has. An expert that a
// token names twice counts once.
//
// @moe: the whole layer. OUT[token] is the sum over its choices, times their topk_weights,
// of W2[e] * (silu(W1[e] * x) * (W3[e] * x)) with W1, W3: E x I x H, W2: E x H x I.
//
// The routing travels first: @route gives each rank the choices of all tokens, from which
// @plan finds what comes: for each own expert the list of its tokens. Meanwhile @dispatch
// sends each token once to each rank that needs it, to the place it has among all tokens.
// @fill follows the arrivals: who completes a block of TM rows of an expert queues it, for any CTA
// to gather (most blocks are complete with the very last tokens) and to queue for the
// first GEMM; an expert without tokens has no blocks. Whoever
// finishes the last of a block's hidden columns queues it for the second GEMM (@expert). @combine
// adds up what a token chose here and sends it home, where @finish adds in the order of ranks.
//
// Of all ranks the same: CAP, the most tokens of a rank; ROWS, how many rows the experts of a
// rank may get, at least P * CAP * min(K, ceil(E / P)) for any routing to fit.
//
// Parameters: TM, TN, TK, the extents of a tile; TB, how many tokens travel together; TH,
// how many columns of these are summed up at once; TC, of what one token chose; TOPK, the number
// of choices (K, where it is bound).

!ids = tensor<?x?xi32, #mk.extents<TB, TOPK>>
!tokens = tensor<?xi32, #mk.extents<TB>>
!pairs = tensor<?x?xi32, #mk.extents<TB, TB>>
!block = tensor<?xi32, #mk.extents<TM>>
!x = tensor<?x?xbf16, #mk.extents<TM, TK>>
!w = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!part = tensor<1x?xbf16, #mk.extents<TC>>
!sum = tensor<1x?xf32, #mk.extents<TC>>
!parts = tensor<?x?xbf16, #mk.extents<TB, TH>>
!sums = tensor<?x?xf32, #mk.extents<TB, TH>>

!rows = memref<?x?xbf16, #mk.symmetric>
!choices = memref<?x?xi32, #mk.symmetric>
!routed = !mk.signal<?, sys, arrivals = ?>
!arrived = !mk.signal<?x?, sys, arrivals = 1>
!all = !mk.signal<1, gpu, arrivals = ?>
!gathered = !mk.signal<?, sys, dynamic>
!done = !mk.signal<?, gpu, dynamic>
!filled = !mk.counter<?>
!full = !mk.queue<?x4xi32>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @moe_dispatch_gemm on @mesh sizes(node, gpu)
    dims(rank T, uniform CAP, uniform H, uniform N, uniform E, uniform K, uniform ROWS) (
    in %x : !rows [T, H] split [(node, gpu), ()],
    in %topk_ids : memref<?x?xi32> [T, K] split [(node, gpu), ()],
    in %w : memref<?x?x?xbf16> [E, N, H] split [(node, gpu), (), ()],
    // Choices of the own tokens, then of none; those of all ranks.
    scratch %own_ids : !choices [CAP, K],
    scratch %ids : !choices [CAP * (node * gpu), K],
    scratch %recv : !rows [CAP * (node * gpu), H],
    // For each row of C its token. For each expert and piece of TB tokens how many come, and
    // the first row of those.
    scratch %list : memref<?xi32> [ROWS],
    scratch %come : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu)],
    scratch %first : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu) + 1],
    // In blocks of TM rows, of which the last of an expert is not full.
    scratch %xs : !rows [ROWS + (E ceildiv (node * gpu)) * 256, H],
    out %c : memref<?x?xbf16> [ROWS * (node * gpu), N] split [(node, gpu), ()],
    out %counts : memref<?xi32> [E] split [(node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 256
  %tk = mk.param "TK" = 64
  %tb = mk.param "TB" = 64
  %topk = mk.param "TOPK" default(%K)

  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index            // experts of a rank
  %experts = memref.dim %w, %c0 : memref<?x?x?xbf16>     // of this one
  %pieces = arith.ceildivui %CAP, %tb : index            // of a rank's tokens
  %columns = arith.ceildivui %N, %tn : index
  %steps = arith.ceildivui %H, %tk : index

  %fits = arith.cmpi eq, %topk, %K : index
  mk.require %fits, "K must be the number of choices TOPK that the kernel is compiled for"
  %held = arith.cmpi ule, %T, %CAP : index
  mk.require %held, "T must not be more than CAP on any rank"
  %most = arith.constant 256 : index
  %fit = arith.cmpi ule, %tm, %most : index
  mk.require %fit, "TM must not be more than 256, for which buffers have room"
  %room = func.call @enough_rows(%ROWS, %CAP, %K, %share) : (index, index, index, index) -> i1
  mk.require %room, "ROWS must be at least ranks * CAP * min(K, ceil(E / ranks)): all tokens may choose the experts of one rank"

  %routed = mk.signals(%world) arrivals(%c1) : !routed
  %arrived = mk.signals(%world, %pieces) : !arrived
  // An arrival for each expert: its tokens are counted, its lists are made.
  %counted = mk.signals() arrivals(%experts) : !all
  %planned = mk.signals() arrivals(%experts) : !all
  // Blocks are numbered as in grouped_gemm.mlir.
  %whole_blocks = arith.divui %ROWS, %tm : index
  %blocks = arith.addi %whole_blocks, %share : index
  %filled = mk.counters(%blocks) : !filled
  %gathered = mk.signals(%blocks) : !gathered
  // Blocks that are complete, blocks that are gathered.
  %complete = mk.queue(%blocks) : !full
  %full = mk.queue(%blocks) : !full

  mk.role @route ctas(1) then @fill {
    func.call @send_choices(%topk_ids, %own_ids, %ids, %routed, %CAP, %K, %tb)
        : (memref<?x?xi32>, !choices, !choices, !routed, index, index, index) -> ()
  }
  mk.role @dispatch ctas(share = 0.15) then @fill {
    func.call @send_tokens(%x, %topk_ids, %recv, %arrived, %T, %CAP, %H, %E, %tb, %topk)
        : (!rows, memref<?x?xi32>, !rows, !arrived, index, index, index, index, index, index) -> ()
  }
  %no_rows = arith.constant false
  mk.role @plan ctas(share = 0.5) then @fill {
    func.call @make_lists(%ids, %counts, %list, %come, %first, %first, %no_rows, %routed, %c1, %counted, %planned, %CAP, %E, %experts, %tb, %topk)
        : (!choices, memref<?xi32>, memref<?xi32>, memref<?x?xi32>, memref<?x?xi32>, memref<?x?xi32>, i1, !routed, index, !all, !all, index, index, index, index, index) -> ()
  }
  mk.role @fill ctas(share = 0.15) then @gemm {
    func.call @fill_blocks(%first, %planned, %arrived, %filled, %complete, %CAP, %experts, %tb, %tm)
        : (memref<?x?xi32>, !all, !arrived, !filled, !full, index, index, index, index) -> ()
    func.call @gather_blocks(%recv, %xs, %list, %counts, %gathered, %complete, %full, %H, %experts, %tm)
        : (!rows, !rows, memref<?xi32>, memref<?xi32>, !gathered, !full, !full, index, index, index) -> ()
  }

  mk.role @gemm ctas(rest) {
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tm, %tn] : !acc
    %none = arith.truncf %zero : !acc to !c
    mk.wait %planned[%c0] ge %experts : !all
    %used, %count = func.call @sizes(%counts, %experts, %tm) : (memref<?xi32>, index, index) -> (index, index)
    mk.foreach_item (%b, %row, %valid, %e) of %full count(%count), (%n) in (%columns) : !full {
      mk.wait %gathered[%b] ge %c1 : !gathered
      // Rows behind those of the block are whatever they are, and what comes of them is not stored.
      %at = arith.muli %b, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%steps) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %a = mk.load %xs[%at, %k] : !rows -> !x
        %y = mk.load %w[%e, %column, %k] : memref<?x?x?xbf16> -> !w
        %next = mk.dot %a, %y, %sum transpose_b : !x, !w, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] valid(%valid, %tn) : !c, memref<?x?xbf16>
    }
    // Rows that nobody has.
    %left = arith.subi %ROWS, %used : index
    %rest = arith.ceildivui %left, %tm : index
    mk.foreach (%b, %n) in (%rest, %columns) schedule(ticket) {
      %down = arith.muli %b, %tm : index
      %row = arith.addi %used, %down : index
      %column = arith.muli %n, %tn : index
      mk.store %none, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}

mk.kernel @moe on @mesh sizes(node, gpu)
    dims(rank T, uniform CAP, uniform H, uniform I, uniform E, uniform K, uniform ROWS) (
    in %x : !rows [T, H] split [(node, gpu), ()],
    in %topk_ids : memref<?x?xi32> [T, K] split [(node, gpu), ()],
    in %topk_weights : memref<?x?xf32, #mk.symmetric> [T, K] split [(node, gpu), ()],
    in %w1 : memref<?x?x?xbf16> [E, I, H] split [(node, gpu), (), ()],
    in %w3 : memref<?x?x?xbf16> [E, I, H] split [(node, gpu), (), ()],
    in %w2 : memref<?x?x?xbf16> [E, H, I] split [(node, gpu), (), ()],
    scratch %own_ids : !choices [CAP, K],
    scratch %ids : !choices [CAP * (node * gpu), K],
    scratch %weights : memref<?x?xf32, #mk.symmetric> [CAP * (node * gpu), K],
    scratch %recv : !rows [CAP * (node * gpu), H],
    scratch %counts : memref<?xi32> [E ceildiv (node * gpu)],
    scratch %list : memref<?xi32> [ROWS],
    scratch %come : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu)],
    scratch %first : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu) + 1],
    scratch %rows_of : memref<?x?xi32> [CAP * (node * gpu), E ceildiv (node * gpu)],
    // In blocks of TM rows, of which the last of an expert is not full.
    scratch %xs : !rows [ROWS + (E ceildiv (node * gpu)) * 256, H],
    scratch %hs : memref<?x?xbf16> [ROWS + (E ceildiv (node * gpu)) * 256, I],
    scratch %ys : memref<?x?xbf16> [ROWS, H],
    // Sums of what each token chose here, and those that come home.
    scratch %ret : !rows [CAP * (node * gpu), H],
    scratch %back : !rows [CAP * (node * gpu), H],
    out %out : memref<?x?xbf16> [T, H] split [(node, gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 128
  %tk = mk.param "TK" = 64
  %tb = mk.param "TB" = 64
  %th = mk.param "TH" = 64
  %tc = mk.param "TC" = 4096
  %topk = mk.param "TOPK" default(%K)

  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index
  %experts = memref.dim %w1, %c0 : memref<?x?x?xbf16>
  %pieces = arith.ceildivui %CAP, %tb : index
  %hidden_columns = arith.ceildivui %I, %tn : index
  %columns = arith.ceildivui %H, %tn : index
  %steps = arith.ceildivui %H, %tk : index
  %hidden_steps = arith.ceildivui %I, %tk : index

  %fits = arith.cmpi eq, %topk, %K : index
  mk.require %fits, "K must be the number of choices TOPK that the kernel is compiled for"
  %held = arith.cmpi ule, %T, %CAP : index
  mk.require %held, "T must not be more than CAP on any rank"
  %most = arith.constant 256 : index
  %fit = arith.cmpi ule, %tm, %most : index
  mk.require %fit, "TM must not be more than 256, for which buffers have room"
  %room = func.call @enough_rows(%ROWS, %CAP, %K, %share) : (index, index, index, index) -> i1
  mk.require %room, "ROWS must be at least ranks * CAP * min(K, ceil(E / ranks)): all tokens may choose the experts of one rank"
  %some_hidden = arith.cmpi uge, %I, %c1 : index
  mk.require %some_hidden, "I must be at least 1"

  // Choices and weights.
  %routed = mk.signals(%world) arrivals(%c2) : !routed
  %arrived = mk.signals(%world, %pieces) : !arrived
  %counted = mk.signals() arrivals(%experts) : !all
  %planned = mk.signals() arrivals(%experts) : !all
  %whole_blocks = arith.divui %ROWS, %tm : index
  %blocks = arith.addi %whole_blocks, %share : index
  %filled = mk.counters(%blocks) : !filled
  %gathered = mk.signals(%blocks) : !gathered
  // Blocks that are complete, blocks that are gathered.
  %complete = mk.queue(%blocks) : !full
  %full = mk.queue(%blocks) : !full
  // Hidden columns of a block; blocks with all of them.
  %hidden = mk.counters(%blocks) : !filled
  %ready = mk.queue(%blocks) : !full
  // Columns of a block behind the second GEMM.
  %done = mk.signals(%blocks) : !done
  %returned = mk.signals(%world, %pieces) : !arrived

  mk.role @route ctas(1) then @fill {
    func.call @send_choices(%topk_ids, %own_ids, %ids, %routed, %CAP, %K, %tb)
        : (memref<?x?xi32>, !choices, !choices, !routed, index, index, index) -> ()
    %at = arith.muli %me, %CAP : index
    mk.foreach_peer (%p) along node, gpu including self {
      mk.put %topk_weights[%c0, %c0][%T, %K] to %weights[%at, %c0] on %p signal %routed[%me]
          : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>, !routed
    }
  }
  mk.role @dispatch ctas(share = 0.1) then @fill {
    func.call @send_tokens(%x, %topk_ids, %recv, %arrived, %T, %CAP, %H, %E, %tb, %topk)
        : (!rows, memref<?x?xi32>, !rows, !arrived, index, index, index, index, index, index) -> ()
  }
  %want_rows = arith.constant true
  mk.role @plan ctas(share = 0.35) then @fill {
    func.call @make_lists(%ids, %counts, %list, %come, %first, %rows_of, %want_rows, %routed, %c2, %counted, %planned, %CAP, %E, %experts, %tb, %topk)
        : (!choices, memref<?xi32>, memref<?xi32>, memref<?x?xi32>, memref<?x?xi32>, memref<?x?xi32>, i1, !routed, index, !all, !all, index, index, index, index, index) -> ()
  }
  mk.role @fill ctas(share = 0.1) then @expert {
    func.call @fill_blocks(%first, %planned, %arrived, %filled, %complete, %CAP, %experts, %tb, %tm)
        : (memref<?x?xi32>, !all, !arrived, !filled, !full, index, index, index, index) -> ()
    func.call @gather_blocks(%recv, %xs, %list, %counts, %gathered, %complete, %full, %H, %experts, %tm)
        : (!rows, !rows, memref<?xi32>, memref<?xi32>, !gathered, !full, !full, index, index, index) -> ()
  }

  mk.role @expert ctas(rest) then @combine {
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tm, %tn] : !acc
    mk.wait %planned[%c0] ge %experts : !all
    %used, %count = func.call @sizes(%counts, %experts, %tm) : (memref<?xi32>, index, index) -> (index, index)
    mk.foreach_item (%b, %row, %valid, %e) of %full count(%count), (%n) in (%hidden_columns) : !full {
      mk.wait %gathered[%b] ge %c1 : !gathered
      // Rows behind those of the block are whatever they are, and what comes of them is not stored.
      %at = arith.muli %b, %tm : index
      %column = arith.muli %n, %tn : index
      %gate, %up = mk.fold (%kt) in (%steps) iter(%g = %zero, %u = %zero) combine(add) : !acc, !acc {
        %k = arith.muli %kt, %tk : index
        %a = mk.load %xs[%at, %k] : !rows -> !x
        %b1 = mk.load %w1[%e, %column, %k] : memref<?x?x?xbf16> -> !w
        %b3 = mk.load %w3[%e, %column, %k] : memref<?x?x?xbf16> -> !w
        %gn = mk.dot %a, %b1, %g transpose_b : !x, !w, !acc
        %un = mk.dot %a, %b3, %u transpose_b : !x, !w, !acc
        mk.yield %gn, %un : !acc, !acc
      }
      %h = func.call @swiglu(%gate, %up, %tm, %tn) : (!acc, !acc, index, index) -> !c
      mk.store %h, %hs[%at, %column] valid(%valid, %tn) : !c, memref<?x?xbf16>
      %had = mk.count %hidden[%b] add %c1 : !filled
      %has = arith.addi %had, %c1 : index
      %last = arith.cmpi eq, %has, %hidden_columns : index
      scf.if %last {
        mk.push %ready, (%b, %row, %valid, %e) : !full
      }
    }
    mk.foreach_item (%b, %row, %valid, %e) of %ready count(%count), (%n) in (%columns) : !full {
      %at = arith.muli %b, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%hidden_steps) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %a = mk.load %hs[%at, %k] : memref<?x?xbf16> -> !x
        %y = mk.load %w2[%e, %column, %k] : memref<?x?x?xbf16> -> !w
        %next = mk.dot %a, %y, %sum transpose_b : !x, !w, !acc
        mk.yield %next : !acc
      }
      %y = arith.truncf %acc : !acc to !c
      mk.store %y, %ys[%row, %column] valid(%valid, %tn) : !c, memref<?x?xbf16>
      mk.signal %done[%b] : !done
    }
  }

  mk.role @combine ctas(share = 0.1) then @finish {
    %no = arith.constant -1 : i32
    %zero32 = arith.constant 0 : i32
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tc] : !sum
    %low = arith.muli %me, %share : index
    %high = arith.addi %low, %experts : index
    %low32 = arith.index_cast %low : index to i32
    %high32 = arith.index_cast %high : index to i32
    mk.wait %planned[%c0] ge %experts : !all
    mk.foreach (%s, %i) in (%world, %pieces) schedule(ticket) order(own = first) own(%me, %c1) {
      mk.wait %routed[%s] ge %c2 : !routed
      %down = arith.muli %i, %tb : index
      %left = arith.subi %CAP, %down : index
      %valid = arith.minui %left, %tb : index
      %from = arith.muli %s, %CAP : index
      %t0 = arith.addi %from, %down : index
      %t1 = arith.addi %t0, %valid : index
      scf.for %t = %t0 to %t1 step %c1 {
        %chosen = scf.for %j = %c0 to %K step %c1 iter_args(%any = %zero32) -> (i32) {
          %id = memref.load %ids[%t, %j] : !choices
          %here = func.call @is_here(%id, %low32, %high32) : (i32, i32, i32) -> i1
          %one = arith.extui %here : i1 to i32
          %more = arith.ori %any, %one : i32
          scf.yield %more : i32
        }
        %some = arith.cmpi ne, %chosen, %zero32 : i32
        scf.if %some {
          scf.for %h = %c0 to %H step %tc {
            %z = scf.for %j = %c0 to %K step %c1 iter_args(%sum = %zero) -> (!sum) {
              %id = memref.load %ids[%t, %j] : !choices
              %here = func.call @is_here(%id, %low32, %high32) : (i32, i32, i32) -> i1
              %next = scf.if %here -> (!sum) {
                %e32 = arith.subi %id, %low32 : i32
                %e = arith.index_cast %e32 : i32 to index
                %row = func.call @read(%rows_of, %t, %e) : (memref<?x?xi32>, index, index) -> index
                %b = func.call @block_of(%first, %row, %e, %tm) : (memref<?x?xi32>, index, index, index) -> index
                mk.wait %done[%b] ge %columns : !done
                %y = mk.load %ys[%row, %h] : memref<?x?xbf16> -> !part
                %wide = arith.extf %y : !part to !sum
                %weight = memref.load %weights[%t, %j] : memref<?x?xf32, #mk.symmetric>
                %factor = tensor.splat %weight[%tc] : !sum
                %part = arith.mulf %wide, %factor : !sum
                %more = arith.addf %sum, %part : !sum
                scf.yield %more : !sum
              } else {
                scf.yield %sum : !sum
              }
              scf.yield %next : !sum
            }
            %zt = arith.truncf %z : !sum to !part
            mk.store %zt, %ret[%t, %h] : !part, !rows
          }
        }
      }
      %tile = mk.load %ids[%t0, %c0] valid(%valid, %K) pad(%no : i32) : !choices -> !ids
      %goes = func.call @choose(%tile, %low, %high, %tb, %topk) : (!ids, index, index, index, index) -> !tokens
      %rows = func.call @list_chosen(%goes, %tb) : (!tokens, index) -> !tokens
      %begin = arith.muli %me, %CAP : index
      %at = arith.addi %begin, %down : index
      mk.put %ret[%t0, %c0][%valid, %H] rows(%rows : !tokens) to %back[%at, %c0] on %s signal %returned[%me, %i]
          : !rows to !rows, !arrived
    }
  }

  mk.role @finish ctas(share = 0.1) {
    %no = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tb, %th] : !sums
    %ones = tensor.splat %one[%tb, %th] : tensor<?x?xi32, #mk.extents<TB, TH>>
    %own_pieces = arith.ceildivui %T, %tb : index
    %parts = arith.ceildivui %H, %th : index
    mk.foreach (%i, %c) in (%own_pieces, %parts) schedule(ticket) {
      %t = arith.muli %i, %tb : index
      %h = arith.muli %c, %th : index
      %left = arith.subi %T, %t : index
      %tile = mk.load %topk_ids[%t, %c0] pad(%no : i32) : memref<?x?xi32> -> !ids
      %z = scf.for %d = %c0 to %world step %c1 iter_args(%sum = %zero) -> (!sums) {
        mk.wait %returned[%d, %i] ge %c1 : !arrived
        %low = arith.muli %d, %share : index
        %high_ = arith.addi %low, %share : index
        %high = arith.minui %high_, %E : index
        %went = func.call @choose(%tile, %low, %high, %tb, %topk) : (!ids, index, index, index, index) -> !tokens
        %spread = mk.broadcast %went dims [1] : !tokens -> tensor<?x?xi32, #mk.extents<TB, TH>>
        %is = arith.cmpi eq, %spread, %ones : tensor<?x?xi32, #mk.extents<TB, TH>>
        %from = arith.muli %d, %CAP : index
        %at = arith.addi %from, %t : index
        %y = mk.load %back[%at, %h] valid(%left, %th) : !rows -> !parts
        %wide = arith.extf %y : !parts to !sums
        // What did not go there is not in %back.
        %part = arith.select %is, %wide, %zero : tensor<?x?xi1, #mk.extents<TB, TH>>, !sums
        %next = arith.addf %sum, %part : !sums
        scf.yield %next : !sums
      }
      %zt = arith.truncf %z : !sums to !parts
      mk.store %zt, %out[%t, %h] : !parts, memref<?x?xbf16>
    }
  }
}

// Sends
// -----

// Tells all ranks what the own tokens choose; tokens that there are not choose nothing.
func.func private @send_choices(%topk_ids: memref<?x?xi32>, %own_ids: !choices, %ids: !choices, %routed: !routed,
                                %CAP: index, %K: index, %tb: index) {
  %c0 = arith.constant 0 : index
  %no = arith.constant -1 : i32
  %me = mk.rank
  scf.for %t = %c0 to %CAP step %tb {
    %tile = mk.load %topk_ids[%t, %c0] pad(%no : i32) : memref<?x?xi32> -> !ids
    mk.store %tile, %own_ids[%t, %c0] : !ids, !choices
  }
  %at = arith.muli %me, %CAP : index
  mk.foreach_peer (%p) along node, gpu including self {
    mk.put %own_ids[%c0, %c0][%CAP, %K] to %ids[%at, %c0] on %p signal %routed[%me]
        : !choices to !choices, !routed
  }
  return
}

// Sends each token once to each rank that has an expert of its choice. A put with nothing to
// send tells so.
func.func private @send_tokens(%x: !rows, %topk_ids: memref<?x?xi32>, %recv: !rows, %arrived: !arrived,
                               %T: index, %CAP: index, %H: index, %E: index, %tb: index, %topk: index) {
  %c0 = arith.constant 0 : index
  %no = arith.constant -1 : i32
  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index
  %pieces = arith.ceildivui %CAP, %tb : index
  mk.foreach (%d, %i) in (%world, %pieces) schedule(ticket) order(stagger) {
    %t = arith.muli %i, %tb : index
    %tile = mk.load %topk_ids[%t, %c0] pad(%no : i32) : memref<?x?xi32> -> !ids
    %low = arith.muli %d, %share : index
    %high_ = arith.addi %low, %share : index
    %high = arith.minui %high_, %E : index
    %goes = func.call @choose(%tile, %low, %high, %tb, %topk) : (!ids, index, index, index, index) -> !tokens
    %rows = func.call @list_chosen(%goes, %tb) : (!tokens, index) -> !tokens
    %left = arith.subi %T, %t : index
    %some = arith.maxsi %left, %c0 : index
    %count = arith.minsi %some, %tb : index
    %begin = arith.muli %me, %CAP : index
    %at = arith.addi %begin, %t : index
    mk.put %x[%t, %c0][%count, %H] rows(%rows : !tokens) to %recv[%at, %c0] on %d signal %arrived[%me, %i]
        : !rows to !rows, !arrived
  }
  return
}

// The tokens, of those chosen, as a list of rows to put: their places among them, or -1.
func.func private @list_chosen(%chosen: !tokens, %tb: index) -> !tokens {
  %no = arith.constant -1 : i32
  %one = arith.constant 1 : i32
  %skip = tensor.splat %no[%tb] : !tokens
  %ones = tensor.splat %one[%tb] : !tokens
  %index = func.call @before(%ones) : (!tokens) -> !tokens
  %is = arith.cmpi eq, %chosen, %ones : !tokens
  %list = arith.select %is, %index, %skip : tensor<?xi1, #mk.extents<TB>>, !tokens
  return %list : !tokens
}

// Lists
// -----

// Counts the tokens of each own expert, then lists them; %first, for each expert and piece
// of tokens, is the first row of those from there. With %want_rows, %rows_of says the row of
// each token for each own expert, or -1. %sent: arrivals that say what a rank's tokens choose.
func.func private @make_lists(%ids: !choices, %counts: memref<?xi32>, %list: memref<?xi32>, %come: memref<?x?xi32>,
                              %first: memref<?x?xi32>, %rows_of: memref<?x?xi32>, %want_rows: i1,
                              %routed: !routed, %sent: index, %counted: !all, %planned: !all,
                              %CAP: index, %E: index, %experts: index, %tb: index, %topk: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %no = arith.constant -1 : i32
  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index
  %begin = arith.muli %me, %share : index
  %pieces = arith.ceildivui %CAP, %tb : index
  %all_pieces = arith.muli %pieces, %world : index
  %nothing = tensor.splat %0 : tensor<1xi32>
  %ones = tensor.splat %one[%tb] : !tokens
  %skip = tensor.splat %no[%tb] : !tokens
  %index = func.call @before(%ones) : (!tokens) -> !tokens

  scf.for %s = %c0 to %world step %c1 {
    mk.wait %routed[%s] ge %sent : !routed
  }
  mk.foreach (%e) in (%experts) {
    %low = arith.addi %begin, %e : index
    %high = arith.addi %low, %c1 : index
    %total = scf.for %g = %c0 to %all_pieces step %c1 iter_args(%sum = %nothing) -> (tensor<1xi32>) {
      %t, %left = func.call @piece(%g, %pieces, %CAP, %tb) : (index, index, index, index) -> (index, index)
      %tile = mk.load %ids[%t, %c0] valid(%left, %topk) pad(%no : i32) : !choices -> !ids
      %chosen = func.call @choose(%tile, %low, %high, %tb, %topk) : (!ids, index, index, index, index) -> !tokens
      %row = mk.broadcast %chosen dims [0] : !tokens -> tensor<1x?xi32, #mk.extents<TB>>
      %count = mk.reduce add %row axis 1 : tensor<1x?xi32, #mk.extents<TB>> -> tensor<1xi32>
      mk.store %count, %come[%e, %g] : tensor<1xi32>, memref<?x?xi32>
      %next = arith.addi %sum, %count : tensor<1xi32>
      scf.yield %next : tensor<1xi32>
    }
    mk.store %total, %counts[%e] : tensor<1xi32>, memref<?xi32>
    mk.signal %counted[%c0] : !all
  }
  mk.foreach (%e) in (%experts) {
    mk.wait %counted[%c0] ge %experts : !all
    %start = scf.for %i = %c0 to %e step %c1 iter_args(%sum = %0) -> (i32) {
      %count = memref.load %counts[%i] : memref<?xi32>
      %next = arith.addi %sum, %count : i32
      scf.yield %next : i32
    }
    %low = arith.addi %begin, %e : index
    %high = arith.addi %low, %c1 : index
    %end = scf.for %g = %c0 to %all_pieces step %c1 iter_args(%row32 = %start) -> (i32) {
      memref.store %row32, %first[%e, %g] : memref<?x?xi32>
      %t, %left = func.call @piece(%g, %pieces, %CAP, %tb) : (index, index, index, index) -> (index, index)
      %tile = mk.load %ids[%t, %c0] valid(%left, %topk) pad(%no : i32) : !choices -> !ids
      %chosen = func.call @choose(%tile, %low, %high, %tb, %topk) : (!ids, index, index, index, index) -> !tokens
      %packed = func.call @pack(%chosen, %index, %t, %tb) : (!tokens, !tokens, index, index) -> !tokens
      %count = memref.load %come[%e, %g] : memref<?x?xi32>
      %row = arith.index_cast %row32 : i32 to index
      %valid = arith.index_cast %count : i32 to index
      mk.store %packed, %list[%row] valid(%valid) : !tokens, memref<?xi32>
      scf.if %want_rows {
        %places = func.call @before(%chosen) : (!tokens) -> !tokens
        %base = tensor.splat %row32[%tb] : !tokens
        %rows = arith.addi %places, %base : !tokens
        %is = arith.cmpi eq, %chosen, %ones : !tokens
        %named = arith.select %is, %rows, %skip : tensor<?xi1, #mk.extents<TB>>, !tokens
        %column = mk.broadcast %named dims [1] : !tokens -> tensor<?x1xi32, #mk.extents<TB>>
        mk.store %column, %rows_of[%t, %e] valid(%left, %c1) : tensor<?x1xi32, #mk.extents<TB>>, memref<?x?xi32>
      }
      %next = arith.addi %row32, %count : i32
      scf.yield %next : i32
    }
    memref.store %end, %first[%e, %all_pieces] : memref<?x?xi32>
    mk.signal %planned[%c0] : !all
  }
  return
}

// For each token whether it chooses an expert from %low up to, but without, %high: 1 or 0.
func.func private @choose(%tile: !ids, %low: index, %high: index, %tb: index, %topk: index) -> !tokens {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %low32 = arith.index_cast %low : index to i32
  %high32 = arith.index_cast %high : index to i32
  %lows = tensor.splat %low32[%tb, %topk] : !ids
  %highs = tensor.splat %high32[%tb, %topk] : !ids
  %zeros = tensor.splat %0[%tb, %topk] : !ids
  %ones = tensor.splat %1[%tb, %topk] : !ids
  %from = arith.cmpi sge, %tile, %lows : !ids
  %to = arith.cmpi slt, %tile, %highs : !ids
  %in = arith.andi %from, %to : tensor<?x?xi1, #mk.extents<TB, TOPK>>
  %each = arith.select %in, %ones, %zeros : tensor<?x?xi1, #mk.extents<TB, TOPK>>, !ids
  %any = mk.reduce max %each axis 1 : !ids -> !tokens
  return %any : !tokens
}

// For each place the sum of what is before it.
func.func private @before(%flags: !tokens) -> !tokens {
  %0 = arith.constant 0 : i32
  %all = mk.broadcast %flags dims [0] : !tokens -> !pairs
  %earlier = mk.mask %all where affine_set<(r, c) : (r - c - 1 >= 0)> else %0 : !pairs
  %sums = mk.reduce add %earlier axis 1 : !pairs -> !tokens
  return %sums : !tokens
}

// Piece %g of all tokens: the first, and how many are left of those of its rank.
func.func private @piece(%g: index, %pieces: index, %CAP: index, %tb: index) -> (index, index) {
  %s = arith.divui %g, %pieces : index
  %i = arith.remui %g, %pieces : index
  %down = arith.muli %i, %tb : index
  %left = arith.subi %CAP, %down : index
  %from = arith.muli %s, %CAP : index
  %t = arith.addi %from, %down : index
  return %t, %left : index, index
}

// The tokens chosen, of those from %t on, without gaps.
func.func private @pack(%chosen: !tokens, %index: !tokens, %t: index, %tb: index) -> !tokens {
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t32 = arith.index_cast %t : index to i32
  %base = tensor.splat %t32[%tb] : !tokens
  %names = arith.addi %index, %base : !tokens
  %places = func.call @before(%chosen) : (!tokens) -> !tokens
  // Row r of the square is a token, column c a place.
  %is = mk.broadcast %chosen dims [1] : !tokens -> !pairs
  %name = mk.broadcast %names dims [1] : !tokens -> !pairs
  %place = mk.broadcast %places dims [1] : !tokens -> !pairs
  %column = mk.broadcast %index dims [0] : !tokens -> !pairs
  %here = arith.cmpi eq, %place, %column : !pairs
  %zeros = tensor.splat %0[%tb, %tb] : !pairs
  %named = arith.muli %is, %name : !pairs
  %only = arith.select %here, %named, %zeros : tensor<?x?xi1, #mk.extents<TB, TB>>, !pairs
  %packed = mk.reduce add %only axis 0 : !pairs -> !tokens
  return %packed : !tokens
}

// Blocks
// ------

// Counts what has arrived into the blocks that it belongs to; a block that is complete is queued.
func.func private @fill_blocks(%first: memref<?x?xi32>, %planned: !all, %arrived: !arrived, %filled: !filled, %complete: !full,
                               %CAP: index, %experts: index, %tb: index, %tm: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = mk.rank
  %world = mk.size
  %pieces = arith.ceildivui %CAP, %tb : index
  %all_pieces = arith.muli %pieces, %world : index
  mk.wait %planned[%c0] ge %experts : !all
  mk.foreach (%s, %i) in (%world, %pieces) schedule(ticket) order(own = first) own(%me, %c1) {
    mk.wait %arrived[%s, %i] ge %c1 : !arrived
    %g_ = arith.muli %s, %pieces : index
    %g = arith.addi %g_, %i : index
    %g1 = arith.addi %g, %c1 : index
    scf.for %e = %c0 to %experts step %c1 {
      %begin = func.call @read(%first, %e, %g) : (memref<?x?xi32>, index, index) -> index
      %end = func.call @read(%first, %e, %g1) : (memref<?x?xi32>, index, index) -> index
      %some = arith.cmpi ult, %begin, %end : index
      scf.if %some {
        // The expert's rows, and those of its blocks that the piece has rows in.
        %start = func.call @read(%first, %e, %c0) : (memref<?x?xi32>, index, index) -> index
        %stop = func.call @read(%first, %e, %all_pieces) : (memref<?x?xi32>, index, index) -> index
        %whole = arith.divui %start, %tm : index
        %number = arith.addi %whole, %e : index
        %before = arith.subi %begin, %start : index
        %through = arith.subi %end, %start : index
        %low = arith.divui %before, %tm : index
        %high = arith.ceildivui %through, %tm : index
        scf.for %j = %low to %high step %c1 {
          %b = arith.addi %number, %j : index
          %down = arith.muli %j, %tm : index
          %row = arith.addi %start, %down : index
          %left = arith.subi %stop, %row : index
          %rows = arith.minui %left, %tm : index
          %row_end = arith.addi %row, %rows : index
          %from = arith.maxui %row, %begin : index
          %to = arith.minui %row_end, %end : index
          %more = arith.subi %to, %from : index
          %had = mk.count %filled[%b] add %more : !filled
          %has = arith.addi %had, %more : index
          %last = arith.cmpi eq, %has, %rows : index
          scf.if %last {
            mk.push %complete, (%b, %row, %rows, %e) : !full
          }
        }
      }
    }
  }
  return
}

// Puts the rows of each complete block side by side. With many experts nearly all blocks are complete with the last
// few pieces of tokens: whoever finds that out would be alone with them.
func.func private @gather_blocks(%recv: !rows, %xs: !rows, %list: memref<?xi32>, %counts: memref<?xi32>, %gathered: !gathered,
                                 %complete: !full, %full: !full, %H: index, %experts: index, %tm: index) {
  %c0 = arith.constant 0 : index
  %no = arith.constant -1 : i32
  %me = mk.rank
  %used, %count = func.call @sizes(%counts, %experts, %tm) : (memref<?xi32>, index, index) -> (index, index)
  mk.foreach_item (%b, %row, %rows, %e) of %complete count(%count) : !full {
    %tokens = mk.load %list[%row] valid(%rows) pad(%no : i32) : memref<?xi32> -> !block
    %at = arith.muli %b, %tm : index
    mk.put %recv[%c0, %c0][%rows, %H] rows(%tokens : !block) to %xs[%at, %c0] on %me signal %gathered[%b]
        : !rows to !rows, !gathered
    mk.push %full, (%b, %row, %rows, %e) : !full
  }
  return
}

func.func private @read(%first: memref<?x?xi32>, %e: index, %g: index) -> index {
  %row32 = memref.load %first[%e, %g] : memref<?x?xi32>
  %row = arith.index_cast %row32 : i32 to index
  return %row : index
}

// Whether the experts of a rank have rows for whatever is chosen.
func.func private @enough_rows(%ROWS: index, %CAP: index, %K: index, %share: index) -> i1 {
  %world = mk.size
  %each = arith.minui %K, %share : index
  %tokens = arith.muli %CAP, %world : index
  %most = arith.muli %tokens, %each : index
  %enough = arith.cmpi uge, %ROWS, %most : index
  return %enough : i1
}

// Rows of all own experts, and their blocks.
func.func private @sizes(%counts: memref<?xi32>, %experts: index, %tm: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows, %blocks = scf.for %e = %c0 to %experts step %c1 iter_args(%r = %c0, %b = %c0) -> (index, index) {
    %count32 = memref.load %counts[%e] : memref<?xi32>
    %count = arith.index_cast %count32 : i32 to index
    %more = arith.ceildivui %count, %tm : index
    %r1 = arith.addi %r, %count : index
    %b1 = arith.addi %b, %more : index
    scf.yield %r1, %b1 : index, index
  }
  return %rows, %blocks : index, index
}

// The number of the block that holds row %row of own expert %e.
func.func private @block_of(%first: memref<?x?xi32>, %row: index, %e: index, %tm: index) -> index {
  %c0 = arith.constant 0 : index
  %start = func.call @read(%first, %e, %c0) : (memref<?x?xi32>, index, index) -> index
  %whole = arith.divui %start, %tm : index
  %number = arith.addi %whole, %e : index
  %down = arith.subi %row, %start : index
  %j = arith.divui %down, %tm : index
  %b = arith.addi %number, %j : index
  return %b : index
}

func.func private @is_here(%id: i32, %low: i32, %high: i32) -> i1 {
  %from = arith.cmpi sge, %id, %low : i32
  %to = arith.cmpi slt, %id, %high : i32
  %here = arith.andi %from, %to : i1
  return %here : i1
}

// silu(gate) * up
func.func private @swiglu(%gate: !acc, %up: !acc, %tm: index, %tn: index) -> !c {
  %1 = arith.constant 1.0 : f32
  %one = tensor.splat %1[%tm, %tn] : !acc
  %negative = arith.negf %gate : !acc
  %exp = math.exp %negative : !acc
  %denominator = arith.addf %exp, %one : !acc
  %silu = arith.divf %gate, %denominator : !acc
  %product = arith.mulf %silu, %up : !acc
  %h = arith.truncf %product : !acc to !c
  return %h : !c
}

// What they compute, on whole tensors. Of the first C and counts are there for their shapes. A
// pair of an expert and a token that chooses it has the row behind those of all
// pairs of the same rank that come before it. That takes experts * tokens steps.
func.func @moe_dispatch_gemm_reference(
    %x: tensor<?x?xf64>, %topk_ids: tensor<?x?xi32>, %w: tensor<?x?x?xf64>,
    %c: tensor<?x?xf64>, %counts: tensor<?xi32>) -> (tensor<?x?xf64>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %no = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %world = mk.size
  %tokens = tensor.dim %x, %c0 : tensor<?x?xf64>
  %experts = tensor.dim %w, %c0 : tensor<?x?x?xf64>
  %share = arith.ceildivui %experts, %world : index
  %all_rows = tensor.dim %c, %c0 : tensor<?x?xf64>
  %rows = arith.divui %all_rows, %world : index
  %columns = tensor.dim %c, %c1 : tensor<?x?xf64>

  // 1 if token t chooses expert e.
  %empty_pairs = tensor.empty(%experts, %tokens) : tensor<?x?xi32>
  %no_pairs = linalg.fill ins(%none : i32) outs(%empty_pairs : tensor<?x?xi32>) -> tensor<?x?xi32>
  %chosen = linalg.generic {indexing_maps = [affine_map<(e, t, j) -> (t, j)>, affine_map<(e, t, j) -> (e, t)>],
                            iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%topk_ids : tensor<?x?xi32>) outs(%no_pairs : tensor<?x?xi32>) {
  ^bb0(%id: i32, %old: i32):
    %e_ = linalg.index 0 : index
    %e = arith.index_cast %e_ : index to i32
    %is = arith.cmpi eq, %id, %e : i32
    %new = arith.select %is, %one, %old : i32
    linalg.yield %new : i32
  } -> tensor<?x?xi32>
  %zero_counts = linalg.fill ins(%none : i32) outs(%counts : tensor<?xi32>) -> tensor<?xi32>
  %sums = linalg.reduce ins(%chosen : tensor<?x?xi32>) outs(%zero_counts : tensor<?xi32>) dimensions = [1]
      (%more: i32, %sum: i32) {
    %next = arith.addi %sum, %more : i32
    linalg.yield %next : i32
  }

  // The pair of each row of C, as e * tokens + t, or -1.
  %empty_rows = tensor.empty(%all_rows) : tensor<?xi32>
  %no_rows = linalg.fill ins(%no : i32) outs(%empty_rows : tensor<?xi32>) -> tensor<?xi32>
  %pair_of_row, %end = scf.for %e = %c0 to %experts step %c1 iter_args(%of = %no_rows, %at = %c0) -> (tensor<?xi32>, index) {
    %rank = arith.divui %e, %share : index
    %number = arith.remui %e, %share : index
    %is_first = arith.cmpi eq, %number, %c0 : index
    %begin = arith.muli %rank, %rows : index
    %row0 = arith.select %is_first, %begin, %at : index
    %first = arith.muli %e, %tokens : index
    %of_e, %row1 = scf.for %t = %c0 to %tokens step %c1 iter_args(%of_t = %of, %row = %row0) -> (tensor<?xi32>, index) {
      %is = tensor.extract %chosen[%e, %t] : tensor<?x?xi32>
      %chooses = arith.cmpi eq, %is, %one : i32
      %of_next = scf.if %chooses -> (tensor<?xi32>) {
        %pair_ = arith.addi %first, %t : index
        %pair = arith.index_cast %pair_ : index to i32
        %with = tensor.insert %pair into %of_t[%row] : tensor<?xi32>
        scf.yield %with : tensor<?xi32>
      } else {
        scf.yield %of_t : tensor<?xi32>
      }
      %more = arith.index_cast %is : i32 to index
      %next = arith.addi %row, %more : index
      scf.yield %of_next, %next : tensor<?xi32>, index
    }
    scf.yield %of_e, %row1 : tensor<?xi32>, index
  }

  %zero = linalg.fill ins(%0 : f64) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  %h = tensor.dim %x, %c1 : tensor<?x?xf64>
  %product = linalg.generic {indexing_maps = [affine_map<(r, n) -> (r)>, affine_map<(r, n) -> (r, n)>],
                             iterator_types = ["parallel", "parallel"]}
      ins(%pair_of_row : tensor<?xi32>) outs(%zero : tensor<?x?xf64>) {
  ^bb0(%pair_: i32, %old: f64):
    %n = linalg.index 1 : index
    %some = arith.cmpi sge, %pair_, %none : i32
    %value = scf.if %some -> (f64) {
      %pair = arith.index_cast %pair_ : i32 to index
      %e = arith.divui %pair, %tokens : index
      %t = arith.remui %pair, %tokens : index
      %dot = scf.for %k = %c0 to %h step %c1 iter_args(%sum = %0) -> (f64) {
        %a = tensor.extract %x[%t, %k] : tensor<?x?xf64>
        %b = tensor.extract %w[%e, %n, %k] : tensor<?x?x?xf64>
        %p = arith.mulf %a, %b : f64
        %next = arith.addf %sum, %p : f64
        scf.yield %next : f64
      }
      scf.yield %dot : f64
    } else {
      scf.yield %0 : f64
    }
    linalg.yield %value : f64
  } -> tensor<?x?xf64>
  return %product, %sums : tensor<?x?xf64>, tensor<?xi32>
}

#choice = affine_map<(t, j, i) -> (t, j)>
#hidden = affine_map<(t, j, i) -> (t, j, i)>

func.func @moe_reference(%x: tensor<?x?xf64>, %topk_ids: tensor<?x?xi32>, %topk_weights: tensor<?x?xf64>,
                         %w1: tensor<?x?x?xf64>, %w3: tensor<?x?x?xf64>, %w2: tensor<?x?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0.0 : f64
  %1 = arith.constant 1.0 : f64
  %none = arith.constant 0 : i32
  %tokens = tensor.dim %x, %c0 : tensor<?x?xf64>
  %h = tensor.dim %x, %c1 : tensor<?x?xf64>
  %k = tensor.dim %topk_ids, %c1 : tensor<?x?xi32>
  %experts_ = tensor.dim %w1, %c0 : tensor<?x?x?xf64>
  %experts = arith.index_cast %experts_ : index to i32
  %i = tensor.dim %w1, %c1 : tensor<?x?x?xf64>

  // What is hidden, of each choice, times its weight.
  %empty = tensor.empty(%tokens, %k, %i) : tensor<?x?x?xf64>
  %hidden = linalg.generic {indexing_maps = [#choice, #choice, #hidden], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%topk_ids, %topk_weights : tensor<?x?xi32>, tensor<?x?xf64>) outs(%empty : tensor<?x?x?xf64>) {
  ^bb0(%id: i32, %weight: f64, %old: f64):
    %t = linalg.index 0 : index
    %ii = linalg.index 2 : index
    %is = func.call @is_here(%id, %none, %experts) : (i32, i32, i32) -> i1
    %value = scf.if %is -> (f64) {
      %e = arith.index_cast %id : i32 to index
      %gate, %up = scf.for %hi = %c0 to %h step %c1 iter_args(%g = %0, %u = %0) -> (f64, f64) {
        %a = tensor.extract %x[%t, %hi] : tensor<?x?xf64>
        %b1 = tensor.extract %w1[%e, %ii, %hi] : tensor<?x?x?xf64>
        %b3 = tensor.extract %w3[%e, %ii, %hi] : tensor<?x?x?xf64>
        %p1 = arith.mulf %a, %b1 : f64
        %p3 = arith.mulf %a, %b3 : f64
        %gn = arith.addf %g, %p1 : f64
        %un = arith.addf %u, %p3 : f64
        scf.yield %gn, %un : f64, f64
      }
      %negative = arith.negf %gate : f64
      %exp = math.exp %negative : f64
      %denominator = arith.addf %exp, %1 : f64
      %silu = arith.divf %gate, %denominator : f64
      %product = arith.mulf %silu, %up : f64
      %weighted = arith.mulf %product, %weight : f64
      scf.yield %weighted : f64
    } else {
      scf.yield %0 : f64
    }
    linalg.yield %value : f64
  } -> tensor<?x?x?xf64>

  %empty_out = tensor.empty(%tokens, %h) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty_out : tensor<?x?xf64>) -> tensor<?x?xf64>
  %out = linalg.generic {indexing_maps = [affine_map<(t, h, j, i) -> (t, j, i)>, affine_map<(t, h, j, i) -> (t, j)>, affine_map<(t, h, j, i) -> (t, h)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%hidden, %topk_ids : tensor<?x?x?xf64>, tensor<?x?xi32>) outs(%zero : tensor<?x?xf64>) {
  ^bb0(%v: f64, %id: i32, %sum: f64):
    %hi = linalg.index 1 : index
    %ii = linalg.index 3 : index
    %is = func.call @is_here(%id, %none, %experts) : (i32, i32, i32) -> i1
    %p = scf.if %is -> (f64) {
      %e = arith.index_cast %id : i32 to index
      %w = tensor.extract %w2[%e, %hi, %ii] : tensor<?x?x?xf64>
      %product = arith.mulf %v, %w : f64
      scf.yield %product : f64
    } else {
      scf.yield %0 : f64
    }
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?xf64>
  return %out : tensor<?x?xf64>
}
