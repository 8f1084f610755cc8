// Tiles that are computed beside the roles: on a GPU each role that uses them computes them.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @beside on @mesh dims(uniform M) (in %x : memref<?x64xf32> [M, 64], out %y : memref<?x64xf32> [M, 64], out %z : memref<64xf32> [64],
    scratch %w : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %0 = arith.constant 0.0 : f32
  %wide = mk.broadcast %one dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %lower = mk.mask %wide where affine_set<(r, c) : (r - c >= 0)> else %0 : tensor<64x64xf32>
  %counts = mk.reduce add %lower axis 0 : tensor<64x64xf32> -> tensor<64xf32>
  %all = mk.broadcast %counts dims [0] : tensor<64xf32> -> tensor<8x64xf32>
  %items = arith.ceildivui %M, %c8 : index
  mk.prepare {
    mk.foreach (%i) in (%c1) {
      mk.store %counts, %w[%c0] : tensor<64xf32>, memref<64xf32>
    }
  }
  mk.role @add ctas(rest) {
    mk.foreach (%i) in (%items) {
      %row = arith.muli %i, %c8 : index
      %t = mk.load %x[%row, %c0] : memref<?x64xf32> -> tensor<8x64xf32>
      %o = arith.addf %t, %all : tensor<8x64xf32>
      mk.store %o, %y[%row, %c0] : tensor<8x64xf32>, memref<?x64xf32>
    }
  }
  mk.role @count ctas(1) {
    mk.store %counts, %z[%c0] : tensor<64xf32>, memref<64xf32>
  }
}
func.func @reference(%x: tensor<?x64xf64>) -> (tensor<?x64xf64>, tensor<64xf64>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf64>
  %z = tensor.generate {
  ^bb0(%c: index):
    %left = arith.subi %c64, %c : index
    %number = arith.index_cast %left : index to i64
    %f = arith.sitofp %number : i64 to f64
    tensor.yield %f : f64
  } : tensor<64xf64>
  %e = tensor.empty(%m) : tensor<?x64xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<?x64xf64>, tensor<64xf64>) outs(%e : tensor<?x64xf64>) {
  ^bb0(%a: f64, %b: f64, %old: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x64xf64>
  return %y, %z : tensor<?x64xf64>, tensor<64xf64>
}
