// Every order and schedule visits every item exactly once.
// REQUIRES: compiler
// RUN: mk-run %s --gpus 3 --bind M=13,N=7 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --gpus 1 --bind M=1,N=1 --check --launches 5 | FileCheck %s
// RUN: mk-run --no-optimize %s --gpus 2 --bind M=64,N=3 --check --seed 9 | FileCheck %s
// RUN: mk-run --no-optimize %s --gpus 2 --bind M=5,N=0 --check | FileCheck %s
// CHECK: check: PASS c

mk.mesh @mesh (gpu = ? via link)

mk.kernel @orders on @mesh dims(uniform M, uniform N) (
    in %like : memref<?x?xf32> [M, N], out %c : memref<?x?xf32, #mk.symmetric> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>

  mk.prepare {
    mk.foreach (%i, %j) in (%M, %N) {
      mk.store %zero, %c[%i, %j] : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
    }
  }
  mk.role @static ctas(3) then @tickets {
    mk.foreach (%i, %j) in (%M, %N) {
      mk.store %one, %c[%i, %j] reduce(add) : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
    }
    mk.foreach (%i, %j) in (%M, %N) order(raster = 4) {
      mk.store %one, %c[%i, %j] reduce(add) : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
    }
    mk.foreach (%i, %j) in (%M, %N) order(own = first) own(%c3, %c2) {
      mk.store %one, %c[%i, %j] reduce(add) : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
    }
    mk.foreach (%i, %j) in (%M, %N) order(longest_first = 2) {
      mk.store %one, %c[%i, %j] reduce(add) : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
    }
  }
  mk.role @tickets ctas(rest) {
    mk.foreach (%i, %j) in (%M, %N) schedule(ticket) order(raster = 8, own = spread(3)) own(%c2, %c3) {
      mk.store %one, %c[%i, %j] reduce(add) : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
    }
    mk.foreach (%i, %j) in (%M, %N) schedule(ticket) order(own = last) own(%c0, %c1) {
      mk.store %one, %c[%i, %j] reduce(add) : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
    }
    mk.foreach (%i) in (%M) schedule(ticket) order(stagger) {
      mk.foreach (%j) in (%N) {
        mk.store %one, %c[%i, %j] reduce(add) : tensor<1x1xf32>, memref<?x?xf32, #mk.symmetric>
      }
    }
  }
}

// Seven loops.
func.func @reference(%like: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f64
  %m = tensor.dim %like, %c0 : tensor<?x?xf64>
  %n = tensor.dim %like, %c1 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %c = linalg.fill ins(%seven : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
