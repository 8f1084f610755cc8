// RUN: mk-opt %s -split-input-file -mk-sm-merge-puts -verify-diagnostics --remarks=merge-puts | FileCheck %s

// One load for up to four peers; of more, groups of three at most: seven are three groups, as even as can be.
mk.mesh @mesh (gpu = 8 via link)
!part = memref<?x?xbf16, #mk.symmetric>
!ready = !mk.signal<?, sys, arrivals = 1>

// CHECK-LABEL: mk.kernel @gather
// CHECK-NOT: scf.for
// CHECK: mk_sm.multicast also(%{{[0-9]+}}) {
// CHECK-NEXT: mk.put %{{.*}} signal %{{.*}}[%{{.*}}]
// CHECK-NEXT: }
// CHECK: mk_sm.multicast also(%{{[0-9]+}}) {
// CHECK: mk_sm.multicast also(%{{[0-9]+}}, %{{[0-9]+}}) {
// CHECK-NEXT: mk.put
// CHECK-NOT: mk.put
mk.kernel @gather on @mesh dims(uniform M) (in %a : !part [M, 64] split [(gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %me = mk.coord gpu
  %s = mk.signals(%c8) : !ready
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      scf.for %i = %c0 to %c7 step %c1 {
        %n = arith.addi %i, %c1 : index
        %r = arith.addi %me, %n : index
        %p = arith.remsi %r, %c8 : index
        // expected-remark @+1 {{mk-sm-merge-puts: passed: reads its source once for 7 peers (in role 'push')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p signal %s[%me] : !part to !part, !ready
      }
    }
  }
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
}

// -----

// A loop of one trip is left alone, silently; what differs from peer to peer stays a loop.
mk.mesh @mesh (gpu = 4 via link)
!part = memref<?x?xbf16, #mk.symmetric>

// CHECK-LABEL: mk.kernel @shuffle
// CHECK-COUNT-3: scf.for
// CHECK-NOT: mk_sm.multicast
mk.kernel @shuffle on @mesh dims(uniform M) (in %a : !part [M, 64] split [(gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %me = mk.coord gpu
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(56) {
      scf.for %p = %c0 to %c1 step %c1 {
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p : !part to !part
      }
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: missed: goes to one peer after the other: it has another source, place or signal for each peer (in role 'push')}}
        mk.put %a[%p, %c0][%c1, %c64] to %b[%me, %c0] on %p : !part to !part
      }
      scf.for %p = %c0 to %M step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: missed: goes to one peer after the other: it is in a loop over an unknown number of peers (in role 'push')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
}

// -----

mk.mesh @mesh (node = 2 via net, gpu = 4 via link)
!part = memref<?x?xf32, #mk.symmetric>

// CHECK-LABEL: mk.kernel @others
// CHECK-NOT: mk_sm.multicast
// CHECK: mk.put {{.*}} via net
// CHECK: mk_sm.multicast also(%{{.*}}, %{{.*}})
// CHECK-NEXT: mk.put {{.*}} via link
// CHECK-NOT: mk_sm.multicast
mk.kernel @others on @mesh dims(uniform M) (in %a : !part [M, 64] split [(node, gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %me = mk.rank
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(104) {
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: missed: goes to one peer after the other: it may cross a network (in role 'push')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p via net : !part to !part
      }
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: passed: reads its source once for 3 peers (in role 'push')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p via link : !part to !part
      }
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: missed: goes to one peer after the other: it adds, or has listed rows, which go one by one (in role 'push')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p via link reduce(add) : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %p = %c0 to %c3 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: missed: goes to one peer after the other: it is not in a mover, whose lanes hold what they load (in role 'work')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p via link : !part to !part
      }
    }
  }
}

// -----

// All ranks, this one too: as many as the mesh has, in one op.
mk.mesh @mesh (gpu = 4 via link)
!part = memref<?x?xbf16, #mk.symmetric>

// CHECK-LABEL: mk.kernel @all
// CHECK-NOT: scf.for
// CHECK: mk_sm.multicast also(%{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}) {
// CHECK-NEXT: mk.put {{.*}} on %c0
// CHECK-NOT: mk.put
mk.kernel @all on @mesh dims(uniform M) (in %a : !part [M, 64] split [(gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %me = mk.rank
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(104) {
      scf.for %p = %c0 to %c4 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: passed: reads its source once for 4 peers (in role 'push')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p : !part to !part
      }
    }
  }
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 4 via link)
!part = memref<?x?xbf16, #mk.symmetric>
!ready = !mk.signal<?, sys, arrivals = 1>

// CHECK-LABEL: mk.kernel @beside
// CHECK: scf.for
// CHECK-NOT: mk_sm.multicast
mk.kernel @beside on @mesh dims(uniform M) (in %a : !part [M, 64] split [(gpu), ()], scratch %b : !part [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %me = mk.rank
  %s = mk.signals(%c4) : !ready
  mk.role @push ctas(2 beside @work) {
    mk_sm.partition mover warps(1) registers(104) {
      scf.for %p = %c0 to %c4 step %c1 {
        // expected-remark @+1 {{mk-sm-merge-puts: missed: goes to one peer after the other: it stands in a loop beside another op that has an effect (in role 'push')}}
        mk.put %a[%c0, %c0][%c1, %c64] to %b[%me, %c0] on %p : !part to !part
        mk.signal %s[%me] on %p : !ready
      }
    }
  }
  mk.role @work ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
}
