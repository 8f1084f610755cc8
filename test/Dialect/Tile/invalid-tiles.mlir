// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Loads, stores, and what is computed on tiles.

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has 1 offsets into a buffer of rank 2: give one, in elements, for each dimension}}
  %r = mk.load %m[%n] : memref<?x?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has a tile of rank 3 and a buffer of rank 2: a tile covers the buffer's last dimensions}}
  %r = mk.load %m[%n, %n] : memref<?x?xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has a tile of 'bf16' and a buffer of 'f32': convert the tile with arith}}
  %r = mk.load %m[%n, %n] : memref<?x?xf32> -> tensor<4x4xbf16>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has 1 valid extents for a tile of rank 2: give one for each dimension}}
  %r = mk.load %m[%n, %n] valid(%n) : memref<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{pads a tile of 'f32' with a value of type 'f16'}}
  %r = mk.load %m[%n, %n] valid(%n, %n) pad(%h : f16) : memref<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{result #0 must be tile (a tensor of static shape, or with #mk.extents)}}
  %r = mk.load %m[%n, %n] : memref<?x?xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{'mk.store' op has 1 offsets into a buffer of rank 2}}
  mk.store %t, %m[%n] : tensor<4x8xf32>, memref<?x?xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  %w = mk.select %b, %m, %s : memref<?x?xf32>, memref<?x?xf32, #mk.symmetric> -> memref<?x?xf32>
  // expected-error @+1 {{writes to a buffer chosen by mk.select, which can only be read: write in an scf.if instead}}
  mk.store %t, %w[%n, %n] : tensor<4x8xf32>, memref<?x?xf32>
  return
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  mk.role @x ctas(1) {
    // expected-error @+1 {{writes to argument 'a' of kind in: declare it as inout, out or scratch}}
    mk.store %z, %a[%M] : tensor<4xf32>, memref<?xf32>
  }
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{reduces by max: memory can only be added to; load, combine and store instead}}
  mk.store %t, %m[%n, %n] reduce(max) : tensor<4x8xf32>, memref<?x?xf32>
  return
}

// -----

