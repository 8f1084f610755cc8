// RUN: mk-opt --target=sm_90a --gpus=1 --emit=sm --tuning=none --remarks=split-roles %s -o - 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=LEFT <%t.remarks
// A tile of an epilogue is left to its consumer where rings would have too few slots for products beside it, and what the role has besides.
// CHECK: mk_sm.create_ring
// LEFT: since no ring has room for its tile while it is used

!a = tensor<128x64xbf16>
!b = tensor<256x64xbf16>
!b2 = tensor<32x64xbf16>
!acc = tensor<128x256xf32>
!acc2 = tensor<128x32xf32>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @two on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K],
    in %r : memref<?x?xf32> [M, N],
    in %s : memref<?x?xf32, #mk.symmetric> [M, N],
    out %t : memref<?x?xf32, #mk.symmetric> [M, N],
    out %d : memref<?x?xf32> [M, N],
    out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0 : !acc
  %zero2 = tensor.splat %0 : !acc2
  %tiles = arith.ceildivui %M, %c128 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  mk.role @gemm ctas(rest) {
    mk.foreach (%m) in (%tiles) {
      %row = arith.muli %m, %c128 : index
      %acc2 = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero2) combine(add) : !acc2 {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%c0, %k] : memref<?x?xbf16> -> !b2
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b2, !acc2
        mk.yield %next : !acc2
      }
      mk.store %acc2, %d[%row, %c0] : !acc2, memref<?x?xf32>
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%c0, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %res = mk.load %r[%row, %c0] : memref<?x?xf32> -> !acc
      %o = arith.addf %acc, %res : !acc
      mk.store %o, %c[%row, %c0] : !acc, memref<?x?xf32>
      %me = mk.rank
      mk.put %s[%row, %c0][%c64, %c64] to %t[%row, %c0] on %me : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
    }
  }
}
