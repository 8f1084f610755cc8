// The first two items wait for what all read, so that each of the two CTAs has waited as a rule. The
// replay of a run finds that an item that does not might have been drawn by one that has not.
// REQUIRES: compiler
// RUN: mk-run %s --bind WRONG=0 --check=races | FileCheck %s --check-prefix=NONE
// RUN: not mk-run %s --bind WRONG=1 --check=races --seed 3 | FileCheck %s
// NONE: races: none (kernel 'first_waits', 1 rank, 1 launch
// CHECK: race: 'x'[0:8] of rank 0, launch 1
// CHECK-DAG: role 'use' (rank 0, CTA {{[12]}}), item ({{[2-7]}}) of loop 0, line [[#@LINE+26]]: loads [0:8]
// CHECK-DAG: role 'make' (rank 0, CTA 0), line [[#@LINE+17]]: stores [0:8]
!sig = !mk.signal<1, gpu, arrivals = 1>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @first_waits on @mesh dims(uniform WRONG) (in %n : memref<1xi32> [1], scratch %x : memref<8xf32> [8], out %c : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : i32
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %right = arith.cmpi eq, %WRONG, %c0 : index
  %s = mk.signals() : !sig
  mk.role @make ctas(1) {
    %k = memref.load %n[%c0] : memref<1xi32>
    %low = arith.cmpi slt, %k, %c32 : i32
    // What depends on data is not followed by the compiler.
    scf.if %low { mk.fence }
    mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32>
    mk.signal %s[%c0] : !sig
  }
  mk.role @use ctas(2) {
    mk.foreach (%i) in (%c8) schedule(ticket) {
      %first = arith.cmpi ult, %i, %c2 : index
      %waits = arith.ori %first, %right : i1
      scf.if %waits { mk.wait %s[%c0] ge %c1 : !sig }
      %l = mk.load %x[%c0] : memref<8xf32> -> tensor<8xf32>
      %at = arith.muli %i, %c8 : index
      mk.store %l, %c[%at] : tensor<8xf32>, memref<64xf32>
    }
  }
}
