// Stream-K with a combine function and two carried tiles: the logarithm of the sum of
// exponentials of each row, columns in parts. More CTAs than steps, fewer, one; several
// waves of which some are split; nothing to split.
// REQUIRES: compiler
// RUN: mk-run %s --grid 1 --bind M=100,N=300 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --grid 5 --bind M=130,N=1000 --check --launches 3 --seed 4 | FileCheck %s
// RUN: mk-run --no-optimize %s --grid 16 --bind M=16,N=1000 --check --seed 5 | FileCheck %s
// RUN: mk-run --no-optimize %s --grid 16 --bind M=10,N=40 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --grid 4 --bind M=64,N=100 --check | FileCheck %s
// RUN: mk-run --no-optimize %s --grid 3 --gpus 2 --bind M=230,N=333 --set TAIL=2 --check --seed 6 | FileCheck %s
// CHECK: check: PASS y

// And a GEMM.
// RUN: mk-run --no-optimize %examples/gemm_streamk.mlir --bind M=301,N=515,K=130 --gpus 2 --check | FileCheck %s --check-prefix=GEMM
// RUN: mk-run --no-optimize %examples/gemm_streamk.mlir --grid 7 --bind M=301,N=515,K=700 --set TM=64,TN=64,TK=32,TAIL=2,RASTER=3 --check --launches 3 --seed 7 | FileCheck %s --check-prefix=GEMM
// RUN: mk-run --no-optimize %examples/gemm_streamk.mlir --bind M=60,N=60,K=0 --check | FileCheck %s --check-prefix=GEMM
// GEMM: check: PASS c

mk.mesh @mesh (gpu = ? via link)

mk.kernel @lse on @mesh dims(uniform M, uniform N) (
    in %x : memref<?x?xf32> [M, N] split [(gpu), ()],
    out %y : memref<?xf32> [M] split [(gpu)]) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  mk.param "TAIL" = 1
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %row_tiles = arith.ceildivui %rows, %c16 : index
  %column_tiles = arith.ceildivui %N, %c32 : index
  %ninf = arith.constant 0xFF800000 : f32
  %low = arith.constant dense<-1.0e30> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  mk.role @rows ctas(rest) {
    mk.foreach (%i) in (%row_tiles) schedule(stream_k, tail = TAIL) {
      %row = arith.muli %i, %c16 : index
      %m, %l = mk.fold (%j) in (%column_tiles) iter(%m0 = %low, %l0 = %zero) combine(@merge)
          : tensor<16xf32>, tensor<16xf32> {
        %column = arith.muli %j, %c32 : index
        %t = mk.load %x[%row, %column] pad(%ninf : f32) : memref<?x?xf32> -> tensor<16x32xf32>
        %top = mk.reduce max %t axis 1 : tensor<16x32xf32> -> tensor<16xf32>
        %m1 = arith.maximumf %m0, %top : tensor<16xf32>
        %m1b = mk.broadcast %m1 dims [1] : tensor<16xf32> -> tensor<16x32xf32>
        %d = arith.subf %t, %m1b : tensor<16x32xf32>
        %e = math.exp %d : tensor<16x32xf32>
        %l1 = mk.reduce add %e axis 1 : tensor<16x32xf32> -> tensor<16xf32>
        %m2, %l2 = func.call @merge(%m0, %l0, %m1, %l1)
            : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
        mk.yield %m2, %l2 : tensor<16xf32>, tensor<16xf32>
      }
      %log = math.log %l : tensor<16xf32>
      %sum = arith.addf %m, %log : tensor<16xf32>
      mk.store %sum, %y[%row] : tensor<16xf32>, memref<?xf32>
    }
  }
}

func.func private @merge(%m: tensor<16xf32>, %l: tensor<16xf32>, %n: tensor<16xf32>, %k: tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = arith.maximumf %m, %n : tensor<16xf32>
  %dm = arith.subf %m, %t : tensor<16xf32>
  %dn = arith.subf %n, %t : tensor<16xf32>
  %a = math.exp %dm : tensor<16xf32>
  %b = math.exp %dn : tensor<16xf32>
  %la = arith.mulf %l, %a : tensor<16xf32>
  %kb = arith.mulf %k, %b : tensor<16xf32>
  %s = arith.addf %la, %kb : tensor<16xf32>
  return %t, %s : tensor<16xf32>, tensor<16xf32>
}

func.func @reference(%x: tensor<?x?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m) : tensor<?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                          iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf64>) outs(%zero : tensor<?xf64>) {
  ^bb0(%v: f64, %s: f64):
    %e = math.exp %v : f64
    %t = arith.addf %s, %e : f64
    linalg.yield %t : f64
  } -> tensor<?xf64>
  %y = linalg.map ins(%sums : tensor<?xf64>) outs(%empty : tensor<?xf64>) (%s: f64, %old: f64) {
    %l = math.log %s : f64
    linalg.yield %l : f64
  }
  return %y : tensor<?xf64>
}
