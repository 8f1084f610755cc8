// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// Ring attention: causal, zigzag, grouped queries, head dimension 128.
//
// The sequence is cut into 2P chunks of C rows; rank r holds chunks r and
// 2P-1-r, so that all ranks have equal work. Keys and values travel around the
// ring; each tile of queries keeps its state (output, maximum, sum) in registers
// over all steps. Queries are scaled beforehand such that exponentials are to
// base 2. In %kv the heads of the keys come first, then those of the values.
//
// Step s of rank r works on what came from rank r - s. Slots of the ring are used
// again once all tiles and transfers of a step are done with them. Tiles hold
// their CTA until the last step: with fewer slots than ranks, a slot is given
// back only if all tiles are running.

// CHECK: mk.kernel @ring_attention on @mesh sizes(node, gpu)
// CHECK: mk.require
// CHECK: mk.role @ring
// CHECK: mk.wait
// CHECK: mk.put {{.*}} signal
// CHECK: mk.settle
// CHECK: mk.role @attention
// CHECK: order(longest_first = 4)
// CHECK: mk.select
// CHECK: mk.fold ({{.*}}) in ({{.*}}) iter({{.*}}, {{.*}}, {{.*}}) : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
// CHECK: mk.mask
// CHECK: mk.reduce max
// CHECK: mk.broadcast
// CHECK: mk.reduce add
// CHECK: mk.dot
// CHECK: mk.yield
// CHECK: mk.store {{.*}} valid
// CHECK: func.func private @done
// CHECK: mk.count
// CHECK: mk.signal {{.*}} on

mk.mesh @mesh (node = ? via net, gpu = ? via link)

