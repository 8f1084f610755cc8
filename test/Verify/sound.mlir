// RUN: mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress="report=true sizes=M=7 rank-sizes=T=3:0" -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// Kernels without a mistake, and what can not be said of some.

// Last arrivers: whoever counts last reads all parts.
// CHECK: remark: kernel 'last' always ends: {{[0-9]+}} events of 6 CTAs
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @last on @mesh (scratch %x : memref<24xf32> [24], out %c : memref<24xf32> [24]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %n = mk.counters(%c1) : !mk.counter<?>
  mk.role @a ctas(3) {
    mk.foreach (%i) in (%c3) {
      %at = arith.muli %i, %c8 : index
      mk.store %t, %x[%at] : tensor<8xf32>, memref<24xf32>
      %before = mk.count %n[%c0] add %c1 : !mk.counter<?>
      %is_last = arith.cmpi eq, %before, %c2 : index
      scf.if %is_last {
        %all = mk.load %x[%c0] : memref<24xf32> -> tensor<24xf32>
        mk.store %all, %c[%c0] : tensor<24xf32>, memref<24xf32>
      }
    }
  }
}

// -----

// Records, helpers, and a load behind a store with a signal and a wait between.
// CHECK: remark: kernel 'queue' always ends: {{[0-9]+}} events of 3 CTAs
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @queue on @mesh dims(uniform M) (scratch %x : memref<?xf32> [M * 8], out %c : memref<?xf32> [M * 8]) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %s = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %q = mk.queue(%M) : !mk.queue<?x1xi32>
  mk.role @make ctas(2) then @use {
    mk.foreach (%i) in (%M) schedule(ticket) {
      %at = arith.muli %i, %c8 : index
      mk.store %t, %x[%at] : tensor<8xf32>, memref<?xf32>
      mk.push %q, (%i) : !mk.queue<?x1xi32>
    }
  }
  mk.role @use ctas(1) {
    mk.foreach_item (%i) of %q count(%M) : !mk.queue<?x1xi32> {
      %at = arith.muli %i, %c8 : index
      %l = mk.load %x[%at] : memref<?xf32> -> tensor<8xf32>
      mk.store %l, %c[%at] : tensor<8xf32>, memref<?xf32>
      mk.signal %s[%i] : !mk.signal<?, gpu, arrivals = 1>
      mk.wait %s[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
      %again = mk.load %c[%at] : memref<?xf32> -> tensor<8xf32>
      mk.store %again, %x[%at] : tensor<8xf32>, memref<?xf32>
    }
  }
}

// -----

