// Attention, forward: O = softmax(Q * K^T / sqrt(D)) * V for each head, and the logarithm
// of each row's sum. Q and O: B x HQ x S x D, K and V: B x HKV x S x D, LSE: B x HQ x S; bf16,
// summed in f32, LSE f32. HQ / HKV heads of Q share a head of K and V. @attention sees all
// keys, @attention_causal those up to the query's own place. Each rank has a part of the batch.
//
// The maximum (times log2(e) / sqrt(D), so that only exp2 is needed; or a bit less), the sum
// and the output of a row are carried over blocks of keys. The mask is of use in the last
// blocks only; compilers split the loop there.
//
// Parameters: TM queries and TN keys are a tile; HD, the head dimension (D, where it is
// bound); SCHEDULE, 0 static or 1 ticket; SLACK: a row's maximum is raised only where it is
// exceeded by more, so that terms are up to 2^SLACK (f16 holds 2^15) and sums are hardly ever scaled.

!q = tensor<?x?xbf16, #mk.extents<TM, HD>>
!kv = tensor<?x?xbf16, #mk.extents<TN, HD>>
!s = tensor<?x?xf32, #mk.extents<TM, TN>>
!p = tensor<?x?xbf16, #mk.extents<TM, TN>>
!o = tensor<?x?xf32, #mk.extents<TM, HD>>
!row = tensor<?xf32, #mk.extents<TM>>
!rows = tensor<?xi1, #mk.extents<TM>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @attention on @mesh dims(uniform B, uniform HQ, uniform HKV, uniform S, uniform D) (
    in %q : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(gpu), (), (), ()],
    in %k : memref<?x?x?x?xbf16> [B, HKV, S, D] split [(gpu), (), (), ()],
    in %v : memref<?x?x?x?xbf16> [B, HKV, S, D] split [(gpu), (), (), ()],
    out %o : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(gpu), (), (), ()],
    out %lse : memref<?x?x?xf32> [B, HQ, S] split [(gpu), (), ()]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 128 in [64, 128, 192]
  %hd = mk.param "HD" default(%D)
  // 128, or as many as leave room for two blocks of keys and of values.
  %c128 = arith.constant 128 : index
  %c16384 = arith.constant 16384 : index
  %room = arith.divui %c16384, %hd : index
  %most = arith.minui %room, %c128 : index
  %tn = mk.param "TN" default(%most) in [64, 80, 96, 112, 128, 144, 160, 176]
  mk.param "SCHEDULE" = 0
  %over = mk.param "SLACK" = 8
  %fits = arith.cmpi eq, %hd, %D : index
  mk.require %fits, "D must be the head dimension HD that the kernel is compiled for"
  %whole = func.call @whole_groups(%HQ, %HKV) : (index, index) -> i1
  mk.require %whole, "HQ must be a multiple of HKV, which must be at least 1"
  %batch = memref.dim %q, %c0 : memref<?x?x?x?xbf16>
  %shared = arith.divui %HQ, %HKV : index
  %query_tiles = arith.ceildivui %S, %tm : index
  %key_tiles = arith.ceildivui %S, %tn : index
  %zero, %low, %none, %scale, %row_scale, %slack = func.call @constants(%tm, %tn, %hd, %over)
      : (index, index, index, index) -> (!o, !row, !row, !s, !row, !row)
  %ninf = arith.constant 0xFF800000 : f32

  mk.role @attention ctas(rest) {
    mk.foreach (%b, %h, %i) in (%batch, %HQ, %query_tiles) schedule(param SCHEDULE) {
      %row = arith.muli %i, %tm : index
      %hkv = arith.divui %h, %shared : index
      %x = mk.load %q[%b, %h, %row, %c0] : memref<?x?x?x?xbf16> -> !q
      %o1, %m1, %l1 = mk.fold (%j) in (%key_tiles)
          iter(%o0 = %zero, %m0 = %low, %l0 = %none) combine(@merge) : !o, !row, !row {
        %key = arith.muli %j, %tn : index
        %left = arith.subi %S, %key : index
        %y = mk.load %k[%b, %hkv, %key, %c0] : memref<?x?x?x?xbf16> -> !kv
        %z = mk.load %v[%b, %hkv, %key, %c0] : memref<?x?x?x?xbf16> -> !kv
        %s = func.call @scores(%x, %y, %tm, %tn) : (!q, !kv, index, index) -> !s
        // Keys behind the last one.
        %masked = mk.mask %s where affine_set<(r, c)[n] : (n - 1 - c >= 0)>[%left] else %ninf : !s
        %on, %mn, %ln = func.call @step(%masked, %z, %o0, %m0, %l0, %scale, %row_scale, %slack)
            : (!s, !kv, !o, !row, !row, !s, !row, !row) -> (!o, !row, !row)
        mk.yield %on, %mn, %ln : !o, !row, !row
      }
      func.call @finish(%o1, %m1, %l1, %o, %lse, %b, %h, %row, %tm)
          : (!o, !row, !row, memref<?x?x?x?xbf16>, memref<?x?x?xf32>, index, index, index, index) -> ()
    }
  }
}

