// RUN: mk-opt %s -mk-expand-loops | FileCheck %s
// RUN: mk-opt %s -mk-expand-loops | mk-opt | FileCheck %s

// Loops over peers along axes of one kind say of the puts to these peers how they travel.

!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)

// CHECK-LABEL: mk.kernel @kinds
mk.kernel @kinds on @mesh (in %a : !a [8], scratch %b : !a [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  mk.role @r ctas(1) {
    // CHECK: mk.put {{.*}} on %{{[0-9]+}} via link :
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c8] to %b[%c0] on %p : !a to !a
    }
    // CHECK: mk.put {{.*}} on %{{[0-9]+}} via net :
    mk.foreach_peer (%p) along node {
      mk.put %a[%c0][%c8] to %b[%c0] on %p : !a to !a
    }
    // Some of these are in this node.
    // CHECK: mk.put {{.*}} on %{{[0-9]+}} :
    mk.foreach_peer (%p) along node, gpu {
      mk.put %a[%c0][%c8] to %b[%c0] on %p : !a to !a
    }
    // The own rank is no peer across the network.
    // CHECK: mk.put {{.*}} on %{{[0-9]+}} :
    mk.foreach_peer (%p) along node including self {
      mk.put %a[%c0][%c8] to %b[%c0] on %p : !a to !a
    }
    // A put to somebody else.
    // CHECK: mk.put {{.*}} on %{{[0-9]+}} :
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c8] to %b[%c0] on %me : !a to !a
    }
  }
}
