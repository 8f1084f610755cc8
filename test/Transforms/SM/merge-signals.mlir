// RUN: mk-opt %s -split-input-file -mk-sm-merge-signals -verify-diagnostics --remarks=merge-signals | FileCheck %s

// All stores first, then all signals behind one fence. What decides whether there is a signal is computed there, too.
mk.mesh @mesh (gpu = 4 via link)
!slots = memref<?x64x64xbf16, #mk.symmetric>
!part = tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
!parts = !mk.signal<?, sys, arrivals = 3>

// CHECK-LABEL: mk.kernel @reduce
// CHECK: scf.for %[[P:.*]] = %c0 to %c3
// CHECK: mk_sm.store %{{.*}}, %{{.*}} on %[[P]] through
// CHECK-NOT: mk.signal %
// CHECK: mk_sm.signal_all {
// CHECK-NOT: mk_sm.store
// CHECK: mk.signal %[[S:.*]][%{{.*}}] on %c0
// CHECK: mk.signal %[[S]][%{{.*}}] on %{{[0-9]+}}
// CHECK: mk.signal %[[S]][%{{.*}}] on %{{[0-9]+}}
// CHECK: }
// CHECK: scf.for
// CHECK: scf.if
// CHECK: mk.store %{{.*}} on %{{[^ ]*}} : tensor
// CHECK: mk_sm.signal_all {
// CHECK: %[[MINE:.*]] = arith.cmpi ult, %c0
// CHECK: scf.if %[[MINE]] {
// CHECK-NEXT: mk.signal
// CHECK-COUNT-2: mk.signal
mk.kernel @reduce on @mesh dims(uniform M) (scratch %slot : !slots [M, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = ub.poison : !part
  %s = mk.signals(%c3) : !parts
  mk.role @work ctas(2) {
    %g = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %p = %c0 to %c3 step %c1 {
        mk_sm.store %t, %slot[%p, %c0, %c0] on %p through %g : !part, !slots, !mk_sm.staging<2>
        // expected-remark @+1 {{mk-sm-merge-signals: passed: is raised 3 times; fences: 1 (in role 'work')}}
        mk.signal %s[%p] on %p : !parts
      }
      scf.for %p = %c0 to %c3 step %c1 {
        %mine = arith.cmpi ult, %p, %M : index
        scf.if %mine {
          // expected-remark @+1 {{mk-sm-merge-signals: passed: is raised 3 times; fences: 1 (in role 'work')}}
          mk.store %t, %slot[%p, %c0, %c0] on %p signal %s[%p] : !part, !slots, !parts
        }
      }
    }
  }
}

// -----

// What has to stay where it is, and why. Signals of this rank alone, and loops of one trip or none, are left alone silently.
mk.mesh @mesh (gpu = 4 via link)
!slots = memref<?x64x64xbf16, #mk.symmetric>
!part = tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
!parts = !mk.signal<?, sys, arrivals = 3>

// CHECK-LABEL: mk.kernel @apart
// CHECK-NOT: mk_sm.signal_all
mk.kernel @apart on @mesh dims(uniform M) (scratch %slot : !slots [M, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = ub.poison : !part
  %s = mk.signals(%c3) : !parts
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: a signal of its loop is strong (in role 'work')}}
        mk.signal strong %s[%p] on %p : !parts
      }
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: its loop does more than to store and to signal (in role 'work')}}
        mk.signal %s[%p] on %p : !parts
        mk.wait %s[%p] ge %c1 : !parts
      }
      scf.for %p = %c0 to %M step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: it is in a loop over an unknown number of peers (in role 'work')}}
        mk.signal %s[%p] on %p : !parts
      }
      scf.for %p = %c0 to %c3 step %c1 {
        mk.signal %s[%p] : !parts
      }
      scf.for %p = %c0 to %c1 step %c1 {
        mk.signal %s[%p] on %p : !parts
      }
      scf.for %p = %c1 to %c0 step %c1 {
        mk.signal %s[%p] on %p : !parts
      }
    }
  }
}

// -----

// Signals that give own accesses an order stay: stores in the own rank's memory, and those that may be, behind a signal.
mk.mesh @mesh (gpu = 4 via link)
!part = tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
!slots = memref<4x64x64xf32, #mk.symmetric>
!parts = !mk.signal<?, sys, arrivals = 3>

// CHECK-LABEL: mk.kernel @ordered
// CHECK-NOT: mk_sm.signal_all
mk.kernel @ordered on @mesh (scratch %x : !slots [4, 64, 64], scratch %y : !slots [4, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = mk.signals(%c3) : !parts
  mk.role @work ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %t = mk.load %y[%c0, %c0, %c0] : !slots -> !part
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: its loop stores what the role loads or stores elsewhere, too, and a signal between the two orders them (in role 'work')}}
        mk.signal %s[%p] on %p : !parts
        mk.store %t, %x[%p, %c0, %c0] : !part, !slots
      }
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: its loop stores what the role loads or stores elsewhere, too, and a signal between the two orders them (in role 'work')}}
        mk.signal %s[%p] on %p : !parts
        mk.store %t, %y[%c1, %c0, %c0] on %p : !part, !slots
      }
    }
  }
}

