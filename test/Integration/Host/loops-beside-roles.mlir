// Loops and branches beside the roles take values from outside of them, and what they give is known
// before a launch: arrivals, extents, capacities and requirements may follow from it.
// REQUIRES: compiler
// RUN: mk-run %s --kernel counted --gpus 2 --bind N=5 --check | FileCheck %s
// RUN: mk-run %s --kernel doubled --gpus 2 --bind N=5 --check | FileCheck %s
// RUN: mk-run %s --kernel nested --gpus 2 --bind N=5 --check | FileCheck %s
// RUN: mk-run %s --kernel asking --gpus 2 --bind N=5 --check | FileCheck %s
// RUN: not mk-run %s --kernel counted --gpus 2 --bind N=9 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: mk-opt %s --kernel=counted --gpus=2 --nodes=1 --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: mk-opt %s --kernel=doubled --gpus=2 --nodes=1 --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: mk-opt %s --kernel=nested --gpus=2 --nodes=1 --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: mk-opt %s --kernel=asking --gpus=2 --nodes=1 --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: mk-opt %s --kernel=counted --gpus=2 --nodes=1 --bind=N=5 --target=sm_90a --emit=package -o %t
// CHECK: check: PASS
// MANY: kernel 'counted' cannot run with these sizes (rank 0): at most 10
// PTX: .entry mk_kernel

!buffer = memref<?xf32>
!tile = tensor<16xf32>
!signal = !mk.signal<1, gpu, arrivals = ?>
mk.mesh @mesh (gpu = ? via link)

mk.kernel @counted on @mesh dims(uniform N) (out %y : !buffer [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %n = mk.size
  %all = scf.for %p = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
    %q = arith.addi %s, %N : index
    scf.yield %q : index
  }
  %few = arith.cmpi sle, %all, %c10 : index
  mk.require %few, "at most 10"
  %counts = mk.counters(%all) : !mk.counter<?>
  %queue = mk.queue(%all) : !mk.queue<?x1xi32>
  %s = mk.signals() arrivals(%all) : !signal
  mk.role @r ctas(1) {
    %z = arith.constant dense<0.0> : !tile
    mk.foreach (%i) in (%all) {
      mk.push %queue, (%i) : !mk.queue<?x1xi32>
      %old = mk.count %counts[%i] add %c1 : !mk.counter<?>
      mk.signal %s[%c0] : !signal
    }
    mk.wait %s[%c0] ge %all : !signal
    mk.store %z, %y[%c0] : !tile, !buffer
  }
}

mk.kernel @doubled on @mesh dims(uniform N) (out %y : !buffer [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = scf.while (%i = %c1) : (index) -> index {
    %more = arith.cmpi slt, %i, %N : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i : index):
    %twice = arith.addi %i, %i : index
    scf.yield %twice : index
  }
  %s = mk.signals() arrivals(%all) : !signal
  mk.role @r ctas(1) {
    %z = arith.constant dense<0.0> : !tile
    mk.foreach (%i) in (%all) {
      mk.signal %s[%c0] : !signal
    }
    mk.wait %s[%c0] ge %all : !signal
    mk.store %z, %y[%c0] : !tile, !buffer
  }
}

func.func private @sum(%N : index, %n : index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %alone = arith.cmpi eq, %n, %c1 : index
  %all = scf.if %alone -> (index) {
    scf.yield %N : index
  } else {
    %r = scf.for %p = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
      %q = arith.addi %s, %N : index
      scf.yield %q : index
    }
    scf.yield %r : index
  }
  return %all : index
}
mk.kernel @nested on @mesh dims(uniform N) (out %y : !buffer [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = mk.size
  %all = func.call @sum(%N, %n) : (index, index) -> index
  %s = mk.signals() arrivals(%all) : !signal
  mk.role @r ctas(1) {
    %z = arith.constant dense<0.0> : !tile
    mk.foreach (%i) in (%all) {
      mk.signal %s[%c0] : !signal
    }
    mk.wait %s[%c0] ge %all : !signal
    mk.store %z, %y[%c0] : !tile, !buffer
  }
}

// The body asks for the extent of an argument and for its rank.
mk.kernel @asking on @mesh dims(uniform N) (out %y : !buffer [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = mk.size
  %all = scf.for %p = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
    %rows = memref.dim %y, %c0 : !buffer
    %me = mk.rank
    %more = arith.addi %rows, %me : index
    %q = arith.addi %s, %more : index
    scf.yield %q : index
  }
  %s = mk.signals() arrivals(%all) : !signal
  mk.role @r ctas(1) {
    %z = arith.constant dense<0.0> : !tile
    mk.foreach (%i) in (%all) {
      mk.signal %s[%c0] : !signal
    }
    mk.wait %s[%c0] ge %all : !signal
    mk.store %z, %y[%c0] : !tile, !buffer
  }
}

func.func @reference(%y : tensor<?xf64>) -> tensor<?xf64> {
  %0 = arith.constant 0.0 : f64
  %r = linalg.fill ins(%0 : f64) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}
