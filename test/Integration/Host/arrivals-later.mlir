// Data leaves an element without arrivals in launch 1, where nobody waits for it, and launch 2 waits: the
// run hangs, and the records say why. A rank that there is not is named with the op.
// REQUIRES: compiler
// RUN: not mk-run %s --kernel=later --launches 3 --random k=0:1 --seed 1 --check=races 2>&1 | FileCheck %s
// RUN: not mk-run %s --kernel=nobody --gpus 2 --random n=8:8 2>&1 | FileCheck %s --check-prefix=RANK
// CHECK: deadlock, {{.*}}: kernel 'later', launch 2
// CHECK: arrivals: signal 's'[0] of rank 0 gets 0 in launch 1, is waited for in launch 2, and is declared with 1 for each; raise it in every launch, or declare it dynamic
// RANK: mk.put (arrivals-later.mlir:[[#@LINE+30]]:5) names rank 8, and there is no rank 8 in a mesh of 2 ranks: correct the rank
!sig = !mk.signal<1, sys, arrivals = 1>
!sym = memref<8xi32, #mk.symmetric>
mk.mesh @mesh (gpu = ? via link)

mk.kernel @later on @mesh (in %k : memref<1xi32> [1], out %c : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %s = mk.signals() : !sig
  mk.role @all ctas(1) {
    // 0 in launch 1, and 1 in launch 2.
    %n = memref.load %k[%c0] : memref<1xi32>
    %some = arith.cmpi eq, %n, %one : i32
    scf.if %some {
      mk.signal %s[%c0] : !sig
      mk.wait %s[%c0] ge %c1 : !sig
    }
    memref.store %n, %c[%c0] : memref<1xi32>
  }
}

mk.kernel @nobody on @mesh (in %n : memref<1xi32> [1], in %x : !sym [8], scratch %y : !sym [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals() : !mk.signal<1, sys, dynamic>
  mk.role @send ctas(1) {
    %i32 = memref.load %n[%c0] : memref<1xi32>
    %i = arith.index_cast %i32 : i32 to index
    mk.put %x[%c0][%c8] to %y[%c0] on %i signal %s[%c0] : !sym to !sym, !mk.signal<1, sys, dynamic>
  }
}
