// Loops that draw their items may stand in a branch, which a CTA comes to once, behind a condition
// of sizes or of data. Of several launches each has all items. test/ptx/tickets.test runs it on a GPU's code.
// REQUIRES: compiler
// RUN: mk-run %s --kernel copy --grid 3 --bind M=200,BY=1 --launches 3 --check --random flag=0:0 | FileCheck %s
// RUN: mk-run %s --kernel copy --grid 3 --bind M=200,BY=0 --launches 3 --check --random flag=1:1 | FileCheck %s
// RUN: mk-run %s --kernel copy --grid 3 --bind M=200,BY=1 --launches 3 --check --random flag=1:1 | FileCheck %s
// RUN: mk-run %s --kernel listed --grid 3 --bind M=200,BY=1 --launches 3 --check | FileCheck %s
// CHECK: check: PASS

!m = memref<?x64xf32>
!t = tensor<32x64xf32>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @copy on @mesh dims(uniform M, uniform BY) (
    in %flag : memref<1xi32> [1], in %x : !m [M, 64], out %y : !m [M, 64]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %tiles = arith.ceildivui %M, %c32 : index
  mk.role @r ctas(rest) {
    %f = memref.load %flag[%c0] : memref<1xi32>
    %0 = arith.constant 0 : i32
    %set = arith.cmpi ne, %f, %0 : i32
    %by = arith.cmpi ne, %BY, %c0 : index
    scf.if %by {
      scf.if %set {
        mk.foreach (%i) in (%tiles) schedule(ticket) {
          %at = arith.muli %i, %c32 : index
          %t = mk.load %x[%at, %c0] : !m -> !t
          mk.store %t, %y[%at, %c0] : !t, !m
        }
      } else {
        mk.foreach (%i) in (%tiles) {
          %at = arith.muli %i, %c32 : index
          %t = mk.load %x[%at, %c0] : !m -> !t
          mk.store %t, %y[%at, %c0] : !t, !m
        }
      }
    } else {
      mk.foreach (%i) in (%tiles) schedule(ticket) {
        %at = arith.muli %i, %c32 : index
        %t = mk.load %x[%at, %c0] : !m -> !t
        mk.store %t, %y[%at, %c0] : !t, !m
      }
    }
  }
}

mk.kernel @listed on @mesh dims(uniform M, uniform BY) (
    in %x : !m [M, 64], out %y : !m [M, 64]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %tiles = arith.ceildivui %M, %c32 : index
  %by = arith.cmpi ne, %BY, %c0 : index
  %queue = mk.queue(%tiles) : !mk.queue<?x1xi32>
  mk.role @list ctas(1) {
    mk.foreach (%i) in (%tiles) {
      mk.push %queue, (%i) : !mk.queue<?x1xi32>
    }
  }
  mk.role @r ctas(rest) {
    scf.if %by {
      mk.foreach_item (%n) of %queue count(%tiles) : !mk.queue<?x1xi32> {
        %at = arith.muli %n, %c32 : index
        %t = mk.load %x[%at, %c0] : !m -> !t
        mk.store %t, %y[%at, %c0] : !t, !m
      }
    }
  }
}

func.func @copy_reference(%flag: tensor<1xi32>, %x: tensor<?x64xf64>) -> tensor<?x64xf64> {
  return %x : tensor<?x64xf64>
}

func.func @listed_reference(%x: tensor<?x64xf64>) -> tensor<?x64xf64> {
  return %x : tensor<?x64xf64>
}
