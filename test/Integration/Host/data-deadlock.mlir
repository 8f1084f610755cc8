// What is waited for depends on data, so that the compiler cannot tell; the run can.
// REQUIRES: compiler
// RUN: not timeout 20 mk-run %s --nodes 2 --gpus 2 2>&1 | FileCheck %s
// CHECK: rank 0, deadlock, {{.*}}: kernel 'late', launch 1: every CTA of all 4 ranks is blocked and nothing is under way that could release one:
// CHECK-NEXT: rank 0, role 'use', CTA 1: waits for signal 's'[0] to count 3 arrivals of this launch, saw 1 (of 3 declared), at data-deadlock.mlir:{{[0-9]+}}:20; launch 1
// CHECK: rank 3, role 'use', CTA 1: waits for signal 's'[0] to count 3 arrivals of this launch, saw 1

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @late on @mesh (in %n : memref<1xi32> [1], scratch %x : memref<1xf32> [1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 3>
  mk.role @tell ctas(1) {
    mk.foreach_peer (%p) along node { mk.signal %s[%c0] on %p : !mk.signal<?, sys, arrivals = 3> }
  }
  mk.role @use ctas(1) {
    %t = mk.load %n[%c0] : memref<1xi32> -> tensor<1xi32>
    %k = tensor.extract %t[%c0] : tensor<1xi32>
    %i = arith.index_cast %k : i32 to index
    %some = arith.cmpi slt, %i, %c8 : index
    scf.if %some { mk.wait %s[%c0] ge %c3 : !mk.signal<?, sys, arrivals = 3> }
  }
}
