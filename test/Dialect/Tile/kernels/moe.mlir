// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// Mixture of experts: dispatch, two grouped GEMMs with SwiGLU between, combine.
//
// A plan made beforehand buckets the own tokens: for each rank d the tokens that
// go there (a token goes once to a rank however many experts it has there), and
// for each of them up to 8 choices: expert of rank d, place among the tokens of
// this rank for that expert, weight. Chunks of 32 tokens travel as they are;
// @place copies their rows to the experts' segments, each padded to whole tiles of
// 128 rows. Whoever fills a tile pushes it to the queue of the first GEMM; whoever
// finishes the last of its hidden columns, to that of the second. @combine adds up
// a token's choices in order, sends the sums home, and adds there in rank order.

// CHECK: mk.kernel @moe on @mesh sizes(node, gpu) dims(rank T, uniform CAP
// CHECK: mk.signals({{.*}}) : !mk.signal<?x?, sys, dynamic>
// CHECK: mk.queue({{.*}}) : !mk.queue<?x2xi32>
// CHECK: mk.role @dispatch
// CHECK: mk.put {{.*}} rows({{.*}} : tensor<32xi32>)
// CHECK: mk.role @plan
// CHECK: mk.role @place
// CHECK: mk.count
// CHECK: mk.push
// CHECK: mk.role @expert
// CHECK: mk.foreach_item
// CHECK: mk.fold
// CHECK: mk.foreach_item
// CHECK: mk.role @combine
// CHECK: mk.put

mk.mesh @mesh (node = ? via net, gpu = ? via link)

