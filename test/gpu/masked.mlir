// Masks of accumulators: a band, which two constraints leave of each row, and what is no first or last part of a row.
// More than 32 elements of a row are a thread's. scripts/test-gpu runs both kernels.
#mn = affine_map<(m, n) -> (m, n)>

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @band on @mesh (
    in %limits : memref<2xi32> [2], in %a : memref<128x64xbf16> [128, 64], in %b : memref<176x64xbf16> [176, 64],
    out %c : memref<128x176xf32> [128, 176]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant dense<0.0> : tensor<128x176xf32>
  mk.role @r ctas(1) {
    %low_ = memref.load %limits[%c0] : memref<2xi32>
    %high_ = memref.load %limits[%c1] : memref<2xi32>
    %low = arith.index_cast %low_ : i32 to index
    %high = arith.index_cast %high_ : i32 to index
    %x = mk.load %a[%c0, %c0] : memref<128x64xbf16> -> tensor<128x64xbf16>
    %y = mk.load %b[%c0, %c0] : memref<176x64xbf16> -> tensor<176x64xbf16>
    %s = mk.dot %x, %y, %zero transpose_b : tensor<128x64xbf16>, tensor<176x64xbf16>, tensor<128x176xf32>
    %t = mk.mask %s where affine_set<(r, c)[l, h] : (c - r + l >= 0, r + h - c >= 0)>[%low, %high] else %one : tensor<128x176xf32>
    mk.store %t, %c[%c0, %c0] : tensor<128x176xf32>, memref<128x176xf32>
  }
}

func.func @band_reference(%limits: tensor<2xi32>, %a: tensor<128x64xf64>, %b: tensor<176x64xf64>) -> tensor<128x176xf64> {
  %0 = arith.constant 0.0 : f64
  %1 = arith.constant 1.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low_ = tensor.extract %limits[%c0] : tensor<2xi32>
  %high_ = tensor.extract %limits[%c1] : tensor<2xi32>
  %low = arith.index_cast %low_ : i32 to index
  %high = arith.index_cast %high_ : i32 to index
  %e = tensor.empty() : tensor<128x176xf64>
  %z = linalg.fill ins(%0 : f64) outs(%e : tensor<128x176xf64>) -> tensor<128x176xf64>
  %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<128x64xf64>, tensor<176x64xf64>) outs(%z : tensor<128x176xf64>) -> tensor<128x176xf64>
  %c = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<128x176xf64>) outs(%e : tensor<128x176xf64>) {
  ^bb0(%x: f64, %t: f64):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %from = arith.addi %column, %low : index
    %to = arith.addi %row, %high : index
    %behind = arith.cmpi sge, %from, %row : index
    %before = arith.cmpi sge, %to, %column : index
    %kept = arith.andi %behind, %before : i1
    %v = arith.select %kept, %x, %1 : f64
    linalg.yield %v : f64
  } -> tensor<128x176xf64>
  return %c : tensor<128x176xf64>
}

mk.kernel @comb on @mesh (
    in %limits : memref<1xi32> [1], in %a : memref<64x64xbf16> [64, 64], in %b : memref<64x64xbf16> [64, 64],
    out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %low_ = memref.load %limits[%c0] : memref<1xi32>
    %low = arith.index_cast %low_ : i32 to index
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %y = mk.load %b[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %s = mk.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    // From a column on, every third one.
    %t = mk.mask %s where affine_set<(r, c)[l] : (c - l >= 0, (r + c) mod 3 == 0)>[%low] else %one : tensor<64x64xf32>
    mk.store %t, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

func.func @comb_reference(%limits: tensor<1xi32>, %a: tensor<64x64xf64>, %b: tensor<64x64xf64>) -> tensor<64x64xf64> {
  %0 = arith.constant 0.0 : f64
  %1 = arith.constant 1.0 : f64
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %low_ = tensor.extract %limits[%c0] : tensor<1xi32>
  %low = arith.index_cast %low_ : i32 to index
  %e = tensor.empty() : tensor<64x64xf64>
  %z = linalg.fill ins(%0 : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
  %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x64xf64>, tensor<64x64xf64>) outs(%z : tensor<64x64xf64>) -> tensor<64x64xf64>
  %c = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<64x64xf64>) outs(%e : tensor<64x64xf64>) {
  ^bb0(%x: f64, %t: f64):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %sum = arith.addi %row, %column : index
    %rest = arith.remui %sum, %c3 : index
    %third = arith.cmpi eq, %rest, %c0 : index
    %behind = arith.cmpi sge, %column, %low : index
    %kept = arith.andi %behind, %third : i1
    %v = arith.select %kept, %x, %1 : f64
    linalg.yield %v : f64
  } -> tensor<64x64xf64>
  return %c : tensor<64x64xf64>
}
