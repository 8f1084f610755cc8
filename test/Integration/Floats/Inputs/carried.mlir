mk.mesh @mesh (gpu = 1 via link)
mk.kernel @carried on @mesh (in %a : memref<12x24xbf16> [12, 24], in %b : memref<12x24xbf16> [12, 24], out %o : memref<12x24xbf16> [12, 24]) {
  %n6 = arith.constant 6 : index
  %n24 = arith.constant 24 : index
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n2 = arith.constant 2 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%n6, %n24) {
      %r = arith.muli %i, %n2 : index
      %x = mk.load %a[%r, %j] : memref<12x24xbf16> -> tensor<2x1xbf16>
      %y = mk.load %b[%r, %j] : memref<12x24xbf16> -> tensor<2x1xbf16>
      %v1 = scf.for %q1 = %n0 to %j step %n1 iter_args(%it1 = %y) -> (tensor<2x1xbf16>) { %w1 = arith.maximumf %it1, %y : tensor<2x1xbf16> scf.yield %w1 : tensor<2x1xbf16> }
%z = arith.maximumf %v1, %x : tensor<2x1xbf16>
      mk.store %z, %o[%r, %j] : tensor<2x1xbf16>, memref<12x24xbf16>
    }
  }
}
