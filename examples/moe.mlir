// Mixture of experts. topk_ids names the experts of each token; a value that is no expert (as
// -1) is no choice. Ranks hold T tokens each, of their own number, and ceil(E / P) of E
// experts (the last ranks less, or none). bf16, summed in f32.
//
// @moe_dispatch_gemm: each token is multiplied by the matrix of each expert it chooses,
// C[row] = X[token] * W[expert]^T with X: T x H, W: E x N x H. C of a rank holds the rows of
// its experts in sequence, those of an expert in the order of tokens, without gaps; rows
// behind the last are 0. counts says how many rows each expert has. An expert that a
// token names twice counts once.
//
// @moe: the whole layer. OUT[token] is the sum over its choices, times their topk_weights,
// of W2[e] * (silu(W1[e] * x) * (W3[e] * x)) with W1, W3: E x I x H, W2: E x H x I.
//
// The routing travels first: @route gives each rank the choices of all tokens. @plan marks for each own
// expert who comes, a bit for each token, and counts: in front of each chunk of TQ words of TW tokens how many
// come, and with which row each expert begins. Which token a row is for is found from these bits where
// the row is put, so that nobody makes lists. Meanwhile @dispatch sends each token once to each other rank that
// needs it, to the place it has among all tokens. @gather puts the rows of an expert side by side, those of own tokens
// first, then those of others as they come, and goes chunk by chunk of the tokens, which several experts need:
// so they are read from memory once. Nearly all CTAs do this before they multiply, since an expert
// waits for all of its rows.
// Blocks of TM rows of an expert are numbered as in grouped_gemm.mlir. They are walked expert by expert, and in each
// all blocks for the same columns, in sequence, so that the matrix of an expert is read from memory once: the
// L2 cache keeps it for some microseconds only. Experts of more than ROUND blocks take several rounds.
// @expert and @down are the two GEMMs of the layer; @combine adds up what a token chose here and sends it
// home, where @finish adds in the order of ranks.
//
// Of all ranks the same: CAP, the most tokens of a rank; ROWS, how many rows the experts of a
// rank may get, at least P * CAP * min(K, ceil(E / P)) for any routing to fit.
//
// Parameters: TM, TN, TK, the extents of a tile (TN2 those of the columns of the second GEMM); ROUND; TB,
// how many tokens travel together; TA, how many of these pieces are one arrival to wait for; TW, tokens of a
// word (32 at most); TQ, words of a chunk; TE, how many experts are marked at once; TG, how many are counted at once;
// ROUTE, DISPATCH and PLAN, how many CTAs have these roles (0: a share); TH, how many columns are summed up at once;
// TC, of what one token chose; TOPK, the number of choices (K, where it is bound).

!ids = tensor<?x?xi32, #mk.extents<TB, TOPK>>
!tokens = tensor<?xi32, #mk.extents<TB>>
!pairs = tensor<?x?xi32, #mk.extents<TB, TB>>
!block = tensor<?xi32, #mk.extents<TM>>
!each = tensor<?xi32, #mk.extents<TE>>
!square = tensor<?x?xi32, #mk.extents<TE, TE>>
!named = tensor<?x?xi32, #mk.extents<TW, TOPK>>
!bits = tensor<?xi32, #mk.extents<TW>>
!table = tensor<?x?xi32, #mk.extents<TW, TE>>
!column = tensor<?x1xi32, #mk.extents<TE>>
!words = tensor<?xi32, #mk.extents<TQ>>
!word_pairs = tensor<?x?xi32, #mk.extents<TQ, TQ>>
!group = tensor<?xi32, #mk.extents<TG>>
!group_words = tensor<?x?xi32, #mk.extents<TG, TQ>>
!group_column = tensor<?x1xi32, #mk.extents<TG>>
!each_words = tensor<?x?xi32, #mk.extents<TE, TQ>>
!places = tensor<?x?xi32, #mk.extents<TM, TQ>>
!x = tensor<?x?xbf16, #mk.extents<TM, TK>>
!w = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>
!w2 = tensor<?x?xbf16, #mk.extents<TN2, TK>>
!acc2 = tensor<?x?xf32, #mk.extents<TM, TN2>>
!c2 = tensor<?x?xbf16, #mk.extents<TM, TN2>>
!part = tensor<1x?xbf16, #mk.extents<TC>>
!sum = tensor<1x?xf32, #mk.extents<TC>>
!parts = tensor<?x?xbf16, #mk.extents<TB, TH>>
!sums = tensor<?x?xf32, #mk.extents<TB, TH>>

