// The two ways of docs/fusions.md, "Numbers of rows, and one number for all": checked by test/Integration/Host/ways.test.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %x : memref<8x64xf32> [8, 64], out %c : memref<64xf32> [64], out %d : memref<8x64xf32> [8, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %ones = tensor.splat %one : tensor<64x64xf32>
    %below = mk.mask %ones where affine_set<(i, j) : (i - j - 1 >= 0)> else %zero : tensor<64x64xf32>
    %index = mk.reduce add %below axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    mk.store %index, %c[%c0] : tensor<64xf32>, memref<64xf32>
    %t = mk.load %x[%c0, %c0] : memref<8x64xf32> -> tensor<8x64xf32>
    %rows = mk.reduce max %t axis 1 : tensor<8x64xf32> -> tensor<8xf32>
    %most = mk.reduce max %rows axis 0 : tensor<8xf32> -> tensor<f32>
    %each = mk.broadcast %most dims [0] : tensor<f32> -> tensor<8xf32>
    %all = mk.broadcast %each dims [1] : tensor<8xf32> -> tensor<8x64xf32>
    %out = arith.subf %t, %all : tensor<8x64xf32>
    mk.store %out, %d[%c0, %c0] : tensor<8x64xf32>, memref<8x64xf32>
  }
}
func.func @reference(%x: tensor<8x64xf64>) -> (tensor<64xf64>, tensor<8x64xf64>) {
  %i = tensor.empty() : tensor<64xf64>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%i : tensor<64xf64>) {
  ^bb0(%o: f64):
    %k = linalg.index 0 : index
    %w = arith.index_cast %k : index to i64
    %f = arith.sitofp %w : i64 to f64
    linalg.yield %f : f64
  } -> tensor<64xf64>
  %low = arith.constant -1.0e30 : f64
  %e = tensor.empty() : tensor<f64>
  %init = linalg.fill ins(%low : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %m = linalg.reduce ins(%x : tensor<8x64xf64>) outs(%init : tensor<f64>) dimensions = [0, 1] (%a: f64, %b: f64) { %y = arith.maximumf %a, %b : f64 linalg.yield %y : f64 }
  %mm = tensor.extract %m[] : tensor<f64>
  %s = tensor.splat %mm : tensor<8x64xf64>
  %d = arith.subf %x, %s : tensor<8x64xf64>
  return %n, %d : tensor<64xf64>, tensor<8x64xf64>
}
