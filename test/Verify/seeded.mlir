// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// Kernels with one mistake each.

// No role raises what is waited for.
// CHECK: seeded.mlir:[[#@LINE+9]]:{{[0-9]+}}: error: 'mk.wait' op never returns: no put, store or signal of the kernel raises signal 's'; raise it where what is waited for is done
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @no_signal on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %x : memref<8xf32, #mk.symmetric> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @send ctas(1) { mk.foreach_peer (%p) along gpu { mk.put %a[%c0][%c8] to %x[%c0] on %p : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric> } }
  mk.role @use ctas(1) {
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
  }
}

// -----

// The load does not wait for the put.
// CHECK: seeded.mlir:[[#@LINE+16]]:{{[0-9]+}}: error: 'mk.load' op races: role 'use' (rank {{[01]}}, CTA 1) loads 'x'[0:8] of rank {{[01]}}, and role 'send' (rank {{[01]}}, CTA 0) puts it with nothing to order the two; role 'use' does not wait for signal 's', which the write raises: wait for it before the read
// CHECK: seeded.mlir:[[#@LINE+10]]:{{[0-9]+}}: note: the other access
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @no_wait on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %x : memref<8xf32, #mk.symmetric> [8],
                             out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c8] to %x[%c0] on %p signal %s[%c0] : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
    }
  }
  mk.role @use ctas(1) {
    mk.foreach (%i) in (%c1) {
      %t = mk.load %x[%c0] : memref<8xf32, #mk.symmetric> -> tensor<8xf32>
      mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32>
    }
  }
}

// -----

// A wait for more arrivals than are made: three other ranks raise it.
// CHECK: seeded.mlir:[[#@LINE+14]]:{{[0-9]+}}: error: 'mk.wait' op never returns in role 'use' (rank 0, CTA 1): signal 's'[0] needs 4 arrivals, saw 3, and gets no more than 3; raise it for what is waited for
// CHECK: note: what would be raised if no wait held anybody up: signal 's'[0] of rank 0 (3),
// CHECK: seeded.mlir:[[#@LINE+8]]:{{[0-9]+}}: note: role 'tell' raises it here
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @wrong_count on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 4>
  mk.role @tell ctas(1) { mk.foreach_peer (%p) along node, gpu {
      mk.signal %s[%c0] on %p : !mk.signal<?, sys, arrivals = 4>
    }
  }
  mk.role @use ctas(1) {
    mk.wait %s[%c0] ge %c4 : !mk.signal<?, sys, arrivals = 4>
  }
}

// -----

// Everything ends, but the next launch would wait for the wrong value.
// CHECK: error: 'mk.signals' op signal 's'[0] of rank 0 gets 2 arrivals in a launch, and is declared with 1: the next launch would wait for the wrong value; correct the number, or declare it dynamic
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @wrong_arrivals on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @tell ctas(1) {
    mk.foreach_peer (%p) along gpu including self { mk.signal %s[%c0] on %p : !mk.signal<?, sys, arrivals = 1> }
  }
  mk.role @use ctas(1) { mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1> }
}

// -----

// Two roles, each of which first waits for the other.
// CHECK: error: 'mk.wait' op never returns in role 'a' (rank 0, CTA 0): signal 's'[0] needs 1 arrival, saw 0, and who would raise it waits as well; let each item wait only for what comes earlier
// CHECK: note: signal 's'[0] would be raised here by role 'b' (rank 1, CTA 1)
// CHECK: note: which waits before that for signal 't'[0]: needs 1 arrival, saw 0
// CHECK: note: signal 't'[0] would be raised here by role 'a' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @circle on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  %t = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @a ctas(1) {
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    mk.foreach_peer (%p) along gpu { mk.signal %t[%c0] on %p : !mk.signal<?, sys, arrivals = 1> }
  }
  mk.role @b ctas(1) {
    mk.wait %t[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    mk.foreach_peer (%p) along gpu { mk.signal %s[%c0] on %p : !mk.signal<?, sys, arrivals = 1> }
  }
}

// -----

// An item waits for a later one of the same CTA: with 2 CTAs, item 0 for item 2.
// CHECK: error: 'mk.wait' op never returns in role 'a' (rank 0, CTA 0): signal 's'[2] needs 1 arrival, saw 0, and who would raise it waits as well
// CHECK: note: signal 's'[2] would be raised here by role 'a' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @later_item on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %s = mk.signals(%c4) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c4) {
      %j = arith.addi %i, %c2 : index
      %some = arith.cmpi ult, %j, %c4 : index
      scf.if %some { mk.wait %s[%j] ge %c1 : !mk.signal<?, gpu, arrivals = 1> }
      mk.signal %s[%i] : !mk.signal<?, gpu, arrivals = 1>
    }
  }
}

