// A wait for two arrivals over the network, of which one comes: the report counts it. See
// net.json.
mk.mesh @mesh (node = ? via net)

mk.kernel @late on @mesh dims(uniform M) (
    in %x : memref<?x64xbf16, #mk.symmetric> [M * 64, 64],
    scratch %a : memref<?x64xbf16, #mk.symmetric> [M * 64, 64],
    out %c : memref<?x64xbf16> [M * 64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %me = mk.rank
  %ready = mk.signals(%M) : !mk.signal<?, sys, arrivals = 2>
  mk.role @writer ctas(1) {
    mk.foreach (%i) in (%M) {
      %row = arith.muli %i, %c64 : index
      mk.foreach_peer (%p) along node {
        mk.put %x[%row, %c0][%c64, %c64] to %a[%row, %c0] on %p signal %ready[%i]
          : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      }
    }
  }
  mk.role @reader ctas(rest) {
    mk.foreach (%i) in (%M) {
      %row = arith.muli %i, %c64 : index
      mk.wait %ready[%i] ge %c2 : !mk.signal<?, sys, arrivals = 2>
      %tile = mk.load %a[%row, %c0] : memref<?x64xbf16, #mk.symmetric> -> tensor<64x64xbf16>
      mk.store %tile, %c[%row, %c0] : tensor<64x64xbf16>, memref<?x64xbf16>
    }
  }
}
