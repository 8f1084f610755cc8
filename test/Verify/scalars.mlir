// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress="report=true sizes=M=7" -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// Loads and stores of scalars race like those of tiles. What cannot be searched for races is named.

// CHECK: error: 'memref.{{store|load}}' op races: role '{{make|use}}' (rank 0, CTA {{[01]}}) {{loads|stores}} 'n'[3] of rank 0, and role '{{make|use}}' (rank 0, CTA {{[01]}}) {{loads|stores}} it with nothing to order the two
// CHECK: note: the other access
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @unordered on @mesh (scratch %n : memref<8xi32> [8], out %c : memref<8xi32> [8]) {
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i32
  mk.role @make ctas(1) { memref.store %one, %n[%c3] : memref<8xi32> }
  mk.role @use ctas(1) {
    %v = memref.load %n[%c3] : memref<8xi32>
    memref.store %v, %c[%c3] : memref<8xi32>
  }
}

// -----

// Of a tile as well.
// CHECK: error: {{.*}} op races: role '{{make|use}}' (rank 0, CTA {{[01]}}) {{loads|stores}} 'n'[3] of rank 0
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @of_tile on @mesh (scratch %n : memref<8xi32> [8], out %c : memref<8xi32> [8]) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i32
  mk.role @make ctas(1) { memref.store %one, %n[%c3] : memref<8xi32> }
  mk.role @use ctas(1) {
    %v = mk.load %n[%c0] : memref<8xi32> -> tensor<4xi32>
    mk.store %v, %c[%c0] : tensor<4xi32>, memref<8xi32>
  }
}

// -----

// A peer puts what is read.
// CHECK: error: {{.*}} op races: role '{{send|use}}' (rank {{[01]}}, CTA {{[01]}}) {{loads|puts}} 'n'[2] of rank {{[01]}}
!sig = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @put_unseen on @mesh (in %a : memref<8xi32, #mk.symmetric> [8], scratch %n : memref<8xi32, #mk.symmetric> [8], out %c : memref<8xi32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %come = mk.signals() : !sig
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c8] to %n[%c0] on %p signal %come[%c0] : memref<8xi32, #mk.symmetric> to memref<8xi32, #mk.symmetric>, !sig
    }
  }
  mk.role @use ctas(1) {
    %v = memref.load %n[%c2] : memref<8xi32, #mk.symmetric>
    memref.store %v, %c[%c0] : memref<8xi32>
    mk.wait %come[%c0] ge %c1 : !sig
  }
}

// -----

// With a signal between, and another element.
// CHECK: remark: kernel 'ordered' always ends: {{[0-9]+}} events of 3 CTAs{{$}}
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @ordered on @mesh (scratch %n : memref<8xi32> [8], out %c : memref<8xi32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i32
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @make ctas(1) {
    memref.store %one, %n[%c3] : memref<8xi32>
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
  }
  mk.role @beside ctas(1) { memref.store %one, %n[%c1] : memref<8xi32> }
  mk.role @use ctas(1) {
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    %v = memref.load %n[%c3] : memref<8xi32>
    memref.store %v, %c[%c3] : memref<8xi32>
  }
}

// -----

// Nothing orders a store before a load of the same CTA; that is seen without any sizes.
// CHECK: error: 'memref.load' op reads what this CTA stored before, and a store is not ordered before a later load
// CHECK: note: stored here
mk.mesh @mesh (gpu = ? via link)
mk.kernel @own on @mesh dims(uniform N) (scratch %n : memref<?xi32> [N], out %c : memref<?xi32> [N]) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  mk.role @r ctas(1) {
    memref.store %one, %n[%c0] : memref<?xi32>
    %v = memref.load %n[%c0] : memref<?xi32>
    memref.store %v, %c[%c0] : memref<?xi32>
  }
}

// -----

