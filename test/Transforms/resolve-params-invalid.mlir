// RUN: mk-opt %s --mk-resolve-params --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.param "TN" = 8
  mk.role @r ctas(1) {
    // expected-error @+1 {{'mk.load' op has a tile of extent 'TM', but the kernel has no such parameter; it has 'TN': add mk.param "TM"}}
    %x = mk.load %a[%c0] : memref<?xf32> -> tensor<?xf32, #mk.extents<TM>>
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.param "TM" default(%M)
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a tile of extent 'TM', whose default is no constant: bind what it depends on, or say --set TM=N}}
    %x = mk.load %a[%c0] : memref<?xf32> -> tensor<?xf32, #mk.extents<TM>>
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.param "TM" = 0
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a tile of extent 'TM', which is 0, it must be at least 1}}
    %x = mk.load %a[%c0] : memref<?xf32> -> tensor<?xf32, #mk.extents<TM>>
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %0 = arith.constant 0.0 : f32
  %tn = mk.param "TN" = 8
  %tm = mk.param "TM" = 4
  // expected-error @+1 {{is given 4 for extent 'TN', which is 8: pass the value of this mk.param}}
  %zero = tensor.splat %0[%tm] : tensor<?xf32, #mk.extents<TN>>
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  mk.param "S" = 9
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a schedule of parts = 'S', which is 9, it must be at most 8}}
    mk.foreach (%i) in (%M) schedule(static, parts = S) {}
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  mk.param "S" = 3
  mk.role @r ctas(1) {
    // expected-error @+1 {{has schedule 'S', which is 3, it must be 0 (static), 1 (ticket) or 2 (stream_k)}}
    mk.foreach (%i) in (%M) schedule(param S) {}
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  mk.param "S" = 2
  mk.role @r ctas(1) {
    // expected-error @+1 {{has schedule stream_k by parameter 'S', but says no tail: write tail = 1}}
    mk.foreach (%i) in (%M) schedule(param S) {}
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  mk.param "P" = 1
  // expected-error @+1 {{'P' is declared twice with different defaults}}
  mk.param "P" = 2
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  mk.param "TEAMS" = 3
  mk.role @r ctas(rest) {
    // expected-error @+1 {{'mk.foreach' op has order alternate = 'TEAMS', which is 3, it must be at most 2}}
    mk.foreach (%i) in (%M) order(alternate = TEAMS) {
    }
  }
}

// -----

// What a parameter is used for decides what it may be.
mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c4 = arith.constant 4 : index
  %group = mk.param "GROUP" = 0
  %rows = arith.muli %group, %c4 : index
  // expected-error @+1 {{divides by 0, since parameter 'GROUP' is 0: it must be at least 1}}
  %groups = arith.ceildivui %M, %rows : index
  mk.role @r ctas(1) {
    mk.foreach (%i) in (%groups) {}
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c2 = arith.constant 2 : index
  %group = mk.param "GROUP" = 0
  %less = arith.subi %group, %c2 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{goes over -2 items in dimension 1: give the parameters or sizes it follows from values that leave at least 0}}
    mk.foreach (%i, %j) in (%M, %less) {}
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'mk.param' op 'PIECE' is 0, it must be at least 1}}
  %piece = mk.param "PIECE" default(%c0) least 1
}

// -----

// A tile whose elements nobody can count.
mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  mk.param "TM" = 4611686018427387904
  mk.param "TN" = 4
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a tile of 4611686018427387904 x 4 elements, more than 2^24: use smaller extents}}
    %x = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{'mk.load' op has a tile of extent 'TM', but the kernel has no such parameter; it has none: add mk.param "TM"}}
    %x = mk.load %a[%c0] : memref<?xf32> -> tensor<?xf32, #mk.extents<TM>>
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %0 = arith.constant 0.0 : f32
  %tn = mk.param "TN" = 8
  // expected-error @+1 {{is given no constant for extent 'TN', which is 8: pass the value of this mk.param}}
  %zero = tensor.splat %0[%M] : tensor<?xf32, #mk.extents<TN>>
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @+1 {{@merge combines tiles of kernels with different parameters; choose a kernel by --kernel, or give each its own function}}
func.func private @merge(%x: tensor<?xf32, #mk.extents<TN>>, %y: tensor<?xf32, #mk.extents<TN>>) -> tensor<?xf32, #mk.extents<TN>> {
  return %x : tensor<?xf32, #mk.extents<TN>>
}
mk.kernel @four on @mesh (in %a : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  mk.param "TN" = 4
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0] : memref<8xf32> -> tensor<?xf32, #mk.extents<TN>>
    %y = mk.fold (%k) in (%c0) iter(%s = %x) combine(@merge) : tensor<?xf32, #mk.extents<TN>> {
      mk.yield %s : tensor<?xf32, #mk.extents<TN>>
    }
  }
}
mk.kernel @eight on @mesh (in %a : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  mk.param "TN" = 8
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0] : memref<8xf32> -> tensor<?xf32, #mk.extents<TN>>
    %y = mk.fold (%k) in (%c0) iter(%s = %x) combine(@merge) : tensor<?xf32, #mk.extents<TN>> {
      mk.yield %s : tensor<?xf32, #mk.extents<TN>>
    }
  }
}

// -----

// Of two parameters that are 0 the one that is to blame is named.
mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %engines = mk.param "ENGINES" = 0
  %piece = mk.param "PIECE" = 0
  %on = arith.cmpi ne, %engines, %c0 : index
  %factor = arith.select %on, %c0, %c1 : index
  %rows = arith.muli %factor, %piece : index
  // expected-error @+1 {{divides by 0, since parameter 'PIECE' is 0: it must be at least 1}}
  %n = arith.divui %M, %rows : index
  mk.role @r ctas(1) {
  }
}

// -----

// Both are to blame: one of them is named.
mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %p = mk.param "P" = 0
  %q = mk.param "Q" = 0
  %rows = arith.muli %p, %q : index
  // expected-error @+1 {{divides by 0, since parameter 'P' is 0: it must be at least 1}}
  %n = arith.divui %M, %rows : index
  mk.role @r ctas(1) {
  }
}
