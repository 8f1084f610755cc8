// Tiles that are transposed: what follows a product that is computed transposed (bias, residual, mask, sums along
// both dimensions), and a matrix that no product gives. scripts/test-gpu runs all kernels.
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @epilogue on @mesh (
    in %a : memref<24x64xbf16> [24, 64], in %b : memref<128x64xbf16> [128, 64],
    in %bias : memref<128xf32> [128], in %r : memref<24x128xbf16> [24, 128],
    out %c : memref<24x128xbf16> [24, 128], out %d : memref<24x128xf32> [24, 128],
    out %most : memref<24xf32> [24], out %sums : memref<128xf32> [128]) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %0 = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<128x24xf32>
  mk.role @r ctas(1) {
    %y = mk.load %b[%c0, %c0] : memref<128x64xbf16> -> tensor<128x64xbf16>
    %x = mk.load %a[%c0, %c0] : memref<24x64xbf16> -> tensor<24x64xbf16>
    %s = mk.dot %y, %x, %zero transpose_b : tensor<128x64xbf16>, tensor<24x64xbf16>, tensor<128x24xf32>
    %t = mk.transpose %s : tensor<128x24xf32> -> tensor<24x128xf32>
    %row = mk.load %bias[%c0] : memref<128xf32> -> tensor<128xf32>
    %rows = mk.broadcast %row dims [0] : tensor<128xf32> -> tensor<24x128xf32>
    %residual = mk.load %r[%c0, %c0] : memref<24x128xbf16> -> tensor<24x128xbf16>
    %wide = arith.extf %residual : tensor<24x128xbf16> to tensor<24x128xf32>
    %1 = arith.addf %t, %rows : tensor<24x128xf32>
    %2 = arith.addf %1, %wide : tensor<24x128xf32>
    %3 = mk.mask %2 where affine_set<(r, c)[n] : (c + r * 2 - n >= 0)>[%c3] else %0 : tensor<24x128xf32>
    %out = arith.truncf %3 : tensor<24x128xf32> to tensor<24x128xbf16>
    mk.store %out, %c[%c0, %c0] : tensor<24x128xbf16>, memref<24x128xbf16>
    mk.store %3, %d[%c0, %c0] : tensor<24x128xf32>, memref<24x128xf32>
    %max = mk.reduce max %3 axis 1 : tensor<24x128xf32> -> tensor<24xf32>
    mk.store %max, %most[%c0] : tensor<24xf32>, memref<24xf32>
    %sum = mk.reduce add %3 axis 0 : tensor<24x128xf32> -> tensor<128xf32>
    mk.store %sum, %sums[%c0] : tensor<128xf32>, memref<128xf32>
  }
}

func.func @epilogue_reference(%a: tensor<24x64xf64>, %b: tensor<128x64xf64>, %bias: tensor<128xf64>, %r: tensor<24x128xf64>)
    -> (tensor<24x128xf64>, tensor<24x128xf64>, tensor<24xf64>, tensor<128xf64>) {
  %0 = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<24x128xf64>
  %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<24x64xf64>, tensor<128x64xf64>) outs(%r : tensor<24x128xf64>) -> tensor<24x128xf64>
  %c = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%s, %bias : tensor<24x128xf64>, tensor<128xf64>) outs(%e : tensor<24x128xf64>) {
  ^bb0(%x: f64, %y: f64, %t: f64):
    %u = arith.addf %x, %y : f64
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %twice = arith.muli %row, %c2 : index
    %at = arith.addi %column, %twice : index
    %kept = arith.cmpi sge, %at, %c3 : index
    %v = arith.select %kept, %u, %0 : f64
    linalg.yield %v : f64
  } -> tensor<24x128xf64>
  %em = tensor.empty() : tensor<24xf64>
  %lowest = linalg.fill ins(%low : f64) outs(%em : tensor<24xf64>) -> tensor<24xf64>
  %most = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<24x128xf64>) outs(%lowest : tensor<24xf64>) {
  ^bb0(%x: f64, %t: f64):
    %u = arith.maximumf %x, %t : f64
    linalg.yield %u : f64
  } -> tensor<24xf64>
  %en = tensor.empty() : tensor<128xf64>
  %none = linalg.fill ins(%0 : f64) outs(%en : tensor<128xf64>) -> tensor<128xf64>
  %sums = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<24x128xf64>) outs(%none : tensor<128xf64>) {
  ^bb0(%x: f64, %t: f64):
    %u = arith.addf %x, %t : f64
    linalg.yield %u : f64
  } -> tensor<128xf64>
  return %c, %c, %most, %sums : tensor<24x128xf64>, tensor<24x128xf64>, tensor<24xf64>, tensor<128xf64>
}

// Nothing but the transpose; and of a product, to which the next one adds.
mk.kernel @plain on @mesh dims(uniform M, uniform N) (
    in %a : memref<?x?xf32> [M, N], in %x : memref<64x64xbf16> [64, 64],
    out %b : memref<?x?xf32> [N, M], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %rows = arith.ceildivui %M, %c32 : index
  %columns = arith.ceildivui %N, %c64 : index
  mk.role @matrix ctas(rest) {
    mk.foreach (%m, %n) in (%rows, %columns) {
      %row = arith.muli %m, %c32 : index
      %column = arith.muli %n, %c64 : index
      %tile = mk.load %a[%row, %column] : memref<?x?xf32> -> tensor<32x64xf32>
      %turned = mk.transpose %tile : tensor<32x64xf32> -> tensor<64x32xf32>
      mk.store %turned, %b[%column, %row] : tensor<64x32xf32>, memref<?x?xf32>
    }
  }
  mk.role @product ctas(1) {
    %p = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %d = mk.dot %p, %p, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = mk.transpose %d : tensor<64x64xf32> -> tensor<64x64xf32>
    %e = mk.dot %p, %p, %t transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %e, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

func.func @plain_reference(%a: tensor<?x?xf64>, %x: tensor<64x64xf64>) -> (tensor<?x?xf64>, tensor<64x64xf64>) {
  %0 = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64>
  %b = linalg.transpose ins(%a : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) permutation = [1, 0]
  %es = tensor.empty() : tensor<64x64xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%es : tensor<64x64xf64>) -> tensor<64x64xf64>
  // (x x)^T + x x^T.
  %d = linalg.matmul ins(%x, %x : tensor<64x64xf64>, tensor<64x64xf64>) outs(%zero : tensor<64x64xf64>) -> tensor<64x64xf64>
  %t = linalg.transpose ins(%d : tensor<64x64xf64>) outs(%es : tensor<64x64xf64>) permutation = [1, 0]
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %x : tensor<64x64xf64>, tensor<64x64xf64>) outs(%t : tensor<64x64xf64>) -> tensor<64x64xf64>
  return %b, %c : tensor<?x?xf64>, tensor<64x64xf64>
}