mk.kernel @attention_causal on @mesh dims(uniform B, uniform HQ, uniform HKV, uniform S, uniform D) (
    in %q : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(gpu), (), (), ()],
    in %k : memref<?x?x?x?xbf16> [B, HKV, S, D] split [(gpu), (), (), ()],
    in %v : memref<?x?x?x?xbf16> [B, HKV, S, D] split [(gpu), (), (), ()],
    out %o : memref<?x?x?x?xbf16> [B, HQ, S, D] split [(gpu), (), (), ()],
    out %lse : memref<?x?x?xf32> [B, HQ, S] split [(gpu), (), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tm = mk.param "TM" = 128 in [64, 128, 192]
  %hd = mk.param "HD" default(%D)
  // 128, or as many as leave room for two blocks of keys and of values.
  %c128 = arith.constant 128 : index
  %c16384 = arith.constant 16384 : index
  %room = arith.divui %c16384, %hd : index
  %most = arith.minui %room, %c128 : index
  %tn = mk.param "TN" default(%most) in [64, 80, 96, 112, 128, 144, 160, 176]
  mk.param "SCHEDULE" = 1
  %over = mk.param "SLACK" = 8
  %fits = arith.cmpi eq, %hd, %D : index
  mk.require %fits, "D must be the head dimension HD that the kernel is compiled for"
  %whole = func.call @whole_groups(%HQ, %HKV) : (index, index) -> i1
  mk.require %whole, "HQ must be a multiple of HKV, which must be at least 1"
  %batch = memref.dim %q, %c0 : memref<?x?x?x?xbf16>
  %shared = arith.divui %HQ, %HKV : index
  %heads = arith.muli %batch, %HQ : index
  %query_tiles = arith.ceildivui %S, %tm : index
  %zero, %low, %none, %scale, %row_scale, %slack = func.call @constants(%tm, %tn, %hd, %over)
      : (index, index, index, index) -> (!o, !row, !row, !s, !row, !row)
  %ninf = arith.constant 0xFF800000 : f32

  mk.role @attention ctas(rest) {
    // The last queries see most keys and go first, in groups of heads whose keys and
    // values fit the L2.
    mk.foreach (%bh, %i) in (%heads, %query_tiles) schedule(param SCHEDULE) order(longest_first = 4) {
      %b = arith.divui %bh, %HQ : index
      %h = arith.remui %bh, %HQ : index
      %row = arith.muli %i, %tm : index
      %hkv = arith.divui %h, %shared : index
      // Blocks that some row sees.
      %end_ = arith.addi %row, %tm : index
      %end = arith.minui %end_, %S : index
      %blocks = arith.ceildivui %end, %tn : index
      %x = mk.load %q[%b, %h, %row, %c0] : memref<?x?x?x?xbf16> -> !q
      %o1, %m1, %l1 = mk.fold (%j) in (%blocks)
          iter(%o0 = %zero, %m0 = %low, %l0 = %none) combine(@merge) : !o, !row, !row {
        %key = arith.muli %j, %tn : index
        %ahead = arith.subi %row, %key : index
        %y = mk.load %k[%b, %hkv, %key, %c0] : memref<?x?x?x?xbf16> -> !kv
        %z = mk.load %v[%b, %hkv, %key, %c0] : memref<?x?x?x?xbf16> -> !kv
        %s = func.call @scores(%x, %y, %tm, %tn) : (!q, !kv, index, index) -> !s
        // Keys behind the own place; those from S on are behind all rows that are stored. What a row sees
        // nothing of adds terms of zero to it, and may be left out.
        %masked = mk.mask %s where affine_set<(r, c)[d] : (r - c + d >= 0)>[%ahead] else %ninf skippable : !s
        %on, %mn, %ln = func.call @step(%masked, %z, %o0, %m0, %l0, %scale, %row_scale, %slack)
            : (!s, !kv, !o, !row, !row, !s, !row, !row) -> (!o, !row, !row)
        mk.yield %on, %mn, %ln : !o, !row, !row
      }
      func.call @finish(%o1, %m1, %l1, %o, %lse, %b, %h, %row, %tm)
          : (!o, !row, !row, memref<?x?x?x?xbf16>, memref<?x?x?xf32>, index, index, index, index) -> ()
    }
  }
}

