// A run that does not end: what was recorded until then is searched for races all the same.
// REQUIRES: compiler
// RUN: not mk-run %s --gpus 2 --no-verify --check=races 2>&1 | FileCheck %s
// RUN: not mk-run %s --nodes 2 --no-verify --check=races --launches 2 2>&1 | FileCheck %s
// CHECK-DAG: mk-run: rank {{[01]}}, deadlock, {{.*}}: kernel 'stuck', launch 1
// CHECK-DAG: race: 'x'[0:8] of rank {{[01]}}, launch 1
// CHECK-DAG: role 'use' (rank {{[01]}}, CTA 1), line [[#@LINE+17]]: loads [0:8]
// CHECK-DAG: role 'send' (rank {{[01]}}, CTA 0), line [[#@LINE+12]]: puts [0:8]
// CHECK-DAG: races: {{[12]}} pair{{s?}} of places that nothing orders in what was recorded before the run failed (kernel 'stuck', 2 ranks, 1 launch
!sig = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (node = ? via net, gpu = ? via link)
mk.kernel @stuck on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %x : memref<8xf32, #mk.symmetric> [8], out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals(%c2) : !sig
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along node, gpu {
      mk.put %a[%c0][%c8] to %x[%c0] on %p signal %s[%c0] : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>, !sig
    }
  }
  mk.role @use ctas(1) {
    %t = mk.load %x[%c0] : memref<8xf32, #mk.symmetric> -> tensor<8xf32>
    mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32>
    mk.wait %s[%c1] ge %c1 : !sig // raised behind it
    mk.wait %s[%c0] ge %c1 : !sig
    mk.signal %s[%c1] : !sig
  }
}
