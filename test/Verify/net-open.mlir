// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress="report=true" -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// A dimension has no value: whom a store reaches follows from the mesh alone.

// CHECK: remark: progress of kernel 'store' is not decided: dimension 'M' has no value: bind it (--bind, or sizes= where the pass runs alone)
// CHECK: error: 'mk.store' op crosses net axis 'node' (from rank 1 to rank 2), where only the transport reaches: store to symmetric memory here and mk.put it
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @store on @mesh dims(uniform M) (out %c : memref<?xf32, #mk.symmetric> [M]) {
  %me = mk.rank
  %world = mk.size
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @r ctas(1) {
    %next = arith.addi %me, %c1 : index
    %p = arith.remui %next, %world : index
    mk.store %t, %c[%c0] on %p : tensor<8xf32>, memref<?xf32, #mk.symmetric>
  }
}

// -----

// The same place of the node: links lead there. A condition may keep ranks away.
// CHECK: remark: progress of kernel 'inside' is not decided
// CHECK-NOT: error:
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @inside on @mesh dims(uniform M) (out %c : memref<?xf32, #mk.symmetric> [M]) {
  %me = mk.rank
  %world = mk.size
  %gpus = mk.size gpu
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @r ctas(1) {
    %own = mk.coord gpu
    %after = arith.addi %own, %c1 : index
    %place = arith.remui %after, %gpus : index
    %p = mk.rank(gpu = %place)
    mk.store %t, %c[%c0] on %p : tensor<8xf32>, memref<?xf32, #mk.symmetric>
    %next = arith.addi %me, %c1 : index
    %q = arith.remui %next, %world : index
    %even = arith.cmpi ult, %own, %place : index
    scf.if %even {
      mk.store %t, %c[%c0] on %q : tensor<8xf32>, memref<?xf32, #mk.symmetric>
    }
  }
}
