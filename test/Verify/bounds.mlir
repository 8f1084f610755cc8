// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress="sizes=M=13,C=8 rank-sizes=T=5:3" -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// What does not exist, one mistake each.

// Rows that a source does not have. M = 13: rank 0 has 7 rows, rank 1 has 6.
// CHECK: error: 'mk.put' op reads [4:8] of dimension 0 of 'a', which has 7 elements there on rank 0, in role 'send' (rank 0, CTA 0): correct the index or the size
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @source on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    mk.put %a[%c4, %c0][%c4, %C] to %y[%c0, %c0] on %c1 : !x to !x
  }
}

// -----

// Before the destination, where another argument may lie.
// CHECK: error: 'mk.put' op writes [-1:3] of dimension 0 of 'z', which has {{[67]}} elements there on rank 1, in role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @negative on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n1 = arith.constant -1 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    mk.put %a[%c0, %c0][%c4, %C] to %z[%n1, %c0] on %c1 : !x to !x
  }
}

// -----

// Behind it: the extent is that on the peer, whose shard is smaller.
// CHECK: error: 'mk.put' op writes [0:7] of dimension 0 of 'y', which has 6 elements there on rank 1, in role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @peer on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    %first = arith.cmpi eq, %me, %c0 : index
    scf.if %first {
      mk.put %a[%c0, %c0][%c7, %C] to %y[%c0, %c0] on %c1 : !x to !x
    }
  }
}

// -----

// Columns count as columns, also where the region as a whole would fit.
// CHECK: error: 'mk.put' op writes [4:9] of dimension 1 of 'y', which has 8 elements there on rank 1, in role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @columns on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    mk.put %a[%c0, %c0][%c1, %c5] to %y[%c0, %c4] on %c1 : !x to !x
  }
}

// -----

// Listed rows are looked at one by one; those that are skipped may name nothing.
// CHECK: error: 'mk.put' op reads element 8 of dimension 0 of 'a', which has 7 elements there on rank 0
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @rows on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    %list = arith.constant dense<[3, -9, 7]> : tensor<3xi32>
    mk.put %a[%c1, %c0][%c3, %C] rows(%list : tensor<3xi32>) to %y[%c0, %c0] on %c1 : !x to !x
  }
}

// -----

// The element would be another one of the array.
// CHECK: error: 'mk.signal' op uses element [0, 3] of an array of (2, 3) on rank 0, in role 'send' (rank 0, CTA 0): correct the index or the extents
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @signal on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %me = mk.rank
  %s = mk.signals() : !sig
  mk.role @send ctas(1) {
    %three = arith.addi %me, %c3 : index
    mk.signal %s[%c0, %three] on %c1 : !sig
  }
}

// -----

// A counter, before its row.
// CHECK: error: 'mk.count' op uses element [1, -1] of an array of (2, 3) on rank 0, in role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @counter on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c1 = arith.constant 1 : index
  %me = mk.rank
  %n = mk.counters() : !mk.counter<2x3>
  mk.role @send ctas(1) {
    %before = arith.subi %me, %c1 : index
    %old = mk.count %n[%c1, %before] add %c1 : !mk.counter<2x3>
  }
}

// -----

// A scalar that does not exist.
// CHECK: error: 'memref.load' op reads element 4 of dimension 0 of 'sizes', which has 4 elements there on rank 0, in role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @scalar on @mesh dims(uniform M, uniform C) (in %sizes : memref<4xi32> [4], in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    scf.for %i = %c1 to %c5 step %c1 {
      %v = memref.load %sizes[%i] : memref<4xi32>
      %n = arith.index_cast %v : i32 to index
      mk.put %a[%c0, %c0][%n, %C] to %y[%c0, %c0] on %c1 : !x to !x
    }
  }
}

// -----

// Sizes of each rank: what fits on the one does not on the other.
// CHECK: error: 'mk.put' op writes [0:5] of dimension 0 of 'y', which has 3 elements there on rank 1, in role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @ranks on @mesh dims(rank T, uniform C) (in %a : !x [T, C] split [(gpu), ()], inout %y : !x [T, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    %next = arith.subi %c1, %me : index
    mk.put %a[%c0, %c0][%T, %C] to %y[%c0, %c0] on %next : !x to !x
  }
}

// -----

