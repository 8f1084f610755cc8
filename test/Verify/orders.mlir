// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress="report=true sizes=M=562949953421312" -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --implicit-check-not=error:

// What rests on which CTA draws an item, who counts first, or which launch it is; and kernels
// that look like it, but do not.

// Items 0 and 2 are drawn by one CTA if they take turns.
// CHECK: error: 'mk.store' op races: role 'a' (rank 0, CTA 0) stores 'x'[0:8] of rank 0, and role 'a' (rank 0, CTA 0) stores it with nothing to order the two; which CTA draws an item is chance
!sig = !mk.signal<?, gpu, arrivals = 1>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @both_drawn on @mesh (scratch %x : memref<16xf32> [16]) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c4) schedule(ticket) {
      %half = arith.remui %i, %c2 : index
      %at = arith.muli %half, %c8 : index
      mk.store %t, %x[%at] : tensor<8xf32>, memref<16xf32>
    }
  }
}

// -----

// One CTA draws all: its items are in order.
// CHECK: remark: kernel 'one_draws' always ends
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @one_draws on @mesh (scratch %x : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  mk.role @a ctas(1) {
    mk.foreach (%i) in (%c4) schedule(ticket) { mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32> }
  }
}

// -----

// Only the first item waits for what all of a CTA's read.
// CHECK: error: 'mk.load' op races: role 'use' (rank 0, CTA {{[12]}}) loads 'x'[0:8] of rank 0, and role 'make' (rank 0, CTA 0) stores it
!sig = !mk.signal<1, gpu, arrivals = 1>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @first_waits on @mesh (scratch %x : memref<8xf32> [8], out %c : memref<32xf32> [32]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %s = mk.signals() : !sig
  mk.role @make ctas(1) {
    mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32>
    mk.signal %s[%c0] : !sig
  }
  mk.role @use ctas(2) {
    mk.foreach (%i) in (%c4) schedule(ticket) {
      %first = arith.cmpi ult, %i, %c2 : index
      scf.if %first { mk.wait %s[%c0] ge %c1 : !sig }
      %l = mk.load %x[%c0] : memref<8xf32> -> tensor<8xf32>
      %at = arith.muli %i, %c8 : index
      mk.store %l, %c[%at] : tensor<8xf32>, memref<32xf32>
    }
  }
}

// -----

// A wait before the loop guards all items; a signal of each CTA behind it covers them.
// CHECK: remark: kernel 'around' always ends
!sig = !mk.signal<1, gpu, arrivals = 1>
!all = !mk.signal<1, gpu, arrivals = 2>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @around on @mesh (scratch %x : memref<8xf32> [8], scratch %y : memref<32xf32> [32], out %c : memref<32xf32> [32]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %s = mk.signals() : !sig
  %done = mk.signals() : !all
  mk.role @make ctas(1) {
    mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32>
    mk.signal %s[%c0] : !sig
    mk.wait %done[%c0] ge %c2 : !all
    %all = mk.load %y[%c0] : memref<32xf32> -> tensor<32xf32>
    mk.store %all, %c[%c0] : tensor<32xf32>, memref<32xf32>
  }
  mk.role @use ctas(2) {
    mk.wait %s[%c0] ge %c1 : !sig
    mk.foreach (%i) in (%c4) schedule(ticket) {
      %l = mk.load %x[%c0] : memref<8xf32> -> tensor<8xf32>
      %at = arith.muli %i, %c8 : index
      mk.store %l, %y[%at] : tensor<8xf32>, memref<32xf32>
    }
    mk.signal %done[%c0] : !all
  }
}

// -----

// Slots by the order of counts, signals by item.
// CHECK: error: 'mk.load' op races: role 'use' (rank {{[01]}}, CTA 2) loads 'ring'[{{[0-9]+:[0-9]+}}] of rank {{[01]}}, and role 'send' (rank {{[01]}}, CTA {{[01]}}) puts it with nothing to order the two, if the last CTAs come first to items and counts
!sig = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @slot_by_count on @mesh (in %a : memref<32xf32, #mk.symmetric> [32], scratch %ring : memref<32xf32, #mk.symmetric> [32], out %c : memref<32xf32> [32]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = mk.counters(%c1) : !mk.counter<?>
  %s = mk.signals(%c4) : !sig
  mk.role @send ctas(2) {
    mk.foreach (%i) in (%c4) schedule(ticket) {
      %slot = mk.count %n[%c0] add %c1 : !mk.counter<?>
      %from = arith.muli %i, %c8 : index
      %to = arith.muli %slot, %c8 : index
      mk.foreach_peer (%p) along gpu {
        mk.put %a[%from][%c8] to %ring[%to] on %p signal %s[%i] : memref<32xf32, #mk.symmetric> to memref<32xf32, #mk.symmetric>, !sig
      }
    }
  }
  mk.role @use ctas(1) {
    mk.foreach (%i) in (%c4) {
      %at = arith.muli %i, %c8 : index
      mk.wait %s[%i] ge %c1 : !sig
      %t = mk.load %ring[%at] : memref<32xf32, #mk.symmetric> -> tensor<8xf32>
      mk.store %t, %c[%at] : tensor<8xf32>, memref<32xf32>
    }
  }
}