func.func @f(%n: index, %t: tensor<4xi8>, %m: memref<?xi8>) {
  // expected-error @+1 {{adds to elements of 'i8': floats, i32 and i64 can be added in memory}}
  mk.store %t, %m[%n] reduce(add) : tensor<4xi8>, memref<?xi8>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has signal indices, but no signal}}
  "mk.store"(%t, %m, %n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 2, 0, 0, 0, 1>}> : (tensor<4x8xf32>, memref<?x?xf32>, index, index, index) -> ()
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{is strong, which is said of a signal: add 'signal strong %s[...]'}}
  "mk.store"(%t, %m, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 2, 0, 0, 0, 0>, strong}> : (tensor<4x8xf32>, memref<?x?xf32>, index, index) -> ()
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has 2 indices into a signal of rank 1: give one for each dimension}}
  mk.store %t, %m[%n, %n] signal %sig[%n, %n] : tensor<4x8xf32>, memref<?x?xf32>, !mk.signal<?, sys, arrivals = 1>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{raises a peer's signal of scope gpu, which only its owner raises: declare it as !mk.signal<..., sys, ...>}}
  mk.store %t, %s[%n, %n] on %n signal %local[%n] : tensor<4x8xf32>, memref<?x?xf32, #mk.symmetric>, !mk.signal<?, gpu, arrivals = 1>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{writes to a peer's 'memref<?x?xf32>', but only symmetric memory is the same place there: give the buffer the space #mk.symmetric}}
  mk.store %t, %m[%n, %n] on %n : tensor<4x8xf32>, memref<?x?xf32>
  return
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (out %b : memref<?xf32, #mk.symmetric> [M]) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  mk.prepare {
    // expected-error @+1 {{stands in mk.prepare, which runs before peers are ready and may not communicate: move it into a mk.role}}
    mk.store %z, %b[%M] on %M : tensor<4xf32>, memref<?xf32, #mk.symmetric>
  }
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{chooses between 'memref<?x?xf32>' and 'memref<?x?xf32>' for 'memref<?xf32>': only their memory space may differ}}
  %r = mk.select %b, %m, %m : memref<?x?xf32>, memref<?x?xf32> -> memref<?xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{gives a buffer in the default space, not #mk.symmetric: which space it is depends on the condition}}
  %r = mk.select %b, %s, %s : memref<?x?xf32, #mk.symmetric>, memref<?x?xf32, #mk.symmetric> -> memref<?x?xf32, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{multiplies matrices, got 'tensor<8xf32>', 'tensor<8xf32>' and 'tensor<8xf32>'}}
  %r = mk.dot %v, %v, %v : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{multiplies 'bf16' by 'f32': operands are both bf16, both f16, both f32 or both f8E4M3FN or f8E5M2}}
  %r = mk.dot %x, %t, %acc transpose_b : tensor<4x8xbf16>, tensor<4x8xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has precision tf32, which rounds f32 operands; these are 'bf16': drop it}}
  %r = mk.dot %x, %y, %acc precision = tf32 : tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %y: tensor<8x4xi8>, %acc: tensor<4x4xf32>) {
  // expected-error @+1 {{has an operand 'lhs' of 'i8', but products are of floats: convert it by arith.sitofp (a GPU takes no right operand that is computed: convert that one in memory, by another role)}}
  %r = mk.dot %x, %y, %acc : tensor<4x8xi8>, tensor<8x4xi8>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %y: tensor<8x4xi8>, %acc: tensor<4x4xi32>) {
  // expected-error @+1 {{has an operand 'lhs' of 'i8', but products are of floats: convert it by arith.sitofp}}
  %r = mk.dot %x, %y, %acc : tensor<4x8xi8>, tensor<8x4xi8>, tensor<4x4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %y: tensor<8x4xi8>, %acc: tensor<4x4xf32>) {
  // expected-error @+1 {{has an operand 'rhs' of 'i8', but products are of floats: convert it by arith.sitofp}}
  %r = mk.dot %x, %y, %acc : tensor<4x8xbf16>, tensor<8x4xi8>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xbf16>) {
  // expected-error @+1 {{accumulates in f32, not in 'bf16': convert the result with arith.truncf}}
  %r = mk.dot %x, %y, %acc : tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xbf16>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has 'tensor<4x8xbf16>' by transposed 'tensor<8x4xbf16>': K is 8 on the left and 4 on the right; is transpose_a or transpose_b missing or too much?}}
  %r = mk.dot %x, %y, %acc transpose_b : tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has transposed 'tensor<4x8xbf16>' by 'tensor<8x4xbf16>': K is 4 on the left and 8 on the right; is transpose_a or transpose_b missing or too much?}}
  %r = mk.dot %x, %y, %acc transpose_a : tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{makes 8 x 8 of transposed 'tensor<4x8xbf16>' by transposed 'tensor<8x4xbf16>', but adds it to 'tensor<4x4xf32>'}}
  %r = mk.dot %x, %y, %acc transpose_a transpose_b : tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{reduces along axis 2 of a tile of rank 2: axes count from 0}}
  %r = mk.reduce add %t axis 2 : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{of 'tensor<4x8xf32>' along axis 1 gives 'tensor<4xf32>', not 'tensor<8xf32>'}}
  %r = mk.reduce add %t axis 1 : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{adds dimension 2 of a result of rank 2: dimensions count from 0}}
  %r = mk.broadcast %v dims [2] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{adds dimension 0 twice}}
  %r = mk.broadcast %v dims [0, 0] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{to 'tensor<4x8xf32>' along dims [1] needs a source of 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %r = mk.broadcast %v dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{of 'tensor<8xf32>', which has 1 dimensions: it exchanges the two of a matrix}}
  %r = mk.transpose %v : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{of 'tensor<4x8xf32>' gives 'tensor<8x4xf32>', not 'tensor<4x8xf32>'}}
  %r = mk.transpose %t : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has a set of 1 dimensions for a tile of rank 2: they are the indices of the tile}}
  %r = mk.mask %t where affine_set<(r) : (r >= 0)> else %f : tensor<4x8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has a set of 1 symbols, but gives 0}}
  %r = mk.mask %t where affine_set<(r, c)[d] : (r - d >= 0)> else %f : tensor<4x8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{failed to verify that what replaces elements is of their type}}
  %r = "mk.mask"(%t, %h) <{set = affine_set<(r, c) : (r - c >= 0)>}> : (tensor<4x8xf32>, f16) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %r = mk.mask %f where affine_set<(r) : (r >= 0)> else %f : f32
  return
}

// -----