// -----

// Two CTAs wait for each other's second item in their first.
// CHECK: error: 'mk.wait' op never returns in role 'a' (rank 0, CTA 0): signal 's'[3] needs 1 arrival, saw 0, and who would raise it waits as well
// CHECK: note: signal 's'[3] would be raised here by role 'a' (rank 0, CTA 1)
// CHECK: note: which waits before that for signal 's'[2]: needs 1 arrival, saw 0
// CHECK: note: signal 's'[2] would be raised here by role 'a' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @each_other on @mesh (out %c : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %s = mk.signals(%c4) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c4) {
      %first = arith.cmpi ult, %i, %c2 : index
      scf.if %first {
        %j = arith.subi %c3, %i : index
        mk.wait %s[%j] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
      }
      mk.signal %s[%i] : !mk.signal<?, gpu, arrivals = 1>
    }
  }
}

// -----

// The same by tickets: with one CTA more it would end.
// CHECK: error: 'mk.wait' op never returns in role 'a' (rank 0, CTA {{[01]}}): signal 's'[2] needs 1 arrival, saw 0, and who would raise it waits as well
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @few_ctas on @mesh (out %c : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = mk.signals(%c3) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c3) schedule(ticket) {
      %first = arith.cmpi ult, %i, %c2 : index
      scf.if %first { mk.wait %s[%c2] ge %c1 : !mk.signal<?, gpu, arrivals = 1> }
      mk.signal %s[%i] : !mk.signal<?, gpu, arrivals = 1>
    }
  }
}

// -----

// A ring of two slots whose credits come back only with the third block.
// CHECK: error: 'mk.wait' op never returns in role 'send' (rank 0, CTA 0): signal 'free'[0] needs 1 arrival, saw 0, and who would raise it waits as well; {{.*}}or give rings and roles more slots or CTAs
// CHECK: note: signal 'free'[0] would be raised here by role 'use' (rank 1, CTA 1)
// CHECK: note: which waits before that for signal 'full'[2]: needs 1 arrival, saw 0
// CHECK: note: signal 'full'[2] would be raised here by role 'send' (rank 0, CTA 0)
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @few_slots on @mesh (in %a : memref<32xf32, #mk.symmetric> [32], scratch %ring : memref<16xf32, #mk.symmetric> [16],
                               out %c : memref<32xf32> [32]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %full = mk.signals(%c4) : !mk.signal<?, sys, arrivals = 1>
  %free = mk.signals(%c4) : !mk.signal<?, sys, arrivals = 1>
  mk.role @send ctas(1) {
    scf.for %i = %c0 to %c4 step %c1 {
      %again = arith.cmpi uge, %i, %c2 : index
      scf.if %again {
        %old = arith.subi %i, %c2 : index
        mk.wait %free[%old] ge %c1 : !mk.signal<?, sys, arrivals = 1>
      }
      %from = arith.muli %i, %c8 : index
      %slot = arith.remui %i, %c2 : index
      %to = arith.muli %slot, %c8 : index
      mk.foreach_peer (%p) along gpu {
        mk.put %a[%from][%c8] to %ring[%to] on %p signal %full[%i] : memref<32xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
      }
    }
  }
  mk.role @use ctas(1) {
    scf.for %i = %c0 to %c4 step %c1 {
      mk.wait %full[%i] ge %c1 : !mk.signal<?, sys, arrivals = 1>
      %late = arith.cmpi uge, %i, %c2 : index
      scf.if %late {
        %old = arith.subi %i, %c2 : index
        mk.foreach_peer (%p) along gpu { mk.signal %free[%old] on %p : !mk.signal<?, sys, arrivals = 1> }
      }
    }
  }
}

// -----

// The source of a put is written again before the put has read it.
// CHECK: error: 'mk.store' op races: role 'send' (rank 0, CTA 0) stores 'x'[0:8] of rank 0, and role 'send' (rank 0, CTA 0) takes a put's source from it with nothing to order the two; settle (mk.settle) before the source of a put is written again
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @no_settle on @mesh (scratch %x : memref<8xf32, #mk.symmetric> [8], scratch %y : memref<16xf32, #mk.symmetric> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %s = mk.signals(%c2) : !mk.signal<?, sys, arrivals = 1>
  mk.role @send ctas(1) {
    scf.for %i = %c0 to %c2 step %c1 {
      mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32, #mk.symmetric>
      %to = arith.muli %i, %c8 : index
      mk.foreach_peer (%p) along gpu {
        mk.put %x[%c0][%c8] to %y[%to] on %p signal %s[%i] : memref<8xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
      }
    }
  }
}

// -----

