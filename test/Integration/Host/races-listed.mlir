// Rows that a put is given a list of, which the compiler does not follow: the replay of a run
// finds that they are read without a wait, on one node and across two.
// REQUIRES: compiler
// RUN: mk-opt %s -o /dev/null -mk-bind="sizes=node=1,gpu=2" -mk-assign-ctas -mk-verify-progress="report=true" 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: not mk-run %s --gpus 2 --check=races 2>&1 | FileCheck %s
// RUN: not mk-run %s --nodes 2 --check=races 2>&1 | FileCheck %s
// SAYS: remark: kernel 'listed_rows' always ends: {{.*}}; 1 place is not searched for races
// SAYS: note: 'mk.put' is not searched for races: which rows it puts is listed in a tile
// CHECK: race: 'y'[{{.*}}] of rank {{[01]}}, launch 1
// CHECK-DAG: role 'send' (rank {{[01]}}, CTA 0), line {{[0-9]+}}: puts
// CHECK-DAG: role 'use' (rank {{[01]}}, CTA 1), line {{[0-9]+}}: loads
// CHECK: races: {{[12]}} pair{{s?}} of places that nothing orders (kernel 'listed_rows', 2 ranks

!sig = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (node = ? via net, gpu = ? via link)
mk.kernel @listed_rows on @mesh (in %a : memref<4x8xf32, #mk.symmetric> [4, 8], scratch %y : memref<4x8xf32, #mk.symmetric> [4, 8],
                                 out %c : memref<4x8xf32> [4, 8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %rows = arith.constant dense<[3, 2, 1, 0]> : tensor<4xi32>
  %come = mk.signals() : !sig
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along node, gpu {
      mk.put %a[%c0, %c0][%c4, %c8] rows(%rows : tensor<4xi32>) to %y[%c0, %c0] on %p signal %come[%c0] : memref<4x8xf32, #mk.symmetric> to memref<4x8xf32, #mk.symmetric>, !sig
    }
  }
  mk.role @use ctas(1) {
    %t = mk.load %y[%c0, %c0] : memref<4x8xf32, #mk.symmetric> -> tensor<4x8xf32>
    mk.store %t, %c[%c0, %c0] : tensor<4x8xf32>, memref<4x8xf32>
  }
}