// HQ and HKV: heads of queries and of keys; SL: slots of the ring.
mk.kernel @ring_attention on @mesh sizes(node, gpu)
    dims(uniform C, uniform HQ, uniform HKV, uniform SL) (
    in %q : memref<?x?x128xbf16> [HQ, C * 2 * (node * gpu), 128] split [(), (node, gpu), ()],
    in %kv : memref<?x?x?x128xbf16, #mk.symmetric>
        [1, HKV * 2, C * 2 * (node * gpu), 128] split [(), (), (node, gpu), ()],
    scratch %ring : memref<?x?x?x128xbf16, #mk.symmetric> [SL, HKV * 2, C * 2, 128],
    out %o : memref<?x?x128xbf16> [HQ, C * 2 * (node * gpu), 128] split [(), (node, gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index

  %me = mk.rank
  %world = mk.size
  %me_1 = arith.addi %me, %c1 : index
  %next = arith.remui %me_1, %world : index
  %me_m1 = arith.addi %me, %world : index
  %me_m2 = arith.subi %me_m1, %c1 : index
  %prev = arith.remui %me_m2, %world : index

  %heads = arith.muli %HKV, %c2 : index           // of keys and values
  %group = arith.divui %HQ, %HKV : index          // query heads of a key head
  %rows = arith.muli %C, %c2 : index
  %half_tiles = arith.ceildivui %C, %c128 : index
  %q_tiles = arith.muli %half_tiles, %c2 : index
  %tiles = arith.muli %HQ, %q_tiles : index
  %users = arith.addi %tiles, %heads : index      // of the slot of a step

  %ctas = mk.ctas @attention
  %enough = arith.cmpi uge, %SL, %world : index
  %resident = arith.cmpi ule, %tiles, %ctas : index
  %ok = arith.ori %enough, %resident : i1
  %slots = arith.cmpi uge, %SL, %c1 : index
  mk.require %slots, "SL, the number of slots, must be at least 1"
  mk.require %ok, "ring attention needs a slot for each rank, or no more tiles than CTAs of @attention"

  // What came for a step, for each head; step 0 is the own.
  %arrived = mk.signals(%world, %heads) : !mk.signal<?x?, sys, arrivals = 1>
  // The next rank is done with what I sent for a step.
  %free = mk.signals(%world) : !mk.signal<?, sys, arrivals = 1>
  %used = mk.counters(%world) : !mk.counter<?>

  mk.role @ring ctas(4) {
    mk.foreach (%s, %h) in (%world, %heads) {
      %own = arith.cmpi eq, %s, %c0 : index
      scf.if %own {
      } else {
        mk.wait %arrived[%s, %h] ge %c1 : !mk.signal<?x?, sys, arrivals = 1>
      }
      %to = arith.addi %s, %c1 : index
      %goes_on = arith.cmpi ult, %to, %world : index
      scf.if %goes_on {
        // The slot held step to - SL before, if that was one of the ring's.
        %again = arith.cmpi ugt, %to, %SL : index
        scf.if %again {
          %before = arith.subi %to, %SL : index
          mk.wait %free[%before] ge %c1 : !mk.signal<?, sys, arrivals = 1>
        }
        %slot = arith.remui %to, %SL : index
        scf.if %own {
          mk.put %kv[%c0, %h, %c0, %c0][%c1, %c1, %rows, %c128] to %ring[%slot, %h, %c0, %c0]
              on %next signal %arrived[%to, %h]
              : memref<?x?x?x128xbf16, #mk.symmetric> to memref<?x?x?x128xbf16, #mk.symmetric>,
                !mk.signal<?x?, sys, arrivals = 1>
        } else {
          %from = arith.remui %s, %SL : index
          mk.put %ring[%from, %h, %c0, %c0][%c1, %c1, %rows, %c128] to %ring[%slot, %h, %c0, %c0]
              on %next signal %arrived[%to, %h]
              : memref<?x?x?x128xbf16, #mk.symmetric> to memref<?x?x?x128xbf16, #mk.symmetric>,
                !mk.signal<?x?, sys, arrivals = 1>
        }
        mk.settle
      }
      func.call @done(%used, %free, %s, %users, %prev)
          : (!mk.counter<?>, !mk.signal<?, sys, arrivals = 1>, index, index, index) -> ()
    }
  }

  mk.role @attention ctas(rest) {
    // The last tile of queries looks at the most keys; the heads of a group share
    // their keys.
    mk.foreach (%h, %i) in (%HQ, %q_tiles) order(longest_first = 4) {
      %zero_o = arith.constant dense<0.0> : tensor<128x128xf32>
      %zero_l = arith.constant dense<0.0> : tensor<128xf32>
      %ninf_m = arith.constant dense<0xFF800000> : tensor<128xf32>
      %ninf = arith.constant 0xFF800000 : f32

      // Where the tile lies in my rows, and in the whole sequence.
      %upper = arith.cmpi uge, %i, %half_tiles : index
      %i_upper = arith.subi %i, %half_tiles : index
      %it = arith.select %upper, %i_upper, %i : index
      %in_chunk = arith.muli %it, %c128 : index
      %chunk_row = arith.select %upper, %C, %c0 : index
      %row = arith.addi %chunk_row, %in_chunk : index
      %left = arith.subi %C, %in_chunk : index
      %valid = arith.minsi %left, %c128 : index
      %q_begin = func.call @chunk(%me, %upper, %world, %C) : (index, i1, index, index) -> index
      %q0 = arith.addi %q_begin, %in_chunk : index
      %last = arith.addi %q0, %c128 : index

      %Q = mk.load %q[%h, %row, %c0] valid(%valid, %c128) : memref<?x?x128xbf16> -> tensor<128x128xbf16>
      %hk = arith.divui %h, %group : index
      %hv = arith.addi %hk, %HKV : index

      %O, %m, %l = scf.for %s = %c0 to %world step %c1
          iter_args(%O0 = %zero_o, %m0 = %ninf_m, %l0 = %zero_l)
          -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
        %own = arith.cmpi eq, %s, %c0 : index
        %up = arith.addi %me, %world : index
        %down = arith.subi %up, %s : index
        %source = arith.remui %down, %world : index
        %keys = mk.select %own, %kv, %ring
            : memref<?x?x?x128xbf16, #mk.symmetric>, memref<?x?x?x128xbf16, #mk.symmetric> -> memref<?x?x?x128xbf16>
        %in_ring = arith.remui %s, %SL : index
        %slot = arith.select %own, %c0, %in_ring : index

        %O3, %m3, %l3 = scf.for %half = %c0 to %c2 step %c1
            iter_args(%O1 = %O0, %m1 = %m0, %l1 = %l0)
            -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
          %high = arith.cmpi eq, %half, %c1 : index
          %k0 = func.call @chunk(%source, %high, %world, %C) : (index, i1, index, index) -> index
          %half_row = arith.select %high, %C, %c0 : index
          // Tiles of keys with one that some query may look at.
          %reach = arith.subi %last, %k0 : index
          %reach0 = arith.maxsi %reach, %c0 : index
          %reach1 = arith.minsi %reach0, %C : index
          %n = arith.ceildivui %reach1, %c128 : index
          %some = arith.cmpi ugt, %n, %c0 : index
          %come = arith.cmpi ne, %s, %c0 : index
          %wait = arith.andi %some, %come : i1
          scf.if %wait {
            mk.wait %arrived[%s, %hk] ge %c1 : !mk.signal<?x?, sys, arrivals = 1>
            mk.wait %arrived[%s, %hv] ge %c1 : !mk.signal<?x?, sys, arrivals = 1>
          }
          // No combine: the state goes on, so that parts cannot start anew. The
          // first tile of step 0 holds a key for every query, which makes the
          // maximum finite from then on.
          %O2, %m2, %l2 = mk.fold (%j) in (%n) iter(%Oj = %O1, %mj = %m1, %lj = %l1)
              : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32> {
            %j_row = arith.muli %j, %c128 : index
            %k_row = arith.addi %half_row, %j_row : index
            %k_left = arith.subi %C, %j_row : index
            %K = mk.load %keys[%slot, %hk, %k_row, %c0] valid(%k_left, %c128)
                : memref<?x?x?x128xbf16> -> tensor<128x128xbf16>
            %V = mk.load %keys[%slot, %hv, %k_row, %c0] valid(%k_left, %c128)
                : memref<?x?x?x128xbf16> -> tensor<128x128xbf16>
            %S = mk.dot %Q, %K, %zero_o transpose_b
                : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
            // Keys up to the query's own position, and of this chunk.
            %d0 = arith.subi %q0, %k0 : index
            %d = arith.subi %d0, %j_row : index
            %Z = mk.mask %S where affine_set<(r, c)[d, n] : (r - c + d >= 0, n - c - 1 >= 0)>[%d, %k_left] else %ninf
                : tensor<128x128xf32>
            %top = mk.reduce max %Z axis 1 : tensor<128x128xf32> -> tensor<128xf32>
            %mn = arith.maximumf %mj, %top : tensor<128xf32>
            %dm = arith.subf %mj, %mn : tensor<128xf32>
            %alpha = math.exp2 %dm : tensor<128xf32>
            %mb = mk.broadcast %mn dims [1] : tensor<128xf32> -> tensor<128x128xf32>
            %dz = arith.subf %Z, %mb : tensor<128x128xf32>
            %p = math.exp2 %dz : tensor<128x128xf32>
            %ls = arith.mulf %lj, %alpha : tensor<128xf32>
            %row_sum = mk.reduce add %p axis 1 : tensor<128x128xf32> -> tensor<128xf32>
            %ln = arith.addf %ls, %row_sum : tensor<128xf32>
            %ab = mk.broadcast %alpha dims [1] : tensor<128xf32> -> tensor<128x128xf32>
            %Os = arith.mulf %Oj, %ab : tensor<128x128xf32>
            %pt = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xbf16>
            %On = mk.dot %pt, %V, %Os
                : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
            mk.yield %On, %mn, %ln : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
          }
          scf.yield %O2, %m2, %l2 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
        }
        func.call @done(%used, %free, %s, %users, %prev)
            : (!mk.counter<?>, !mk.signal<?, sys, arrivals = 1>, index, index, index) -> ()
        scf.yield %O3, %m3, %l3 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      }
      %lb = mk.broadcast %l dims [1] : tensor<128xf32> -> tensor<128x128xf32>
      %On = arith.divf %O, %lb : tensor<128x128xf32>
      %Ot = arith.truncf %On : tensor<128x128xf32> to tensor<128x128xbf16>
      mk.store %Ot, %o[%h, %row, %c0] valid(%valid, %c128) : tensor<128x128xbf16>, memref<?x?x128xbf16>
    }
  }
}

// One user is done with what step %s holds; the last one tells who sent it.
func.func private @done(%used: !mk.counter<?>, %free: !mk.signal<?, sys, arrivals = 1>,
                        %s: index, %users: index, %prev: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // Step 0 is the own memory: nobody waits for it.
  %sent = arith.cmpi ne, %s, %c0 : index
  scf.if %sent {
    %before = mk.count %used[%s] add %c1 : !mk.counter<?>
    %now = arith.addi %before, %c1 : index
    %all = arith.cmpi eq, %now, %users : index
    scf.if %all {
      mk.signal %free[%s] on %prev : !mk.signal<?, sys, arrivals = 1>
    }
  }
  return
}

// The first row, in the whole sequence, of the lower or upper chunk of rank %r.
func.func private @chunk(%r: index, %upper: i1, %world: index, %C: index) -> index {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %chunks = arith.muli %world, %c2 : index
  %top = arith.subi %chunks, %c1 : index
  %mirror = arith.subi %top, %r : index
  %chunk = arith.select %upper, %mirror, %r : index
  %row = arith.muli %chunk, %C : index
  return %row : index
}