// expected-error @+1 {{#mk.extents names 1 parameters for a shape with 2 '?': give one for each, in order}}
func.func private @f(tensor<?x?xf32, #mk.extents<TM>>)

// -----

// expected-error @+1 {{#mk.extents names parameters: give one for each '?' of the shape, in order, and none for what is a number}}
func.func private @f(tensor<1x?xf32, #mk.extents<0, TC>>)

// -----

func.func @f(%x: tensor<?x64xbf16, #mk.extents<TM>>, %y: tensor<?x64xbf16, #mk.extents<TN>>, %acc: tensor<?x?xf32, #mk.extents<TN, TM>>) {
  // expected-error @+1 {{makes TM x TN of 'tensor<?x64xbf16, #mk.extents<TM>>' by transposed 'tensor<?x64xbf16, #mk.extents<TN>>', but adds it to 'tensor<?x?xf32, #mk.extents<TN, TM>>'}}
  %r = mk.dot %x, %y, %acc transpose_b : tensor<?x64xbf16, #mk.extents<TM>>, tensor<?x64xbf16, #mk.extents<TN>>, tensor<?x?xf32, #mk.extents<TN, TM>>
  return
}

// -----

func.func @f(%x: tensor<?x?xf32, #mk.extents<TM, TN>>) {
  // expected-error @+1 {{along axis 1 gives 'tensor<?xf32, #mk.extents<TM>>', not 'tensor<?xf32, #mk.extents<TN>>'}}
  %r = mk.reduce max %x axis 1 : tensor<?x?xf32, #mk.extents<TM, TN>> -> tensor<?xf32, #mk.extents<TN>>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'TM' needs one default, a number as in 'mk.param "TM" = 128', or a value: default(%v)}}
  %r = mk.param "TM"
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'TM' has no value to choose from: list some, or leave 'in' out}}
  %r = mk.param "TM" = 128 in []
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'TM' may be -1, but must be at least 0: leave it out}}
  %r = mk.param "TM" = 128 in [128, -1]
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'TM' lists 64 twice}}
  %r = mk.param "TM" = 128 in [64, 128, 64]
  return
}

// -----

func.func @small() {
  // expected-error @+1 {{'TM' is 0, it must be at least 1}}
  %r = mk.param "TM" = 0 least 1
  return
}

// -----

func.func @least() {
  // expected-error @+1 {{'TM' is at least -1, but no parameter is negative: leave 'least' out, or say more}}
  %r = mk.param "TM" = 0 least -1
  return
}

// -----

func.func @text() {
  // expected-error @+1 {{custom op 'mk.param' has a default that is no integer: write a number, as in 'mk.param "TM" = 128', or a value: default(%v)}}
  %r = mk.param "TM" = "128"
  return
}

// -----

func.func @inside(%t : tensor<8x8xf32>, %a : memref<?x?xf32>, %i : index) {
  // expected-error @+1 {{is 'inside', which is about indices in front of the tile's dimensions, but has none: leave it out}}
  mk.store %t, %a[%i, %i] inside : tensor<8x8xf32>, memref<?x?xf32>
  return
}

// -----

func.func @rows_of_three(%n: index, %m: memref<?x?x?xf32>, %list: memref<?xi32>) {
  // expected-error @+1 {{gathers the rows of a tile of rank 3: a list names rows of tiles of two dimensions}}
  %r = mk.load %m[%n, %n, %n] rows(%list[%n] : memref<?xi32>) : memref<?x?x?xf32> -> tensor<4x4x4xf32>
  return
}

// -----

func.func @padded_rows(%n: index, %f: f32, %m: memref<?x?xf32>, %list: memref<?xi32>) {
  // expected-error @+1 {{has a pad, but gathered rows that do not exist are zero: leave it out, and mask the tile}}
  %r = mk.load %m[%n, %n] rows(%list[%n] : memref<?xi32>) pad(%f : f32) : memref<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has unseen [2] for a tile of rank 2: name dimensions of the tile, each once, in ascending order}}
  %r = mk.load %m[%n, %n] unseen [2] : memref<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  // expected-error @+1 {{has unseen [1, 0] for a tile of rank 2: name dimensions of the tile, each once, in ascending order}}
  %r = mk.load %m[%n, %n] unseen [1, 0] : memref<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%n: index, %b: i1, %f: f32, %h: f16, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %t: tensor<4x8xf32>, %v: tensor<8xf32>, %x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>, %acc: tensor<4x4xf32>, %sig: !mk.signal<?, sys, arrivals = 1>, %local: !mk.signal<?, gpu, arrivals = 1>) {
  %back = arith.constant -1 : index
  // expected-error @+1 {{begins at -1 along dimension 0, which is unseen: such a tile begins at 0 or behind it}}
  %r = mk.load %m[%back, %n] unseen [0] : memref<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @spread(%n: index, %m: memref<?xf32>) {
  // expected-error @+1 {{is 'spread', which makes a tile of two dimensions of one row, but its tile has rank 1 or it has 'rows' or 'unseen': leave it out}}
  %r = mk.load %m[%n] spread : memref<?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @iota_axis() {
  // expected-error @+1 {{counts along dimension 2 of a tile of rank 2}}
  %r = mk.iota axis 2 : tensor<8x64xi32>
  return
}

// -----

func.func @iota_type() {
  // expected-error @+1 {{gives numbers of i32 or i64, not of 'f32': convert them (arith.trunci, arith.sitofp)}}
  %r = mk.iota axis 0 : tensor<8x64xf32>
  return
}
