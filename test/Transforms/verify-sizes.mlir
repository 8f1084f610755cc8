// RUN: mk-opt %s -split-input-file -verify-diagnostics -mk-verify-sizes
// What is known must fit in 64 bits, before anything folds it to what is left.

mk.mesh @mesh (gpu = 2 via link)

mk.kernel @wraps on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %big = arith.constant 4294967296 : index
  %p = mk.param "P" = 2147483648
  %fits = arith.muli %big, %p : index // 2^63: one too many
  // expected-error @-1 {{wraps: 4294967296 * 2147483648 does not fit in 64 bits; bind smaller sizes}}
  mk.role @r ctas(1) {
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)

mk.kernel @items on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %big = arith.constant 4294967296 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{goes over 4294967296 x 4294967296 items, more than fit in 64 bits; bind smaller sizes}}
    mk.foreach (%i, %j) in (%big, %big) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)

// What is not known, or in a branch that may not be taken, or just fits.
mk.kernel @fine on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %big = arith.constant 4294967296 : index
  %small = arith.constant 2147483647 : index
  %fits = arith.muli %big, %small : index
  %unknown = arith.muli %big, %N : index
  mk.role @r ctas(1) {
    %huge = arith.cmpi sgt, %N, %big : index
    scf.if %huge {
      %wraps = arith.muli %big, %big : index
      mk.foreach (%i) in (%wraps) {
      }
    }
    mk.foreach (%i, %j) in (%big, %small) {
    }
  }
}

// -----

// No launch is possible.
mk.mesh @mesh (gpu = 2 via link)

mk.kernel @requires on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %c3 = arith.constant 3 : index
  %p = mk.param "P" = 16
  %q = mk.param "Q" = 2
  %rows = arith.muli %p, %q : index
  %few = arith.cmpi ult, %rows, %c3 : index
  // expected-error @+1 {{does not hold: P * Q must be below 3 (P = 16, Q = 2); choose sizes, a mesh and parameters for which it does}}
  mk.require %few, "P * Q must be below 3"
  mk.role @r ctas(1) {
  }
}

// -----

// What is not known is asked before a launch.
mk.mesh @mesh (gpu = 2 via link)

mk.kernel @open on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %c3 = arith.constant 3 : index
  %few = arith.cmpi ult, %N, %c3 : index
  mk.require %few, "N must be below 3"
  mk.role @r ctas(1) {
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)

// expected-error @+1 {{argument 'y' is 4294967296 x 8388608 on each rank, more than 2^46 elements; bind smaller sizes}}
mk.kernel @elements on @mesh dims(uniform N) (in %x : memref<?xf32> [N], in %y : memref<?x?xf32> [4294967296, 8388608 + N * 0]) {
  mk.role @r ctas(1) {
  }
}

// -----

// What a type says has to be what there is.
mk.mesh @mesh (gpu = 2 via link)

// expected-error @+1 {{argument 'x' has a number that is not known, or not the same on all ranks, of elements in dimension 0 on each rank (N), and its type says 8: bind other sizes, or write '?' in the type}}
mk.kernel @open on @mesh dims(uniform N) (in %x : memref<8xf32> [N]) {
  mk.role @r ctas(1) {
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)

// expected-error @+1 {{argument 'x' has 8 elements in dimension 0 on each rank (16), and its type says 16: bind other sizes, or write '?' in the type}}
mk.kernel @shard on @mesh (in %x : memref<16xf32> [16] split [(gpu)]) {
  mk.role @r ctas(1) {
  }
}

// -----

// Peers write to it.
mk.mesh @mesh (gpu = 2 via link)

// expected-error @+1 {{symmetric argument 'x' has 5 elements in dimension 1, of which 2 ranks have different numbers, so that peers would not find its rows: only its first dimension may be split unevenly; bind a multiple of 2, or let peers write to scratch of whole shards}}
mk.kernel @uneven on @mesh dims(uniform N = 5) (
    out %x : memref<?x?xf32, #mk.symmetric> [N, N] split [(), (gpu)]) {
  mk.role @r ctas(1) {
  }
}

// -----

// Rows are equally long, or peers do not write them, or their length is not known.
mk.mesh @mesh (gpu = 2 via link)

mk.kernel @even on @mesh dims(uniform N = 5, uniform M, rank T) (
    out %x : memref<?x?xf32, #mk.symmetric> [N, N] split [(gpu), ()],
    in %y : memref<?x?xf32, #mk.symmetric> [N, N] split [(), (gpu)],
    out %z : memref<?x?xf32> [N, N] split [(), (gpu)],
    out %u : memref<?x?xf32, #mk.symmetric> [N, M] split [(), (gpu)],
    out %v : memref<?x?xf32, #mk.symmetric> [N, T] split [(), (gpu)]) {
  mk.role @r ctas(1) {
  }
}

// -----

// Coordinates count from 0, to below the size of their axis.
mk.mesh @mesh (node = 2 via link, gpu = 3 via link)

mk.kernel @coordinates on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %c2 = arith.constant 2 : index
  %own = mk.coord gpu
  %fits = mk.rank(gpu = %c2)
  %unknown = mk.rank(node = %own)
  %gpus = mk.size gpu
  mk.role @r ctas(1) {
    %some = arith.cmpi sgt, %N, %gpus : index
    scf.if %some {
      %maybe = mk.rank(gpu = %gpus)
    }
    // expected-error @+1 {{has coordinate 3 along axis 'gpu', which has 3 ranks: coordinates count from 0}}
    %p = mk.rank(node = %own, gpu = %gpus)
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @one on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %c = arith.constant -1 : index
  // expected-error @+1 {{has coordinate -1 along axis 'gpu', which has 1 rank: coordinates count from 0}}
  %p = mk.rank(gpu = %c)
}

// -----

// What is declared with a negative extent is said where it is declared.
mk.mesh @mesh (gpu = 2 via link)

// expected-error @+1 {{argument 'y' has -99 elements in dimension 0 (M + -200): extents are at least 0; bind other sizes}}
mk.kernel @negative on @mesh dims(uniform M = 101, uniform N) (
    in %x : memref<?xf32> [N], scratch %y : memref<?x?xf32> [M - 200, N]) {
}

// -----

mk.mesh @mesh (gpu = 2 via link)

// What is not known may be anything, and what wraps is the plan's to tell.
mk.kernel @open on @mesh dims(uniform M, uniform N, uniform W = 17179869184) (
    in %x : memref<?xf32> [M - N - 5], in %w : memref<?xf32> [W * 1073741824 - 2147483646], scratch %y : memref<?xf32> [M - 200]) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %less = arith.subi %M, %c5 : index
  %some = mk.signals(%less) : !mk.signal<?, sys, arrivals = 1>
  %world = mk.size
  %none = arith.subi %c0, %world : index
  // expected-error @+1 {{has -2 elements in dimension 1: extents are at least 0; bind other sizes}}
  %s = mk.signals(%c5, %none) : !mk.signal<?x?, sys, arrivals = 1>
}

// -----

mk.mesh @mesh (gpu = 2 via link)

mk.kernel @counters on @mesh (in %x : memref<1xf32> [1]) {
  %c = arith.constant -7 : index
  // expected-error @+1 {{has -7 elements in dimension 0: extents are at least 0; bind other sizes}}
  %s = mk.counters(%c) : !mk.counter<?>
}
