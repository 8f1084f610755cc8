// A put of 4 MiB to each peer.
!a = memref<?x1024xf32, #mk.symmetric>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @put on @mesh dims(uniform M) (in %a : !a [M, 1024], scratch %b : !a [M, 1024]) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  mk.role @puts ctas(1) {
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0, %c0][%c1024, %c1024] to %b[%c0, %c0] on %p : !a to !a
    }
  }
}
