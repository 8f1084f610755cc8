// RUN: mk-opt %s -mk-sm-drop-limits --remarks=drop-limits -verify-diagnostics | FileCheck %s

// Ends of operands that nobody sees, and those that are seen.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @products on @mesh dims(uniform M, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [M, K],
    out %c : memref<?x?xf32> [M, M], out %r : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %tk = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %low = arith.constant 0xFF800000 : f32

  // Rows of the left operand, through a loop and elementwise ops; not the other end of the store.
  // CHECK-LABEL: mk.role @rows
  mk.role @rows ctas(1) {
    %rows = arith.addi %K, %c1 : index
    %columns = arith.addi %K, %c8 : index
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> tensor<64x128xf32> {
      // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] valid(%c64{{.*}}, %c64{{.*}}) :
      // expected-remark @+1 {{mk-sm-drop-limits: passed: is loaded whole along dimension 0: nothing of its product is seen behind its end}}
      %x = mk.load %a[%c0, %k] valid(%rows, %tk) : memref<?x?xbf16> -> tensor<64x64xbf16>
      // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] valid(%[[COLUMNS:.*]], %c64{{.*}}) :
      // expected-remark @+1 {{mk-sm-drop-limits: analysis: is written over behind the end of dimension 0, where that is not its argument's: its product shows what lies there}}
      %y = mk.load %b[%c0, %k] valid(%columns, %tk) : memref<?x?xbf16> -> tensor<128x64xbf16>
      %n = mk.dot %x, %y, %s transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16>, tensor<64x128xf32>
      scf.yield %n : tensor<64x128xf32>
    }
    %twice = arith.addf %sum, %sum : tensor<64x128xf32>
    mk.store %twice, %c[%c0, %c0] valid(%rows, %rows) : tensor<64x128xf32>, memref<?x?xf32>
  }

  // An end that is another one in each iteration, where what the last one has made is stored.
  // CHECK-LABEL: mk.role @carried
  mk.role @carried ctas(1) {
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> tensor<64x128xf32> {
      %left = arith.subi %K, %k : index
      // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] valid(%{{[^c].*}}, %c64{{.*}}) :
      // expected-remark @+1 {{mk-sm-drop-limits: analysis: is written over behind the end of dimension 0}}
      %x = mk.load %a[%k, %c0] valid(%left, %tk) : memref<?x?xbf16> -> tensor<64x64xbf16>
      %y = mk.load %b[%c0, %c0] : memref<?x?xbf16> -> tensor<128x64xbf16>
      %n = mk.dot %x, %y, %s transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16>, tensor<64x128xf32>
      mk.store %n, %c[%k, %c0] valid(%left, %tk) : tensor<64x128xf32>, memref<?x?xf32>
      scf.yield %n : tensor<64x128xf32>
    }
  }

  // Columns of a product that a mask replaces; rows that are reduced, and broadcast again.
  // CHECK-LABEL: mk.role @masked
  mk.role @masked ctas(1) {
    %rows = arith.addi %K, %c1 : index
    %left = arith.addi %K, %c8 : index
    // CHECK: mk.load %{{.*}} valid(%c64{{.*}}, %c64{{.*}}) :
    // expected-remark @+1 {{mk-sm-drop-limits: passed: is loaded whole along dimension 0}}
    %x = mk.load %a[%c0, %c0] valid(%rows, %tk) : memref<?x?xbf16> -> tensor<64x64xbf16>
    // CHECK: mk.load %{{.*}} valid(%c64{{.*}}, %c64{{.*}}) :
    // expected-remark @+1 {{mk-sm-drop-limits: passed: is loaded whole along dimension 0}}
    %y = mk.load %b[%c0, %c0] valid(%left, %tk) : memref<?x?xbf16> -> tensor<64x64xbf16>
    %s = mk.dot %x, %y, %zeros transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = mk.mask %s where affine_set<(r, c)[n] : (n - 1 - c >= 0)>[%left] else %low : tensor<64x64xf32>
    %most = mk.reduce max %m axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %wide = mk.broadcast %most dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %d = arith.subf %m, %wide : tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] valid(%rows, %tk) : tensor<64x64xf32>, memref<?x?xf32>
    mk.store %most, %r[%c0] valid(%rows) : tensor<64xf32>, memref<?xf32>
  }

  // Rows of the left operand that are columns of what is stored.
  // CHECK-LABEL: mk.role @turned
  mk.role @turned ctas(1) {
    %rows = arith.addi %K, %c1 : index
    %left = arith.addi %K, %c8 : index
    // CHECK: mk.load %{{.*}} valid(%c64{{.*}}, %c64{{.*}}) :
    // expected-remark @+1 {{mk-sm-drop-limits: passed: is loaded whole along dimension 0}}
    %x = mk.load %a[%c0, %c0] valid(%rows, %tk) : memref<?x?xbf16> -> tensor<64x64xbf16>
    %y = mk.load %b[%c0, %c0] valid(%tk, %tk) : memref<?x?xbf16> -> tensor<64x64xbf16>
    %s = mk.dot %x, %y, %zeros transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = mk.transpose %s : tensor<64x64xf32> -> tensor<64x64xf32>
    mk.store %t, %c[%c0, %c0] valid(%left, %rows) : tensor<64x64xf32>, memref<?x?xf32>
  }

  // What a dot sums over; a mask that keeps one element more; rows that become columns of a sum.
  // CHECK-LABEL: mk.role @seen
  mk.role @seen ctas(1) {
    %rows = arith.addi %K, %c1 : index
    // CHECK: %[[LEFT:.*]] = arith.addi %{{.*}}, %c8
    %left = arith.addi %K, %c8 : index
    // CHECK: mk.load %{{.*}} valid(%{{.*}}, %[[LEFT]]) :
    // expected-remark @+2 {{behind the end of dimension 0}}
    // expected-remark @+1 {{behind the end of dimension 1}}
    %x = mk.load %a[%c0, %c0] valid(%rows, %left) : memref<?x?xbf16> -> tensor<64x64xbf16>
    // CHECK: mk.load %{{.*}} valid(%[[LEFT]], %c64{{.*}}) :
    // expected-remark @+1 {{behind the end of dimension 0}}
    %y = mk.load %b[%c0, %c0] valid(%left, %tk) : memref<?x?xbf16> -> tensor<64x64xbf16>
    %s = mk.dot %x, %y, %zeros transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = mk.mask %s where affine_set<(r, c)[n] : (n - c >= 0)>[%left] else %low : tensor<64x64xf32>
    %most = mk.reduce max %m axis 0 : tensor<64x64xf32> -> tensor<64xf32>
    mk.store %most, %r[%c0] : tensor<64xf32>, memref<?xf32>
  }

  // Of no dot: threads load it.
  // CHECK-LABEL: mk.role @loaded
  mk.role @loaded ctas(1) {
    // CHECK: mk.load %{{.*}} valid(%{{.*}}, %{{.*}}) : memref<?x?xbf16> -> tensor<64x64xbf16>
    %x = mk.load %a[%c0, %c0] valid(%M, %K) : memref<?x?xbf16> -> tensor<64x64xbf16>
    %y = arith.extf %x : tensor<64x64xbf16> to tensor<64x64xf32>
    mk.store %y, %c[%c0, %c0] valid(%M, %K) : tensor<64x64xf32>, memref<?x?xf32>
  }
}
