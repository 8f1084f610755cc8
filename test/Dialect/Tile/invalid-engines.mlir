// What roles of copy engines may not do.
// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @then on @mesh () {
  // expected-error @+1 {{'copy' is of copy engines, which cannot go on with @work: drop 'then'}}
  mk.role @copy ctas(engines) then @work {}
  mk.role @work ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @helped on @mesh () {
  // expected-error @+1 {{'work' goes on with @copy, which copy engines carry out: drop 'then'}}
  mk.role @work ctas(rest) then @copy {}
  mk.role @copy ctas(engines) {}
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @beside on @mesh () {
  mk.role @copy ctas(engines) {}
  // expected-error @+1 {{'work' is run beside @copy, which copy engines carry out: name a role that has CTAs}}
  mk.role @work ctas(beside @copy) {}
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @prepares on @mesh () {
  mk.prepare {}
  // expected-error @+1 {{'copy' is of copy engines, which begin with the launch, but kernel @prepares has mk.prepare, which comes before: give the role CTAs}}
  mk.role @copy ctas(engines) {}
  mk.role @work ctas(rest) {}
}

// -----

!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @adds on @mesh (in %a : !a [8], out %c : !a [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @copy ctas(engines) {
    mk.foreach_peer (%p) along gpu {
      // expected-error @+1 {{stands in role 'copy', which copy engines carry out: they do not add; give the role CTAs}}
      mk.put %a[%c0][%c8] to %c[%c0] on %p reduce(add) : !a to !a
    }
  }
  mk.role @work ctas(rest) {}
}

// -----

!a = memref<8xf32, #mk.symmetric>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @listed on @mesh (in %a : !a [8], out %c : !a [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %list = arith.constant dense<1> : tensor<8xi32>
  mk.role @copy ctas(engines) {
    mk.foreach_peer (%p) along gpu {
      // expected-error @+1 {{they cannot read the list of rows; give the role CTAs}}
      mk.put %a[%c0][%c8] rows(%list : tensor<8xi32>) to %c[%c0] on %p : !a to !a
    }
  }
  mk.role @work ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @draws on @mesh () {
  %c8 = arith.constant 8 : index
  mk.role @copy ctas(engines) {
    // expected-error @+1 {{there are no tickets; drop 'schedule'}}
    mk.foreach (%i) in (%c8) schedule(ticket) {
    }
  }
  mk.role @work ctas(rest) {}
}

// -----

!s = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @waits on @mesh () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !s
  mk.role @copy ctas(engines) {
    // expected-error @+1 {{they do nothing but puts, whose places follow from sizes and ranks; give the role CTAs}}
    mk.wait %s[%c0] ge %c1 : !s
  }
  mk.role @work ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @reads on @mesh (in %n : memref<8xindex> [8]) {
  %c0 = arith.constant 0 : index
  mk.role @copy ctas(engines) {
    // expected-error @+1 {{they do nothing but puts, whose places follow from sizes and ranks; give the role CTAs}}
    %i = memref.load %n[%c0] : memref<8xindex>
  }
  mk.role @work ctas(rest) {}
}
