// RUN: mk-opt %s -mk-sm-verify-tiles --remarks=verify-tiles -verify-diagnostics

// A put is one warp's; of a large one others could have a share. Copy engines move what is large.
!a = memref<4096x1024xf32, #mk.symmetric>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @puts on @mesh dims(uniform M) (
    in %a : !a [4096, 1024], in %u : memref<?x1024xf32, #mk.symmetric> [M, 1024], scratch %b : !a [4096, 1024]) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %c512 = arith.constant 512 : index
  mk.role @some ctas(1) {
    mk.foreach_peer (%p) along gpu {
      // expected-remark @+1 {{mk-sm-verify-tiles: missed: moves 4 MiB, all of it by one warp: put parts of it, as items of an mk.foreach that CTAs share, or let copy engines (ctas(engines)) (in role 'some')}}
      mk.put %a[%c0, %c0][%c1024, %c1024] to %b[%c0, %c0] on %p : !a to !a
      mk.put %a[%c0, %c0][%c512, %c1024] to %b[%c0, %c0] on %p : !a to !a
      mk.put %u[%c0, %c0][%M, %c1024] to %b[%c0, %c0] on %p : memref<?x1024xf32, #mk.symmetric> to !a
    }
  }
  mk.role @engines ctas(engines) {
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0, %c0][%c1024, %c1024] to %b[%c0, %c0] on %p : !a to !a
    }
  }
}
