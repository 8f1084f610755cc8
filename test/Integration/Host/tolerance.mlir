// An f32 product of bf16 matrices is compared as one of f32: to a few millionths of its
// root mean square. What is rounded to bf16 on the way is allowed a percent.
// REQUIRES: compiler
// RUN: mk-opt --emit=llvm --gpus=1 %s | FileCheck %s --check-prefix=STATED
// STATED: \22check_epsilon\22:[0,0.0078125]
// RUN: mk-run %s --bind M=70,N=50,K=64 --check --seed 3 | FileCheck %s
// CHECK: c: max error {{.*}} (tolerance {{[0-9.]+}}e-05 + 1.19e-07 * |ref|)
// CHECK: d: max error {{.*}} (tolerance 0.{{[0-9]+}} + 1.19e-07 * |ref|)
// CHECK: check: PASS c
//
// A part in ten thousand is a mistake, unless that output is given leave.
// RUN: sed 's/1.0 : f32/1.0001 : f32/' %s > %t.mlir
// RUN: not mk-run %t.mlir --bind M=70,N=50,K=64 --check | FileCheck %s --check-prefix=OFF
// OFF: check: FAIL c (
// RUN: not mk-run %t.mlir --bind M=70,N=50,K=64 --check --tolerance d=1000 | FileCheck %s --check-prefix=OFF
// RUN: mk-run --no-optimize %t.mlir --bind M=70,N=50,K=64 --check --tolerance 1,c=1000
// RUN: not mk-run %t.mlir --bind M=70,N=50,K=64 --check --tolerance e=2 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: --tolerance e: kernel 'two' has no such argument; possible are: c, d
//
// Errors of a row are relative to it: its roundings are more than the rms of the whole
// output allows for, and a mistake in it is still seen.
// RUN: %python %S/Inputs/large-row.py %t.npy
// RUN: mk-run --no-optimize %s --bind M=70,N=50,K=64 --check --in a=%t.npy
// RUN: not mk-run %t.mlir --bind M=70,N=50,K=64 --check --in a=%t.npy | FileCheck %s --check-prefix=ROW
// ROW: c[0, 0] on rank 0: got
// ROW: check: FAIL c (
//
// RUN: not mk-run %s --bind M=70,N=50,K=64 --check --tolerance inf 2>&1 | FileCheck %s --check-prefix=INF
// INF: --tolerance inf: a factor above 0 is needed, a number, or OUTPUT=FACTOR

mk.mesh @mesh (gpu = ? via link)

mk.kernel @two on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xf32> [M, N], out %d : memref<?x?xf32> [M, N]) {
  %c32 = arith.constant 32 : index
  %row_tiles = arith.ceildivui %M, %c32 : index
  %column_tiles = arith.ceildivui %N, %c32 : index
  %k_tiles = arith.ceildivui %K, %c32 : index
  %0 = arith.constant 0.0 : f32
  %1 = arith.constant 1.0 : f32
  %zero = tensor.splat %0 : tensor<32x32xf32>
  %one = tensor.splat %1 : tensor<32x32xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) {
      %row = arith.muli %m, %c32 : index
      %column = arith.muli %n, %c32 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : tensor<32x32xf32> {
        %k = arith.muli %kt, %c32 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> tensor<32x32xbf16>
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> tensor<32x32xbf16>
        %next = mk.dot %x, %y, %sum transpose_b : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
        mk.yield %next : tensor<32x32xf32>
      }
      %scaled = arith.mulf %acc, %one : tensor<32x32xf32>
      mk.store %scaled, %c[%row, %column] : tensor<32x32xf32>, memref<?x?xf32>
      %narrow = arith.truncf %acc : tensor<32x32xf32> to tensor<32x32xbf16>
      %wide = arith.extf %narrow : tensor<32x32xbf16> to tensor<32x32xf32>
      mk.store %wide, %d[%row, %column] : tensor<32x32xf32>, memref<?x?xf32>
    }
  }
}

func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %zero = linalg.fill ins(%0 : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%zero : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c, %c : tensor<?x?xf64>, tensor<?x?xf64>
}