// Places that depend on data: the rest is decided.
// CHECK: remark: kernel 'places' always ends: {{[0-9]+}} events of 2 CTAs; 4 places are not searched for races{{$}}
// CHECK: [[@LINE+19]]:{{[0-9]+}}: note: 'memref.load' is not searched for races: which elements it touches depends on data or on sizes that are not bound
// CHECK: [[@LINE+20]]:{{[0-9]+}}: note: 'mk.store' is not searched for races: which elements it touches depends on data
// CHECK: [[@LINE+20]]:{{[0-9]+}}: note: 'mk.store' is not searched for races: the rank that it names depends on data or on sizes that are not bound
// CHECK: [[@LINE+22]]:{{[0-9]+}}: note: 'mk.load' is not searched for races: which buffer it touches depends on data or on sizes that are not bound
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @places on @mesh (in %d : memref<8xindex> [8], scratch %n : memref<8xi32> [8], scratch %y : memref<8xi32, #mk.symmetric> [8],
                            in %d32 : memref<8xi32> [8], scratch %z : memref<8xi32> [8], out %c : memref<8xi32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = arith.constant dense<1> : tensor<4xi32>
  %one = arith.constant 1 : i32
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %at = memref.load %d[%c0] : memref<8xindex>
    memref.store %one, %n[%c1] : memref<8xi32>
    mk.store %t, %z[%c0] : tensor<4xi32>, memref<8xi32>
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    %v = memref.load %n[%at] : memref<8xi32>
    memref.store %v, %c[%c1] : memref<8xi32>
    mk.store %t, %c[%at] : tensor<4xi32>, memref<8xi32>
    mk.store %t, %y[%c0] on %at : tensor<4xi32>, memref<8xi32, #mk.symmetric>
    %is = arith.cmpi eq, %at, %c0 : index
    %from = mk.select %is, %z, %d32 : memref<8xi32>, memref<8xi32> -> memref<8xi32>
    %l = mk.load %from[%c0] : memref<8xi32> -> tensor<4xi32>
    mk.store %l, %c[%c4] : tensor<4xi32>, memref<8xi32>
  }
}

// -----

// Branches and loops of which data decides are passed over if all they do is load and store.
// CHECK: remark: kernel 'branches' always ends: {{[0-9]+}} events of 1 CTAs; 3 places are not searched for races{{$}}
// CHECK: note: what 'scf.if' holds is not searched for races: it is taken or not as data says
// CHECK: note: what 'scf.for' holds is not searched for races: it has bounds that depend on data
// CHECK: note: what 'scf.while' holds is not searched for races: it loops until a condition that depends on data
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @branches on @mesh (in %d : memref<8xindex> [8], scratch %n : memref<8xindex> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %at = memref.load %d[%c0] : memref<8xindex>
    %is = arith.cmpi eq, %at, %c0 : index
    scf.if %is { memref.store %at, %n[%c1] : memref<8xindex> }
    scf.for %i = %c0 to %at step %c1 { memref.store %at, %n[%c1] : memref<8xindex> }
    %w = scf.while (%x = %at) : (index) -> index {
      %more = arith.cmpi sgt, %x, %c0 : index
      memref.store %x, %n[%c1] : memref<8xindex>
      scf.condition(%more) %x : index
    } do {
    ^bb0(%x: index):
      %next = arith.subi %x, %c1 : index
      scf.yield %next : index
    }
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
  }
}

// -----

// Not if others notice more of it.
// CHECK: remark: progress of kernel 'signals' is not decided: 'scf.if' is taken or not as data says; 1 place is not searched for races{{$}}
// CHECK: note: 'memref.store' is not searched for races
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @signals on @mesh (in %d : memref<8xindex> [8], scratch %n : memref<8xindex> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %at = memref.load %d[%c0] : memref<8xindex>
    memref.store %at, %n[%at] : memref<8xindex>
    %is = arith.cmpi eq, %at, %c0 : index
    scf.if %is { mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1> }
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
  }
}

