// The producer of a role waits for what never comes, and with it the consumer, for its
// tiles: the report has to be of the signal. See cases.json.
mk.mesh @mesh (gpu = ? via link)

mk.kernel @late on @mesh dims(uniform M) (
    in %x : memref<?x64xbf16> [M * 64, 64], scratch %a : memref<?x64xbf16> [M * 64, 64],
    out %c : memref<?x64xf32> [M * 64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ready = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 2>
  mk.role @writer ctas(1) {
    mk.foreach (%i) in (%M) {
      %row = arith.muli %i, %c64 : index
      %tile = mk.load %x[%row, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      mk.store %tile, %a[%row, %c0] : tensor<64x64xbf16>, memref<?x64xbf16>
      mk.signal %ready[%i] : !mk.signal<?, gpu, arrivals = 2>
    }
  }
  mk.role @reader ctas(rest) {
    mk.foreach (%i) in (%M) {
      %row = arith.muli %i, %c64 : index
      mk.wait %ready[%i] ge %c2 : !mk.signal<?, gpu, arrivals = 2>
      %left = mk.load %a[%row, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      %right = mk.load %x[%row, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      %product = mk.dot %left, %right, %zero transpose_b
          : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.store %product, %c[%row, %c0] : tensor<64x64xf32>, memref<?x64xf32>
    }
  }
}
