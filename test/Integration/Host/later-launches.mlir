// A wait that returns in the first launch and in no other. WAITS=0: nothing is waited for, but
// data decides whether the element gets its arrival.
// REQUIRES: compiler
// RUN: mk-run %s --gpus 2 --bind WAITS=1 --no-verify | FileCheck %s --check-prefix=ONE
// RUN: not mk-run %s --gpus 2 --bind WAITS=1 --no-verify --launches 3 2>&1 | FileCheck %s --check-prefix=HANGS
// RUN: not mk-run %s --gpus 2 --bind WAITS=1 --launches 3 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not mk-run %s --gpus 2 --bind WAITS=1 --no-verify --check=races 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: not mk-run %s --gpus 2 --bind WAITS=0 --random n=-9:9 --launches 10 --check=races 2>&1 | FileCheck %s --check-prefix=SOME
// ONE: done: kernel 'for_none', 2 ranks, 1 launch
// HANGS: deadlock, {{.*}}: kernel 'for_none', launch 2
// HANGS: role 'use', CTA 0: waits for signal 's'[0] to count 0 arrivals of this launch, saw -1 (of 1 declared), at later-launches.mlir:{{[0-9]+:[0-9]+}}; launch 2
// REFUSED: error: 'mk.wait' op never returns in later launches in role 'use' (rank 0, CTA 0): signal 's'[0] gets no arrival in a launch
// RECORD: arrivals: signal 's'[0] of rank 0 gets 0 in launch 1, and is declared with 1: later launches wait for the wrong value
// RECORD: races: none, 2 elements without the declared arrivals (kernel 'for_none', 2 ranks, 1 launch
// SOME: kernel 'for_none': signal 'd'[0] counted {{arrivals in launch [0-9]+ and none in earlier ones, it declares 1 for each|0 arrivals in launch [0-9]+, it declares 1}}
!sig = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @for_none on @mesh dims(uniform WAITS) (in %n : memref<1xi32> [1], out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %s = mk.signals() : !sig
  %d = mk.signals() : !sig
  %waits = arith.cmpi eq, %WAITS, %c1 : index
  mk.role @use ctas(1) {
    scf.if %waits { mk.wait %s[%c0] ge %c0 : !sig }
    mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32>
  }
  mk.role @tell ctas(1) {
    mk.foreach (%i) in (%c0) { mk.signal %s[%i] : !sig }
    scf.if %waits { } else {
      %ns = mk.load %n[%c0] : memref<1xi32> -> tensor<1xi32>
      %k = tensor.extract %ns[%c0] : tensor<1xi32>
      %zero = arith.constant 0 : i32
      %some = arith.cmpi sgt, %k, %zero : i32
      scf.if %some { mk.signal %d[%c0] : !sig }
    }
    mk.foreach (%i) in (%c0) { mk.wait %d[%i] ge %c1 : !sig }
  }
}
