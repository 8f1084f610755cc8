// Row statistics of accumulators kept as a column, repeated to odd widths, reduced to one number;
// tiles of f64, i64 and i1. scripts/test-gpu runs both kernels.
#in = affine_map<(m, k) -> (m, k)>
#row = affine_map<(m, k) -> (m)>
#column = affine_map<(m, k) -> (m, 0)>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @statistics on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16> [M, 64], in %b : memref<64x64xbf16> [64, 64], in %c : memref<?x1xf32> [M, 1],
    out %column : memref<?x1xf32> [M, 1], out %wide : memref<?x12xf32> [M, 12], out %scaled : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %tiles = arith.ceildivui %M, %c128 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%tiles) {
      %row = arith.muli %i, %c128 : index
      %x = mk.load %a[%row, %c0] : memref<?x64xbf16> -> tensor<128x64xbf16>
      %y = mk.load %b[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
      %s = mk.dot %x, %y, %zero transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
      %max = mk.reduce max %s axis 1 : tensor<128x64xf32> -> tensor<128xf32>
      %kept = mk.broadcast %max dims [1] : tensor<128xf32> -> tensor<128x1xf32>
      %other = mk.load %c[%row, %c0] : memref<?x1xf32> -> tensor<128x1xf32>
      %sum = arith.addf %kept, %other : tensor<128x1xf32>
      mk.store %sum, %column[%row, %c0] : tensor<128x1xf32>, memref<?x1xf32>
      %repeated = mk.broadcast %max dims [1] : tensor<128xf32> -> tensor<128x12xf32>
      mk.store %repeated, %wide[%row, %c0] : tensor<128x12xf32>, memref<?x12xf32>
      %flat = mk.reduce add %sum axis 1 : tensor<128x1xf32> -> tensor<128xf32>
      %factors = mk.broadcast %flat dims [1] : tensor<128xf32> -> tensor<128x64xf32>
      %product = arith.mulf %s, %factors : tensor<128x64xf32>
      mk.store %product, %scaled[%row, %c0] : tensor<128x64xf32>, memref<?x64xf32>
    }
  }
}

