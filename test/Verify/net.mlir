// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress="report=true sizes=M=8" -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// Peers that are computed: what no transport does is refused when it is compiled.

// CHECK: error: 'mk.store' op crosses net axis 'node' (from rank 1 to rank 2), where only the transport reaches: store to symmetric memory here and mk.put it
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @store on @mesh (out %c : memref<8xf32, #mk.symmetric> [8]) {
  %me = mk.rank
  %world = mk.size
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @r ctas(1) {
    %next = arith.addi %me, %c1 : index
    %p = arith.remui %next, %world : index
    mk.store %t, %c[%c0] on %p : tensor<8xf32>, memref<8xf32, #mk.symmetric>
  }
}

// -----

// CHECK: error: 'mk.store' op crosses net axis 'node' (from rank 2 to rank 1)
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @reduction on @mesh (inout %c : memref<8xf32, #mk.symmetric> [8]) {
  %me = mk.rank
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 2>
  %first = arith.cmpi ule, %me, %c1 : index
  mk.role @r ctas(1) {
    scf.if %first {
    } else {
      mk.store %t, %c[%c0] on %c1 signal %s[%c0] reduce(add) : tensor<8xf32>, memref<8xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 2>
    }
  }
}

// -----

// CHECK: error: 'mk.put' op crosses net axis 'node' (from rank 0 to rank 1), where the transport cannot add: put to a place of its own for each source and add there
mk.mesh @mesh (gpu = 2 via link, node = 2 via net)
mk.kernel @add on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], inout %c : memref<8xf32, #mk.symmetric> [8]) {
  %world = mk.size
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    scf.for %p = %c0 to %world step %c1 {
      mk.put %a[%c0][%c8] to %c[%c0] on %p reduce(add) : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>
    }
  }
}

// -----

// CHECK: error: 'mk.put' op crosses net axis 'node' (from rank 0 to rank 1), but its source, argument 'a', is not symmetric, so that the transport cannot read it: give it the space #mk.symmetric
mk.mesh @mesh (node = 2 via net)
mk.kernel @source on @mesh (in %a : memref<8xf32> [8], out %c : memref<8xf32, #mk.symmetric> [8]) {
  %me = mk.rank
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %p = arith.subi %c1, %me : index
    mk.put %a[%c0][%c8] to %c[%c0] on %p : memref<8xf32> to memref<8xf32, #mk.symmetric>
  }
}

// -----

// CHECK: error: 'mk.put' op crosses net axis 'node' (from rank 0 to rank 1), but its source is not contiguous: put whole rows, or one row at a time with size 1
mk.mesh @mesh (node = 2 via net)
mk.kernel @pieces on @mesh dims(uniform M) (in %a : memref<?x?xf32, #mk.symmetric> [M, M], out %c : memref<?x?xf32, #mk.symmetric> [M, M]) {
  %me = mk.rank
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %half = arith.divui %M, %c2 : index
  mk.role @r ctas(1) {
    %p = arith.subi %c1, %me : index
    mk.put %a[%c0, %half][%M, %half] to %c[%c0, %half] on %p : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
  }
}

// -----

// CHECK: error: 'mk.put' op crosses net axis 'node' (from rank 0 to rank 1), but its destination is not contiguous
mk.mesh @mesh (node = 2 via net)
mk.kernel @scattered on @mesh dims(uniform M) (in %a : memref<?x4xf32, #mk.symmetric> [M, 4], out %c : memref<?x?xf32, #mk.symmetric> [M, M]) {
  %me = mk.rank
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %p = arith.subi %c1, %me : index
    mk.put %a[%c0, %c0][%c2, %c4] to %c[%c0, %c0] on %p : memref<?x4xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
  }
}

// -----

// Within the node anything goes; across, whole rows, parts of one, and nothing.
// CHECK: remark: kernel 'right' always ends
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @right on @mesh dims(uniform M) (in %three : memref<?x?x?xf32, #mk.symmetric> [1, M, M], out %c : memref<?x?x?xf32, #mk.symmetric> [5, M, M]) {
  %me = mk.rank
  %world = mk.size
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %half = arith.divui %M, %c2 : index
  %t = arith.constant dense<1.0> : tensor<1x4x4xf32>
  %across = arith.addi %me, %c2 : index
  %other = arith.remui %across, %world : index
  %odd = arith.remui %me, %c2 : index
  %is_odd = arith.cmpi eq, %odd, %c1 : index
  %up = arith.addi %me, %c1 : index
  %down = arith.subi %me, %c1 : index
  %beside = arith.select %is_odd, %down, %up : index
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 4>
  mk.role @r ctas(1) {
    mk.store %t, %c[%c4, %c0, %c0] on %beside reduce(add) : tensor<1x4x4xf32>, memref<?x?x?xf32, #mk.symmetric>
  }
  mk.role @w ctas(1) {
    mk.put %three[%c0, %c0, %c0][%c1, %c2, %M] to %c[%c0, %c0, %c0] on %other signal %s[%c0] : memref<?x?x?xf32, #mk.symmetric> to memref<?x?x?xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 4>
    mk.put %three[%c0, %c2, %c0][%c1, %c1, %half] to %c[%c1, %c0, %half] on %other signal %s[%c0] : memref<?x?x?xf32, #mk.symmetric> to memref<?x?x?xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 4>
    mk.put %three[%c0, %c0, %c0][%c1, %c0, %half] to %c[%c2, %c0, %half] on %other signal %s[%c0] : memref<?x?x?xf32, #mk.symmetric> to memref<?x?x?xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 4>
    mk.put %three[%c0, %c0, %half][%c1, %c2, %half] to %c[%c3, %c0, %half] on %beside signal %s[%c0] : memref<?x?x?xf32, #mk.symmetric> to memref<?x?x?xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 4>
    mk.wait %s[%c0] ge %c4 : !mk.signal<1, sys, arrivals = 4>
  }
}

// -----

// Ways that puts say are compared with the peers that they have.
// CHECK: error: 'mk.put' op goes via net from rank 0 to rank 1, which is reached via link: leave 'via' out
!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @inside on @mesh (in %a : !a [8], out %c : !a [8]) {
  %me = mk.rank
  %world = mk.size
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %next = arith.addi %me, %c1 : index
    %p = arith.remui %next, %world : index
    mk.put %a[%c0][%c8] to %c[%c0] on %p via net : !a to !a
  }
}

// -----

// CHECK: error: 'mk.put' op goes via link from rank 1 to rank 2, which is reached via net: leave 'via' out
!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @across on @mesh (in %a : !a [8], out %c : !a [8]) {
  %me = mk.rank
  %world = mk.size
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %next = arith.addi %me, %c1 : index
    %p = arith.remui %next, %world : index
    mk.put %a[%c0][%c8] to %c[%c0] on %p via link : !a to !a
  }
}
