// Elementwise ops with two results have no code for sm_90a; the message says what to use.
// RUN: not mk-opt --target=sm_90a --emit=ptx --kernel=both %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not mk-opt --target=sm_90a --emit=ptx --kernel=wide %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WIDE
// BOTH: [[#@LINE+10]]:{{[0-9]+}}: error: 'math.sincos' op {{.*}} cannot be lowered for sm_90a yet: use math.sin and math.cos, or run it with --target=host
// WIDE: [[#@LINE+22]]:{{[0-9]+}}: error: 'arith.mulsi_extended' op {{.*}} cannot be lowered for sm_90a yet: widen the operands by arith.extsi and multiply them, or run
mk.mesh @mesh (gpu = 1 via link)

mk.kernel @both on @mesh (in %a : memref<128xf32> [128], out %c : memref<128xf32> [128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk.foreach (%i) in (%c1) {
      %l = mk.load %a[%c0] : memref<128xf32> -> tensor<128xf32>
      %s, %t = math.sincos %l : tensor<128xf32>
      %u = arith.addf %s, %t : tensor<128xf32>
      mk.store %u, %c[%c0] : tensor<128xf32>, memref<128xf32>
    }
  }
}

mk.kernel @wide on @mesh (in %a : memref<128xi32> [128], out %c : memref<128xi32> [128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk.foreach (%i) in (%c1) {
      %l = mk.load %a[%c0] : memref<128xi32> -> tensor<128xi32>
      %lo, %hi = arith.mulsi_extended %l, %l : tensor<128xi32>
      mk.store %hi, %c[%c0] : tensor<128xi32>, memref<128xi32>
    }
  }
}