// -----

// CHECK: remark: progress of kernel 'waits' is not decided: 'mk.wait' its count depends on data or on sizes that are not bound
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @waits on @mesh (in %d : memref<8xindex> [8]) {
  %c0 = arith.constant 0 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %n = memref.load %d[%c0] : memref<8xindex>
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %n : !mk.signal<1, gpu, arrivals = 1>
  }
}

// -----

// CHECK: remark: progress of kernel 'raises' is not decided: 'mk.signal' an index depends on data or on sizes that are not bound
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @raises on @mesh (in %d : memref<8xindex> [8]) {
  %c0 = arith.constant 0 : index
  %s = mk.signals() : !mk.signal<8, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %n = memref.load %d[%c0] : memref<8xindex>
    mk.signal %s[%n] : !mk.signal<8, gpu, arrivals = 1>
  }
}

// -----

// CHECK: remark: progress of kernel 'counts' is not decided: 'mk.count' its amount depends on data or on sizes that are not bound
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @counts on @mesh (in %d : memref<8xindex> [8]) {
  %c0 = arith.constant 0 : index
  %s = mk.counters() : !mk.counter<1>
  mk.role @r ctas(1) {
    %n = memref.load %d[%c0] : memref<8xindex>
    %before = mk.count %s[%c0] add %n : !mk.counter<1>
  }
}

// -----

// CHECK: remark: progress of kernel 'pushes' is not decided: 'mk.push' a word of the record depends on data or on sizes that are not bound
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @pushes on @mesh (in %d : memref<8xindex> [8], out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<1xf32>
  %q = mk.queue(%c1) : !mk.queue<?x1xi32>
  mk.role @make ctas(1) {
    %n = memref.load %d[%c0] : memref<8xindex>
    mk.push %q, (%n) : !mk.queue<?x1xi32>
  }
  mk.role @use ctas(1) {
    mk.foreach_item (%i) of %q count(%c1) : !mk.queue<?x1xi32> { mk.store %t, %c[%i] : tensor<1xf32>, memref<8xf32> }
  }
}

// -----

// More dimensions than are followed.
// CHECK: remark: kernel 'nine' always ends: {{[0-9]+}} events of 1 CTAs; 1 place is not searched for races{{$}}
// CHECK: note: 'memref.store' is not searched for races: its buffer has more than 8 dimensions
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nine on @mesh (scratch %x : memref<1x1x1x1x1x1x1x1x8xf32> [1, 1, 1, 1, 1, 1, 1, 1, 8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    memref.store %one, %x[%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0, %c1] : memref<1x1x1x1x1x1x1x1x8xf32>
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
  }
}

// -----

// CHECK: remark: progress of kernel 'no_extent' is not decided: 'mk.signal' uses an array whose extents have no value, as that of a division by zero
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @no_extent on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.divui %c1, %c0 : index
  %s = mk.signals(%n) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @a ctas(1) {
    mk.signal %s[%c0] : !mk.signal<?, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
  }
}

// -----

// Which rows are read stands in a list: what is written to is not searched, the list itself is.
// CHECK: remark: kernel 'listed' always ends: {{[0-9]+}} events of 1 CTAs; 1 place is not searched for races{{$}}
// CHECK: note: 'mk.load' is not searched for races: which rows it reads is listed in memory
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @listed on @mesh (scratch %y : memref<8x8xf32> [8, 8], in %list : memref<8xi32> [8], out %c : memref<8x8xf32> [8, 8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8x8xf32>
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    mk.store %t, %y[%c0, %c0] : tensor<8x8xf32>, memref<8x8xf32>
    mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
    mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    %g = mk.load %y[%c0, %c0] rows(%list[%c0] : memref<8xi32>) : memref<8x8xf32> -> tensor<8x8xf32>
    mk.store %g, %c[%c0, %c0] : tensor<8x8xf32>, memref<8x8xf32>
  }
}
