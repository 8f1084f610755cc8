// Conversions between f32 and floats of 16 bits.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform N) (in %a : memref<?xf32> [N], in %h : memref<?xf16> [N], out %o : memref<?xf16> [N], out %w : memref<?xf32> [N], out %b : memref<?xbf16> [N]) {
  %c256 = arith.constant 256 : index
  %n = arith.ceildivui %N, %c256 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%n) {
      %r = arith.muli %i, %c256 : index
      %x = mk.load %a[%r] : memref<?xf32> -> tensor<256xf32>
      %y = arith.truncf %x : tensor<256xf32> to tensor<256xf16>
      mk.store %y, %o[%r] : tensor<256xf16>, memref<?xf16>
      %u = mk.load %h[%r] : memref<?xf16> -> tensor<256xf16>
      %v = arith.extf %u : tensor<256xf16> to tensor<256xf32>
      mk.store %v, %w[%r] : tensor<256xf32>, memref<?xf32>
      %z = arith.truncf %x : tensor<256xf32> to tensor<256xbf16>
      mk.store %z, %b[%r] : tensor<256xbf16>, memref<?xbf16>
    }
  }
}
