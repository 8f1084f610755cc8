// Scalars are loaded and stored at places that data decides: the compiler does not search these
// accesses for races, the replay of a run does. WRONG=1: nothing orders them.
// REQUIRES: compiler
// RUN: mk-run %s --kernel scalars --gpus 1 --bind WRONG=0 --check=races 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mk-run %s --kernel scalars --gpus 1 --bind WRONG=1 --check=races 2>&1 | FileCheck %s
// RUN: not mk-run %s --kernel wide --gpus 2 --check=races 2>&1 | FileCheck %s --check-prefix=WIDE
// NONE: races: none (kernel 'scalars', 1 rank, 1 launch, {{[0-9]+}} events)
// CHECK: race: 'x'[[[#AT:]]] of rank 0, launch 1
// CHECK-DAG: role 'make' (rank 0, CTA 0), line [[#@LINE+18]]: stores [[[#AT]]]
// CHECK-DAG: role 'use' (rank 0, CTA 1), line [[#@LINE+25]]: loads [[[#AT]]]
// WIDE: argument 'x' has 9 dimensions, and accesses of at most 8 can be recorded: run without --check=races
// CHECK: races: {{[12]}} pair{{s?}} of places that nothing orders (kernel 'scalars', 1 rank

!sig = !mk.signal<1, gpu, arrivals = 1>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @scalars on @mesh dims(uniform WRONG) (in %n : memref<1xi32> [1], scratch %x : memref<8xi32> [8], out %c : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %ordered = arith.cmpi ne, %WRONG, %c1 : index
  %s = mk.signals() : !sig
  mk.role @make ctas(1) {
    %k = memref.load %n[%c0] : memref<1xi32>
    %i = arith.index_cast %k : i32 to index
    %at = arith.remui %i, %c8 : index
    memref.store %one, %x[%at] : memref<8xi32>
    mk.signal %s[%c0] : !sig
  }
  mk.role @use ctas(1) {
    scf.if %ordered { mk.wait %s[%c0] ge %c1 : !sig }
    %k = memref.load %n[%c0] : memref<1xi32>
    %i = arith.index_cast %k : i32 to index
    %at = arith.remui %i, %c8 : index
    %v = memref.load %x[%at] : memref<8xi32>
    memref.store %v, %c[%c0] : memref<1xi32>
    mk.wait %s[%c0] ge %c1 : !sig
  }
}

mk.kernel @wide on @mesh (scratch %x : memref<1x1x1x1x1x1x1x1x2xi32> [1, 1, 1, 1, 1, 1, 1, 1, 2], out %c : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %v = memref.load %x[%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0] : memref<1x1x1x1x1x1x1x1x2xi32>
    memref.store %v, %c[%c0] : memref<1xi32>
  }
}
