// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Puts, signals, counters and queues.

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{copies between buffers that have 1 and 2 dimensions: declare both arguments with as many dimensions, of extent 1 where one has fewer}}
  mk.put %r1[%n][%n] to %s[%n, %n] on %n : memref<?xf32> to memref<?x?xf32, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{has 2 source offsets, 1 sizes and 2 destination offsets for buffers of 2 dimensions: give one for each}}
  mk.put %m[%n, %n][%n] to %s[%n, %n] on %n : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{copies elements of 'f16' to a buffer of 'f32': a put does not convert}}
  mk.put %h[%n, %n][%n, %n] to %s[%n, %n] on %n : memref<?x?xf16> to memref<?x?xf32, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{writes to a peer's 'memref<?x?xf32>', but only symmetric memory is the same place there}}
  mk.put %m[%n, %n][%n, %n] to %m[%n, %n] on %n : memref<?x?xf32> to memref<?x?xf32>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{takes its rows from a tile (of static shape), which needs buffers with rows; got 'tensor<?xi32>' and rank 2}}
  mk.put %m[%n, %n][%n, %n] rows(%rowsd : tensor<?xi32>) to %s[%n, %n] on %n : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{takes its rows from a tile (of static shape), which needs buffers with rows; got 'tensor<4xi32>' and rank 0}}
  mk.put %s0[][] rows(%rows : tensor<4xi32>) to %s0[] on %n : memref<f32, #mk.symmetric> to memref<f32, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{puts 8 rows, but lists only 4}}
  mk.put %m[%n, %n][%c8, %n] rows(%rows : tensor<4xi32>) to %s[%n, %n] on %n : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
  return
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?xf32, #mk.symmetric> [M]) {
  mk.role @x ctas(1) {
    // expected-error @+1 {{writes to argument 'a' of kind in}}
    mk.put %a[%M][%M] to %a[%M] on %M : memref<?xf32, #mk.symmetric> to memref<?xf32, #mk.symmetric>
  }
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.put' op reduces by min: memory can only be added to}}
  mk.put %m[%n, %n][%n, %n] to %s[%n, %n] on %n reduce(min) : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.put' op adds to elements of 'i8'}}
  mk.put %s8[%n][%n] to %s8[%n] on %n reduce(add) : memref<?xi8, #mk.symmetric> to memref<?xi8, #mk.symmetric>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.put' op raises a peer's signal of scope gpu}}
  mk.put %m[%n, %n][%n, %n] to %s[%n, %n] on %n signal %local[%n] : memref<?x?xf32> to memref<?x?xf32, #mk.symmetric>, !mk.signal<?, gpu, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.signal' op has 0 indices into a signal of rank 1: give one for each dimension}}
  mk.signal %sig[] : !mk.signal<?, sys, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{has index 4 in dimension 0 of a signal, which is out of its bounds}}
  mk.signal %sig4[%c4] : !mk.signal<4, sys, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  %minus = arith.constant -1 : index
  // expected-error @+1 {{has index -1 in dimension 0 of a signal}}
  mk.signal %sig[%minus] : !mk.signal<?, sys, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{adds 0, but arrivals only count up: add at least 1}}
  mk.signal %sig[%n] add 0 : !mk.signal<?, sys, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{adds 3 to a signal with 2 arrivals a launch: add less, or change the type}}
  mk.signal %sig[%n] add 3 : !mk.signal<?, sys, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.signal' op raises a peer's signal of scope gpu, which only its owner raises}}
  mk.signal %local[%n] on %n : !mk.signal<?, gpu, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.wait' op has 2 indices into a signal of rank 1}}
  mk.wait %sig[%n, %n] ge %n : !mk.signal<?, sys, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{waits for 3 arrivals, but the signal gets only 2 a launch, so that it never ends: wait for less, or change the type}}
  mk.wait %sig[%n] ge %c3 : !mk.signal<?, sys, arrivals = 2>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.count' op has 0 indices into a counter of rank 1}}
  %o = mk.count %c[] add %n : !mk.counter<?>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>, %u: memref<*xf32>, %h: memref<?x?xf16>, %r1: memref<?xf32>, %s0: memref<f32, #mk.symmetric>, %s8: memref<?xi8, #mk.symmetric>, %rows: tensor<4xi32>, %rowsd: tensor<?xi32>, %sig: !mk.signal<?, sys, arrivals = 2>, %sig4: !mk.signal<4, sys, arrivals = 2>, %local: !mk.signal<?, gpu, arrivals = 2>, %c: !mk.counter<?>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{appends a record of 1 words to a queue of 2}}
  mk.push %q, (%n) : !mk.queue<?x2xi32>
  return
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  // expected-error @+1 {{'mk.signal' op stands beside the roles of a kernel: move it into a mk.role}}
  mk.signal %sig[%M] : !mk.signal<?, gpu, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.prepare {
    // expected-error @+1 {{'mk.signal' op stands in mk.prepare, which runs before peers are ready}}
    mk.signal %sig[%M] : !mk.signal<?, gpu, arrivals = 1>
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  // expected-error @+1 {{'mk.wait' op stands beside the roles of a kernel: move it into a mk.role}}
  mk.wait %sig[%M] ge %M : !mk.signal<?, gpu, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.prepare {
    // expected-error @+1 {{'mk.wait' op stands in mk.prepare, which runs before peers are ready}}
    mk.wait %sig[%M] ge %M : !mk.signal<?, gpu, arrivals = 1>
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  // expected-error @+1 {{'mk.fence' op stands beside the roles of a kernel: move it into a mk.role}}
  mk.fence
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.prepare {
    // expected-error @+1 {{'mk.fence' op stands in mk.prepare, which runs before peers are ready}}
    mk.fence
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  // expected-error @+1 {{'mk.settle' op stands beside the roles of a kernel: move it into a mk.role}}
  mk.settle
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.prepare {
    // expected-error @+1 {{'mk.settle' op stands in mk.prepare, which runs before peers are ready}}
    mk.settle
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  // expected-error @+1 {{'mk.count' op stands beside the roles of a kernel: move it into a mk.role}}
  %o = mk.count %cnt[%M] add %M : !mk.counter<?>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.prepare {
    // expected-error @+1 {{'mk.count' op stands in mk.prepare, which runs before peers are ready}}
    %o = mk.count %cnt[%M] add %M : !mk.counter<?>
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  // expected-error @+1 {{'mk.push' op stands beside the roles of a kernel: move it into a mk.role}}
  mk.push %q, (%M, %M) : !mk.queue<?x2xi32>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %sig = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 1>
  %cnt = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.prepare {
    // expected-error @+1 {{'mk.push' op stands in mk.prepare, which runs before peers are ready}}
    mk.push %q, (%M, %M) : !mk.queue<?x2xi32>
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (scratch %b : memref<?xf32, #mk.symmetric> [M]) {
  // expected-error @+1 {{'mk.put' op stands beside the roles of a kernel}}
  mk.put %b[%M][%M] to %b[%M] on %M : memref<?xf32, #mk.symmetric> to memref<?xf32, #mk.symmetric>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (scratch %b : memref<?xf32, #mk.symmetric> [M]) {
  mk.prepare {
    // expected-error @+1 {{'mk.put' op stands in mk.prepare}}
    mk.put %b[%M][%M] to %b[%M] on %M : memref<?xf32, #mk.symmetric> to memref<?xf32, #mk.symmetric>
  }
}
