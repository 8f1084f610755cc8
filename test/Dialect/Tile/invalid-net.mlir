// RUN: mk-opt %s -split-input-file -verify-diagnostics

// What cannot cross a net axis.

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  mk.role @x ctas(1) {
    mk.foreach_peer (%p1) along gpu, node {
      // expected-error @+1 {{writes across net axis 'node', where only the transport reaches: store to symmetric memory here and mk.put it}}
      mk.store %z, %a[%M, %c0] on %p1 : tensor<4x4xf32>, memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  mk.role @x ctas(1) {
    mk.foreach_peer (%p1) along gpu, node {
      // expected-error @+1 {{crosses net axis 'node', but its source 'memref<?x?xf32>' is not symmetric, so that the transport cannot read it: give the buffer the space #mk.symmetric}}
      mk.put %local[%M, %c0][%M, %K] to %a[%M, %c0] on %p1 : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  mk.role @x ctas(1) {
    mk.foreach_peer (%p1) along gpu, node {
      // expected-error @+1 {{crosses net axis 'node', where the transport cannot add: put to a place of its own for each source and add there}}
      mk.put %a[%M, %c0][%M, %K] to %a[%M, %c0] on %p1 reduce(add) : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  mk.role @x ctas(1) {
    mk.foreach_peer (%p1) along gpu, node {
      // expected-error @+1 {{crosses net axis 'node', but its source is not contiguous: dimension 1 is not whole although an earlier one has more than one element; put whole rows, or one row at a time with size 1}}
      mk.put %s[%M, %c0][%M, %c32] to %a[%M, %c0] on %p1 : memref<?x64xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  mk.role @x ctas(1) {
    mk.foreach_peer (%p1) along gpu, node {
      // expected-error @+1 {{crosses net axis 'node', but its destination is not contiguous: dimension 1 is not whole}}
      mk.put %a[%M, %c0][%c32, %K] to %a[%M, %c32] on %p1 : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  mk.role @x ctas(1) {
    mk.foreach_peer (%p1) along gpu, node {
      // expected-error @+1 {{crosses net axis 'node', but its source is not contiguous: dimension 1 is not whole}}
      mk.put %p[%M, %c0][%c32, %c32] to %a[%M, %c0] on %p1 : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  mk.role @x ctas(1) {
    %r = mk.rank(node = %M)
    // expected-error @+1 {{crosses net axis 'node', but its source 'memref<?x?xf32>' is not symmetric}}
    mk.put %local[%M, %c0][%M, %K] to %a[%M, %c0] on %r : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
  }
}

// -----

// What is right, or cannot be decided here.
mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %list = arith.constant dense<1> : tensor<4xi32>
  %node = mk.coord node
  %same = mk.rank(node = %node, gpu = %c1)
  mk.role @x ctas(1) {
    // Links take any region, from any memory.
    mk.put %local[%M, %c0][%M, %c32] to %a[%M, %c32] on %same reduce(add) : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
    mk.foreach_peer (%r) along gpu {
      mk.put %local[%M, %c0][%M, %c32] to %a[%M, %c32] on %r : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
    }
    mk.foreach_peer (%r) along node {
      mk.put %a[%M, %c0][%M, %K] to %a[%M, %c0] on %r : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
      mk.put %s[%M, %c0][%c32, %c64] to %p[%M, %c0] on %r : memref<?x64xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
      // One row may be cut anywhere.
      mk.put %s[%M, %c32][%c1, %c32] to %a[%M, %c32] on %r : memref<?x64xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
      // Listed rows are contiguous one by one.
      mk.put %s[%c0, %c32][%M, %c32] rows(%list : tensor<4xi32>) to %a[%M, %c32] on %r : memref<?x64xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
      // Left to the launch: K may be 32.
      mk.put %a[%M, %c0][%M, %c32] to %a[%M, %c0] on %r : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

// Nothing crosses an axis of one rank.
mk.mesh @m (node = 1 via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, uniform K) (scratch %a : memref<?x?xf32, #mk.symmetric> [M, K], scratch %s : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %p : memref<?x?xf32, #mk.symmetric> [M, 64], scratch %local : memref<?x?xf32> [M, K]) {
  %c32 = arith.constant 32 : index
  mk.role @x ctas(1) {
    mk.foreach_peer (%r) along node {
      mk.put %local[%M, %c32][%M, %c32] to %a[%M, %c32] on %r : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
    }
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @m (gpu = ? via link)
mk.kernel @k on @m (in %a : !b [8], scratch %c : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %other = arith.subi %c8, %me : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{goes via net, but no axis of @m is: leave 'via' out}}
    mk.put %a[%c0][%c8] to %c[%c0] on %other via net : !b to !b
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @m (node = ? via net)
mk.kernel @k on @m (in %a : !b [8], scratch %c : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %other = arith.subi %c8, %me : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{goes via link, but no axis of @m is: leave 'via' out}}
    mk.put %a[%c0][%c8] to %c[%c0] on %other via link : !b to !b
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @m (node = 2 via net, gpu = 2 via link)
mk.kernel @k on @m (in %a : !b [8], scratch %c : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %other = arith.subi %c8, %me : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{goes via net to peers that are reached via link: leave 'via' out}}
    mk.put %a[%c0][%c8] to %c[%c0] on %me via net : !b to !b
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @m (node = 2 via net, gpu = 2 via link)
mk.kernel @k on @m (in %a : !b [8], scratch %c : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %other = arith.subi %c8, %me : index
  mk.role @x ctas(1) {
    %g = mk.coord gpu of %other
    %p = mk.rank(gpu = %g)
    // expected-error @+1 {{goes via net to peers that are reached via link: leave 'via' out}}
    mk.put %a[%c0][%c8] to %c[%c0] on %p via net : !b to !b
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @m (node = 2 via net, gpu = 2 via link)
mk.kernel @k on @m (in %a : !b [8], scratch %c : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %other = arith.subi %c8, %me : index
  mk.role @x ctas(1) {
    mk.foreach_peer (%p) along node {
      // expected-error @+1 {{goes via link to peers that are reached via net: leave 'via' out}}
      mk.put %a[%c0][%c8] to %c[%c0] on %p via link : !b to !b
    }
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @m (node = ? via net, gpu = ? via link)
mk.kernel @k on @m (in %a : !b [8], scratch %c : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %other = arith.subi %c8, %me : index
  mk.role @x ctas(1) {
    mk.foreach_peer (%p) along gpu {
      // expected-error @+1 {{goes via net to peers that are reached via link: leave 'via' out}}
      mk.put %a[%c0][%c8] to %c[%c0] on %p via net : !b to !b
    }
  }
}

// -----

// What is right, and what is not known before it runs. Of one node there is no peer.
!b = memref<8xf32, #mk.symmetric>
mk.mesh @m (node = 1 via net, rack = 2 via net, gpu = ? via link)
mk.kernel @k on @m (in %a : !b [8], scratch %c : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %other = arith.subi %c8, %me : index
  mk.role @x ctas(1) {
    mk.put %a[%c0][%c8] to %c[%c0] on %me via link : !b to !b
    mk.put %a[%c0][%c8] to %c[%c0] on %other via net : !b to !b
    mk.put %a[%c0][%c8] to %c[%c0] on %other via link : !b to !b
    mk.foreach_peer (%p) along node {
      mk.put %a[%c0][%c8] to %c[%c0] on %p via net : !b to !b
    }
    mk.foreach_peer (%p) along rack, gpu {
      mk.put %a[%c0][%c8] to %c[%c0] on %p via net : !b to !b
    }
    mk.foreach_peer (%p) along node, rack {
      mk.put %a[%c0][%c8] to %c[%c0] on %p via net : !b to !b
    }
  }
}