!rows = memref<?x?xbf16, #mk.symmetric>
!choices = memref<?x?xi32, #mk.symmetric>
!routed = !mk.signal<?x?, sys, arrivals = ?>
!arrived = !mk.signal<?x?, sys, dynamic>
!returned = !mk.signal<?x?, sys, arrivals = 1>
!all = !mk.signal<1, gpu, arrivals = ?>
!one = !mk.signal<1, gpu, arrivals = 1>
!brought = !mk.signal<?, gpu, arrivals = ?>
!done = !mk.signal<?, gpu, dynamic>
!every = !mk.signal<1, gpu, dynamic>

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
    // For each expert and word of TW tokens a bit for each of these that chooses it; of TQ words, how many
    // do so in front of them.
    scratch %masks : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu)],
    scratch %bases : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu)],
    // The first row of each expert, and the rows of the one that has the most.
    scratch %starts : memref<?xi32> [E ceildiv (node * gpu)],
    scratch %most : memref<?xi32> [1],
    // In blocks of TM rows, of which the last of an expert is not full.
    scratch %xs : !rows [ROWS + (E ceildiv (node * gpu)) * 256, H],
    out %c : memref<?x?xbf16> [ROWS * (node * gpu), N] split [(node, gpu), ()],
    out %counts : memref<?xi32> [E] split [(node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tm = mk.param "TM" = 128 in [16, 32, 64, 128, 136, 144, 152, 160, 176, 192]
  %tn = mk.param "TN" = 256 in [128, 192, 256]
  %tk = mk.param "TK" = 64
  %tb = mk.param "TB" = 64
  %ta = mk.param "TA" = 8
  %te = mk.param "TE" = 64
  %round = mk.param "ROUND" = 12 least 1
  %tw = mk.param "TW" = 32
  %tq = mk.param "TQ" = 32
  %tg = mk.param "TG" = 16
  mk.param "ROUTE" = 0
  mk.param "DISPATCH" = 0
  mk.param "PLAN" = 0
  %topk = mk.param "TOPK" default(%K)

  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index            // experts of a rank
  %experts = memref.dim %w, %c0 : memref<?x?x?xbf16>     // of this one
  %pieces = arith.ceildivui %CAP, %tb : index            // of a rank's tokens
  %words = arith.ceildivui %CAP, %tw : index
  %all_words = arith.muli %words, %world : index
  %arrivals = arith.ceildivui %pieces, %ta : index
  %columns = arith.ceildivui %N, %tn : index
  %steps = arith.ceildivui %H, %tk : index

  %fits = arith.cmpi eq, %topk, %K : index
  mk.require %fits, "K must be the number of choices TOPK that the kernel is compiled for"
  %held = arith.cmpi ule, %T, %CAP : index
  mk.require %held, "T must not be more than CAP on any rank"
  %largest = arith.constant 256 : index
  %fit = arith.cmpi ule, %tm, %largest : index
  mk.require %fit, "TM must not be more than 256, for which buffers have room"
  %most_bits = arith.constant 32 : index
  %bits_fit = arith.cmpi ule, %tw, %most_bits : index
  mk.require %bits_fit, "TW must not be more than 32, the bits of a word"
  %mean = func.call @mean_rows(%CAP, %K, %E) : (index, index, index) -> index
  %room = func.call @enough_rows(%ROWS, %CAP, %K, %share) : (index, index, index, index) -> i1
  mk.require %room, "ROWS must be at least ranks * CAP * min(K, ceil(E / ranks)): all tokens may choose the experts of one rank"

  %routed = mk.signals(%world, %arrivals) arrivals(%c1) : !routed
  %arrived = mk.signals(%world, %arrivals) : !arrived
  // Choices of each word are marked; those of each group of experts are counted; each expert's first row is known.
  %groups = arith.ceildivui %experts, %tg : index
  %marked = mk.signals() arrivals(%all_words) : !all
  %counted = mk.signals() arrivals(%groups) : !all
  %placed = mk.signals() : !one
  %chunks = arith.ceildivui %words, %tq : index
  %all_chunks = arith.muli %chunks, %world : index
  %brought = mk.signals(%share) arrivals(%all_chunks) : !brought   // of each expert

  mk.role @route ctas(param ROUTE, share = 0.06) then @gather {
    mk.foreach (%a) in (%arrivals) schedule(ticket) {
      func.call @send_choices(%topk_ids, %own_ids, %ids, %routed, %a, %CAP, %K, %tb, %ta)
          : (memref<?x?xi32>, !choices, !choices, !routed, index, index, index, index, index) -> ()
    }
  }
  mk.role @dispatch ctas(param DISPATCH, share = 0.2) then @gather {
    func.call @send_tokens(%x, %topk_ids, %recv, %arrived, %T, %CAP, %H, %E, %tb, %ta, %topk)
        : (!rows, memref<?x?xi32>, !rows, !arrived, index, index, index, index, index, index, index) -> ()
  }
  mk.role @plan ctas(param PLAN, share = 0.6) then @gather {
    func.call @make_plan(%ids, %masks, %bases, %counts, %starts, %most, %routed, %c1, %marked, %counted, %placed, %CAP, %E, %experts, %tb, %ta, %tw, %tq, %te, %tg, %topk)
        : (!choices, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, !routed, index, !all, !all, !one, index, index, index, index, index, index, index, index, index, index) -> ()
  }
  mk.role @gather ctas(1) then @gemm {
    mk.wait %placed[%c0] ge %c1 : !one
    %yes = arith.constant true
    %no = arith.constant false
    func.call @bring_rows(%x, %recv, %xs, %masks, %bases, %starts, %counts, %arrived, %brought, %yes, %CAP, %H, %experts, %tb, %ta, %tw, %tq, %tm, %mean)
        : (!rows, !rows, !rows, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, !arrived, !brought, i1, index, index, index, index, index, index, index, index, index) -> ()
    func.call @bring_rows(%x, %recv, %xs, %masks, %bases, %starts, %counts, %arrived, %brought, %no, %CAP, %H, %experts, %tb, %ta, %tw, %tq, %tm, %mean)
        : (!rows, !rows, !rows, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, !arrived, !brought, i1, index, index, index, index, index, index, index, index, index) -> ()
  }

  mk.role @gemm ctas(rest) {
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tm, %tn] : !acc
    %rounds, %depth = func.call @deep_rounds(%most, %placed, %tm, %round, %mean) : (memref<?xi32>, !one, index, index, index) -> (index, index)
    mk.foreach (%r, %e, %n, %j) in (%rounds, %experts, %columns, %depth) schedule(ticket) {
      %b, %row, %valid = func.call @block(%starts, %counts, %r, %e, %j, %tm, %depth, %mean)
          : (memref<?xi32>, memref<?xi32>, index, index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %valid, %c0 : index
      scf.if %some {
        mk.wait %brought[%e] ge %all_chunks : !brought
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
    }
    // Rows that nobody has.
    %none = arith.truncf %zero : !acc to !c
    %used_ = func.call @used(%starts, %counts, %experts, %tm) : (memref<?xi32>, memref<?xi32>, index, index) -> index
    %chosen = arith.muli %mean, %experts : index
    %likely_used = arith.minui %chosen, %ROWS : index
    %used = mk.likely %used_ as %likely_used : index
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
    // For each expert and word of TW tokens a bit for each of these that chooses it; of TQ words, how many
    // do so in front of them.
    scratch %masks : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu)],
    scratch %bases : memref<?x?xi32> [E ceildiv (node * gpu), CAP * (node * gpu)],
    // The first row of each expert, and the rows of the one that has the most.
    scratch %starts : memref<?xi32> [E ceildiv (node * gpu)],
    scratch %most : memref<?xi32> [1],
    // The row of each choice, or -1 if it is not here.
    scratch %rows_of : memref<?x?xi32> [CAP * (node * gpu), K],
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
  %tm = mk.param "TM" = 128 in [16, 32, 64, 128, 136, 144, 152, 160, 176]
  %tn = mk.param "TN" = 128
  %tk = mk.param "TK" = 64
  %tn2 = mk.param "TN2" = 256
  %tb = mk.param "TB" = 64 in [8, 16, 32, 64]
  %ta = mk.param "TA" = 8
  %te = mk.param "TE" = 64
  %round = mk.param "ROUND" = 8 least 1
  %tw = mk.param "TW" = 32
  %tq = mk.param "TQ" = 32
  %tg = mk.param "TG" = 16
  mk.param "ROUTE" = 0
  mk.param "DISPATCH" = 0
  mk.param "PLAN" = 0
  %th = mk.param "TH" = 256
  %tc = mk.param "TC" = 8192
  %topk = mk.param "TOPK" default(%K)

  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index
  %experts = memref.dim %w1, %c0 : memref<?x?x?xbf16>
  %pieces = arith.ceildivui %CAP, %tb : index
  %words = arith.ceildivui %CAP, %tw : index
  %all_words = arith.muli %words, %world : index
  %arrivals = arith.ceildivui %pieces, %ta : index
  %hidden_columns = arith.ceildivui %I, %tn : index
  %columns = arith.ceildivui %H, %tn2 : index
  %steps = arith.ceildivui %H, %tk : index
  %hidden_steps = arith.ceildivui %I, %tk : index

  %fits = arith.cmpi eq, %topk, %K : index
  mk.require %fits, "K must be the number of choices TOPK that the kernel is compiled for"
  %held = arith.cmpi ule, %T, %CAP : index
  mk.require %held, "T must not be more than CAP on any rank"
  %largest = arith.constant 256 : index
  %fit = arith.cmpi ule, %tm, %largest : index
  mk.require %fit, "TM must not be more than 256, for which buffers have room"
  %most_bits = arith.constant 32 : index
  %bits_fit = arith.cmpi ule, %tw, %most_bits : index
  mk.require %bits_fit, "TW must not be more than 32, the bits of a word"
  %mean = func.call @mean_rows(%CAP, %K, %E) : (index, index, index) -> index
  %room = func.call @enough_rows(%ROWS, %CAP, %K, %share) : (index, index, index, index) -> i1
  mk.require %room, "ROWS must be at least ranks * CAP * min(K, ceil(E / ranks)): all tokens may choose the experts of one rank"
  %some_hidden = arith.cmpi uge, %I, %c1 : index
  mk.require %some_hidden, "I must be at least 1"

  // Choices and weights.
  %routed = mk.signals(%world, %arrivals) arrivals(%c2) : !routed
  %arrived = mk.signals(%world, %arrivals) : !arrived
  %groups = arith.ceildivui %experts, %tg : index
  %marked = mk.signals() arrivals(%all_words) : !all
  %counted = mk.signals() arrivals(%groups) : !all
  %placed = mk.signals() : !one
  %named = mk.signals() arrivals(%all_words) : !all
  %whole_blocks = arith.divui %ROWS, %tm : index
  %blocks = arith.addi %whole_blocks, %share : index
  %chunks = arith.ceildivui %words, %tq : index
  %all_chunks = arith.muli %chunks, %world : index
  %brought = mk.signals(%share) arrivals(%all_chunks) : !brought   // of each expert
  // Hidden columns of a block; tiles of all blocks behind the second GEMM.
  %hidden = mk.signals(%blocks) : !done
  %done = mk.signals() : !every
  %returned = mk.signals(%world, %pieces) : !returned

  mk.role @route ctas(param ROUTE, share = 0.06) then @gather {
    mk.foreach (%a) in (%arrivals) schedule(ticket) {
      func.call @send_choices(%topk_ids, %own_ids, %ids, %routed, %a, %CAP, %K, %tb, %ta)
          : (memref<?x?xi32>, !choices, !choices, !routed, index, index, index, index, index) -> ()
      %each = arith.muli %tb, %ta : index
      %t = arith.muli %a, %each : index
      %left = arith.subi %T, %t : index
      %count = arith.minsi %left, %each : index
      %begin = arith.muli %me, %CAP : index
      %at = arith.addi %begin, %t : index
      mk.foreach_peer (%p) along node, gpu including self {
        mk.put %topk_weights[%t, %c0][%count, %K] to %weights[%at, %c0] on %p signal %routed[%me, %a]
            : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>, !routed
      }
    }
  }
  mk.role @dispatch ctas(param DISPATCH, share = 0.2) then @gather {
    func.call @send_tokens(%x, %topk_ids, %recv, %arrived, %T, %CAP, %H, %E, %tb, %ta, %topk)
        : (!rows, memref<?x?xi32>, !rows, !arrived, index, index, index, index, index, index, index) -> ()
  }
  %want_rows = arith.constant true
  mk.role @plan ctas(param PLAN, share = 0.4) then @gather {
    func.call @make_plan(%ids, %masks, %bases, %counts, %starts, %most, %routed, %c2, %marked, %counted, %placed, %CAP, %E, %experts, %tb, %ta, %tw, %tq, %te, %tg, %topk)
        : (!choices, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, !routed, index, !all, !all, !one, index, index, index, index, index, index, index, index, index, index) -> ()
  }
  mk.role @gather ctas(1) then @expert {
    mk.wait %placed[%c0] ge %c1 : !one
    %yes = arith.constant true
    %no = arith.constant false
    func.call @bring_rows(%x, %recv, %xs, %masks, %bases, %starts, %counts, %arrived, %brought, %yes, %CAP, %H, %experts, %tb, %ta, %tw, %tq, %tm, %mean)
        : (!rows, !rows, !rows, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, !arrived, !brought, i1, index, index, index, index, index, index, index, index, index) -> ()
    func.call @name_rows(%ids, %masks, %bases, %starts, %rows_of, %placed, %named, %CAP, %E, %experts, %tw, %tq, %te, %topk)
        : (!choices, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?x?xi32>, !one, !all, index, index, index, index, index, index, index) -> ()
    func.call @bring_rows(%x, %recv, %xs, %masks, %bases, %starts, %counts, %arrived, %brought, %no, %CAP, %H, %experts, %tb, %ta, %tw, %tq, %tm, %mean)
        : (!rows, !rows, !rows, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, !arrived, !brought, i1, index, index, index, index, index, index, index, index, index) -> ()
  }

  mk.role @expert ctas(rest) then @down {
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tm, %tn] : !acc
    %rounds = func.call @rounds(%most, %placed, %tm, %round, %mean) : (memref<?xi32>, !one, index, index, index) -> index
    mk.foreach (%r, %e, %n, %j) in (%rounds, %experts, %hidden_columns, %round) schedule(ticket) {
      %b, %row, %valid = func.call @block(%starts, %counts, %r, %e, %j, %tm, %round, %mean)
          : (memref<?xi32>, memref<?xi32>, index, index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %valid, %c0 : index
      scf.if %some {
        mk.wait %brought[%e] ge %all_chunks : !brought
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
        mk.signal %hidden[%b] : !done
      }
    }
  }

  mk.role @down ctas(1) then @combine {
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tm, %tn2] : !acc2
    %rounds = func.call @rounds(%most, %placed, %tm, %round, %mean) : (memref<?xi32>, !one, index, index, index) -> index
    mk.foreach (%r, %e, %n, %j) in (%rounds, %experts, %columns, %round) schedule(ticket) {
      %b, %row, %valid = func.call @block(%starts, %counts, %r, %e, %j, %tm, %round, %mean)
          : (memref<?xi32>, memref<?xi32>, index, index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %valid, %c0 : index
      scf.if %some {
        mk.wait %hidden[%b] ge %hidden_columns : !done
        %at = arith.muli %b, %tm : index
        %column = arith.muli %n, %tn2 : index
        %acc = mk.fold (%kt) in (%hidden_steps) iter(%sum = %zero) combine(add) : !acc2 {
          %k = arith.muli %kt, %tk : index
          %a = mk.load %hs[%at, %k] : memref<?x?xbf16> -> !x
          %y = mk.load %w2[%e, %column, %k] : memref<?x?x?xbf16> -> !w2
          %next = mk.dot %a, %y, %sum transpose_b : !x, !w2, !acc2
          mk.yield %next : !acc2
        }
        %y = arith.truncf %acc : !acc2 to !c2
        mk.store %y, %ys[%row, %column] valid(%valid, %tn2) : !c2, memref<?x?xbf16>
        mk.signal %done[%c0] : !every
      }
    }
  }

  mk.role @combine ctas(1) then @finish {
    %no = arith.constant -1 : i32
    %no_one = arith.constant false
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tc] : !sum
    %low = arith.muli %me, %share : index
    %high = arith.addi %low, %experts : index
    %last_choice = arith.subi %K, %c1 : index
    mk.wait %placed[%c0] ge %c1 : !one
    mk.wait %named[%c0] ge %all_words : !all
    %tiles = func.call @count_tiles(%counts, %experts, %tm, %columns) : (memref<?xi32>, index, index, index) -> index
    mk.wait %done[%c0] ge %tiles : !every
    mk.foreach (%s, %i) in (%world, %pieces) schedule(ticket) order(own = first) own(%me, %c1) {
      %a = arith.divui %i, %ta : index
      mk.wait %routed[%s, %a] ge %c2 : !routed
      %down = arith.muli %i, %tb : index
      %left = arith.subi %CAP, %down : index
      %valid = arith.minui %left, %tb : index
      %from = arith.muli %s, %CAP : index
      %t0 = arith.addi %from, %down : index
      %t1 = arith.addi %t0, %valid : index
      scf.for %t = %t0 to %t1 step %c1 {
        scf.for %h = %c0 to %H step %tc {
          // What the next choice has is read while this one is added.
          %here0, %y0, %weight0 = func.call @read_choice(%rows_of, %weights, %ys, %t, %c0, %h, %tc)
              : (memref<?x?xi32>, memref<?x?xf32, #mk.symmetric>, memref<?x?xbf16>, index, index, index, index) -> (i1, !part, f32)
          %z, %any, %here_k, %y_k, %weight_k = scf.for %j = %c0 to %K step %c1
              iter_args(%sum = %zero, %some = %no_one, %here = %here0, %y = %y0, %weight = %weight0) -> (!sum, i1, i1, !part, f32) {
            %j1 = arith.addi %j, %c1 : index
            %next_j = arith.minui %j1, %last_choice : index
            %next_here, %next_y, %next_weight = func.call @read_choice(%rows_of, %weights, %ys, %t, %next_j, %h, %tc)
                : (memref<?x?xi32>, memref<?x?xf32, #mk.symmetric>, memref<?x?xbf16>, index, index, index, index) -> (i1, !part, f32)
            %wide = arith.extf %y : !part to !sum
            %factor = tensor.splat %weight[%tc] : !sum
            %part = arith.mulf %wide, %factor : !sum
            %more = arith.addf %sum, %part : !sum
            %next = arith.select %here, %more, %sum : !sum
            %some1 = arith.ori %some, %here : i1
            scf.yield %next, %some1, %next_here, %next_y, %next_weight : !sum, i1, i1, !part, f32
          }
          scf.if %any {
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
          : !rows to !rows, !returned
    }
  }

  mk.role @finish ctas(1) {
    %no = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %0 = arith.constant 0.0 : f32
    %zero = tensor.splat %0[%tb, %th] : !sums
    %ones = tensor.splat %one[%tb, %th] : tensor<?x?xi32, #mk.extents<TB, TH>>
    %own_pieces = arith.ceildivui %T, %tb : index
    %column_parts = arith.ceildivui %H, %th : index
    mk.foreach (%i, %c) in (%own_pieces, %column_parts) schedule(ticket) {
      %t = arith.muli %i, %tb : index
      %h = arith.muli %c, %th : index
      %left = arith.subi %T, %t : index
      %tile = mk.load %topk_ids[%t, %c0] pad(%no : i32) : memref<?x?xi32> -> !ids
      %z = scf.for %d = %c0 to %world step %c1 iter_args(%sum = %zero) -> (!sums) {
        mk.wait %returned[%d, %i] ge %c1 : !returned
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

// Tells all ranks what own tokens choose, those of arrival %a; tokens that there are not choose nothing.
func.func private @send_choices(%topk_ids: memref<?x?xi32>, %own_ids: !choices, %ids: !choices, %routed: !routed,
                                %a: index, %CAP: index, %K: index, %tb: index, %ta: index) {
  %c0 = arith.constant 0 : index
  %no = arith.constant -1 : i32
  %me = mk.rank
  %each = arith.muli %tb, %ta : index
  %t0 = arith.muli %a, %each : index
  %left = arith.subi %CAP, %t0 : index
  %count = arith.minui %left, %each : index
  %t1 = arith.addi %t0, %count : index
  scf.for %t = %t0 to %t1 step %tb {
    %tile = mk.load %topk_ids[%t, %c0] pad(%no : i32) : memref<?x?xi32> -> !ids
    mk.store %tile, %own_ids[%t, %c0] : !ids, !choices
  }
  %begin = arith.muli %me, %CAP : index
  %at = arith.addi %begin, %t0 : index
  mk.foreach_peer (%p) along node, gpu including self {
    mk.put %own_ids[%t0, %c0][%count, %K] to %ids[%at, %c0] on %p signal %routed[%me, %a]
        : !choices to !choices, !routed
  }
  return
}

// Sends each token once to each other rank that has an expert of its choice. A put with nothing to
// send tells so.
func.func private @send_tokens(%x: !rows, %topk_ids: memref<?x?xi32>, %recv: !rows, %arrived: !arrived,
                               %T: index, %CAP: index, %H: index, %E: index, %tb: index, %ta: index, %topk: index) {
  %c0 = arith.constant 0 : index
  %no = arith.constant -1 : i32
  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index
  %pieces = arith.ceildivui %CAP, %tb : index
  mk.foreach (%d, %i) in (%world, %pieces) schedule(ticket) order(stagger) {
    %other = arith.cmpi ne, %d, %me : index
    scf.if %other {
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
      %a = arith.divui %i, %ta : index
      mk.put %x[%t, %c0][%count, %H] rows(%rows : !tokens) to %recv[%at, %c0] on %d signal %arrived[%me, %a]
          : !rows to !rows, !arrived
    }
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

// Finds which tokens choose each own expert, word by word (%masks, %bases), how many (%counts), its first
// row (%starts), and the rows of the expert with %most. %sent: arrivals that say what tokens choose.
func.func private @make_plan(%ids: !choices, %masks: memref<?x?xi32>, %bases: memref<?x?xi32>, %counts: memref<?xi32>,
                             %starts: memref<?xi32>, %most: memref<?xi32>, %routed: !routed, %sent: index,
                             %marked: !all, %counted: !all, %placed: !one,
                             %CAP: index, %E: index, %experts: index, %tb: index, %ta: index, %tw: index, %tq: index, %te: index, %tg: index, %topk: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0 : i32
  %no = arith.constant -1 : i32
  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index
  %begin = arith.muli %me, %share : index
  %words = arith.ceildivui %CAP, %tw : index
  %all_words = arith.muli %words, %world : index
  %chunks = arith.ceildivui %words, %tq : index
  %all_chunks = arith.muli %chunks, %world : index
  %groups = arith.ceildivui %experts, %tg : index
  %nothing = tensor.splat %0[%te] : !each
  %no_group = tensor.splat %0[%tg] : !group

  mk.foreach (%g) in (%all_words) {
    %s = arith.divui %g, %words : index
    %t, %left = func.call @word(%g, %words, %CAP, %tw) : (index, index, index, index) -> (index, index)
    %first = arith.subi %CAP, %left : index
    %valid = arith.minui %left, %tw : index
    %end = arith.addi %first, %valid : index
    %last = arith.subi %end, %c1 : index
    %together = arith.muli %tb, %ta : index
    %a0 = arith.divui %first, %together : index
    %a1_ = arith.divui %last, %together : index
    %a1 = arith.addi %a1_, %c1 : index
    scf.for %a = %a0 to %a1 step %c1 {
      mk.wait %routed[%s, %a] ge %sent : !routed
    }
    %tile = mk.load %ids[%t, %c0] valid(%left, %topk) pad(%no : i32) : !choices -> !named
    scf.for %e0 = %c0 to %experts step %te {
      %low = arith.addi %begin, %e0 : index
      %mask = func.call @mark_choices(%tile, %low, %tw, %te, %topk) : (!named, index, index, index, index) -> !each
      %valid_experts = arith.subi %experts, %e0 : index
      %column = mk.broadcast %mask dims [1] : !each -> !column
      mk.store %column, %masks[%e0, %g] valid(%valid_experts, %c1) : !column, memref<?x?xi32>
    }
    mk.signal %marked[%c0] : !all
  }
  mk.foreach (%h) in (%groups) {
    mk.wait %marked[%c0] ge %all_words : !all
    %e0 = arith.muli %h, %tg : index
    %valid = arith.subi %experts, %e0 : index
    %all = scf.for %q = %c0 to %all_chunks step %c1 iter_args(%before = %no_group) -> (!group) {
      %column = mk.broadcast %before dims [1] : !group -> !group_column
      mk.store %column, %bases[%e0, %q] valid(%valid, %c1) : !group_column, memref<?x?xi32>
      %s = arith.divui %q, %chunks : index
      %c = arith.remui %q, %chunks : index
      %down = arith.muli %c, %tq : index
      %left = arith.subi %words, %down : index
      %w0 = arith.muli %s, %words : index
      %w = arith.addi %w0, %down : index
      %tile = mk.load %masks[%e0, %w] valid(%valid, %left) : memref<?x?xi32> -> !group_words
      %each = math.ctpop %tile : !group_words
      %more = mk.reduce add %each axis 1 : !group_words -> !group
      %next = arith.addi %before, %more : !group
      scf.yield %next : !group
    }
    mk.store %all, %counts[%e0] valid(%valid) : !group, memref<?xi32>
    mk.signal %counted[%c0] : !all
  }
  mk.foreach (%i) in (%c1) {
    // A rank without experts has no groups.
    mk.wait %marked[%c0] ge %all_words : !all
    mk.wait %counted[%c0] ge %groups : !all
    %end, %largest = scf.for %e0 = %c0 to %experts step %te iter_args(%done = %nothing, %max = %nothing) -> (!each, !each) {
      %valid = arith.subi %experts, %e0 : index
      %all = mk.load %counts[%e0] valid(%valid) : memref<?xi32> -> !each
      %each = mk.broadcast %all dims [0] : !each -> !square
      %smaller = mk.mask %each where affine_set<(r, c) : (r - c - 1 >= 0)> else %0 : !square
      %in_front = mk.reduce add %smaller axis 1 : !square -> !each
      %sum = mk.reduce add %each axis 1 : !square -> !each
      %start = arith.addi %done, %in_front : !each
      mk.store %start, %starts[%e0] valid(%valid) : !each, memref<?xi32>
      %next = arith.addi %done, %sum : !each
      %max1 = arith.maxsi %max, %all : !each
      scf.yield %next, %max1 : !each, !each
    }
    %line = mk.broadcast %largest dims [0] : !each -> tensor<1x?xi32, #mk.extents<TE>>
    %top = mk.reduce max %line axis 1 : tensor<1x?xi32, #mk.extents<TE>> -> tensor<1xi32>
    mk.store %top, %most[%c0] : tensor<1xi32>, memref<?xi32>
    mk.signal %placed[%c0] : !one
  }
  return
}

// The row of each choice of a token (%rows_of), or -1 if it is not here.
func.func private @name_rows(%ids: !choices, %masks: memref<?x?xi32>, %bases: memref<?x?xi32>, %starts: memref<?xi32>,
                             %rows_of: memref<?x?xi32>, %placed: !one, %named: !all,
                             %CAP: index, %E: index, %experts: index, %tw: index, %tq: index, %te: index, %topk: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %no = arith.constant -1 : i32
  %me = mk.rank
  %world = mk.size
  %share = arith.ceildivui %E, %world : index
  %begin = arith.muli %me, %share : index
  %words = arith.ceildivui %CAP, %tw : index
  %all_words = arith.muli %words, %world : index
  %chunks = arith.ceildivui %words, %tq : index
  %skip = tensor.splat %no[%tw, %topk] : !named
  %none = tensor.splat %0[%tw, %topk] : !named
  %nowhere = tensor.splat %0[%tw, %te] : !table
  %ones = tensor.splat %one[%tw, %te] : !table
  %bit = func.call @bits(%tw) : (index) -> !bits
  %bit_of = mk.broadcast %bit dims [1] : !bits -> !table
  %earlier = arith.subi %bit_of, %ones : !table

  mk.foreach (%g) in (%all_words) schedule(ticket) {
    mk.wait %placed[%c0] ge %c1 : !one
    %t, %left = func.call @word(%g, %words, %CAP, %tw) : (index, index, index, index) -> (index, index)
    %tile = mk.load %ids[%t, %c0] valid(%left, %topk) pad(%no : i32) : !choices -> !named
    %s = arith.divui %g, %words : index
    %i = arith.remui %g, %words : index
    %q = arith.divui %i, %tq : index
    %in_chunk = arith.remui %i, %tq : index
    %w = arith.subi %g, %in_chunk : index
    %chunk0 = arith.muli %s, %chunks : index
    %chunk = arith.addi %chunk0, %q : index
    %rows = scf.for %e0 = %c0 to %experts step %te iter_args(%old = %skip) -> (!named) {
      %low = arith.addi %begin, %e0 : index
      %valid = arith.subi %experts, %e0 : index
      %name = func.call @names(%low, %tw, %te) : (index, index, index) -> !table
      %start = mk.load %starts[%e0] valid(%valid) : memref<?xi32> -> !each
      %base = mk.load %bases[%e0, %chunk] valid(%valid, %c1) : memref<?x?xi32> -> !column
      %of_chunk = mk.reduce add %base axis 1 : !column -> !each
      %word = mk.load %masks[%e0, %g] valid(%valid, %c1) : memref<?x?xi32> -> !column
      %mask = mk.reduce add %word axis 1 : !column -> !each
      %in_front = mk.load %masks[%e0, %w] valid(%valid, %in_chunk) : memref<?x?xi32> -> !each_words
      %each = math.ctpop %in_front : !each_words
      %before = mk.reduce add %each axis 1 : !each_words -> !each
      %first0 = arith.addi %start, %of_chunk : !each
      %first = arith.addi %first0, %before : !each
      %first_of = mk.broadcast %first dims [0] : !each -> !table
      %mask_of = mk.broadcast %mask dims [0] : !each -> !table
      %earlier_bits = arith.andi %mask_of, %earlier : !table
      %place = math.ctpop %earlier_bits : !table
      %row = arith.addi %first_of, %place : !table
      %row1 = arith.addi %row, %ones : !table
      %some = scf.for %j = %c0 to %topk step %c1 iter_args(%so_far = %none) -> (!named) {
        %chosen = func.call @choice(%tile, %j) : (!named, index) -> !table
        %is = arith.cmpi eq, %chosen, %name : !table
        %only = arith.select %is, %row1, %nowhere : tensor<?x?xi1, #mk.extents<TW, TE>>, !table
        %own = mk.mask %only where affine_set<(r, c)[v] : (v - c - 1 >= 0)>[%valid] else %0 : !table
        %sum = mk.reduce add %own axis 1 : !table -> !bits
        %sums = mk.broadcast %sum dims [1] : !bits -> !named
        %no_sum = mk.mask %sums where affine_set<(r, c)[j] : (c - j == 0)>[%j] else %0 : !named
        %more = arith.addi %so_far, %no_sum : !named
        scf.yield %more : !named
      }
      %with = arith.addi %old, %some : !named
      scf.yield %with : !named
    }
    mk.store %rows, %rows_of[%t, %c0] valid(%left, %topk) : !named, memref<?x?xi32>
    mk.signal %named[%c0] : !all
  }
  return
}

// Word %g of all tokens: the first, and how many are left of those of its rank.
func.func private @word(%g: index, %words: index, %CAP: index, %tw: index) -> (index, index) {
  %s = arith.divui %g, %words : index
  %i = arith.remui %g, %words : index
  %down = arith.muli %i, %tw : index
  %left = arith.subi %CAP, %down : index
  %from = arith.muli %s, %CAP : index
  %t = arith.addi %from, %down : index
  return %t, %left : index, index
}

// The bit of each token of a word.
func.func private @bits(%tw: index) -> !bits {
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %square = tensor.splat %one[%tw, %tw] : tensor<?x?xi32, #mk.extents<TW, TW>>
  %smaller = mk.mask %square where affine_set<(r, c) : (r - c - 1 >= 0)> else %0 : tensor<?x?xi32, #mk.extents<TW, TW>>
  %index = mk.reduce add %smaller axis 1 : tensor<?x?xi32, #mk.extents<TW, TW>> -> !bits
  %ones = tensor.splat %one[%tw] : !bits
  %bit = arith.shli %ones, %index : !bits
  return %bit : !bits
}

// The experts from %low on, for each token of a word.
func.func private @names(%low: index, %tw: index, %te: index) -> !table {
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %square = tensor.splat %one[%te, %te] : !square
  %smaller = mk.mask %square where affine_set<(r, c) : (r - c - 1 >= 0)> else %0 : !square
  %index = mk.reduce add %smaller axis 1 : !square -> !each
  %low32 = arith.index_cast %low : index to i32
  %lows = tensor.splat %low32[%te] : !each
  %names = arith.addi %index, %lows : !each
  %name = mk.broadcast %names dims [0] : !each -> !table
  return %name : !table
}

// Choice %j of each token, for each of some experts.
func.func private @choice(%tile: !named, %j: index) -> !table {
  %no = arith.constant -1 : i32
  %column = mk.mask %tile where affine_set<(r, c)[j] : (c - j == 0)>[%j] else %no : !named
  %choice = mk.reduce max %column axis 1 : !named -> !bits
  %chosen = mk.broadcast %choice dims [1] : !bits -> !table
  return %chosen : !table
}

// For each expert from %low on the bits of the tokens that choose it.
func.func private @mark_choices(%tile: !named, %low: index, %tw: index, %te: index, %topk: index) -> !each {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0 : i32
  %zeros = tensor.splat %0[%tw, %te] : !table
  %bit = func.call @bits(%tw) : (index) -> !bits
  %bit_of = mk.broadcast %bit dims [1] : !bits -> !table
  %name = func.call @names(%low, %tw, %te) : (index, index, index) -> !table
  %any = scf.for %j = %c0 to %topk step %c1 iter_args(%some = %zeros) -> (!table) {
    %chosen = func.call @choice(%tile, %j) : (!named, index) -> !table
    %is = arith.cmpi eq, %chosen, %name : !table
    %more = arith.select %is, %bit_of, %some : tensor<?x?xi1, #mk.extents<TW, TE>>, !table
    scf.yield %more : !table
  }
  %mask = mk.reduce add %any axis 0 : !table -> !each
  return %mask : !each
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

// Blocks
// ------

// The rows of the expert that has the most.
func.func private @most_rows(%most: memref<?xi32>, %mean: index) -> index {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %rows32 = memref.load %most[%c0] : memref<?xi32>
  %rows = arith.index_cast %rows32 : i32 to index
  %eighth = arith.shrui %mean, %c3 : index
  %usual = arith.addi %mean, %eighth : index
  %likely = mk.likely %rows as %usual : index
  return %likely : index
}

// Rounds that the expert with the most rows takes, when all rows have been counted.
func.func private @rounds(%most: memref<?xi32>, %placed: !one, %tm: index, %round: index, %mean: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.wait %placed[%c0] ge %c1 : !one
  %rows = func.call @most_rows(%most, %mean) : (memref<?xi32>, index) -> index
  %blocks = arith.ceildivui %rows, %tm : index
  %rounds = arith.ceildivui %blocks, %round : index
  return %rounds : index
}

// The same, and how many blocks of that expert are in a round, the same number in each.
func.func private @deep_rounds(%most: memref<?xi32>, %placed: !one, %tm: index, %round: index, %mean: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = func.call @rounds(%most, %placed, %tm, %round, %mean) : (memref<?xi32>, !one, index, index, index) -> index
  %rows = func.call @most_rows(%most, %mean) : (memref<?xi32>, index) -> index
  %blocks = arith.ceildivui %rows, %tm : index
  %some = arith.maxui %rounds, %c1 : index
  %depth = arith.ceildivui %blocks, %some : index
  return %rounds, %depth : index, index
}

// The tiles of the blocks of all own experts, of so many columns of tiles.
func.func private @count_tiles(%counts: memref<?xi32>, %experts: index, %tm: index, %columns: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %blocks = scf.for %e = %c0 to %experts step %c1 iter_args(%sum = %c0) -> (index) {
    %count32 = memref.load %counts[%e] : memref<?xi32>
    %count = arith.index_cast %count32 : i32 to index
    %of_expert = arith.ceildivui %count, %tm : index
    %next = arith.addi %sum, %of_expert : index
    scf.yield %next : index
  }
  %tiles = arith.muli %blocks, %columns : index
  return %tiles : index
}

// Block %j of own expert %e in round %r: its number, its first row, and its rows (none or less if the expert ends before).
func.func private @block(%starts: memref<?xi32>, %counts: memref<?xi32>, %r: index, %e: index, %j: index, %tm: index, %depth: index,
                          %mean: index) -> (index, index, index) {
  %start, %count, %number = func.call @rows_of_expert(%starts, %counts, %e, %tm, %mean) : (memref<?xi32>, memref<?xi32>, index, index, index) -> (index, index, index)
  %begin = arith.muli %r, %depth : index
  %place = arith.addi %begin, %j : index
  %down = arith.muli %place, %tm : index
  %row = arith.addi %start, %down : index
  %left = arith.subi %count, %down : index
  %rows = arith.minsi %left, %tm : index
  %b = arith.addi %number, %place : index
  return %b, %row, %rows : index, index, index
}

// The first row of own expert %e, how many it has, and the number of its first block.
func.func private @rows_of_expert(%starts: memref<?xi32>, %counts: memref<?xi32>, %e: index, %tm: index, %mean: index) -> (index, index, index) {
  %start32 = memref.load %starts[%e] : memref<?xi32>
  %count32 = memref.load %counts[%e] : memref<?xi32>
  %start = arith.index_cast %start32 : i32 to index
  %count_ = arith.index_cast %count32 : i32 to index
  // The cost model counts with rows from 7 to 9 eighths of the mean, so that not all experts fill their last block alike.
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %eighth = arith.shrui %mean, %c3 : index
  %least = arith.subi %mean, %eighth : index
  %experts = memref.dim %counts, %c0 : memref<?xi32>
  %twice_e = arith.addi %e, %e : index
  %place = arith.addi %twice_e, %c1 : index
  %more = arith.muli %eighth, %place : index
  %above = arith.divui %more, %experts : index
  %usual = arith.addi %least, %above : index
  %count = mk.likely %count_ as %usual : index
  %whole = arith.divui %start, %tm : index
  %number = arith.addi %whole, %e : index
  return %start, %count, %number : index, index, index
}

// Puts the rows of each expert side by side, chunk by chunk of the tokens: own ones, or those of others as they come.
func.func private @bring_rows(%x: !rows, %recv: !rows, %xs: !rows, %masks: memref<?x?xi32>, %bases: memref<?x?xi32>,
                              %starts: memref<?xi32>, %counts: memref<?xi32>, %arrived: !arrived, %brought: !brought, %own: i1,
                              %CAP: index, %H: index, %experts: index, %tb: index, %ta: index, %tw: index, %tq: index, %tm: index, %mean: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %me = mk.rank
  %world = mk.size
  %pieces = arith.ceildivui %CAP, %tb : index
  %arrivals = arith.ceildivui %pieces, %ta : index
  %words = arith.ceildivui %CAP, %tw : index
  %chunks = arith.ceildivui %words, %tq : index
  %all_chunks = arith.muli %chunks, %world : index
  // Places in a block, and in a chunk in tokens.
  %nothing = tensor.splat %0[%tm] : !block
  %ones = tensor.splat %one[%tm, %tq] : !places
  %place = scf.for %k = %c0 to %tm step %tq iter_args(%sum = %nothing) -> (!block) {
    %smaller = mk.mask %ones where affine_set<(r, c)[k] : (r - c - k - 1 >= 0)>[%k] else %0 : !places
    %more = mk.reduce add %smaller axis 1 : !places -> !block
    %next = arith.addi %sum, %more : !block
    scf.yield %next : !block
  }
  %word_ones = tensor.splat %one[%tq] : !words
  %index = func.call @before_words(%word_ones) : (!words) -> !words
  %tw32 = arith.index_cast %tw : index to i32
  %width = tensor.splat %tw32[%tq] : !words
  %down = arith.muli %index, %width : !words
  %others = arith.subi %world, %c1 : index
  %sources = arith.select %own, %c1, %others : index
  %before_me = arith.addi %me, %others : index
  mk.foreach (%d, %c, %e) in (%sources, %chunks, %experts) schedule(ticket) {
    // Each rank sends first to the one behind it.
    %back = arith.subi %before_me, %d : index
    %other = arith.remui %back, %world : index
    %s = arith.select %own, %me, %other : index
    %chunk0 = arith.muli %s, %chunks : index
    %q = arith.addi %chunk0, %c : index
    %start, %count, %number = func.call @rows_of_expert(%starts, %counts, %e, %tm, %mean) : (memref<?xi32>, memref<?xi32>, index, index, index) -> (index, index, index)
    %next_q = arith.addi %q, %c1 : index
    %i0 = func.call @rows_before_chunk(%bases, %e, %q, %all_chunks, %count, %mean) : (memref<?x?xi32>, index, index, index, index, index) -> index
    %i1 = func.call @rows_before_chunk(%bases, %e, %next_q, %all_chunks, %count, %mean) : (memref<?x?xi32>, index, index, index, index, index) -> index
    %begin = arith.muli %number, %tm : index
    %some = arith.cmpi ult, %i0, %i1 : index
    scf.if %some {
      scf.if %own {
      } else {
        %from, %stop = func.call @arrivals_of(%q, %words, %chunks, %CAP, %tb, %ta, %tw, %tq) : (index, index, index, index, index, index, index, index) -> (index, index)
        scf.for %v = %from to %stop step %c1 {
          %a = arith.remui %v, %arrivals : index
          %first = arith.muli %a, %ta : index
          %more = arith.subi %pieces, %first : index
          %puts = arith.minui %more, %ta : index
          mk.wait %arrived[%s, %a] ge %puts : !arrived
        }
      }
      scf.for %i = %i0 to %i1 step %tm {
        %left_ = arith.subi %i1, %i : index
        %left = arith.minui %left_, %tm : index
        %tokens = func.call @tokens_of_chunk(%masks, %bases, %e, %i, %q, %place, %down, %words, %chunks, %CAP, %tw, %tq, %tm)
            : (memref<?x?xi32>, memref<?x?xi32>, index, index, index, !block, !words, index, index, index, index, index, index) -> !block
        %at = arith.addi %begin, %i : index
        scf.if %own {
          %base = arith.muli %me, %CAP : index
          %base32 = arith.index_cast %base : index to i32
          %bases_ = tensor.splat %base32[%tm] : !block
          %here = arith.subi %tokens, %bases_ : !block
          mk.put %x[%c0, %c0][%left, %H] rows(%here : !block) to %xs[%at, %c0] on %me : !rows to !rows
        } else {
          mk.put %recv[%c0, %c0][%left, %H] rows(%tokens : !block) to %xs[%at, %c0] on %me : !rows to !rows
        }
      }
    }
    mk.signal strong %brought[%e] : !brought
  }
  return
}

// How many tokens of the chunks in front of chunk %q choose expert %e, of %count in all.
func.func private @rows_before_chunk(%bases: memref<?x?xi32>, %e: index, %q: index, %all_chunks: index, %count: index, %mean: index) -> index {
  %inside = arith.cmpi ult, %q, %all_chunks : index
  %rows = scf.if %inside -> (index) {
    %base32 = memref.load %bases[%e, %q] : memref<?x?xi32>
    %base = arith.index_cast %base32 : i32 to index
    scf.yield %base : index
  } else {
    scf.yield %count : index
  }
  %in_chunks = arith.muli %mean, %q : index
  %usual_rows = arith.divui %in_chunks, %all_chunks : index
  %likely = mk.likely %rows as %usual_rows : index
  return %likely : index
}

// The tokens of rows of own expert %e, from row %i0 of it on, that are in chunk %q. %place: places in a block; %down:
// the first token of each word of a chunk.
func.func private @tokens_of_chunk(%masks: memref<?x?xi32>, %bases: memref<?x?xi32>, %e: index, %i0: index, %q: index, %place: !block, %down: !words,
                                   %words: index, %chunks: index, %CAP: index, %tw: index, %tq: index, %tm: index) -> !block {
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  %c2 = arith.constant 2 : i32
  %five = arith.constant 5 : i32
  %all_ones = arith.constant 31 : i32
  %zeros = tensor.splat %0[%tm, %tq] : !places
  %fives = tensor.splat %five[%tq] : !words
  %i032 = arith.index_cast %i0 : index to i32
  %begin = tensor.splat %i032[%tm] : !block
  %row = arith.addi %begin, %place : !block
  %row_of = mk.broadcast %row dims [1] : !block -> !places

  %s = arith.divui %q, %chunks : index
  %c = arith.remui %q, %chunks : index
  %w_in_rank = arith.muli %c, %tq : index
  %left = arith.subi %words, %w_in_rank : index
  %w0 = arith.muli %s, %words : index
  %w = arith.addi %w0, %w_in_rank : index
  %mask = mk.load %masks[%e, %w] valid(%left) : memref<?x?xi32> -> !words
  %base32 = memref.load %bases[%e, %q] : memref<?x?xi32>
  %base = tensor.splat %base32[%tq] : !words
  %count = math.ctpop %mask : !words
  %before = func.call @before_words(%count) : (!words) -> !words
  %first = arith.addi %base, %before : !words
  %t0_ = arith.muli %s, %CAP : index
  %t_in_rank = arith.muli %w_in_rank, %tw : index
  %t0 = arith.addi %t0_, %t_in_rank : index
  %t032 = arith.index_cast %t0 : index to i32
  %t0s = tensor.splat %t032[%tq] : !words
  %token = arith.addi %t0s, %down : !words
  // 32 times the word's first token less the row that comes first in it.
  %token32 = arith.shli %token, %fives : !words
  %codes = arith.subi %token32, %first : !words

  // Of each row its word, the word's first token, and how many ones are below.
  %first_of = mk.broadcast %first dims [0] : !words -> !places
  %mask_of = mk.broadcast %mask dims [0] : !words -> !places
  %count_of = math.ctpop %mask_of : !places
  %behind_of = arith.addi %first_of, %count_of : !places
  %code_of = mk.broadcast %codes dims [0] : !words -> !places
  %is_from = arith.cmpi sge, %row_of, %first_of : !places
  %is_to = arith.cmpi slt, %row_of, %behind_of : !places
  %is = arith.andi %is_from, %is_to : tensor<?x?xi1, #mk.extents<TM, TQ>>
  %only_mask = arith.select %is, %mask_of, %zeros : tensor<?x?xi1, #mk.extents<TM, TQ>>, !places
  %only_code = arith.select %is, %code_of, %zeros : tensor<?x?xi1, #mk.extents<TM, TQ>>, !places
  %word = mk.reduce add %only_mask axis 1 : !places -> !block
  %word_code = mk.reduce add %only_code axis 1 : !places -> !block
  %code = arith.addi %word_code, %row : !block
  %all31 = tensor.splat %all_ones[%tm] : !block
  %k0 = arith.andi %code, %all31 : !block
  %five_of = tensor.splat %five[%tm] : !block
  %token0 = arith.shrui %code, %five_of : !block
  // The bit of the word that has %k0 ones below.
  %m1, %k1, %token1 = func.call @halve(%word, %k0, %token0, %c16, %tm) : (!block, !block, !block, i32, index) -> (!block, !block, !block)
  %m2, %k2, %token2 = func.call @halve(%m1, %k1, %token1, %c8, %tm) : (!block, !block, !block, i32, index) -> (!block, !block, !block)
  %m3, %k3, %token3 = func.call @halve(%m2, %k2, %token2, %c4, %tm) : (!block, !block, !block, i32, index) -> (!block, !block, !block)
  %m4, %k4, %token4 = func.call @halve(%m3, %k3, %token3, %c2, %tm) : (!block, !block, !block, i32, index) -> (!block, !block, !block)
  %m5, %k5, %token5 = func.call @halve(%m4, %k4, %token4, %one, %tm) : (!block, !block, !block, i32, index) -> (!block, !block, !block)
  return %token5 : !block
}

// Of twice %half bits the half that has the one with %k ones below.
func.func private @halve(%mask: !block, %k: !block, %token: !block, %half: i32, %tm: index) -> (!block, !block, !block) {
  %one = arith.constant 1 : i32
  %power = arith.shli %one, %half : i32
  %lower_ = arith.subi %power, %one : i32
  %lower = tensor.splat %lower_[%tm] : !block
  %halves = tensor.splat %half[%tm] : !block
  %low = arith.andi %mask, %lower : !block
  %count = math.ctpop %low : !block
  %up = arith.cmpi sge, %k, %count : !block
  %k_up = arith.subi %k, %count : !block
  %mask_up = arith.shrui %mask, %halves : !block
  %token_up = arith.addi %token, %halves : !block
  %next_mask = arith.select %up, %mask_up, %mask : tensor<?xi1, #mk.extents<TM>>, !block
  %next_k = arith.select %up, %k_up, %k : tensor<?xi1, #mk.extents<TM>>, !block
  %next_token = arith.select %up, %token_up, %token : tensor<?xi1, #mk.extents<TM>>, !block
  return %next_mask, %next_k, %next_token : !block, !block, !block
}

// For each word the sum of what is before it.
func.func private @before_words(%counts: !words) -> !words {
  %0 = arith.constant 0 : i32
  %all = mk.broadcast %counts dims [0] : !words -> !word_pairs
  %earlier = mk.mask %all where affine_set<(r, c) : (r - c - 1 >= 0)> else %0 : !word_pairs
  %sums = mk.reduce add %earlier axis 1 : !word_pairs -> !words
  return %sums : !words
}

// The arrivals that bring the tokens of a chunk, of those of all ranks: the first, and the one behind the last.
func.func private @arrivals_of(%q: index, %words: index, %chunks: index, %CAP: index, %tb: index, %ta: index, %tw: index, %tq: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %pieces = arith.ceildivui %CAP, %tb : index
  %arrivals = arith.ceildivui %pieces, %ta : index
  %s = arith.divui %q, %chunks : index
  %c = arith.remui %q, %chunks : index
  %width = arith.muli %tw, %tq : index
  %together = arith.muli %tb, %ta : index
  %t0 = arith.muli %c, %width : index
  %t1_ = arith.addi %t0, %width : index
  %t1 = arith.minui %t1_, %CAP : index
  %a0 = arith.divui %t0, %together : index
  %a1 = arith.ceildivui %t1, %together : index
  %begin = arith.muli %s, %arrivals : index
  %first = arith.addi %begin, %a0 : index
  %end = arith.addi %begin, %a1 : index
  return %first, %end : index, index
}

// Whether choice %j of token %t is here; columns from %h on of its row, and its weight.
func.func private @read_choice(%rows_of: memref<?x?xi32>, %weights: memref<?x?xf32, #mk.symmetric>, %ys: memref<?x?xbf16>,
                               %t: index, %j: index, %h: index, %tc: index) -> (i1, !part, f32) {
  %zero = arith.constant 0 : i32
  %0 = arith.constant 0.0 : bf16
  %nothing = tensor.splat %0[%tc] : !part
  %row32 = memref.load %rows_of[%t, %j] : memref<?x?xi32>
  %weight = memref.load %weights[%t, %j] : memref<?x?xf32, #mk.symmetric>
  %here = arith.cmpi sge, %row32, %zero : i32
  %y = scf.if %here -> (!part) {
    %row = arith.index_cast %row32 : i32 to index
    %tile = mk.load %ys[%row, %h] : memref<?x?xbf16> -> !part
    scf.yield %tile : !part
  } else {
    scf.yield %nothing : !part
  }
  return %here, %y, %weight : i1, !part, f32
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

// The mean number of rows of an expert.
func.func private @mean_rows(%CAP: index, %K: index, %E: index) -> index {
  %c1 = arith.constant 1 : index
  %world = mk.size
  %tokens = arith.muli %CAP, %world : index
  %choices = arith.muli %tokens, %K : index
  %experts = arith.maxui %E, %c1 : index
  %rows = arith.ceildivui %choices, %experts : index
  return %rows : index
}

// Rows of all own experts.
func.func private @used(%starts: memref<?xi32>, %counts: memref<?xi32>, %experts: index, %tm: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.cmpi ne, %experts, %c0 : index
  %rows = scf.if %some -> (index) {
    %last = arith.subi %experts, %c1 : index
    %start, %count, %number = func.call @rows_of_expert(%starts, %counts, %last, %tm, %c0) : (memref<?xi32>, memref<?xi32>, index, index, index) -> (index, index, index)
    %stop = arith.addi %start, %count : index
    scf.yield %stop : index
  } else {
    scf.yield %c0 : index
  }
  return %rows : index
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
