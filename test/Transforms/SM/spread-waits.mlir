// RUN: mk-opt %s -mk-sm-spread-waits -verify-diagnostics --remarks=spread-waits -o %t && FileCheck %s --input-file=%t
// RUN: mk-opt %t -mk-sm-spread-waits | diff - %t
// RUN: mk-opt %s -mk-sm-lay-out-shared=timeline -mk-sm-spread-waits --remarks=spread-waits 2>&1 | FileCheck %s --check-prefix=RECORDED

// Records are of one wait at a time.
// RECORDED: remark: mk-sm-spread-waits: missed: waits in one iteration after the other: it is recorded, wait by wait (in role 'work')
// RECORDED-NOT: mk_sm.wait_all

// Loops of a consumer that do nothing but wait; what a wait is for may be computed in them.
mk.mesh @mesh (gpu = 8 via link)
!ready = !mk.signal<?, gpu, arrivals = 1>

// CHECK-LABEL: mk.kernel @waits
// CHECK: mk_sm.partition producer
// CHECK-NEXT: scf.for
// CHECK: mk_sm.partition consumer
// CHECK-NEXT: mk_sm.wait_all {
// CHECK-NEXT: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[I]], %c1
// CHECK-NEXT: mk.wait %{{.*}}[%[[AT]]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NOT: mk_sm.wait_all
mk.kernel @waits on @mesh dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %s = mk.signals(%M) : !ready
  mk.role @work ctas(2) {
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %M step %c1 {
        mk.wait %s[%i] ge %c1 : !ready
      }
    }
    mk_sm.partition consumer warps(8) registers(232) {
      // expected-remark @+1 {{mk-sm-spread-waits: passed: has threads wait side by side (in role 'work')}}
      scf.for %i = %c0 to %M step %c1 {
        %at = arith.addi %i, %c1 : index
        mk.wait %s[%at] ge %c1 : !ready
      }
      // expected-remark @+1 {{mk-sm-spread-waits: missed: waits in one iteration after the other: it does more than to wait (in role 'work')}}
      scf.for %i = %c0 to %M step %c1 {
        mk.wait %s[%i] ge %c1 : !ready
        memref.store %x, %b[%i] : memref<?xf32>
      }
      // expected-remark @+1 {{mk-sm-spread-waits: missed: waits in one iteration after the other: it carries values from one iteration to the next (in role 'work')}}
      %last = scf.for %i = %c0 to %M step %c1 iter_args(%n = %c0) -> index {
        mk.wait %s[%n] ge %c1 : !ready
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      }
      mk.wait %s[%last] ge %c1 : !ready
    }
  }
}
