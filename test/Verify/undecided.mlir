// RUN: split-file %s %t
// RUN: mk-opt %t/long.mlir -mk-verify-progress="report=true max-events=50" -o %t/out 2>&1 | FileCheck %s --check-prefix=RACES
// RUN: mk-opt %t/long.mlir -mk-verify-progress="report=true max-events=5" -o %t/out 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: mk-opt %t/idle.mlir -mk-assign-ctas -mk-verify-progress=report=true -o %t/out 2>&1 | FileCheck %s --check-prefix=IDLE
// RUN: mk-opt %t/alone.mlir -mk-assign-ctas -mk-verify-progress="report=true max-events=1" -o %t/out 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: mk-opt %t/call.mlir -mk-verify-progress=report=true -o %t/out 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: mk-opt %t/rest.mlir -mk-verify-progress=report=true -o %t/out 2>&1 | FileCheck %s --check-prefix=REST
// RUN: mk-opt %t/beside.mlir -mk-assign-ctas -mk-verify-progress=report=true -o %t/out 2>&1 | FileCheck %s --check-prefix=BESIDE

// Kernels that are too large, or not as the pass wants them.
// RACES: remark: kernel 'long' always ends: 101 events of 1 CTAs; too large to be searched for races
// LARGE: remark: progress of kernel 'long' is not decided: the kernel is too large to be followed
// IDLE: remark: kernel 'idle' has nothing to wait for{{$}}
// ALONE: remark: kernel 'alone' has nothing to wait for; too large to be searched for races
// CALL: remark: progress of kernel 'call' is not decided: it is not at the tile level with calls inlined, as mk-opt --emit=tile prints it
// REST: remark: progress of kernel 'rest' is not decided: it cannot be lowered as it is
// BESIDE: remark: progress of kernel 'beside' is not decided: 'mk.wait' its count depends on data or on sizes that are not bound, or on a loop beside the roles that has very many turns

// Of what may stand in a kernel, all that has a region is followed once loops are expanded.
// UNTESTED: has regions that are not followed
// A loop numbers the entries of a queue that it reads, and is followed only where its bounds are known.
// UNTESTED: the entry

//--- long.mlir
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @long on @mesh (in %a : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50 = arith.constant 50 : index
  %s = mk.signals() : !mk.signal<50, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    scf.for %i = %c0 to %c50 step %c1 {
      mk.signal %s[%i] : !mk.signal<50, gpu, arrivals = 1>
      mk.wait %s[%i] ge %c1 : !mk.signal<50, gpu, arrivals = 1>
    }
  }
}

//--- idle.mlir
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @idle on @mesh (out %c : memref<24xf32> [24]) {
  mk.role @a ctas(2) {
  }
}

//--- alone.mlir
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @alone on @mesh (in %a : memref<24xf32> [24], out %c : memref<24xf32> [24]) {
  %c0 = arith.constant 0 : index
  mk.role @a ctas(1) {
    %t = mk.load %a[%c0] : memref<24xf32> -> tensor<24xf32>
    mk.store %t, %c[%c0] : tensor<24xf32>, memref<24xf32>
  }
}

//--- call.mlir
func.func @f(%i: index) -> index { return %i : index }
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @call on @mesh (in %a : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) { %i = func.call @f(%c0) : (index) -> index }
}

//--- rest.mlir
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @rest on @mesh (in %a : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
  }
}

//--- beside.mlir
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @beside on @mesh (in %a : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 100000 : index
  %n = scf.for %i = %c0 to %many step %c1 iter_args(%j = %c1) -> (index) {
    %next = arith.maxsi %j, %c1 : index
    scf.yield %next : index
  }
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %n : !mk.signal<1, gpu, arrivals = 1>
  }
}
