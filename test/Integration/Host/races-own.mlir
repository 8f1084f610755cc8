// Stores that name the own rank, and puts within one buffer, where the compiler does not know how
// many times they are done: the replay of a run finds what races. With a seed such stores are
// carried out in any order.
// REQUIRES: compiler
// RUN: mk-run %s --kernel stores --gpus 2 --bind FENCED=1 --random n=1:1 --check=races --seed 3 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mk-run %s --kernel stores --gpus 2 --bind FENCED=0 --random n=1:1 --no-verify --check=races --seed 3 2>&1 | FileCheck %s --check-prefix=STORES
// RUN: mk-run %s --kernel moves --gpus 2 --bind FENCED=0 --random n=0:0 --check=races 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mk-run %s --kernel moves --gpus 2 --bind FENCED=0 --random n=16:16 --check=races 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mk-run %s --kernel moves --gpus 2 --bind FENCED=0 --random n=4:4 --check=races 2>&1 | FileCheck %s --check-prefix=MOVES

// NONE: races: none
// STORES: race: 'y'[5:13] of rank {{[01]}}, launch 1
// STORES-NEXT: role 'r' (rank {{[01]}}, CTA 0), line [[#STORE:]]: stores [5:13]
// STORES-NEXT: role 'r' (rank {{[01]}}, CTA 0), line [[#STORE-6]]: stores [0:64]
// STORES-NEXT: order the two writes by mk.fence, or by a signal and a wait, or give each memory of its own
// MOVES: race: 'y'[4:16] of rank {{[01]}}, launch 1
// MOVES-NEXT: role 'r' (rank {{[01]}}, CTA 0), line [[#PUT:]]: puts [4:20]
// MOVES-NEXT: role 'r' (rank {{[01]}}, CTA 0), line [[#PUT]]: takes a put's source from [0:16]
// MOVES-NEXT: source and destination of a put must not overlap

!far = memref<64xf32, #mk.symmetric>
mk.mesh @mesh (gpu = ? via link)

mk.kernel @stores on @mesh dims(uniform FENCED) (in %n : memref<1xi32> [1], out %y : !far [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %me = mk.rank
  %all = arith.constant dense<1.0> : tensor<64xf32>
  %some = arith.constant dense<2.0> : tensor<8xf32>
  %fenced = arith.cmpi ne, %FENCED, %c0 : index
  mk.role @r ctas(1) {
    %count = memref.load %n[%c0] : memref<1xi32>
    %times = arith.index_cast %count : i32 to index
    scf.for %i = %c0 to %times step %c1 {
      mk.store %all, %y[%c0] on %me : tensor<64xf32>, !far
      // Nothing but a condition and a fence stands
      // between the two.
      scf.if %fenced {
        mk.fence
      }
      mk.store %some, %y[%c5] on %me : tensor<8xf32>, !far
    }
  }
}

mk.kernel @moves on @mesh dims(uniform FENCED) (in %n : memref<1xi32> [1], inout %y : !far [64]) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %me = mk.rank
  mk.role @r ctas(1) {
    %number = memref.load %n[%c0] : memref<1xi32>
    %on = arith.index_cast %number : i32 to index
    mk.put %y[%c0][%c16] to %y[%on] on %me : !far to !far
  }
}
