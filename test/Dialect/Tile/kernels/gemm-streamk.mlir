// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// A GEMM whose last wave of tiles is split along K, so that no CTA idles while
// few tiles are left. What the parts add up to is said by the fold's combine.

// CHECK: mk.kernel @gemm on @mesh dims(uniform M, uniform N, uniform K)
// CHECK: mk.foreach {{.*}} schedule(stream_k, tail = 1) order(raster = 8)
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: mk.store

mk.mesh @mesh (gpu = ? via link)

mk.kernel @gemm on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K] split [(gpu), ()],
    out %c : memref<?x?xbf16> [M, N] split [(), (gpu)]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>

  %columns = memref.dim %b, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %M, %c128 : index
  %column_tiles = arith.ceildivui %columns, %c256 : index
  %k_tiles = arith.ceildivui %K, %c64 : index

  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles)
        schedule(stream_k, tail = 1) order(raster = 8) {
      %row = arith.muli %m, %c128 : index
      %column = arith.muli %n, %c256 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : tensor<128x256xf32> {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
        %next = mk.dot %x, %y, %sum transpose_b
            : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
        mk.yield %next : tensor<128x256xf32>
      }
      %t = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
      mk.store %t, %c[%row, %column] : tensor<128x256xbf16>, memref<?x?xbf16>
    }
  }
}