// Adds to what mk.prepare has zeroed; strong signals; fences; settled sources;
// dimensions that each rank has its own of.
// CHECK: remark: kernel 'puts' always ends: {{[0-9]+}} events of 4 CTAs
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @puts on @mesh dims(rank T) (scratch %x : memref<16xf32, #mk.symmetric> [16], scratch %y : memref<16xf32, #mk.symmetric> [16],
                           out %c : memref<16xf32, #mk.symmetric> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<16xf32>
  %s = mk.signals(%c2) : !mk.signal<?, sys, arrivals = 1>
  %mine = mk.signals(%T) : !mk.signal<?, gpu, arrivals = 1>
  mk.prepare { mk.foreach (%i) in (%c1) { mk.store %t, %c[%c0] : tensor<16xf32>, memref<16xf32, #mk.symmetric> } }
  mk.role @a ctas(1) {
    mk.foreach (%i) in (%T) { mk.signal %mine[%i] : !mk.signal<?, gpu, arrivals = 1> }
    mk.store %t, %x[%c0] : tensor<16xf32>, memref<16xf32, #mk.symmetric>
    mk.foreach_peer (%p) along gpu {
      mk.put %x[%c0][%c8] to %y[%c0] on %p : memref<16xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>
      mk.put %x[%c8][%c8] to %y[%c8] on %p signal strong %s[%c0] : memref<16xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
      mk.store %t, %c[%c0] on %p reduce(add) : tensor<16xf32>, memref<16xf32, #mk.symmetric>
      mk.signal %s[%c1] on %p : !mk.signal<?, sys, arrivals = 1>
    }
    mk.settle
    mk.store %t, %x[%c0] : tensor<16xf32>, memref<16xf32, #mk.symmetric>
  }
  mk.role @b ctas(1) {
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    %l = mk.load %y[%c0] : memref<16xf32, #mk.symmetric> -> tensor<16xf32>
    mk.wait %s[%c1] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    %m = mk.load %c[%c0] : memref<16xf32, #mk.symmetric> -> tensor<16xf32>
    %n = arith.addf %l, %m : tensor<16xf32>
    mk.store %n, %y[%c0] : tensor<16xf32>, memref<16xf32, #mk.symmetric>
    mk.foreach (%i) in (%T) { mk.wait %mine[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1> }
  }
}

// -----

// CHECK: remark: progress of kernel 'of_data' is not decided: 'scf.if' is taken or not as data says
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @of_data on @mesh (in %n : memref<1xi32> [1], out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @a ctas(1) {
    %t = mk.load %n[%c0] : memref<1xi32> -> tensor<1xi32>
    %k = tensor.extract %t[%c0] : tensor<1xi32>
    %zero = arith.constant 0 : i32
    %some = arith.cmpi ne, %k, %zero : i32
    scf.if %some { mk.signal %s[%c0] : !mk.signal<?, gpu, arrivals = 1> }
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
  }
}

// -----

// CHECK: remark: progress of kernel 'open' is not decided: dimension 'N' has no value
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @open on @mesh dims(uniform N) (out %c : memref<?xf32> [N]) {
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(1) { mk.foreach (%i) in (%N) { mk.store %t, %c[%i] : tensor<8xf32>, memref<?xf32> } }
}

// -----

// CHECK: remark: kernel 'bound' always ends: 9 events of 1 CTAs
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @bound on @mesh dims(uniform N = 8) (out %c : memref<?xf32> [N]) {
  %t = arith.constant dense<1.0> : tensor<1xf32>
  mk.role @a ctas(1) { mk.foreach (%i) in (%N) { mk.store %t, %c[%i] : tensor<1xf32>, memref<?xf32> } }
}

// -----

// CHECK: remark: progress of kernel 'unbound' is not decided: an axis of the mesh has no size: give it one (--nodes and --gpus, or in the file)
mk.mesh @mesh (gpu = ? via link)
mk.kernel @unbound on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(1) { mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32> }
}

// -----

// No launch is possible, so that it does not matter that nothing is waited for rightly.
// CHECK: remark: progress of kernel 'refused' is not decided: a requirement does not hold: no launch is possible
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @refused on @mesh dims(uniform M) (out %c : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.cmpi eq, %M, %c1 : index
  mk.require %one, "M must be 1"
  %s = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @a ctas(1) {
    mk.wait %s[%c0] ge %M : !mk.signal<?, gpu, arrivals = 1>
    mk.signal %s[%c0] : !mk.signal<?, gpu, arrivals = 1>
  }
}

// -----

// CHECK: remark: progress of kernel 'many' is not decided: it runs on 20000 CTAs, at most 16384 are followed
mk.mesh @mesh (node = 10000 via net)
mk.kernel @many on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(2) { mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32> }
}

// -----

// A tile at any distance ends the search in no time.
// CHECK: remark: kernel 'vast' always ends
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @vast on @mesh (inout %c : memref<64x64xf32, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %vast = arith.constant 9223372036854775807 : index
  %low = arith.constant -9223372036854775808 : index
  %t = arith.constant dense<0.0> : tensor<8x8xf32>
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 2>
  mk.role @r ctas(1) {
    mk.store %t, %c[%low, %vast] : tensor<8x8xf32>, memref<64x64xf32, #mk.symmetric>
    mk.store %t, %c[%c0, %vast] valid(%vast, %low) on %c0 signal %s[%c0] : tensor<8x8xf32>, memref<64x64xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 2>
    mk.store %t, %c[%low, %low] on %c0 signal %s[%c0] : tensor<8x8xf32>, memref<64x64xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 2>
  }
}