// Whether each head of K and V has as many heads of Q.
func.func private @whole_groups(%HQ: index, %HKV: index) -> i1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.cmpi uge, %HKV, %c1 : index
  %n = arith.maxui %HKV, %c1 : index
  %left = arith.remui %HQ, %n : index
  %even = arith.cmpi eq, %left, %c0 : index
  %whole = arith.andi %some, %even : i1
  return %whole : i1
}

// What a row starts from: output, maximum (low, but finite: a difference of two is
// defined), sum; log2(e) / sqrt(D) for scores and for rows; and by how much a row's
// maximum may be exceeded.
func.func private @constants(%tm: index, %tn: index, %hd: index, %over: index) -> (!o, !row, !row, !s, !row, !row) {
  %0 = arith.constant 0.0 : f32
  %low_ = arith.constant -1.0e30 : f32
  %log2e = arith.constant 1.44269504 : f32
  %d_ = arith.index_cast %hd : index to i32
  %d = arith.sitofp %d_ : i32 to f32
  %root = math.sqrt %d : f32
  %scale_ = arith.divf %log2e, %root : f32
  %zero = tensor.splat %0[%tm, %hd] : !o
  %low = tensor.splat %low_[%tm] : !row
  %none = tensor.splat %0[%tm] : !row
  %scale = tensor.splat %scale_[%tm, %tn] : !s
  %row_scale = tensor.splat %scale_[%tm] : !row
  %over_ = arith.index_cast %over : index to i32
  %slack_ = arith.sitofp %over_ : i32 to f32
  %slack = tensor.splat %slack_[%tm] : !row
  return %zero, %low, %none, %scale, %row_scale, %slack : !o, !row, !row, !s, !row, !row
}

func.func private @scores(%x: !q, %y: !kv, %tm: index, %tn: index) -> !s {
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !s
  %s = mk.dot %x, %y, %zero transpose_b : !q, !kv, !s
  return %s : !s
}

