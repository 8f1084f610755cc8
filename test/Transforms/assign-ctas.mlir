// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=10 -verify-diagnostics | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)

// Fixed numbers stay, a share is rounded down, the rest is divided evenly, the first gets the odd one.
// CHECK: mk.role @fixed ctas(1)
// CHECK: mk.role @share ctas(2)
// CHECK: mk.role @first ctas(4)
// CHECK: mk.role @second ctas(3)
mk.kernel @even on @mesh () {
  mk.role @fixed ctas(1) {}
  mk.role @share ctas(share = 0.25) {}
  mk.role @first ctas(rest) {}
  mk.role @second ctas(rest) {}
}

// A minimum is more than the even part, or than the share.
// CHECK: mk.role @share ctas(3)
// CHECK: mk.role @least ctas(5)
// CHECK: mk.role @other ctas(2)
mk.kernel @least on @mesh () {
  mk.role @share ctas(share = 0.1, min = 3) {}
  mk.role @least ctas(rest, min = 5) {}
  mk.role @other ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{roles of kernel 'large' need 11 CTAs on a grid of 10: 'a' 8, 'b' at least 3; give roles fewer CTAs or the kernel a larger grid}}
mk.kernel @large on @mesh () {
  mk.role @a ctas(8) {}
  mk.role @b ctas(rest, min = 3) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)

// One of copy engines takes none either, and is written as before.
// CHECK: mk.role @copy ctas(engines)
// CHECK: mk.role @all ctas(10)
mk.kernel @engines on @mesh () {
  mk.role @copy ctas(engines) {}
  mk.role @all ctas(rest) {}
}

// A role beside another has as many, and takes none.
// CHECK-LABEL: mk.kernel @beside
// CHECK: mk.role @push ctas(8 beside @gemm)
// CHECK: mk.role @first ctas(2)
// CHECK: mk.role @gemm ctas(8)
mk.kernel @beside on @mesh () {
  mk.role @push ctas(beside @gemm) {}
  mk.role @first ctas(2) {}
  mk.role @gemm ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @other_number on @mesh () {
  // expected-error @+1 {{'push' is run by 7 CTAs beside @gemm, which has 10: leave the number out}}
  mk.role @push ctas(7 beside @gemm) {}
  mk.role @gemm ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @many_parts on @mesh dims(uniform M) () {
  mk.role @send ctas(7) {}
  mk.role @gemm ctas(rest) {
    // expected-error @+1 {{has parts = 4: so many CTAs do an item together, but role 'gemm' gets 3 of a grid of 10; use fewer parts or a larger grid}}
    mk.foreach (%i) in (%M) schedule(static, parts = 4) {
    }
  }
}
