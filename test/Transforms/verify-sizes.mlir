// RUN: mk-opt %s -split-input-file -verify-diagnostics -mk-verify-sizes
// What is known must fit in 64 bits, before anything folds it to what is left.

mk.mesh @mesh (gpu = 2 via link)

mk.kernel @wraps on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %big = arith.constant 4294967296 : index
  %p = mk.param "P" = 2147483648
  %fits = arith.muli %big, %p : index // 2^63: one too many
  // expected-error @-1 {{wraps: 4294967296 * 2147483648 does not fit in 64 bits; bind smaller sizes}}
  mk.role @r ctas(1) {
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)

mk.kernel @items on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %big = arith.constant 4294967296 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{goes over 4294967296 x 4294967296 items, more than fit in 64 bits; bind smaller sizes}}
    mk.foreach (%i, %j) in (%big, %big) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)

// What is not known, or in a branch that may not be taken, or just fits.
mk.kernel @fine on @mesh dims(uniform N) (in %x : memref<?xf32> [N]) {
  %big = arith.constant 4294967296 : index
  %small = arith.constant 2147483647 : index
  %fits = arith.muli %big, %small : index
  %unknown = arith.muli %big, %N : index
  mk.role @r ctas(1) {
    %huge = arith.cmpi sgt, %N, %big : index
    scf.if %huge {
      %wraps = arith.muli %big, %big : index
      mk.foreach (%i) in (%wraps) {
      }
    }
    mk.foreach (%i, %j) in (%big, %small) {
    }
  }
}