// One block of keys: its scores and values; what was carried and what is carried on.
func.func private @step(%s: !s, %z: !kv, %o: !o, %m: !row, %l: !row, %scale: !s, %row_scale: !row, %slack: !row) -> (!o, !row, !row) {
  %top = mk.reduce max %s axis 1 : !s -> !row
  %top1 = arith.mulf %top, %row_scale : !row
  %bound = arith.addf %m, %slack : !row
  %grows = arith.cmpf ogt, %top1, %bound : !row
  %m1 = arith.select %grows, %top1, %m : !rows, !row
  %m1s = mk.broadcast %m1 dims [1] : !row -> !s
  %t = arith.mulf %s, %scale fastmath<contract> : !s
  %d = arith.subf %t, %m1s fastmath<contract> : !s
  %e = math.exp2 %d : !s
  %sum = mk.reduce add %e axis 1 : !s -> !row
  %old = arith.subf %m, %m1 : !row
  %a = math.exp2 %old : !row
  %la = arith.mulf %l, %a : !row
  %l1 = arith.addf %la, %sum : !row
  %as = mk.broadcast %a dims [1] : !row -> !o
  %oa = arith.mulf %o, %as : !o
  %p = arith.truncf %e : !s to !p
  %o1 = mk.dot %p, %z, %oa : !p, !kv, !o
  return %o1, %m1, %l1 : !o, !row, !row
}

// What two parts of the keys give together.
func.func private @merge(%o: !o, %m: !row, %l: !row, %p: !o, %n: !row, %k: !row) -> (!o, !row, !row) {
  %t = arith.maximumf %m, %n : !row
  %dm = arith.subf %m, %t : !row
  %dn = arith.subf %n, %t : !row
  %a = math.exp2 %dm : !row
  %b = math.exp2 %dn : !row
  %la = arith.mulf %l, %a : !row
  %kb = arith.mulf %k, %b : !row
  %sum = arith.addf %la, %kb : !row
  %as = mk.broadcast %a dims [1] : !row -> !o
  %bs = mk.broadcast %b dims [1] : !row -> !o
  %oa = arith.mulf %o, %as : !o
  %pb = arith.mulf %p, %bs : !o
  %r = arith.addf %oa, %pb : !o
  return %r, %t, %sum : !o, !row, !row
}

// Divides by the sum and stores; LSE = ln(2) * (m + log2(l)).
func.func private @finish(%o: !o, %m: !row, %l: !row, %out: memref<?x?x?x?xbf16>, %lse: memref<?x?x?xf32>,
                          %b: index, %h: index, %row: index, %tm: index) {
  %c0 = arith.constant 0 : index
  %1 = arith.constant 1.0 : f32
  %ln2_ = arith.constant 0.693147181 : f32
  %one = tensor.splat %1[%tm] : !row
  %ln2 = tensor.splat %ln2_[%tm] : !row
  %inverse = arith.divf %one, %l : !row
  %spread = mk.broadcast %inverse dims [1] : !row -> !o
  %y = arith.mulf %o, %spread : !o
  %z = arith.truncf %y : !o to !q
  mk.store %z, %out[%b, %h, %row, %c0] : !q, memref<?x?x?x?xbf16>
  %log = math.log2 %l : !row
  %sum = arith.addf %m, %log : !row
  %e = arith.mulf %sum, %ln2 : !row
  mk.store %e, %lse[%b, %h, %row] : !row, memref<?x?x?xf32>
  return
}

// What they compute, on whole tensors.
func.func @attention_reference(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>, %v: tensor<?x?x?x?xf64>)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) {
  %all = arith.constant false
  %o, %lse = call @softmax_of_products(%q, %k, %v, %all)
      : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i1) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>)
  return %o, %lse : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>
}

func.func @attention_causal_reference(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>, %v: tensor<?x?x?x?xf64>)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) {
  %causal = arith.constant true
  %o, %lse = call @softmax_of_products(%q, %k, %v, %causal)
      : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i1) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>)
  return %o, %lse : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>
}

#all = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
#each = affine_map<(b, h, i, j) -> (b, h, i, j)>

