// RUN: mk-opt %s -mk-keep-roles | FileCheck %s --check-prefix=KERNEL
// RUN: mk-opt %s -mk-keep-roles=engines | FileCheck %s --check-prefix=HOST

!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (gpu = 2 via link)

// KERNEL: mk.role @work ctas(4) {
// KERNEL-NEXT: mk.store
// KERNEL: mk.role @copy ctas(engines) {
// KERNEL-NEXT: }
// HOST: mk.role @work ctas(4) {
// HOST-NEXT: }
// HOST: mk.role @copy ctas(engines) {
// HOST-NEXT: mk.put
mk.kernel @both on @mesh (in %a : !a [8], scratch %b : !a [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  mk.role @work ctas(4) {
    mk.store %zero, %b[%c0] : tensor<8xf32>, !a
  }
  mk.role @copy ctas(engines) {
    mk.put %a[%c0][%c8] to %b[%c0] on %c0 : !a to !a
  }
}
