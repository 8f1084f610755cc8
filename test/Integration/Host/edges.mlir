// Tiles that begin before their buffer, here and at a peer: what lies in it is read and
// written, what lies outside is padding and dropped, on all sides. Shards are uneven, and
// nothing but the argument that is named is written.
// REQUIRES: compiler
// RUN: mk-run %s --gpus 2 --bind M=21,N=13 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --gpus 2 --bind M=21,N=13 --check --seed 3 | FileCheck %s
// CHECK: check: PASS b, c, d

mk.mesh @mesh (gpu = ? via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<1, sys, dynamic>

mk.kernel @edges on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x?xf32> [M, N],
    out %b : memref<?x?xf32> [M, N],
    out %c : !x [M, N] split [(gpu), ()],
    inout %d : !x [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %minus = arith.constant -5 : index
  %me = mk.rank
  mk.role @copy ctas(2) {
    %down0 = arith.ceildivui %M, %c8 : index
    %down = arith.addi %down0, %c1 : index
    %right0 = arith.ceildivui %N, %c8 : index
    %right = arith.addi %right0, %c1 : index
    mk.foreach (%i, %j) in (%down, %right) {
      %i8 = arith.muli %i, %c8 : index
      %row = arith.addi %i8, %minus : index
      %j8 = arith.muli %j, %c8 : index
      %column = arith.addi %j8, %minus : index
      %t = mk.load %a[%row, %column] : memref<?x?xf32> -> tensor<8x8xf32>
      mk.store %t, %b[%row, %column] : tensor<8x8xf32>, memref<?x?xf32>
      // The rows of the other rank's shard, which begin elsewhere in the whole.
      mk.foreach_peer (%p) along gpu {
        %chunk0 = arith.addi %M, %c1 : index
        %c2 = arith.constant 2 : index
        %chunk = arith.divui %chunk0, %c2 : index
        %first = arith.muli %p, %chunk : index
        %there = arith.subi %row, %first : index
        mk.store %t, %c[%there, %column] on %p : tensor<8x8xf32>, !x
      }
    }
  }
}

func.func @reference(%a: tensor<?x?xf64>, %d: tensor<?x?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  return %a, %a, %d : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}
