// A reference carries tensors through loops: what an iteration makes is the next one's, and who frees what is found
// out when it runs.
// REQUIRES: compiler
// RUN: mk-run --no-optimize %s --bind R=8,S=3 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --bind R=5,S=0 --check --seed 3 | FileCheck %s
// RUN: mk-run --no-optimize %s --bind R=6,S=4 --check --seed 4 | FileCheck %s
// CHECK: check: PASS o, p

mk.mesh @mesh (gpu = ? via link)

// o = a * 2^S; p and a change places in each step.
mk.kernel @k on @mesh dims(uniform R, uniform S) (
    in %a : memref<?xf32> [R],
    in %b : memref<?xf32> [R],
    out %o : memref<?xf32> [R],
    out %p : memref<?xf32> [R]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32>
    %z = mk.load %b[%c0] : memref<?xf32> -> tensor<8xf32>
    %o0, %p0, %p1 = scf.for %i = %c0 to %S step %c1 iter_args(%t = %x, %u = %x, %v = %z)
        -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
      %w = arith.addf %t, %t : tensor<8xf32>
      scf.yield %w, %v, %u : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
    mk.store %o0, %o[%c0] : tensor<8xf32>, memref<?xf32>
    mk.store %p0, %p[%c0] : tensor<8xf32>, memref<?xf32>
  }
}

func.func @reference(%a: tensor<?xf64>, %b: tensor<?xf64>, %s: index {mk.dim = "S"})
    -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %o, %p, %q = scf.for %i = %c0 to %s step %c1 iter_args(%t = %a, %u = %a, %v = %b)
      -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
    %e = tensor.empty(%m) : tensor<?xf64>
    %w = linalg.map ins(%t : tensor<?xf64>) outs(%e : tensor<?xf64>) (%x: f64, %old: f64) {
      %y = arith.addf %x, %x : f64
      linalg.yield %y : f64
    }
    scf.yield %w, %v, %u : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
  }
  return %o, %p : tensor<?xf64>, tensor<?xf64>
}