// Sizes whose sums overflow.
// CHECK: error: 'mk.put' op reads [9223372036854775807:9223372036854775809] of dimension 1 of 'c', which has 64 elements there on rank 0, in role 'r' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 1 via link)
!x = memref<64x64xf32, #mk.symmetric>
mk.kernel @vast on @mesh (inout %c : !x [64, 64]) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %vast = arith.constant 9223372036854775807 : index
  mk.role @r ctas(1) {
    mk.put %c[%c0, %vast][%c2, %c2] to %c[%c2, %c0] on %c0 : !x to !x
  }
}

// -----

// No mistake: rows and regions that are not put, tiles that reach out on all sides.
// CHECK-NOT: error:
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, arrivals = 1>
mk.kernel @sound on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], inout %z : !x [M, C] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c100 = arith.constant 100 : index
  %n1 = arith.constant -1 : index
  %n4 = arith.constant -4 : index
  %me = mk.rank
  mk.role @send ctas(1) {
    %list = arith.constant dense<[-9, 5]> : tensor<2xi32>
    mk.put %a[%c0, %c0][%c2, %C] rows(%list : tensor<2xi32>) to %y[%n1, %c0] on %c0 : !x to !x
    mk.put %a[%c100, %c0][%c0, %C] to %z[%n1, %c0] on %c1 : !x to !x
    %first = arith.cmpi eq, %me, %c0 : index
    scf.if %first {
      mk.put %a[%c0, %c0][%c6, %C] to %z[%c0, %c0] on %c1 : !x to !x
      %last = memref.load %a[%c6, %c7] : !x
    }
    %tile = mk.load %a[%n4, %c6] : !x -> tensor<8x8xf32>
    mk.store %tile, %y[%n4, %c100] : tensor<8x8xf32>, !x
  }
}

// -----

// What a fold combines by is copied with the kernel, and what that calls.
// CHECK: error: 'mk.put' op reads [4:8] of dimension 0 of 'a', which has 7 elements there on rank 0, in role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x?xf32, #mk.symmetric>
func.func private @add(%left: f32, %right: f32) -> f32 {
  %sum = arith.addf %left, %right : f32
  return %sum : f32
}
func.func private @merge(%left: f32, %right: f32) -> f32 {
  %sum = func.call @add(%left, %right) : (f32, f32) -> f32
  return %sum : f32
}
mk.kernel @combined on @mesh dims(uniform M, uniform C) (in %a : !x [M, C] split [(gpu), ()], inout %y : !x [M, C] split [(gpu), ()], out %s : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  mk.role @send ctas(1) {
    %all = mk.fold (%k) in (%c4) iter(%sum = %zero) combine(@merge) : f32 {
      %next = arith.addf %sum, %one : f32
      mk.yield %next : f32
    }
    memref.store %all, %s[%c0] : memref<?xf32>
    mk.put %a[%c4, %c0][%c4, %C] to %y[%c0, %c0] on %c1 : !x to !x
  }
}

// -----

// In front of a tile there is no edge: the whole tile would be lost, at a peer and here. A tile of which nothing is valid, or is there, may lie anywhere.
// CHECK: error: 'mk.store' op writes element 3 of dimension 0 of 's', which has 2 elements there on rank 1, in role 'send' (rank 0, CTA 0): correct the index
mk.mesh @mesh (gpu = 2 via link)
!slots = memref<?x4x4xf32, #mk.symmetric>
mk.kernel @slot on @mesh dims(uniform M, uniform C) (scratch %s : !slots [2, 4, 4]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %me = mk.rank
  %t = arith.constant dense<1.0> : tensor<4x4xf32>
  mk.role @send ctas(1) {
    %slot = arith.addi %me, %c1 : index
    mk.store %t, %s[%c3, %c0, %c0] valid(%c0, %c4) on %c1 : tensor<4x4xf32>, !slots
    mk.store %t, %s[%c0, %c3, %c3] on %c1 : tensor<4x4xf32>, !slots
    mk.store %t, %s[%c3, %c4, %c0] on %c1 : tensor<4x4xf32>, !slots
    %first = arith.cmpi eq, %me, %c0 : index
    scf.if %first {
      mk.store %t, %s[%c3, %c0, %c0] on %c1 : tensor<4x4xf32>, !slots
    }
  }
}