// The signal is raised before what it should cover is stored.
// CHECK: error: 'mk.{{load|store}}' op races: role '{{make|use}}' (rank 0, CTA {{[01]}}) {{loads|stores}} 'x'[0:8] of rank 0, and role '{{make|use}}' (rank 0, CTA {{[01]}}) {{loads|stores}} it with nothing to order the two
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @early_signal on @mesh (scratch %x : memref<8xf32> [8], out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %s = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @make ctas(1) {
    mk.signal %s[%c0] : !mk.signal<?, gpu, arrivals = 1>
    mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32>
  }
  mk.role @use ctas(1) {
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
    %l = mk.load %x[%c0] : memref<8xf32> -> tensor<8xf32>
    mk.store %l, %c[%c0] : tensor<8xf32>, memref<8xf32>
  }
}

// -----

// The put's signal is an element of the receiver, not of the sender.
// CHECK: error: 'mk.wait' op never returns in role 'use' (rank 0, CTA 1): signal 's'[1] needs 1 arrival, saw 0, and nobody raises it; raise it for what is waited for, on the rank that waits
// CHECK: note: what would be raised if no wait held anybody up: signal 's'[0] of rank 0 (1), signal 's'[1] of rank 1 (1)
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @wrong_signal on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %x : memref<16xf32, #mk.symmetric> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %at = arith.muli %me, %c8 : index
  %s = mk.signals(%c2) : !mk.signal<?, sys, arrivals = 1>
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c8] to %x[%at] on %p signal %s[%p] : memref<8xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
    }
  }
  mk.role @use ctas(1) {
    mk.foreach_peer (%q) along gpu { mk.wait %s[%q] ge %c1 : !mk.signal<?, sys, arrivals = 1> }
  }
}

// -----

// The loop of the one that signals ends an item early.
// CHECK: error: 'mk.wait' op never returns in role 'use' (rank 0, CTA 1): signal 's'[3] needs 1 arrival, saw 0, and nobody raises it
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fewer_times on @mesh (out %c : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %s = mk.signals(%c4) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @make ctas(1) { mk.foreach (%i) in (%c3) { mk.signal %s[%i] : !mk.signal<?, gpu, arrivals = 1> } }
  mk.role @use ctas(1) { mk.foreach (%i) in (%c4) { mk.wait %s[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1> } }
}

// -----

// A load behind a store of the same CTA, one item later.
// CHECK: error: 'mk.load' op races: role 'a' (rank 0, CTA 0) loads 'x'[0:8] of rank 0, and role 'a' (rank 0, CTA 0) stores it with nothing to order the two; a store is not ordered before a later load of the same CTA: signal behind the store and wait before the load
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @load_behind_store on @mesh (inout %x : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(1) {
    mk.foreach (%i) in (%c1) { mk.store %t, %x[%c0] : tensor<8xf32>, memref<16xf32> }
    mk.foreach (%i) in (%c1) {
      %l = mk.load %x[%c0] : memref<16xf32> -> tensor<8xf32>
      mk.store %l, %x[%c8] : tensor<8xf32>, memref<16xf32>
    }
  }
}

// -----

// The same in one block needs no sizes.
// CHECK: error: 'mk.load' op reads what this CTA stored before, and a store is not ordered before a later load: signal behind the store and wait before the load, or use the tile itself
mk.mesh @mesh (gpu = ? via link)
mk.kernel @same_block on @mesh dims(uniform M) (inout %x : memref<?xf32> [M]) {
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(1) {
    mk.foreach (%i) in (%M) {
      mk.store %t, %x[%i] : tensor<8xf32>, memref<?xf32>
      %l = mk.load %x[%i] : memref<?xf32> -> tensor<8xf32>
      %at = arith.addi %i, %c8 : index
      mk.store %l, %x[%at] : tensor<8xf32>, memref<?xf32>
    }
  }
}

// -----

// The signal of the second put does not cover the first.
// CHECK: error: 'mk.load' op races: role 'use' (rank {{[01]}}, CTA 1) loads 'x'[0:8] of rank {{[01]}}, and role 'send' (rank {{[01]}}, CTA 0) puts it with nothing to order the two; {{.*}}(a signal covers its own put alone, a strong one all earlier)
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @weak on @mesh (in %a : memref<16xf32, #mk.symmetric> [16], scratch %x : memref<16xf32, #mk.symmetric> [16],
                          out %c : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c8] to %x[%c0] on %p : memref<16xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>
      mk.put %a[%c8][%c8] to %x[%c8] on %p signal %s[%c0] : memref<16xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
    }
  }
  mk.role @use ctas(1) {
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    %t = mk.load %x[%c0] : memref<16xf32, #mk.symmetric> -> tensor<16xf32>
    mk.store %t, %c[%c0] : tensor<16xf32>, memref<16xf32>
  }
}

