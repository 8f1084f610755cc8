// RUN: mk-opt %s --target=sm_90a --gpus=1 --emit=sm --tuning=none --bind M=6400,K=512 | FileCheck %s --check-prefix=TWO
// RUN: mk-opt %s --target=sm_90a --gpus=1 --emit=sm --tuning=none --bind M=6400,K=512 --set PARTS=3 | FileCheck %s --check-prefix=THREE
// RUN: mk-opt %s --target=sm_90a --gpus=1 --emit=ptx --tuning=none --bind M=6400,K=512 --set PARTS=6 -o %t.ptx

// CTAs that do an item together fetch what all of them need once, if they are a power of two.
// TWO: mk_sm.copy %b{{.*}} shared(2)
// THREE: mk_sm.copy %b
// THREE-NOT: shared(
// THREE: swap_parts

!a = tensor<64x64xbf16>
!b = tensor<96x64xbf16>
!c = tensor<64x96xf32>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @fixed on @mesh dims(uniform M, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [96, 64], out %c : memref<?x?xf32> [M, 96]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %tiles = arith.ceildivui %M, %c64 : index
  %steps = arith.ceildivui %K, %c64 : index
  %zero = arith.constant dense<0.0> : !c
  mk.param "PARTS" = 2
  mk.role @gemm ctas(rest) {
    mk.foreach (%m) in (%tiles) schedule(static, parts = PARTS) {
      %row = arith.muli %m, %c64 : index
      %y = mk.load %b[%c0, %c0] : memref<?x?xbf16> -> !b
      %acc = mk.fold (%kt) in (%steps) iter(%sum = %zero) combine(add) : !c {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !c
        mk.yield %next : !c
      }
      mk.store %acc, %c[%row, %c0] : !c, memref<?x?xf32>
    }
  }
}
