// Copies that turn a matrix, and that multiply two, of rows that begin anywhere: each thread has neighbours in a row if rows let it.
!t = tensor<?x?xbf16, #mk.extents<TM, TN>>
!u = tensor<?x?xbf16, #mk.extents<TN, TM>>
!f = tensor<?x?xf32, #mk.extents<TM, TN>>
!m = memref<?x?xbf16>
mk.mesh @mesh (gpu = ? via link)

mk.kernel @turned on @mesh dims(uniform M, uniform N) (in %x : !m [M, N], out %y : !m [N, M]) {
  %tm = mk.param "TM" = 64 in [32, 64, 128, 256]
  %tn = mk.param "TN" = 128 in [32, 64, 128, 256]
  mk.param "RASTER" = 8
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  mk.role @r ctas(rest) {
    mk.foreach (%i, %k) in (%rows, %columns) order(raster = RASTER) {
      %row = arith.muli %i, %tm : index
      %column = arith.muli %k, %tn : index
      %x0 = mk.load %x[%row, %column] : !m -> !t
      %x1 = mk.transpose %x0 : !t -> !u
      mk.store %x1, %y[%column, %row] : !u, !m
    }
  }
}

func.func @turned_reference(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %y = tensor.empty(%n, %m) : tensor<?x?xf64>
  %t = linalg.transpose ins(%x : tensor<?x?xf64>) outs(%y : tensor<?x?xf64>) permutation = [1, 0]
  return %t : tensor<?x?xf64>
}

mk.kernel @multiplied on @mesh dims(uniform M, uniform N) (in %x : !m [M, N], in %g : !m [M, N], out %y : !m [M, N]) {
  %tm = mk.param "TM" = 8 in [2, 4, 8, 16]
  %tn = mk.param "TN" = 512 in [256, 512, 1024, 2048]
  %rows = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  mk.role @r ctas(rest) {
    mk.foreach (%i, %k) in (%rows, %columns) {
      %row = arith.muli %i, %tm : index
      %column = arith.muli %k, %tn : index
      %a = mk.load %x[%row, %column] : !m -> !t
      %b = mk.load %g[%row, %column] : !m -> !t
      %af = arith.extf %a : !t to !f
      %bf = arith.extf %b : !t to !f
      %p = arith.mulf %af, %bf : !f
      %o = arith.truncf %p : !f to !t
      mk.store %o, %y[%row, %column] : !t, !m
    }
  }
}

func.func @multiplied_reference(%x: tensor<?x?xf64>, %g: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = arith.mulf %x, %g : tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}