// T: own tokens; CAP: most tokens from one rank to another; H, I: sizes of a token
// and of the hidden layer; E: experts of a rank; TILES: most row tiles on a rank.
mk.kernel @moe on @mesh sizes(node, gpu)
    dims(rank T, uniform CAP, uniform H, uniform I, uniform E, uniform TILES) (
    in %x : memref<?x?xbf16, #mk.symmetric> [T, H] split [(node, gpu), ()],
    // For each rank d: tokens for it, and how many.
    in %list : memref<?x?xi32> [(node * gpu) * (node * gpu), CAP] split [(node, gpu), ()],
    in %n : memref<?xi32> [(node * gpu) * (node * gpu)] split [(node, gpu)],
    // For each rank d: tokens for each of its experts, then tokens in all.
    in %hist : memref<?x?xi32, #mk.symmetric>
        [(node * gpu) * (node * gpu), E + 1] split [(node, gpu), ()],
    // For each of the tokens in %list 8 experts (or -1), 8 places, 8 weights (the bits of f32).
    in %meta : memref<?x24xi32, #mk.symmetric>
        [CAP * ((node * gpu) * (node * gpu)), 24] split [(node, gpu), ()],
    // For each own token and rank: its place in the list for that rank, or -1.
    in %pos : memref<?x?xi32> [T, node * gpu] split [(node, gpu), ()],
    in %w1 : memref<?x?x?xbf16> [E * (node * gpu), I, H] split [(node, gpu), (), ()],
    in %w3 : memref<?x?x?xbf16> [E * (node * gpu), I, H] split [(node, gpu), (), ()],
    in %w2 : memref<?x?x?xbf16> [E * (node * gpu), H, I] split [(node, gpu), (), ()],
    // What other ranks sent: histograms, tokens, choices.
    scratch %cnt : memref<?x?xi32, #mk.symmetric> [node * gpu, E + 1],
    scratch %recv : memref<?x?xbf16, #mk.symmetric> [CAP * (node * gpu), H],
    scratch %choice : memref<?x24xi32, #mk.symmetric> [CAP * (node * gpu), 24],
    // First row of each rank's tokens for each expert; the end of each expert's;
    // the tiles of all experts.
    scratch %base : memref<?x?xi32> [node * gpu, E],
    scratch %end : memref<?xi32> [E],
    scratch %tiles_of_all : memref<1xi32> [1],
    scratch %xs : memref<?x?xbf16> [TILES * 128, H],
    scratch %hs : memref<?x?xbf16> [TILES * 128, I],
    scratch %ys : memref<?x?xbf16> [TILES * 128, H],
    scratch %ret : memref<?x?xbf16, #mk.symmetric> [CAP * (node * gpu), H],
    scratch %back : memref<?x?xbf16, #mk.symmetric> [CAP * (node * gpu), H],
    out %out : memref<?x?xbf16> [T, H] split [(node, gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  %c0_i32 = arith.constant 0 : i32
  %none = arith.constant -1 : i32

  %me = mk.rank
  %world = mk.size
  %chunks = arith.ceildivui %CAP, %c32 : index
  %h_tiles = arith.ceildivui %H, %c256 : index
  %h_steps = arith.ceildivui %H, %c64 : index
  %i_tiles = arith.ceildivui %I, %c128 : index
  %i_steps = arith.ceildivui %I, %c64 : index
  %counts = arith.addi %E, %c1 : index

  %counted = mk.signals(%world) : !mk.signal<?, sys, arrivals = 1>
  // Tokens and choices: two arrivals for a chunk that is not empty.
  %received = mk.signals(%world, %chunks) : !mk.signal<?x?, sys, dynamic>
  %returned = mk.signals(%world, %chunks) : !mk.signal<?x?, sys, dynamic>
  %planned = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  // The column tiles of the second GEMM, for tiles that exist.
  %done = mk.signals(%TILES) : !mk.signal<?, gpu, dynamic>
  %filled = mk.counters(%TILES) : !mk.counter<?>
  %hidden = mk.counters(%TILES) : !mk.counter<?>
  %q1 = mk.queue(%TILES) : !mk.queue<?x2xi32>
  %q2 = mk.queue(%TILES) : !mk.queue<?x2xi32>

  mk.role @dispatch ctas(share = 0.1) then @expert {
    mk.foreach (%d) in (%world) order(stagger) {
      mk.put %hist[%d, %c0][%c1, %counts] to %cnt[%me, %c0] on %d signal %counted[%me]
          : memref<?x?xi32, #mk.symmetric> to memref<?x?xi32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
    }
    mk.foreach (%d, %c) in (%world, %chunks) schedule(ticket) order(stagger) {
      %all = memref.load %n[%d] : memref<?xi32>
      %tokens = arith.index_cast %all : i32 to index
      %first = arith.muli %c, %c32 : index
      %k = arith.subi %tokens, %first : index
      %some = arith.cmpi sgt, %k, %c0 : index
      scf.if %some {
        %rows = arith.minsi %k, %c32 : index
        %i = mk.load %list[%d, %first] valid(%k) pad(%none : i32) : memref<?x?xi32> -> tensor<32xi32>
        %from = func.call @row(%d, %first, %CAP) : (index, index, index) -> index
        %to = func.call @row(%me, %first, %CAP) : (index, index, index) -> index
        mk.put %x[%c0, %c0][%rows, %H] rows(%i : tensor<32xi32>) to %recv[%to, %c0] on %d
            signal %received[%me, %c]
            : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !mk.signal<?x?, sys, dynamic>
        mk.put %meta[%from, %c0][%rows, %c24] to %choice[%to, %c0] on %d signal %received[%me, %c]
            : memref<?x24xi32, #mk.symmetric> to memref<?x24xi32, #mk.symmetric>, !mk.signal<?x?, sys, dynamic>
      }
    }
  }

  // Where the tokens of each rank go, once it is known how many there are.
  mk.role @plan ctas(1) then @expert {
    scf.for %s = %c0 to %world step %c1 {
      mk.wait %counted[%s] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    }
    %rows = scf.for %e = %c0 to %E step %c1 iter_args(%begin = %c0_i32) -> (i32) {
      %stop = scf.for %s = %c0 to %world step %c1 iter_args(%at = %begin) -> (i32) {
        memref.store %at, %base[%s, %e] : memref<?x?xi32>
        %count = memref.load %cnt[%s, %e] : memref<?x?xi32, #mk.symmetric>
        %next = arith.addi %at, %count : i32
        scf.yield %next : i32
      }
      memref.store %stop, %end[%e] : memref<?xi32>
      %c128_i32 = arith.constant 128 : i32
      %tiles = arith.ceildivsi %stop, %c128_i32 : i32
      %padded = arith.muli %tiles, %c128_i32 : i32
      scf.yield %padded : i32
    }
    %c128_i32 = arith.constant 128 : i32
    %tiles = arith.divsi %rows, %c128_i32 : i32
    memref.store %tiles, %tiles_of_all[%c0] : memref<1xi32>
    mk.signal %planned[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }

  mk.role @place ctas(share = 0.06) then @expert {
    mk.wait %planned[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    mk.foreach (%s, %c) in (%world, %chunks) schedule(ticket) order(own = first) own(%me, %c1) {
      %all = memref.load %cnt[%s, %E] : memref<?x?xi32, #mk.symmetric>
      %tokens = arith.index_cast %all : i32 to index
      %first = arith.muli %c, %c32 : index
      %k = arith.subi %tokens, %first : index
      %some = arith.cmpi sgt, %k, %c0 : index
      scf.if %some {
        mk.wait %received[%s, %c] ge %c2 : !mk.signal<?x?, sys, dynamic>
        %rows = arith.minsi %k, %c32 : index
        %from = func.call @row(%s, %first, %CAP) : (index, index, index) -> index
        scf.for %t = %c0 to %rows step %c1 {
          %row = arith.addi %from, %t : index
          scf.for %j = %c0 to %c8 step %c1 {
            %e32 = memref.load %choice[%row, %j] : memref<?x24xi32, #mk.symmetric>
            %chosen = arith.cmpi sge, %e32, %c0_i32 : i32
            scf.if %chosen {
              %e = arith.index_cast %e32 : i32 to index
              %r = func.call @place(%choice, %base, %row, %j, %s, %e)
                  : (memref<?x24xi32, #mk.symmetric>, memref<?x?xi32>, index, index, index, index) -> index
              scf.for %h = %c0 to %H step %c1024 {
                %v = mk.load %recv[%row, %h] : memref<?x?xbf16, #mk.symmetric> -> tensor<1x1024xbf16>
                mk.store %v, %xs[%r, %h] : tensor<1x1024xbf16>, memref<?x?xbf16>
              }
              %b = arith.divui %r, %c128 : index
              %before = mk.count %filled[%b] add %c1 : !mk.counter<?>
              %now = arith.addi %before, %c1 : index
              %full = func.call @rows_of(%end, %b, %e) : (memref<?xi32>, index, index) -> index
              %last = arith.cmpi eq, %now, %full : index
              scf.if %last {
                mk.push %q1, (%b, %e) : !mk.queue<?x2xi32>
              }
            }
          }
        }
      }
    }
  }

  mk.role @expert ctas(rest) {
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %zero2 = arith.constant dense<0.0> : tensor<128x256xf32>
    mk.wait %planned[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    // Experts without tokens have no tiles.
    %tiles32 = memref.load %tiles_of_all[%c0] : memref<1xi32>
    %tiles = arith.index_cast %tiles32 : i32 to index
    mk.foreach_item (%b, %e) of %q1 count(%tiles), (%f) in (%i_tiles) : !mk.queue<?x2xi32> {
      %row = arith.muli %b, %c128 : index
      %column = arith.muli %f, %c128 : index
      %rows = func.call @rows_of(%end, %b, %e) : (memref<?xi32>, index, index) -> index
      %gate, %up = mk.fold (%kt) in (%h_steps) iter(%g = %zero, %u = %zero) combine(add)
          : tensor<128x128xf32>, tensor<128x128xf32> {
        %k = arith.muli %kt, %c64 : index
        %a = mk.load %xs[%row, %k] valid(%rows, %c64) : memref<?x?xbf16> -> tensor<128x64xbf16>
        %b1 = mk.load %w1[%e, %column, %k] : memref<?x?x?xbf16> -> tensor<128x64xbf16>
        %b3 = mk.load %w3[%e, %column, %k] : memref<?x?x?xbf16> -> tensor<128x64xbf16>
        %gn = mk.dot %a, %b1, %g transpose_b
            : tensor<128x64xbf16>, tensor<128x64xbf16>, tensor<128x128xf32>
        %un = mk.dot %a, %b3, %u transpose_b
            : tensor<128x64xbf16>, tensor<128x64xbf16>, tensor<128x128xf32>
        mk.yield %gn, %un : tensor<128x128xf32>, tensor<128x128xf32>
      }
      %h = func.call @swiglu(%gate, %up) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
      %t = arith.truncf %h : tensor<128x128xf32> to tensor<128x128xbf16>
      mk.store %t, %hs[%row, %column] : tensor<128x128xbf16>, memref<?x?xbf16>
      %before = mk.count %hidden[%b] add %c1 : !mk.counter<?>
      %now = arith.addi %before, %c1 : index
      %last = arith.cmpi eq, %now, %i_tiles : index
      scf.if %last {
        mk.push %q2, (%b, %e) : !mk.queue<?x2xi32>
      }
    }
    mk.foreach_item (%b, %e) of %q2 count(%tiles), (%n2) in (%h_tiles) : !mk.queue<?x2xi32> {
      %row = arith.muli %b, %c128 : index
      %column = arith.muli %n2, %c256 : index
      %acc = mk.fold (%kt) in (%i_steps) iter(%y = %zero2) combine(add) : tensor<128x256xf32> {
        %k = arith.muli %kt, %c64 : index
        %a = mk.load %hs[%row, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
        %w = mk.load %w2[%e, %column, %k] : memref<?x?x?xbf16> -> tensor<256x64xbf16>
        %yn = mk.dot %a, %w, %y transpose_b
            : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
        mk.yield %yn : tensor<128x256xf32>
      }
      %t = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
      mk.store %t, %ys[%row, %column] : tensor<128x256xbf16>, memref<?x?xbf16>
      mk.signal %done[%b] : !mk.signal<?, gpu, dynamic>
    }
  }

  mk.role @combine ctas(share = 0.06) {
    %zero = arith.constant dense<0.0> : tensor<1x1024xf32>
    mk.wait %planned[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    mk.foreach (%s, %c) in (%world, %chunks) schedule(ticket) order(stagger) {
      %all = memref.load %cnt[%s, %E] : memref<?x?xi32, #mk.symmetric>
      %tokens = arith.index_cast %all : i32 to index
      %first = arith.muli %c, %c32 : index
      %k = arith.subi %tokens, %first : index
      %some = arith.cmpi sgt, %k, %c0 : index
      scf.if %some {
        mk.wait %received[%s, %c] ge %c2 : !mk.signal<?x?, sys, dynamic>
        %rows = arith.minsi %k, %c32 : index
        %from = func.call @row(%s, %first, %CAP) : (index, index, index) -> index
        %to = func.call @row(%me, %first, %CAP) : (index, index, index) -> index
        scf.for %t = %c0 to %rows step %c1 {
          %row = arith.addi %from, %t : index
          scf.for %h = %c0 to %H step %c1024 {
            %z = scf.for %j = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (tensor<1x1024xf32>) {
              %e32 = memref.load %choice[%row, %j] : memref<?x24xi32, #mk.symmetric>
              %chosen = arith.cmpi sge, %e32, %c0_i32 : i32
              %sum = scf.if %chosen -> (tensor<1x1024xf32>) {
                %e = arith.index_cast %e32 : i32 to index
                %r = func.call @place(%choice, %base, %row, %j, %s, %e)
                    : (memref<?x24xi32, #mk.symmetric>, memref<?x?xi32>, index, index, index, index) -> index
                %b = arith.divui %r, %c128 : index
                mk.wait %done[%b] ge %h_tiles : !mk.signal<?, gpu, dynamic>
                %y = mk.load %ys[%r, %h] : memref<?x?xbf16> -> tensor<1x1024xbf16>
                %wide = arith.extf %y : tensor<1x1024xbf16> to tensor<1x1024xf32>
                %wj = arith.addi %c16, %j : index
                %bits = memref.load %choice[%row, %wj] : memref<?x24xi32, #mk.symmetric>
                %weight = arith.bitcast %bits : i32 to f32
                %weights = tensor.splat %weight : tensor<1x1024xf32>
                %part = arith.mulf %wide, %weights : tensor<1x1024xf32>
                %new = arith.addf %acc, %part : tensor<1x1024xf32>
                scf.yield %new : tensor<1x1024xf32>
              } else {
                scf.yield %acc : tensor<1x1024xf32>
              }
              scf.yield %sum : tensor<1x1024xf32>
            }
            %zt = arith.truncf %z : tensor<1x1024xf32> to tensor<1x1024xbf16>
            mk.store %zt, %ret[%row, %h] : tensor<1x1024xbf16>, memref<?x?xbf16, #mk.symmetric>
          }
        }
        mk.put %ret[%from, %c0][%rows, %H] to %back[%to, %c0] on %s signal %returned[%me, %c]
            : memref<?x?xbf16, #mk.symmetric> to memref<?x?xbf16, #mk.symmetric>, !mk.signal<?x?, sys, dynamic>
      }
    }
    mk.foreach (%t) in (%T) {
      scf.for %h = %c0 to %H step %c1024 {
        %z = scf.for %d = %c0 to %world step %c1 iter_args(%acc = %zero) -> (tensor<1x1024xf32>) {
          %p32 = memref.load %pos[%t, %d] : memref<?x?xi32>
          %went = arith.cmpi sge, %p32, %c0_i32 : i32
          %sum = scf.if %went -> (tensor<1x1024xf32>) {
            %p = arith.index_cast %p32 : i32 to index
            %c = arith.divui %p, %c32 : index
            mk.wait %returned[%d, %c] ge %c1 : !mk.signal<?x?, sys, dynamic>
            %row = func.call @row(%d, %p, %CAP) : (index, index, index) -> index
            %y = mk.load %back[%row, %h] : memref<?x?xbf16, #mk.symmetric> -> tensor<1x1024xbf16>
            %wide = arith.extf %y : tensor<1x1024xbf16> to tensor<1x1024xf32>
            %new = arith.addf %acc, %wide : tensor<1x1024xf32>
            scf.yield %new : tensor<1x1024xf32>
          } else {
            scf.yield %acc : tensor<1x1024xf32>
          }
          scf.yield %sum : tensor<1x1024xf32>
        }
        %zt = arith.truncf %z : tensor<1x1024xf32> to tensor<1x1024xbf16>
        mk.store %zt, %out[%t, %h] : tensor<1x1024xbf16>, memref<?x?xbf16>
      }
    }
  }
}

// Row of the i-th token that goes to, or comes from, rank %s.
func.func private @row(%s: index, %i: index, %cap: index) -> index {
  %begin = arith.muli %s, %cap : index
  %row = arith.addi %begin, %i : index
  return %row : index
}

// Row in the experts' segments of choice %j of a token that came from rank %s.
func.func private @place(%choice: memref<?x24xi32, #mk.symmetric>, %base: memref<?x?xi32>,
                         %row: index, %j: index, %s: index, %e: index) -> index {
  %c8 = arith.constant 8 : index
  %at = arith.addi %j, %c8 : index
  %nth = memref.load %choice[%row, %at] : memref<?x24xi32, #mk.symmetric>
  %first = memref.load %base[%s, %e] : memref<?x?xi32>
  %r32 = arith.addi %first, %nth : i32
  %r = arith.index_cast %r32 : i32 to index
  return %r : index
}

// Rows of tile %b, which belongs to expert %e: less than 128 in its last one.
func.func private @rows_of(%end: memref<?xi32>, %b: index, %e: index) -> index {
  %c128 = arith.constant 128 : index
  %end32 = memref.load %end[%e] : memref<?xi32>
  %stop = arith.index_cast %end32 : i32 to index
  %begin = arith.muli %b, %c128 : index
  %left = arith.subi %stop, %begin : index
  %rows = arith.minsi %left, %c128 : index
  return %rows : index
}

// silu(gate) * up
func.func private @swiglu(%gate: tensor<128x128xf32>, %up: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %one = arith.constant dense<1.0> : tensor<128x128xf32>
  %negative = arith.negf %gate : tensor<128x128xf32>
  %exp = math.exp %negative : tensor<128x128xf32>
  %denominator = arith.addf %exp, %one : tensor<128x128xf32>
  %silu = arith.divf %gate, %denominator : tensor<128x128xf32>
  %h = arith.mulf %silu, %up : tensor<128x128xf32>
  return %h : tensor<128x128xf32>
}
