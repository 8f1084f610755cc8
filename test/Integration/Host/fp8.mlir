// Conversions to and from fp8, at each border between two of its numbers.
// REQUIRES: compiler
// RUN: %python %S/Inputs/fp8.py make %t.npy > %t.count
// RUN: mk-run %s --bind N=2020 --in x=%t.npy --out y=%t.y.npy --out z=%t.z.npy
// RUN: %python %S/Inputs/fp8.py check e4m3 %t.npy %t.y.npy %t.z.npy | FileCheck %s
// RUN: sed 's/f8E4M3FN/f8E5M2/g' %s > %t.e5m2.mlir
// RUN: mk-run --no-optimize %t.e5m2.mlir --bind N=2020 --in x=%t.npy --out y=%t.y.npy --out z=%t.z.npy
// RUN: %python %S/Inputs/fp8.py check e5m2 %t.npy %t.y.npy %t.z.npy | FileCheck %s
// CHECK: numbers, 0 wrong

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @convert on @mesh dims(uniform N) (
    in %x : memref<?xf32> [N], out %y : memref<?xi8> [N], out %z : memref<?xf32> [N]) {
  %c64 = arith.constant 64 : index
  %tiles = arith.ceildivui %N, %c64 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%tiles) {
      %at = arith.muli %i, %c64 : index
      %wide = mk.load %x[%at] : memref<?xf32> -> tensor<64xf32>
      %narrow = arith.truncf %wide : tensor<64xf32> to tensor<64xf8E4M3FN>
      %bits = arith.bitcast %narrow : tensor<64xf8E4M3FN> to tensor<64xi8>
      mk.store %bits, %y[%at] : tensor<64xi8>, memref<?xi8>
      %again = arith.extf %narrow : tensor<64xf8E4M3FN> to tensor<64xf32>
      mk.store %again, %z[%at] : tensor<64xf32>, memref<?xf32>
    }
  }
}
