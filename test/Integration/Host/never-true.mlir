// A wait that never comes true, in a kernel whose sizes the compiler did not know: it ends
// every rank long before the deadline, with one report that says who waited where, for
// what, and what had come.
// REQUIRES: compiler
// RUN: mk-opt --target=host --emit=package --bind node=2,gpu=2 %s -o %t.mkpkg
// RUN: not timeout 4 mk-run %t.mkpkg --bind M=8 2>&1 | FileCheck %s
// CHECK: rank 0, deadlock, {{.*}}: kernel 'late', launch 1: every CTA of all 4 ranks is blocked
// CHECK-NEXT: rank 0, all CTAs have ended; waits for its peers to end the launch
// CHECK-COUNT-2: all CTAs have ended
// CHECK-NEXT: rank 3, role 'reader', CTA {{[0-9]+}}, item (5) of loop 0: waits for signal 'ready'[5] to count 2 arrivals of this launch, saw 1
// CHECK-NOT: role 'reader'
//
// With sizes the compiler says so.
// RUN: not mk-run %s --nodes 2 --gpus 2 --bind M=8 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: 'mk.wait' op never returns in role 'reader' (rank 3, CTA {{[0-9]+}}): signal 'ready'[5] needs 2 arrivals, saw 1, and gets no more than 1

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @late on @mesh dims(uniform M) (
    in %a : memref<?x64xf32, #mk.symmetric> [M, 64], scratch %b : memref<?x64xf32, #mk.symmetric> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %me = mk.rank
  %ready = mk.signals(%M) : !mk.signal<?, sys, arrivals = 2>
  mk.role @writer ctas(1) {
    // To the last rank, from one across the network only: one arrival of two.
    %first = arith.cmpi eq, %me, %c1 : index
    scf.if %first {
      mk.put %a[%c5, %c0][%c1, %c64] to %b[%c5, %c0] on %c3 signal %ready[%c5]
          : memref<?x64xf32, #mk.symmetric> to memref<?x64xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
    }
  }
  mk.role @reader ctas(rest) {
    %last = arith.cmpi eq, %me, %c3 : index
    %n = arith.select %last, %M, %c0 : index
    mk.foreach (%i) in (%n) {
      %it = arith.cmpi eq, %i, %c5 : index
      scf.if %it {
        mk.wait %ready[%i] ge %c2 : !mk.signal<?, sys, arrivals = 2>
      }
    }
  }
}
