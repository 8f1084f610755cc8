// RUN: mk-opt %s -split-input-file -mk-drop-idle-roles | FileCheck %s

!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 1 via net, gpu = 2 via link)

// Loops over no peers and no items, and branches that are not taken, let nothing happen.
// CHECK-LABEL: @idle
// CHECK-NOT: @send
// CHECK-NOT: @none
// CHECK-NOT: @elsewhere
// CHECK: mk.role @push
// CHECK: mk.role @copy
// CHECK: mk.role @work
// CHECK: mk.role @own
mk.kernel @idle on @mesh dims(uniform N) (in %a : !a [8], scratch %b : !a [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %ranks = mk.size
  %gpus = mk.size gpu
  %several = arith.cmpi ne, %ranks, %gpus : index
  %ctas = mk.ctas @work
  %many = arith.cmpi ugt, %ctas, %c8 : index
  mk.role @send ctas(4 beside @work) {
    mk.foreach_peer (%p) along node {
      mk.put %a[%c0][%c8] to %b[%c0] on %p : !a to !a
    }
  }
  mk.role @none ctas(engines) {
    mk.foreach (%i) in (%c0) {
      mk.foreach_peer (%p) along gpu {
        mk.put %a[%c0][%c8] to %b[%c0] on %p : !a to !a
      }
    }
  }
  mk.role @elsewhere ctas(engines) {
    scf.if %several {
      mk.put %a[%c0][%c8] to %b[%c0] on %c0 : !a to !a
    } else {
      scf.if %many {
        mk.put %a[%c0][%c8] to %b[%c0] on %c0 : !a to !a
      }
    }
  }
  mk.role @push ctas(4 beside @work) {
    mk.foreach_peer (%p) along node including self {
      mk.put %a[%c0][%c8] to %b[%c0] on %p : !a to !a
    }
  }
  mk.role @copy ctas(engines) {
    mk.foreach (%i) in (%N) {
      mk.put %a[%c0][%c8] to %b[%c0] on %c0 : !a to !a
    }
  }
  mk.role @work ctas(4) {}
  // Some op asks for it.
  mk.role @own ctas(engines) {}
  %asked = mk.ctas @own
}

// -----

// What is false on one side is false, whichever it is.
mk.mesh @mesh (gpu = 2 via link)
!a = memref<8xf32, #mk.symmetric>

// CHECK-LABEL: mk.kernel @sides
// CHECK-NOT: mk.role @left
// CHECK-NOT: mk.role @right
// CHECK: mk.role @either
mk.kernel @sides on @mesh dims(uniform N) (in %a : !a [8], scratch %b : !a [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %false = arith.constant false
  %some = arith.cmpi sgt, %N, %c8 : index
  %left = arith.andi %false, %some : i1
  %right = arith.andi %some, %false : i1
  %either = arith.ori %false, %some : i1
  mk.role @left ctas(engines) {
    scf.if %left {
      mk.put %a[%c0][%c8] to %b[%c0] on %c0 : !a to !a
    }
  }
  mk.role @right ctas(engines) {
    scf.if %right {
      mk.put %a[%c0][%c8] to %b[%c0] on %c0 : !a to !a
    }
  }
  mk.role @either ctas(engines) {
    scf.if %either {
      mk.put %a[%c0][%c8] to %b[%c0] on %c0 : !a to !a
    }
  }
}