// -----

// Only if a CTA in the middle counts first.
// CHECK: error: 'mk.wait' op never returns in role 'r' (rank 0, CTA {{[1-6]}}), if CTAs come to items and counts in some order: signal 's'[0] needs 1 arrival, saw 0
!sig = !mk.signal<1, gpu, arrivals = 1>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @middle_first on @mesh (in %a : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %n = mk.counters() : !mk.counter<1>
  %s = mk.signals() : !sig
  mk.role @r ctas(8) {
    mk.foreach (%i) in (%c8) {
      %before = mk.count %n[%c0] add %c1 : !mk.counter<1>
      %first = arith.cmpi eq, %before, %c0 : index
      scf.if %first {
        %from_one = arith.subi %i, %c1 : index
        %middle = arith.cmpi ult, %from_one, %c6 : index
        scf.if %middle { mk.wait %s[%c0] ge %c1 : !sig }
        mk.signal %s[%c0] : !sig
      }
    }
  }
}

// -----

// Both by the order of counts; whoever counts last reads all, in any order.
// CHECK: remark: kernel 'all_by_count' always ends
!sig = !mk.signal<?, gpu, arrivals = 1>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @all_by_count on @mesh (scratch %x : memref<32xf32> [32], out %c : memref<32xf32> [32]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %n = mk.counters(%c2) : !mk.counter<?>
  %s = mk.signals(%c4) : !sig
  mk.role @make ctas(3) {
    mk.foreach (%i) in (%c4) schedule(ticket) {
      %slot = mk.count %n[%c0] add %c1 : !mk.counter<?>
      %at = arith.muli %slot, %c8 : index
      mk.store %t, %x[%at] : tensor<8xf32>, memref<32xf32>
      mk.signal %s[%slot] : !sig
      %had = mk.count %n[%c1] add %c1 : !mk.counter<?>
      %last = arith.cmpi eq, %had, %c3 : index
      scf.if %last {
        %all = mk.load %x[%c0] : memref<32xf32> -> tensor<32xf32>
        mk.store %all, %c[%c0] : tensor<32xf32>, memref<32xf32>
      }
    }
  }
  mk.role @use ctas(1) {
    mk.foreach (%i) in (%c4) {
      mk.wait %s[%i] ge %c1 : !sig
      %at = arith.muli %i, %c8 : index
      %l = mk.load %x[%at] : memref<32xf32> -> tensor<8xf32>
    }
  }
}

// -----

// Whoever draws the item waits for what CTA 1 does behind the loop.
// CHECK: error: 'mk.wait' op never returns in role 'a' (rank 0, CTA 1), if the last CTAs come first to items and counts: signal 's'[1] needs 1 arrival, saw 0, and who would raise it waits as well
!sig = !mk.signal<?, gpu, arrivals = 1>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @needed_behind on @mesh (out %c : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = mk.signals(%c2) : !sig
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c1) schedule(ticket) { mk.wait %s[%c1] ge %c1 : !sig }
    mk.foreach (%i) in (%c2) { mk.signal %s[%i] : !sig }
  }
}

// -----

// Waits for none of the declared arrivals return in the first launch only.
// CHECK: error: 'mk.wait' op never returns in later launches in role 'use' (rank 0, CTA 0): signal 's'[1] gets no arrival in a launch, and is declared with 1, so that a wait for 0 waits for those of the launches before; raise it, wait for it only where it is raised, or declare it dynamic
!sig = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @for_none on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = mk.signals(%c2) : !sig
  mk.role @use ctas(1) {
    mk.foreach (%i) in (%c2) {
      %n = arith.subi %c1, %i : index
      mk.wait %s[%i] ge %n : !sig
    }
  }
  mk.role @tell ctas(1) {
    mk.foreach_peer (%p) along gpu { mk.signal %s[%c0] on %p : !sig }
  }
}

// -----

// They do in every launch where none are declared or what is counted is the launch's own.
// CHECK: remark: kernel 'of_this_launch' always ends
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @of_this_launch on @mesh (out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %s = mk.signals() arrivals(%c0) : !mk.signal<1, sys, arrivals = ?>
  %d = mk.signals() : !mk.signal<1, sys, dynamic>
  mk.role @use ctas(1) {
    mk.wait %s[%c0] ge %c0 : !mk.signal<1, sys, arrivals = ?>
    mk.wait %d[%c0] ge %c0 : !mk.signal<1, sys, dynamic>
  }
  mk.role @tell ctas(1) {
    mk.foreach (%i) in (%c0) {
      mk.signal %s[%i] : !mk.signal<1, sys, arrivals = ?>
      mk.signal %d[%i] : !mk.signal<1, sys, dynamic>
    }
  }
}

// -----

// Tiles at the end of 2^49 rows are as far apart as at the beginning.
// CHECK: remark: kernel 'far' always ends
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @far on @mesh dims(uniform M) (out %c : memref<?x8xf32> [M, 8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8x8xf32>
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%c2) {
      %up = arith.addi %i, %c1 : index
      %down = arith.muli %up, %c8 : index
      %at = arith.subi %M, %down : index
      mk.store %t, %c[%at, %c0] : tensor<8x8xf32>, memref<?x8xf32>
    }
  }
}
