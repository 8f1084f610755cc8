// A coordinate outside of its axis, which only data says, is no rank of the next node: whoever
// names it is reported.
// REQUIRES: compiler
// RUN: mk-run %s --nodes 2 --gpus 2 --random at=0:1 --bind USED=1
// RUN: not mk-run %s --nodes 2 --gpus 2 --random at=2:2 --bind USED=1 2>&1 | FileCheck %s
// RUN: not mk-run %s --nodes 2 --gpus 2 --random at=-1:-1 --bind USED=1 2>&1 | FileCheck %s
// RUN: mk-run %s --nodes 2 --gpus 2 --random at=-1:-1 --bind USED=0
// CHECK: bounds, {{.*}} mk.put (coordinates.mlir:[[#@LINE+18]]:7) names rank -1, and there is no rank -1 in a mesh of 4 ranks (a coordinate outside of its axis makes it): correct the rank

!y = memref<8xf32, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @k on @mesh dims(uniform USED) (
    in %at : memref<1xi32> [1], in %x : !y [8], out %y : !y [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %is = arith.cmpi ne, %USED, %c0 : index
  mk.role @send ctas(1) {
    %gpu_ = memref.load %at[%c0] : memref<1xi32>
    %gpu = arith.index_cast %gpu_ : i32 to index
    %me = mk.coord node
    // What nobody names may be anything.
    %p = mk.rank(node = %me, gpu = %gpu)
    scf.if %is {
      mk.put %x[%c0][%c8] to %y[%c0] on %p : !y to !y
    }
  }
}