func.func private @softmax_of_products(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>, %v: tensor<?x?x?x?xf64>, %causal: i1)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = arith.constant 0.0 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %b = tensor.dim %q, %c0 : tensor<?x?x?x?xf64>
  %hq = tensor.dim %q, %c1 : tensor<?x?x?x?xf64>
  %s = tensor.dim %q, %c2 : tensor<?x?x?x?xf64>
  %d = tensor.dim %q, %c3 : tensor<?x?x?x?xf64>
  %hkv = tensor.dim %k, %c1 : tensor<?x?x?x?xf64>
  %shared = arith.divui %hq, %hkv : index
  %d_ = arith.index_cast %d : index to i64
  %df = arith.sitofp %d_ : i64 to f64
  %root = math.sqrt %df : f64

  %empty_s = tensor.empty(%b, %hq, %s, %s) : tensor<?x?x?x?xf64>
  %zero_s = linalg.fill ins(%0 : f64) outs(%empty_s : tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %products = linalg.generic {
      indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q : tensor<?x?x?x?xf64>) outs(%zero_s : tensor<?x?x?x?xf64>) {
  ^bb0(%x: f64, %sum: f64):
    %bi = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 3 : index
    %di = linalg.index 4 : index
    %hk = arith.divui %h, %shared : index
    %y = tensor.extract %k[%bi, %hk, %j, %di] : tensor<?x?x?x?xf64>
    %p = arith.mulf %x, %y : f64
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?x?x?xf64>
  %scores = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%products : tensor<?x?x?x?xf64>) outs(%empty_s : tensor<?x?x?x?xf64>) {
  ^bb0(%x: f64, %old: f64):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %later = arith.cmpi ugt, %j, %i : index
    %hidden = arith.andi %later, %causal : i1
    %y = arith.divf %x, %root : f64
    %z = arith.select %hidden, %ninf, %y : f64
    linalg.yield %z : f64
  } -> tensor<?x?x?x?xf64>

  %empty_r = tensor.empty(%b, %hq, %s) : tensor<?x?x?xf64>
  %low = linalg.fill ins(%ninf : f64) outs(%empty_r : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %top = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%scores : tensor<?x?x?x?xf64>) outs(%low : tensor<?x?x?xf64>) {
  ^bb0(%x: f64, %m: f64):
    %y = arith.maximumf %x, %m : f64
    linalg.yield %y : f64
  } -> tensor<?x?x?xf64>
  %weights = linalg.generic {indexing_maps = [#each, #row, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %top : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) outs(%empty_s : tensor<?x?x?x?xf64>) {
  ^bb0(%x: f64, %m: f64, %old: f64):
    %y = arith.subf %x, %m : f64
    %e = math.exp %y : f64
    linalg.yield %e : f64
  } -> tensor<?x?x?x?xf64>
  %zero_r = linalg.fill ins(%0 : f64) outs(%empty_r : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %sums = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%weights : tensor<?x?x?x?xf64>) outs(%zero_r : tensor<?x?x?xf64>) {
  ^bb0(%x: f64, %sum: f64):
    %y = arith.addf %x, %sum : f64
    linalg.yield %y : f64
  } -> tensor<?x?x?xf64>
  %lse = linalg.map ins(%sums, %top : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%empty_r : tensor<?x?x?xf64>) (%l: f64, %m: f64, %old: f64) {
    %log = math.log %l : f64
    %y = arith.addf %log, %m : f64
    linalg.yield %y : f64
  }

  %empty_o = tensor.empty(%b, %hq, %s, %d) : tensor<?x?x?x?xf64>
  %zero_o = linalg.fill ins(%0 : f64) outs(%empty_o : tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %o = linalg.generic {
      indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, i)>,
                       affine_map<(b, h, i, d, j) -> (b, h, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%weights, %sums : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) outs(%zero_o : tensor<?x?x?x?xf64>) {
  ^bb0(%w: f64, %l: f64, %sum: f64):
    %bi = linalg.index 0 : index
    %h = linalg.index 1 : index
    %di = linalg.index 3 : index
    %j = linalg.index 4 : index
    %hk = arith.divui %h, %shared : index
    %y = tensor.extract %v[%bi, %hk, %j, %di] : tensor<?x?x?x?xf64>
    %u = arith.divf %w, %l : f64
    %p = arith.mulf %u, %y : f64
    %next = arith.addf %sum, %p : f64
    linalg.yield %next : f64
  } -> tensor<?x?x?x?xf64>
  return %o, %lse : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>
}