// -----

// A loop around says nothing of what an inner one has merged.
mk.mesh @mesh (gpu = 4 via link)
!parts = !mk.signal<?, sys, arrivals = 3>

// CHECK-LABEL: mk.kernel @rounds
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: mk_sm.signal_all
mk.kernel @rounds on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = mk.signals(%c3) : !parts
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %i = %c0 to %c3 step %c1 {
        scf.for %p = %c0 to %c3 step %c1 {
          // expected-remark @+1 {{mk-sm-merge-signals: passed: is raised 3 times; fences: 1 (in role 'work')}}
          mk.signal %s[%p] on %p : !parts
        }
      }
    }
  }
}

// -----

// More than there are registers for: groups of as many signals as can be even, each behind a fence of its own. A loop
// that is not over peers is none of its business.
mk.mesh @mesh (gpu = 16 via link)
!part = tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
!parts = !mk.signal<?, sys, arrivals = 15>

// CHECK-LABEL: mk.kernel @many
// CHECK: mk_sm.signal_all {
// CHECK-COUNT-7: mk.signal %
// CHECK-NOT: mk.signal %
// CHECK: }
// CHECK: mk_sm.signal_all {
// CHECK-COUNT-8: mk.signal %
// CHECK-NOT: mk.signal %
// CHECK: }
// CHECK: scf.for
// CHECK-NEXT: mk.signal %
// CHECK-NOT: mk_sm.signal_all
mk.kernel @many on @mesh (out %c : memref<64x64xbf16, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %s = mk.signals(%c15) : !parts
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %p = %c0 to %c15 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: passed: is raised 15 times; fences: 2 (in role 'work')}}
        mk.signal %s[%p] on %p : !parts
      }
      scf.for %p = %c0 to %c15 step %c1 {
        mk.signal %s[%p] on %c1 : !parts
      }
    }
  }
}

// -----

// What the sender sends it signals; strong signals of stores, and branches with results.
!tile = tensor<64x64xbf16>
!slots = memref<?x64x64xbf16, #mk.symmetric>
#acc = #mk_sm.mma<warpgroups = 1>
!part = tensor<64x64xbf16, #acc>
!parts = !mk.signal<?, sys, arrivals = 3>
mk.mesh @mesh (gpu = 4 via link)

// CHECK-LABEL: mk.kernel @obstacles
// CHECK-NOT: mk_sm.signal_all
mk.kernel @obstacles on @mesh dims(uniform M) (scratch %slot : !slots [M, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = ub.poison : !part
  %s = mk.signals(%c3) : !parts
  mk.role @work ctas(2) {
    %g = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %p = %c0 to %c3 step %c1 {
        mk_sm.store %t, %slot[%p, %c0, %c0] on %p posted signal %s[%p] through %g : !part, !slots, !mk_sm.staging<2>, !parts
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: a store of its loop is left to the sender, which raises its signal (in role 'work')}}
        mk.signal %s[%p] on %p : !parts
      }
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: a signal of its loop is strong (in role 'work')}}
        mk.store %t, %slot[%p, %c0, %c0] on %p signal strong %s[%p] : !part, !slots, !parts
      }
      scf.for %p = %c0 to %c3 step %c1 {
        %first = arith.cmpi eq, %p, %c0 : index
        %q = scf.if %first -> index {
          scf.yield %c1 : index
        } else {
          scf.yield %p : index
        }
        // expected-remark @+1 {{mk-sm-merge-signals: missed: waits until what is before it is done, in each iteration: its loop has branches with results (in role 'work')}}
        mk.signal %s[%p] on %q : !parts
      }
    }
  }
}

// -----

// Signals are counted, not iterations.
mk.mesh @mesh (gpu = 4 via link)
!parts = !mk.signal<?, sys, arrivals = 9>

// CHECK-LABEL: mk.kernel @several
// CHECK: mk_sm.signal_all {
// CHECK-COUNT-3: mk.signal %
// CHECK-NOT: mk.signal %
// CHECK: }
// CHECK: mk_sm.signal_all {
// CHECK-COUNT-6: mk.signal %
// CHECK-NOT: mk.signal %
mk.kernel @several on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = mk.signals(%c3) : !parts
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-signals: passed: is raised 3 times; fences: 2 (in role 'work')}}
        mk.signal %s[%c0] on %p : !parts
        mk.signal %s[%c1] on %p : !parts
        mk.signal %s[%c2] on %p : !parts
      }
    }
  }
}
