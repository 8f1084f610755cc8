// RUN: mk-opt %s -split-input-file -verify-diagnostics
// Sizes that no kernel can have.

mk.mesh @mesh (gpu = 2 via link)

// expected-error @+1 {{argument "x" has extent 'N + (N ceildiv 0)' in dimension 0, where 'N ceildiv 0' is not defined: divide by a number above 0}}
mk.kernel @by_zero on @mesh dims(uniform N) (in %x : memref<?xf32> [N + N ceildiv 0]) {
  mk.role @r ctas(1) {
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)

// expected-error @+1 {{argument "x" has extent 'N mod 0' in dimension 1}}
mk.kernel @mod on @mesh dims(uniform N) (in %x : memref<?x?xf32> [N, N mod 0]) {
  mk.role @r ctas(1) {
  }
}

// -----

// expected-error @+1 {{@mesh has more than 65536 ranks at axis 'node' of size 4294967296: give axes smaller sizes}}
mk.mesh @mesh (node = 4294967296 via net, gpu = 4294967296 via link)

// -----

mk.mesh @mesh (gpu = 2 via link)

mk.kernel @tile on @mesh dims(uniform N) (in %x : memref<?x?xf32> [N, N]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a tile of 1099511627776 x 1099511627776 elements, more than 2^24: use smaller extents, and a loop}}
    %t = mk.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<1099511627776x1099511627776xf32>
  }
}
