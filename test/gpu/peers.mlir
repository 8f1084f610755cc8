// A put at a rank that data names, and a loop whose bound data says: `peer` may be no rank, `count`
// more than this target counts to. The launch has to end with a report. See several.json and
// test/ptx/failures.test.
mk.mesh @mesh (gpu = ? via link)
!x = memref<?x?xf32, #mk.symmetric>

mk.kernel @peers on @mesh dims(uniform M, uniform C) (
    in %peer : memref<1xi32> [1], in %times : memref<1xi32> [1], in %a : !x [M, C], out %n : memref<1xi32> [1], out %y : !x [M, C]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @send ctas(1) {
    %p_ = memref.load %peer[%c0] : memref<1xi32>
    %p = arith.index_cast %p_ : i32 to index
    mk.put %a[%c0, %c0][%M, %C] to %y[%c0, %c0] on %p : !x to !x
    %n_ = memref.load %times[%c0] : memref<1xi32>
    %to = arith.index_cast %n_ : i32 to index
    scf.for %i = %c0 to %to step %c1 {
      memref.store %n_, %n[%c0] : memref<1xi32>
    }
  }
}
