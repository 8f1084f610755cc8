// A CTA's own accesses, of which the second one is a store, by other threads than the first.
mk.mesh @mesh (gpu = 1 via link)

// Rows move down within a buffer.
mk.kernel @shift on @mesh (inout %x : memref<72x64xf32> [72, 64]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0, %c0] : memref<72x64xf32> -> tensor<64x64xf32>
    mk.store %t, %x[%c8, %c0] : tensor<64x64xf32>, memref<72x64xf32>
  }
}
func.func @shift_reference(%x: tensor<72x64xf64>) -> tensor<72x64xf64> {
  %a = tensor.extract_slice %x[0, 0][64, 64][1, 1] : tensor<72x64xf64> to tensor<64x64xf64>
  %t = tensor.insert_slice %a into %x[8, 0][64, 64][1, 1] : tensor<64x64xf64> into tensor<72x64xf64>
  return %t : tensor<72x64xf64>
}

// Parts of a tile are stored again, in steps that overlap.
mk.kernel @patch on @mesh (out %y : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c24 = arith.constant 24 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    mk.store %one, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    scf.for %i = %c0 to %c24 step %c4 {
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %t = tensor.splat %f : tensor<8x64xf32>
      mk.store %t, %y[%i, %c0] : tensor<8x64xf32>, memref<64x64xf32>
    }
  }
}
func.func @patch_reference() -> tensor<64x64xf64> {
  %1 = arith.constant 1.0 : f64
  %c4 = arith.constant 4 : index
  %c20 = arith.constant 20 : index
  %c28 = arith.constant 28 : index
  %e = tensor.empty() : tensor<64x64xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x64xf64>) {
  ^bb0(%o: f64):
    %i = linalg.index 0 : index
    %step = arith.divui %i, %c4 : index
    %begin = arith.muli %step, %c4 : index
    %last = arith.minui %begin, %c20 : index
    %n = arith.index_cast %last : index to i32
    %f = arith.sitofp %n : i32 to f64
    %is = arith.cmpi ult, %i, %c28 : index
    %v = arith.select %is, %f, %1 : f64
    linalg.yield %v : f64
  } -> tensor<64x64xf64>
  return %r : tensor<64x64xf64>
}

// A scalar is read, overwritten, and decides what is done.
mk.kernel @claim on @mesh (inout %x : memref<8xf32> [8], out %y : memref<8x64xf32> [8, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %0 = arith.constant 0.0 : f32
  %9 = arith.constant 9.0 : f32
  %none = arith.constant dense<0.0> : tensor<64xf32>
  mk.role @r ctas(1) {
    scf.for %i = %c0 to %c8 step %c1 {
      %f = memref.load %x[%i] : memref<8xf32>
      memref.store %9, %x[%i] : memref<8xf32>
      %is = arith.cmpf olt, %f, %0 : f32
      scf.if %is {
        %t = tensor.splat %f : tensor<64xf32>
        mk.store %t, %y[%i, %c0] : tensor<64xf32>, memref<8x64xf32>
      } else {
        mk.store %none, %y[%i, %c0] : tensor<64xf32>, memref<8x64xf32>
      }
    }
  }
}
func.func @claim_reference(%x: tensor<8xf64>) -> (tensor<8xf64>, tensor<8x64xf64>) {
  %0 = arith.constant 0.0 : f64
  %9 = arith.constant dense<9.0> : tensor<8xf64>
  %e = tensor.empty() : tensor<8x64xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8xf64>) outs(%e : tensor<8x64xf64>) {
  ^bb0(%f: f64, %o: f64):
    %v = arith.minimumf %f, %0 : f64
    linalg.yield %v : f64
  } -> tensor<8x64xf64>
  return %9, %r : tensor<8xf64>, tensor<8x64xf64>
}
