// Products in a loop whose left operand is computed in front of it, and masks of which only one
// follows the loop.
//
// @scaled: C = sum over blocks of 64 rows of W of (2 Q) W_block^T, where only columns in front of the
// row count, and only rows that W has. @sums: sums of the columns of W, by a product with ones.
// @carried: C = sum over blocks of rows of (2^i Q) W_block^T, where the loop carries 2^i Q.

mk.mesh @mesh (gpu = ? via link)

mk.kernel @scaled on @mesh dims(uniform M) (
    in %q : memref<64x64xbf16> [64, 64], in %w : memref<?x64xbf16> [M, 64],
    out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = arith.ceildivui %M, %c64 : index
  %0 = arith.constant 0.0 : f32
  %1 = arith.constant 1.0 : f32
  %2 = arith.constant 2.0 : bf16
  %zero = tensor.splat %0 : tensor<64x64xf32>
  %ones = tensor.splat %1 : tensor<64x64xf32>
  %twos = tensor.splat %2 : tensor<64x64xbf16>
  mk.role @r ctas(1) {
    %x = mk.load %q[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %s = arith.mulf %x, %twos : tensor<64x64xbf16>
    %sum = mk.fold (%i) in (%n) iter(%t = %zero) : tensor<64x64xf32> {
      %row = arith.muli %i, %c64 : index
      %b = mk.load %w[%row, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %s, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %left = arith.subi %M, %row : index
      %exists = mk.mask %p where affine_set<(r, c)[l] : (l - 1 - c >= 0)>[%left] else %0 : tensor<64x64xf32>
      %below = mk.mask %ones where affine_set<(r, c) : (r - c - 1 >= 0)> else %0 : tensor<64x64xf32>
      %y = arith.mulf %exists, %below : tensor<64x64xf32>
      %next = arith.addf %t, %y : tensor<64x64xf32>
      mk.yield %next : tensor<64x64xf32>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

func.func @scaled_reference(%q: tensor<64x64xf64>, %w: tensor<?x64xf64>) -> tensor<64x64xf64> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = arith.constant 0.0 : f64
  %2 = arith.constant 2.0 : f64
  %e = tensor.empty() : tensor<64x64xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
  %m = tensor.dim %w, %c0 : tensor<?x64xf64>
  %e2 = tensor.empty(%m) : tensor<64x?xf64>
  %z2 = linalg.fill ins(%0 : f64) outs(%e2 : tensor<64x?xf64>) -> tensor<64x?xf64>
  %p = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q, %w : tensor<64x64xf64>, tensor<?x64xf64>) outs(%z2 : tensor<64x?xf64>) -> tensor<64x?xf64>
  %r = scf.for %j = %c0 to %m step %c64 iter_args(%t = %zero) -> tensor<64x64xf64> {
    %next = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
        outs(%t : tensor<64x64xf64>) {
    ^bb0(%o: f64):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %at = arith.addi %j, %column : index
      %in = arith.cmpi slt, %at, %m : index
      %before = arith.cmpi slt, %column, %row : index
      %counts = arith.andi %in, %before : i1
      %y = scf.if %counts -> f64 {
        %v = tensor.extract %p[%row, %at] : tensor<64x?xf64>
        %v2 = arith.mulf %v, %2 : f64
        scf.yield %v2 : f64
      } else {
        scf.yield %0 : f64
      }
      %s = arith.addf %o, %y : f64
      linalg.yield %s : f64
    } -> tensor<64x64xf64>
    scf.yield %next : tensor<64x64xf64>
  }
  return %r : tensor<64x64xf64>
}

mk.kernel @sums on @mesh dims(uniform M) (
    in %w : memref<?x64xbf16> [M, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = arith.ceildivui %M, %c64 : index
  %0 = arith.constant 0.0 : f32
  %1 = arith.constant 1.0 : bf16
  %zero = tensor.splat %0 : tensor<64x64xf32>
  %ones = tensor.splat %1 : tensor<64x64xbf16>
  mk.role @r ctas(1) {
    %sum = mk.fold (%i) in (%n) iter(%t = %zero) : tensor<64x64xf32> {
      %row = arith.muli %i, %c64 : index
      %b = mk.load %w[%row, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      %next = mk.dot %ones, %b, %t : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.yield %next : tensor<64x64xf32>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

func.func @sums_reference(%w: tensor<?x64xf64>) -> tensor<64x64xf64> {
  %0 = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<64x64xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(r, c, k) -> (k, c)>, affine_map<(r, c, k) -> (r, c)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w : tensor<?x64xf64>) outs(%zero : tensor<64x64xf64>) {
  ^bb0(%x: f64, %o: f64):
    %s = arith.addf %o, %x : f64
    linalg.yield %s : f64
  } -> tensor<64x64xf64>
  return %r : tensor<64x64xf64>
}

mk.kernel @carried on @mesh dims(uniform M) (
    in %q : memref<64x64xbf16> [64, 64], in %w : memref<?x64xbf16> [M, 64],
    out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = arith.ceildivui %M, %c64 : index
  %0 = arith.constant 0.0 : f32
  %2 = arith.constant 2.0 : bf16
  %zero = tensor.splat %0 : tensor<64x64xf32>
  %twos = tensor.splat %2 : tensor<64x64xbf16>
  mk.role @r ctas(1) {
    %x = mk.load %q[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %sum, %last = mk.fold (%i) in (%n) iter(%t = %zero, %a = %x) : tensor<64x64xf32>, tensor<64x64xbf16> {
      %doubled = arith.mulf %a, %twos : tensor<64x64xbf16>
      %row = arith.muli %i, %c64 : index
      %b = mk.load %w[%row, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %next = arith.addf %t, %p : tensor<64x64xf32>
      mk.yield %next, %doubled : tensor<64x64xf32>, tensor<64x64xbf16>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

func.func @carried_reference(%q: tensor<64x64xf64>, %w: tensor<?x64xf64>) -> tensor<64x64xf64> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = arith.constant 0.0 : f64
  %1 = arith.constant 1.0 : f64
  %2 = arith.constant 2.0 : f64
  %e = tensor.empty() : tensor<64x64xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
  %m = tensor.dim %w, %c0 : tensor<?x64xf64>
  %e2 = tensor.empty(%m) : tensor<64x?xf64>
  %z2 = linalg.fill ins(%0 : f64) outs(%e2 : tensor<64x?xf64>) -> tensor<64x?xf64>
  %p = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q, %w : tensor<64x64xf64>, tensor<?x64xf64>) outs(%z2 : tensor<64x?xf64>) -> tensor<64x?xf64>
  %r, %f = scf.for %j = %c0 to %m step %c64 iter_args(%t = %zero, %factor = %1) -> (tensor<64x64xf64>, f64) {
    %next = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
        outs(%t : tensor<64x64xf64>) {
    ^bb0(%o: f64):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %at = arith.addi %j, %column : index
      %in = arith.cmpi slt, %at, %m : index
      %y = scf.if %in -> f64 {
        %v = tensor.extract %p[%row, %at] : tensor<64x?xf64>
        %v2 = arith.mulf %v, %factor : f64
        scf.yield %v2 : f64
      } else {
        scf.yield %0 : f64
      }
      %s = arith.addf %o, %y : f64
      linalg.yield %s : f64
    } -> tensor<64x64xf64>
    %twice = arith.mulf %factor, %2 : f64
    scf.yield %next, %twice : tensor<64x64xf64>, f64
  }
  return %r : tensor<64x64xf64>
}
