// RUN: mk-opt %s | mk-opt -cse -canonicalize | FileCheck %s

// Two groups are two: what is raised twice counts twice. Scalars of a body are shared, and those that nobody uses go.
mk.mesh @mesh (gpu = 4 via link)
!parts = !mk.signal<?, sys, arrivals = 2>

// CHECK-LABEL: mk.kernel @twice
// CHECK: mk_sm.signal_all {
// CHECK-NEXT: %[[P:.*]] = arith.addi %M, %c1
// CHECK-NEXT: mk.signal %{{.*}}[%[[P]]] on %[[P]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: mk.signal %{{.*}}[%[[P]]] on %c1
// CHECK: mk_sm.signal_all {
// CHECK: mk.signal %
// CHECK: mk.signal %
// CHECK-NOT: mk.signal %
mk.kernel @twice on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = mk.signals(%c3) : !parts
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      %some = arith.cmpi ult, %c1, %M : index
      mk_sm.signal_all {
        %p = arith.addi %M, %c1 : index
        %q = arith.addi %M, %c1 : index
        %unused = arith.addi %M, %c3 : index
        mk.signal %s[%p] on %q : !parts
        scf.if %some {
          mk.signal %s[%q] on %c1 : !parts
        }
      }
      mk_sm.signal_all {
        %p = arith.addi %M, %c1 : index
        mk.signal %s[%p] on %p : !parts
        scf.if %some {
          mk.signal %s[%p] on %c1 : !parts
        }
      }
    }
  }
}
