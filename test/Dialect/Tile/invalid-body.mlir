// RUN: mk-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// What a kernel may hold, and what to write instead of the rest.

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.subview' op cannot stand in a kernel: it makes a view of a buffer, and accesses are not followed through views; use the argument itself, with offsets, or declare it with the shape that is needed}}
    %v = memref.subview %b[%c1, 0] [%c1, 4] [1, 1] : memref<?x?xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.cast' op cannot stand in a kernel: it makes a view}}
    %v = memref.cast %b : memref<?x?xf32> to memref<?x4xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.collapse_shape' op cannot stand in a kernel: it makes a view}}
    %v = memref.collapse_shape %b [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.expand_shape' op cannot stand in a kernel: it makes a view}}
    %v = memref.expand_shape %n [[0, 1]] output_shape [%c1, %M] : memref<?xi32> into memref<?x?xi32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.reinterpret_cast' op cannot stand in a kernel: it makes a view}}
    %v = memref.reinterpret_cast %b to offset: [0], sizes: [4], strides: [1] : memref<?x?xf32> to memref<4xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.copy' op cannot stand in a kernel: it moves memory as a whole, which is not followed; use mk.load and mk.store of tiles, or mk.put}}
    memref.copy %a, %b : memref<?x?xf32> to memref<?x?xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'linalg.copy' op cannot stand in a kernel: it moves memory as a whole}}
    linalg.copy ins(%a : memref<?x?xf32>) outs(%b : memref<?x?xf32>)
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'memref.alloc' op cannot stand in a kernel: it holds memory of its own; declare a scratch argument, or carry tiles and scalars through loops}}
  %v = memref.alloc() : memref<4xf32>
  mk.role @x ctas(1) {
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.alloc' op cannot stand in a kernel: it holds memory of its own; declare a scratch argument, or carry tiles and scalars through loops}}
    %v = memref.alloc() : memref<4xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    %one = arith.constant 1 : i32
    // expected-error @+1 {{'memref.atomic_rmw' op cannot stand in a kernel: other CTAs may touch the same memory at the same time only by ops of mk; use mk.count, or mk.store and mk.put with reduce(add)}}
    %v = memref.atomic_rmw addi %one, %n[%c0] : (i32, memref<?xi32>) -> i32
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'memref.prefetch' op cannot stand in a kernel: of the ops of memref only load, store and dim are followed; use these, or mk.load, mk.store and mk.put}}
    memref.prefetch %n[%c0], read, locality<1>, data : memref<?xi32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'affine.load' op cannot stand in a kernel: its access is not followed; use memref.load and memref.store}}
    %v = affine.load %n[0] : memref<?xi32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'vector.load' op cannot stand in a kernel: vectors are the business of the target; use tiles: mk.load, mk.store, and arith and math on tensors}}
    %v = vector.load %n[%c0] : memref<?xi32>, vector<4xi32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'affine.for' op cannot stand in a kernel: what its region does is not followed; use scf.for}}
    affine.for %i = 0 to 4 {
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'scf.index_switch' op cannot stand in a kernel: what its region does is not followed; use scf.if}}
    scf.index_switch %M
    default {
      scf.yield
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'scf.execute_region' op cannot stand in a kernel: what its region does is not followed; write its ops in its place}}
    scf.execute_region {
      scf.yield
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'scf.parallel' op cannot stand in a kernel: what its region does is not followed; use mk.foreach, whose items the CTAs of a role share, or scf.for}}
    scf.parallel (%i) = (%c0) to (%M) step (%c1) {
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'scf.forall' op cannot stand in a kernel: what its region does is not followed; use mk.foreach}}
    scf.forall (%i) in (%M) {
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'index.add' op cannot stand in a kernel: indices are computed by arith; use arith on index values}}
    %v = index.add %c0, %c1
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'affine.apply' op cannot stand in a kernel: indices are computed by arith}}
    %v = affine.apply affine_map<() -> (4)>()
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    %0 = arith.constant 0.0 : f32
    %t = arith.constant dense<1.0> : tensor<4xf32>
    // expected-error @+1 {{'linalg.fill' op cannot stand in a kernel: not every target has a lowering for it; use mk.dot, mk.reduce, mk.broadcast, mk.mask, and arith and math on tiles}}
    %v = linalg.fill ins(%0 : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'tensor.empty' op cannot stand in a kernel: not every target has a lowering for it}}
    %v = tensor.empty() : tensor<4xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    %true = arith.constant true
    // expected-error @+1 {{'cf.assert' op cannot stand in a kernel: it is no op of the tile level; use ops of mk, arith, math and scf}}
    cf.assert %true, "never"
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'llvm.inline_asm' op cannot stand in a kernel: it is no op of the tile level}}
    llvm.inline_asm "nop", "" : () -> ()
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'test.unknown' op cannot stand in a kernel: nobody knows what it does; use ops of mk, arith, math and scf}}
    "test.unknown"() : () -> ()
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    %is = arith.cmpi eq, %c0, %M : index
    // expected-error @+1 {{'arith.select' op gives a buffer ('memref<?x?xf32>'), and accesses are not followed through it: a buffer is an argument of the kernel, or chosen between two by mk.select}}
    %v = arith.select %is, %a, %b : memref<?x?xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    %is = arith.cmpi eq, %c0, %M : index
    // expected-error @+1 {{'scf.if' op gives a buffer ('memref<?x?xf32>')}}
    %v = scf.if %is -> (memref<?x?xf32>) {
      scf.yield %a : memref<?x?xf32>
    } else {
      scf.yield %b : memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'scf.for' op gives a buffer}}
    %v = scf.for %i = %c0 to %M step %c1 iter_args(%x = %a) -> (memref<?x?xf32>) {
      scf.yield %b : memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'scf.while' op gives a buffer}}
    scf.while (%x = %a) : (memref<?x?xf32>) -> () {
      %more = arith.constant false
      scf.condition(%more)
    } do {
      scf.yield %b : memref<?x?xf32>
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  %t = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @x ctas(1) {
    %is = arith.cmpi eq, %c0, %M : index
    // expected-error @+1 {{'arith.select' op gives a '!mk.signal<1, gpu, arrivals = 1>': name the declared one where it is used, in the branches of an scf.if if it is one of several}}
    %u = arith.select %is, %s, %t : !mk.signal<1, gpu, arrivals = 1>
    mk.signal %u[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'arith.constant' op works on a 'vector<4xf32>': the values of a kernel are index, integers, floats and tiles (tensors of static shape, or with #mk.extents)}}
    %v = arith.constant dense<0.0> : vector<4xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    // expected-error @+1 {{'scf.for' op cannot compare unsigned in a kernel: use signed bounds}}
    scf.for unsigned %i = %c0 to %M step %c1 {
    }
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    %0 = arith.constant 0.0 : f32
    // expected-error @+1 {{'memref.store' op writes to argument 'a' of kind in: declare it as inout, out or scratch}}
    memref.store %0, %a[%c0, %c0] : memref<?x?xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @x ctas(1) {
    %0 = arith.constant 0.0 : f32
    %is = arith.cmpi eq, %c0, %M : index
    %v = mk.select %is, %b, %b : memref<?x?xf32>, memref<?x?xf32> -> memref<?x?xf32>
    // expected-error @+1 {{'memref.store' op writes to a buffer chosen by mk.select, which can only be read: write in an scf.if instead}}
    memref.store %0, %v[%c0, %c0] : memref<?x?xf32>
  }
}

// -----

mk.mesh @m (gpu = ? via link)

// Beside roles too.
mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4]) {
  // expected-error @+1 {{'memref.cast' op cannot stand in a kernel}}
  %v = memref.cast %a : memref<?x?xf32> to memref<?x4xf32>
}

// -----

mk.mesh @m (gpu = ? via link)

// What may stand.
mk.kernel @k on @m dims(uniform M) (in %a : memref<?x?xf32> [M, 4], scratch %b : memref<?x?xf32, #mk.symmetric> [M, 4], scratch %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %a, %c0 : memref<?x?xf32>
  mk.role @x ctas(1) {
    %is = arith.cmpi eq, %rows, %M : index
    %v = mk.select %is, %a, %b : memref<?x?xf32>, memref<?x?xf32, #mk.symmetric> -> memref<?x?xf32>
    %x = scf.for %i = %c0 to %M step %c1 iter_args(%s = %c0) -> (index) {
      %e = memref.load %v[%i, %c0] : memref<?x?xf32>
      %t = tensor.splat %e : tensor<4xf32>
      %u = math.exp %t : tensor<4xf32>
      %f = tensor.extract %u[%c0] : tensor<4xf32>
      %g = arith.fptosi %f : f32 to i32
      memref.store %g, %n[%i] : memref<?xi32>
      %y = scf.if %is -> (index) {
        scf.yield %c0 : index
      } else {
        scf.yield %s : index
      }
      scf.yield %y : index
    }
    %z = scf.while (%w = %x) : (index) -> index {
      %more = arith.cmpi slt, %w, %M : index
      scf.condition(%more) %w : index
    } do {
    ^bb0(%w: index):
      %next = arith.addi %w, %c1 : index
      scf.yield %next : index
    }
  }
}

// A function may hold anything as long as no kernel calls it.
func.func @other(%a: memref<?x?xf32>) -> memref<?x4xf32> {
  %v = memref.cast %a : memref<?x?xf32> to memref<?x4xf32>
  return %v : memref<?x4xf32>
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @standing on @mesh dims(uniform M) (inout %y : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{'scf.for' op has a step of 0; it has to be 1 or more}}
    scf.for %i = %c0 to %M step %c0 {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @wide on @mesh dims(uniform M) (in %x : memref<?xf32> [M], inout %y : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0] : memref<?xf32> -> tensor<8xf32>
    // expected-error @+1 {{'arith.fptosi' op computes with 'i128'; integers have 64 bits or less}}
    %i = arith.fptosi %t : tensor<8xf32> to tensor<8xi128>
    %f = arith.sitofp %i : tensor<8xi128> to tensor<8xf32>
    mk.store %f, %y[%c0] : tensor<8xf32>, memref<?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @narrow on @mesh dims(uniform M) (in %x : memref<?xf32> [M], inout %y : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0] : memref<?xf32> -> tensor<8xf32>
    // expected-error @+1 {{'arith.truncf' op computes with 'f4E2M1FN', which no target does: the smallest floats have 8 bits}}
    %i = arith.truncf %t : tensor<8xf32> to tensor<8xf4E2M1FN>
    %f = arith.extf %i : tensor<8xf4E2M1FN> to tensor<8xf32>
    mk.store %f, %y[%c0] : tensor<8xf32>, memref<?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @clamped on @mesh dims(uniform M) (in %x : memref<?xf32> [M], inout %y : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0] : memref<?xf32> -> tensor<8xf32>
    // expected-error @+1 {{'math.clampf' op cannot stand in a kernel: no target has a lowering for it; use arith.maximumf and arith.minimumf}}
    %f = math.clampf %t to [%t, %t] : tensor<8xf32>
    mk.store %f, %y[%c0] : tensor<8xf32>, memref<?xf32>
  }
}
