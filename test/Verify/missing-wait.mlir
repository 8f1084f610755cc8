// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --implicit-check-not=error:

// Where a read has no wait, that is said, once, at the read: whichever of the two comes first.
// CHECK: missing-wait.mlir:[[#@LINE+25]]:{{[0-9]+}}: error: 'mk.load' op races: role 'use' (rank {{[01]}}, CTA 1) loads 'buf'[{{[0-9]+:[0-9]+}}] of rank {{[01]}}, and role 'send' (rank {{[01]}}, CTA 0) stores it with nothing to order the two; role 'use' does not wait for signal 'got', which the write raises: wait for it before the read
// CHECK: note: the other access
!t = tensor<16xf32>
!b = memref<64xf32, #mk.symmetric>
!s = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @store on @mesh (in %x : memref<64xf32> [64], scratch %buf : !b [64], out %y : memref<64xf32> [64]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %me = mk.rank
  %got = mk.signals(%c4) : !s
  mk.role @send ctas(1) {
    mk.foreach (%i) in (%c4) {
      %r = arith.muli %i, %c16 : index
      %t = mk.load %x[%r] : memref<64xf32> -> !t
      %next = arith.addi %me, %c1 : index
      %p = arith.remui %next, %c2 : index
      mk.store %t, %buf[%r] on %p signal %got[%i] : !t, !b, !s
    }
  }
  mk.role @use ctas(1) {
    mk.foreach (%i) in (%c4) {
      %r = arith.muli %i, %c16 : index
      %t = mk.load %buf[%r] : !b -> !t
      mk.store %t, %y[%r] : !t, memref<64xf32>
    }
  }
}

// -----

// The role that reads comes first; the signal is raised by an op of its own.
// CHECK: error: 'mk.load' op races: role 'use' (rank 0, CTA 0) loads 'buf'[0:16] of rank 0, and role 'make' (rank 0, CTA 1) stores it with nothing to order the two; role 'use' does not wait for signal 'made', which role 'make' raises: raise it behind the write and wait for it before the read
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @signal on @mesh (in %x : memref<16xf32> [16], scratch %buf : memref<16xf32> [16], out %y : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %made = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @use ctas(1) {
    %t = mk.load %buf[%c0] : memref<16xf32> -> tensor<16xf32>
    mk.store %t, %y[%c0] : tensor<16xf32>, memref<16xf32>
  }
  mk.role @make ctas(1) {
    %t = mk.load %x[%c0] : memref<16xf32> -> tensor<16xf32>
    mk.store %t, %buf[%c0] : tensor<16xf32>, memref<16xf32>
    mk.signal %made[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }
}

// -----

// Several are raised, of which another role waits for one, and nobody for the other.
// CHECK: error: 'mk.load' op races: role 'use' (rank 0, CTA 0) loads 'buf'[0:16] of rank 0, and role 'make' (rank 0, CTA 1) stores it with nothing to order the two; role 'use' waits for no signal that role 'make' raises: raise one with or behind the write and wait for it before the read
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @several on @mesh (in %x : memref<16xf32> [16], scratch %buf : memref<16xf32> [16], out %y : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %made = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  %begun = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @use ctas(1) {
    %t = mk.load %buf[%c0] : memref<16xf32> -> tensor<16xf32>
    mk.store %t, %y[%c0] : tensor<16xf32>, memref<16xf32>
  }
  mk.role @make ctas(1) {
    mk.signal %begun[%c0] : !mk.signal<1, gpu, arrivals = 1>
    %t = mk.load %x[%c0] : memref<16xf32> -> tensor<16xf32>
    mk.store %t, %buf[%c0] : tensor<16xf32>, memref<16xf32>
    mk.signal %made[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }
  mk.role @other ctas(1) {
    mk.wait %begun[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
  }
}

// -----

// Who waits for what follows from the write by way of another role waits, if too late.
// CHECK: error: 'mk.store' op races: role 'make' (rank 0, CTA 1) stores 'buf'[0:16] of rank 0, and role 'use' (rank 0, CTA 0) loads it with nothing to order the two; signal when the read is done
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @late on @mesh (in %x : memref<16xf32> [16], scratch %buf : memref<16xf32> [16], out %y : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %made = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  %passed = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @use ctas(1) {
    %t = mk.load %buf[%c0] : memref<16xf32> -> tensor<16xf32>
    mk.wait %passed[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    mk.store %t, %y[%c0] : tensor<16xf32>, memref<16xf32>
  }
  mk.role @make ctas(1) {
    %t = mk.load %x[%c0] : memref<16xf32> -> tensor<16xf32>
    mk.store %t, %buf[%c0] : tensor<16xf32>, memref<16xf32>
    mk.signal %made[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }
  mk.role @pass ctas(1) {
    mk.wait %made[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    mk.signal %passed[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }
}
