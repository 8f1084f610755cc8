// RUN: mk-opt %s -mk-sm-order-tiles -split-input-file -verify-diagnostics

// Teams that take items in turn do not meet: rows of items that follow each other overlap.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @overlap on @mesh dims(uniform M) (out %y : memref<?x64xf32> [M, 64], in %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c2 = arith.constant 2 : index
  %half = arith.divui %M, %c2 : index
  %one = arith.constant dense<1.0> : tensor<8x64xf32>
  mk.role @r ctas(4) {
    mk.foreach (%i) in (%M) schedule(static) order(alternate = 2) {
      %row = arith.muli %i, %c8 : index
      mk.store %one, %y[%row, %c0] : tensor<8x64xf32>, memref<?x64xf32>
      // Where it lies follows from data: the author knows.
      %m = memref.load %n[%i] : memref<?xi32>
      %at = arith.index_cast %m : i32 to index
      mk.store %one, %y[%at, %c0] : tensor<8x64xf32>, memref<?x64xf32>
      // Half a matrix further, which is not known to be as far as items reach: the author knows.
      %far = arith.addi %row, %half : index
      %t = mk.load %y[%far, %c0] : memref<?x64xf32> -> tensor<8x64xf32>
      mk.store %t, %y[%row, %c0] : tensor<8x64xf32>, memref<?x64xf32>
    }
    mk.foreach (%i) in (%M) schedule(static) order(alternate = 2) {
      %row = arith.muli %i, %c4 : index
      // expected-error @+1 {{'mk.store' op stores what another item may have loaded or stored; its loop has order(alternate = 2), whose teams do items side by side: leave alternate out}}
      mk.store %one, %y[%row, %c0] : tensor<8x64xf32>, memref<?x64xf32>
    }
  }
}
