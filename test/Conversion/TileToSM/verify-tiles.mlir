// RUN: mk-opt %s -mk-sm-verify-tiles -split-input-file -verify-diagnostics

// As large as all registers of an SM.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fits on @mesh (in %a : memref<256x256xf32> [256, 256], out %c : memref<256x256xf32> [256, 256]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<256x256xf32> -> tensor<256x256xf32>
    mk.store %x, %c[%c0, %c0] : tensor<256x256xf32>, memref<256x256xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @large on @mesh (in %a : memref<256x512xf32> [256, 512], out %c : memref<256x512xf32> [256, 512]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a tile of 256 x 512 elements of 'f32', 512 KiB; an SM has registers of 256 KiB and less shared memory: use smaller extents}}
    %x = mk.load %a[%c0, %c0] : memref<256x512xf32> -> tensor<256x512xf32>
    mk.store %x, %c[%c0, %c0] : tensor<256x512xf32>, memref<256x512xf32>
  }
}

// -----

// The way that a put says has to be that of every rank.
!b = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @certain on @mesh (in %a : !b [8], scratch %b : !b [8]) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  mk.role @r ctas(1) {
    %other = arith.addi %me, %c2 : index
    %across = arith.remui %other, %c4 : index
    mk.put %a[%c0][%c8] to %b[%c0] on %across via net : !b to !b
    mk.put %a[%c0][%c8] to %b[%c0] on %me via link : !b to !b
    mk.foreach_peer (%p) along node {
      mk.put %a[%c0][%c8] to %b[%c0] on %p via net : !b to !b
    }
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @data on @mesh (in %a : !b [8], in %t : memref<8xindex> [8], scratch %b : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %read = memref.load %t[%c0] : memref<8xindex>
    // expected-error @+1 {{goes via link, but its peer may be reached otherwise on some rank: leave 'via' out, so that code for both ways is made}}
    mk.put %a[%c0][%c8] to %b[%c0] on %read via link : !b to !b
  }
}

// -----

!b = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @both on @mesh (in %a : !b [8], scratch %b : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    mk.foreach_peer (%p) along node, gpu {
      // expected-error @+1 {{goes via net, but its peer may be reached otherwise on some rank}}
      mk.put %a[%c0][%c8] to %b[%c0] on %p via net : !b to !b
    }
  }
}

// -----

// Wrong on one rank of four: a condition may keep it away, but nobody knows.
!b = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @some on @mesh (in %a : !b [8], scratch %b : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{goes via net, but its peer may be reached otherwise on some rank}}
    mk.put %a[%c0][%c8] to %b[%c0] on %c0 via net : !b to !b
  }
}

// -----

// There is one way in a mesh without a network.
!b = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 1 via net, gpu = 4 via link)
mk.kernel @links on @mesh (in %a : !b [8], in %t : memref<8xindex> [8], scratch %b : !b [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %read = memref.load %t[%c0] : memref<8xindex>
    mk.put %a[%c0][%c8] to %b[%c0] on %read via link : !b to !b
  }
}

// -----

// The hand-shake in front of copies by copy engines goes across links.
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @engines on @mesh () {
  // expected-error @+1 {{'copy' is of copy engines, on a mesh of several nodes: let it do nothing there (a condition on mk.size), and put from a role with CTAs, or one beside it}}
  mk.role @copy ctas(engines) {}
  mk.role @work ctas(4) {}
}