// -----

// One of two arrivals has come; which one is not known.
// CHECK: error: 'mk.load' op races: role 'use' (rank {{[01]}}, CTA 2) loads 'x'[{{.*}}] of rank {{[01]}}, and role 'send' (rank {{[01]}}, CTA {{[01]}}) puts it with nothing to order the two
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @some_of_two on @mesh (in %a : memref<16xf32, #mk.symmetric> [16], scratch %x : memref<16xf32, #mk.symmetric> [16],
                                 out %c : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 2>
  mk.role @send ctas(2) {
    mk.foreach (%i) in (%c2) {
      %at = arith.muli %i, %c8 : index
      mk.foreach_peer (%p) along gpu {
        mk.put %a[%at][%c8] to %x[%at] on %p signal %s[%c0] : memref<16xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 2>
      }
    }
  }
  mk.role @use ctas(1) {
    mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 2>
    %t = mk.load %x[%c0] : memref<16xf32, #mk.symmetric> -> tensor<16xf32>
    mk.store %t, %c[%c0] : tensor<16xf32>, memref<16xf32>
  }
}

// -----

// Tiles of 8 elements, 4 apart.
// CHECK: error: 'mk.store' op races: role 'a' (rank 0, CTA {{[01]}}) stores 'x'[4:8] of rank 0, and role 'a' (rank 0, CTA {{[01]}}) stores it with nothing to order the two; order the two writes by a signal and a wait
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @overlap on @mesh (out %x : memref<16xf32> [16]) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c2) {
      %at = arith.muli %i, %c4 : index
      mk.store %t, %x[%at] : tensor<8xf32>, memref<16xf32>
    }
  }
}

// -----

// CHECK: error: 'mk.wait' op uses element [2] of an array of (2) on rank 0, in role 'a' (rank 0, CTA {{[01]}}): correct the index or the extents
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @outside on @mesh (out %c : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = mk.signals(%c2) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c2) {
      mk.signal %s[%i] : !mk.signal<?, gpu, arrivals = 1>
      %j = arith.addi %i, %c1 : index
      mk.wait %s[%j] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
    }
  }
}

// -----

// Three records are waited for and two are pushed.
// CHECK: error: 'mk.foreach_item' op never returns in role 'use' (rank 0, CTA 1): queue 'q' needs 3 records, saw 2, and no more than 2 are pushed; push one for each that is counted
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @few_records on @mesh (out %c : memref<8xf32> [8]) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %t = arith.constant dense<1.0> : tensor<1xf32>
  %q = mk.queue(%c3) : !mk.queue<?x1xi32>
  mk.role @make ctas(1) { mk.foreach (%i) in (%c2) { mk.push %q, (%i) : !mk.queue<?x1xi32> } }
  mk.role @use ctas(1) {
    mk.foreach_item (%b) of %q count(%c3) : !mk.queue<?x1xi32> { mk.store %t, %c[%b] : tensor<1xf32>, memref<8xf32> }
  }
}

// -----

// No role pushes what is waited for.
// CHECK: error: 'mk.foreach_item' op waits for records for ever: nothing is pushed to queue 'q'; push one for each that is counted
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @no_records on @mesh (out %c : memref<8xf32> [8]) {
  %c3 = arith.constant 3 : index
  %t = arith.constant dense<1.0> : tensor<1xf32>
  %q = mk.queue(%c3) : !mk.queue<?x1xi32>
  mk.role @use ctas(1) {
    mk.foreach_item (%b) of %q count(%c3) : !mk.queue<?x1xi32> { mk.store %t, %c[%b] : tensor<1xf32>, memref<8xf32> }
  }
}

// -----

// There is no such rank.
// CHECK: error: 'mk.put' op names rank -1 of a mesh of 2 ranks (on rank 0): ranks count from 0
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @no_rank on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %x : memref<8xf32, #mk.symmetric> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %left = arith.subi %me, %c1 : index
  mk.role @send ctas(1) { mk.put %a[%c0][%c8] to %x[%c0] on %left : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric> }
}

// -----

// Nor such a coordinate: on rank 1 it is none of the axis, and would be one of another rank.
// CHECK: error: 'mk.put' op names rank -1 of a mesh of 4 ranks (on rank 1): ranks count from 0, and a coordinate outside of its axis makes rank -1
mk.mesh @mesh (node = 2 via link, gpu = 2 via link)
mk.kernel @no_coordinate on @mesh (out %c : memref<8xf32, #mk.symmetric> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gpu = mk.coord gpu
  %next = arith.addi %gpu, %c1 : index
  %p = mk.rank(gpu = %next)
  mk.role @send ctas(1) {
    mk.put %c[%c0][%c1] to %c[%c1] on %p : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>
  }
}
