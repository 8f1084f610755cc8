// RUN: mk-opt %s -mk-inline-calls -verify-diagnostics

// What a helper function holds is refused where it is called.
mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (scratch %b : memref<?x?xf32> [M, 4]) {
  mk.role @x ctas(1) {
    func.call @row(%b) : (memref<?x?xf32>) -> ()
  }
}

func.func private @row(%b: memref<?x?xf32>) {
  // expected-error @+1 {{'memref.subview' op cannot stand in a kernel: it makes a view of a buffer}}
  %v = memref.subview %b[1, 0] [1, 4] [1, 1] : memref<?x?xf32> to memref<1x4xf32, strided<[?, 1], offset: ?>>
  return
}