func.func @statistics_reference(%a: tensor<?x64xf64>, %b: tensor<64x64xf64>, %c: tensor<?x1xf64>)
    -> (tensor<?x1xf64>, tensor<?x12xf64>, tensor<?x64xf64>) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %m = tensor.dim %a, %c0 : tensor<?x64xf64>
  %es = tensor.empty(%m) : tensor<?x64xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%es : tensor<?x64xf64>) -> tensor<?x64xf64>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x64xf64>, tensor<64x64xf64>) outs(%zero : tensor<?x64xf64>) {
  ^bb0(%x: f64, %y: f64, %t: f64):
    %p = arith.mulf %x, %y : f64
    %u = arith.addf %p, %t : f64
    linalg.yield %u : f64
  } -> tensor<?x64xf64>
  %er = tensor.empty(%m) : tensor<?x1xf64>
  %lowest = linalg.fill ins(%low : f64) outs(%er : tensor<?x1xf64>) -> tensor<?x1xf64>
  // A result whose map has a constant.
  %max = linalg.generic {indexing_maps = [#in, #column], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<?x64xf64>) outs(%lowest : tensor<?x1xf64>) {
  ^bb0(%x: f64, %t: f64):
    %u = arith.maximumf %x, %t : f64
    linalg.yield %u : f64
  } -> tensor<?x1xf64>
  %sum = linalg.generic {indexing_maps = [#in, #in, #in], iterator_types = ["parallel", "parallel"]}
      ins(%max, %c : tensor<?x1xf64>, tensor<?x1xf64>) outs(%er : tensor<?x1xf64>) {
  ^bb0(%x: f64, %y: f64, %t: f64):
    %u = arith.addf %x, %y : f64
    linalg.yield %u : f64
  } -> tensor<?x1xf64>
  %ew = tensor.empty(%m) : tensor<?x12xf64>
  %wide = linalg.generic {indexing_maps = [#column, #in], iterator_types = ["parallel", "parallel"]}
      ins(%max : tensor<?x1xf64>) outs(%ew : tensor<?x12xf64>) {
  ^bb0(%x: f64, %t: f64):
    linalg.yield %x : f64
  } -> tensor<?x12xf64>
  %scaled = linalg.generic {indexing_maps = [#in, #column, #in], iterator_types = ["parallel", "parallel"]}
      ins(%s, %sum : tensor<?x64xf64>, tensor<?x1xf64>) outs(%es : tensor<?x64xf64>) {
  ^bb0(%x: f64, %y: f64, %t: f64):
    %u = arith.mulf %x, %y : f64
    linalg.yield %u : f64
  } -> tensor<?x64xf64>
  return %sum, %wide, %scaled : tensor<?x1xf64>, tensor<?x12xf64>, tensor<?x64xf64>
}

mk.kernel @types on @mesh dims(uniform M) (
    in %a : memref<?x64xf64> [M, 64], in %n : memref<?x64xi64> [M, 64],
    out %d : memref<?x64xf64> [M, 64], out %r : memref<?xf64> [M], out %k : memref<?x64xi64> [M, 64],
    inout %p : memref<?x64xi1, #mk.symmetric> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf64>
  %tiles = arith.ceildivui %M, %c32 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%tiles) {
      %row = arith.muli %i, %c32 : index
      %x = mk.load %a[%row, %c0] : memref<?x64xf64> -> tensor<32x64xf64>
      %y = mk.load %n[%row, %c0] : memref<?x64xi64> -> tensor<32x64xi64>
      %q = mk.load %p[%row, %c0] : memref<?x64xi1, #mk.symmetric> -> tensor<32x64xi1>
      %z = arith.sitofp %y : tensor<32x64xi64> to tensor<32x64xf64>
      %s = arith.addf %x, %z : tensor<32x64xf64>
      %max = mk.reduce max %s axis 1 : tensor<32x64xf64> -> tensor<32xf64>
      mk.store %max, %r[%row] : tensor<32xf64>, memref<?xf64>
      %t = arith.select %q, %s, %x : tensor<32x64xi1>, tensor<32x64xf64>
      mk.store %t, %d[%row, %c0] : tensor<32x64xf64>, memref<?x64xf64>
      %w = arith.muli %y, %y : tensor<32x64xi64>
      mk.store %w, %k[%row, %c0] : tensor<32x64xi64>, memref<?x64xi64>
      %positive = arith.cmpf ogt, %s, %zero : tensor<32x64xf64>
      mk.store %positive, %p[%row, %c0] : tensor<32x64xi1>, memref<?x64xi1, #mk.symmetric>
    }
  }
}

func.func @types_reference(%a: tensor<?x64xf64>, %n: tensor<?x64xi64>, %p: tensor<?x64xi1>)
    -> (tensor<?x64xf64>, tensor<?xf64>, tensor<?x64xi64>, tensor<?x64xi1>) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %m = tensor.dim %a, %c0 : tensor<?x64xf64>
  %ed = tensor.empty(%m) : tensor<?x64xf64>
  %er = tensor.empty(%m) : tensor<?xf64>
  %ek = tensor.empty(%m) : tensor<?x64xi64>
  %ep = tensor.empty(%m) : tensor<?x64xi1>
  %lowest = linalg.fill ins(%low : f64) outs(%er : tensor<?xf64>) -> tensor<?xf64>
  %d, %k, %q = linalg.generic {indexing_maps = [#in, #in, #in, #in, #in, #in], iterator_types = ["parallel", "parallel"]}
      ins(%a, %n, %p : tensor<?x64xf64>, tensor<?x64xi64>, tensor<?x64xi1>)
      outs(%ed, %ek, %ep : tensor<?x64xf64>, tensor<?x64xi64>, tensor<?x64xi1>) {
  ^bb0(%x: f64, %y: i64, %c: i1, %o0: f64, %o1: i64, %o2: i1):
    %z = arith.sitofp %y : i64 to f64
    %s = arith.addf %x, %z : f64
    %t = arith.select %c, %s, %x : f64
    %w = arith.muli %y, %y : i64
    %positive = arith.cmpf ogt, %s, %0 : f64
    linalg.yield %t, %w, %positive : f64, i64, i1
  } -> (tensor<?x64xf64>, tensor<?x64xi64>, tensor<?x64xi1>)
  %r = linalg.generic {indexing_maps = [#in, #in, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %n : tensor<?x64xf64>, tensor<?x64xi64>) outs(%lowest : tensor<?xf64>) {
  ^bb0(%x: f64, %y: i64, %t: f64):
    %z = arith.sitofp %y : i64 to f64
    %s = arith.addf %x, %z : f64
    %u = arith.maximumf %s, %t : f64
    linalg.yield %u : f64
  } -> tensor<?xf64>
  return %d, %r, %k, %q : tensor<?x64xf64>, tensor<?xf64>, tensor<?x64xi64>, tensor<?x64xi1>
}
