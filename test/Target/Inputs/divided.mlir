// A GEMM whose items are divided among CTAs; parts are combined by a function, so one CTA adds up all of an item.
!a = tensor<128x64xbf16>
!b = tensor<144x64xbf16>
!acc = tensor<128x144xf32>
!c = tensor<128x144xbf16>

func.func private @merge(%x: !acc, %y: !acc) -> !acc {
  %z = arith.addf %x, %y : !acc
  return %z : !acc
}

mk.mesh @mesh (gpu = ? via link)

mk.kernel @divided on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K], out %c : memref<?x?xbf16> [M, N]) {
  %tm = arith.constant 128 : index
  %tn = arith.constant 144 : index
  %tk = arith.constant 64 : index
  %row_tiles = arith.ceildivui %M, %tm : index
  %column_tiles = arith.ceildivui %N, %tn : index
  %k_tiles = arith.ceildivui %K, %tk : index
  %zero = arith.constant dense<0.0> : !acc
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) schedule(stream_k, tail = 1) {
      %row = arith.muli %m, %tm : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(@merge) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
    }
  }
}
