// RUN: not mk-opt %s -split-input-file -mk-assign-ctas -mk-verify-progress -mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// One mistake each, in kernels with chosen buffers, tickets, rings of ranks, credits, records,
// last arrivers and several hops.

// Of a gather, read from where it arrives: the wait is for the source behind it.
// CHECK: error: 'mk.load' op races: role 'use' (rank {{[0-3]}}, CTA {{[12]}}) loads 'all'[{{[0-9]+:[0-9]+}}] of rank {{[0-3]}}, and role 'send' (rank {{[0-3]}}, CTA 0) puts it with nothing to order the two
!sig = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @other_source on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %all : memref<32xf32, #mk.symmetric> [32],
                                  out %c : memref<32xf32> [32]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %world = mk.size
  %ready = mk.signals(%world) : !sig
  mk.role @send ctas(1) {
    %at = arith.muli %me, %c8 : index
    mk.foreach_peer (%p) along node, gpu including self {
      mk.put %a[%c0][%c8] to %all[%at] on %p signal %ready[%me] : memref<8xf32, #mk.symmetric> to memref<32xf32, #mk.symmetric>, !sig
    }
  }
  mk.role @use ctas(2) {
    mk.foreach (%s) in (%world) schedule(ticket) {
      %next = arith.addi %s, %c1 : index
      %other = arith.remui %next, %world : index
      mk.wait %ready[%other] ge %c1 : !sig
      %at = arith.muli %s, %c8 : index
      %t = mk.load %all[%at] : memref<32xf32, #mk.symmetric> -> tensor<8xf32>
      mk.store %t, %c[%at] : tensor<8xf32>, memref<32xf32>
    }
  }
}

// -----

// A sum that waits for the ranks of a node, not for all.
// CHECK: error: 'mk.load' op races: role 'sum' (rank {{[0-3]}}, CTA 1) loads 'parts'[{{[0-9]+:[0-9]+}}] of rank {{[0-3]}}, and role 'send' (rank {{[0-3]}}, CTA 0) puts it with nothing to order the two
!sig = !mk.signal<1, sys, arrivals = ?>
mk.mesh @mesh (node = 2 via net, gpu = 2 via link)
mk.kernel @node_only on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %parts : memref<32xf32, #mk.symmetric> [32],
                               out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %world = mk.size
  %inside = mk.size gpu
  %here = mk.signals() arrivals(%world) : !sig
  mk.role @send ctas(1) {
    %at = arith.muli %me, %c8 : index
    mk.foreach_peer (%p) along node, gpu including self {
      mk.put %a[%c0][%c8] to %parts[%at] on %p signal %here[%c0] : memref<8xf32, #mk.symmetric> to memref<32xf32, #mk.symmetric>, !sig
    }
  }
  mk.role @sum ctas(1) {
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    mk.wait %here[%c0] ge %inside : !sig
    %all = mk.fold (%r) in (%world) iter(%sum = %zero) combine(add) : tensor<8xf32> {
      %at = arith.muli %r, %c8 : index
      %t = mk.load %parts[%at] : memref<32xf32, #mk.symmetric> -> tensor<8xf32>
      %next = arith.addf %sum, %t : tensor<8xf32>
      mk.yield %next : tensor<8xf32>
    }
    mk.store %all, %c[%c0] : tensor<8xf32>, memref<8xf32>
  }
}

// -----

// A ring of ranks in which nobody begins: each passes on what it has got.
// CHECK: error: 'mk.wait' op never returns in role 'pass' (rank 0, CTA 0): signal 'come'[0] needs 1 arrival, saw 0, and who would raise it waits as well
!sig = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (node = 3 via net, gpu = 1 via link)
mk.kernel @nobody_begins on @mesh (scratch %x : memref<24xf32, #mk.symmetric> [24]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %world = mk.size
  %come = mk.signals(%world) : !sig
  mk.role @pass ctas(1) {
    %up = arith.addi %me, %c1 : index
    %next = arith.remui %up, %world : index
    scf.for %i = %c0 to %world step %c1 {
      mk.wait %come[%i] ge %c1 : !sig
      %at = arith.muli %i, %c8 : index
      mk.put %x[%at][%c8] to %x[%at] on %next signal %come[%i] : memref<24xf32, #mk.symmetric> to memref<24xf32, #mk.symmetric>, !sig
    }
  }
}

// -----

// Keys and values in one slot, of which the reader gives one back only when it has the next.
// CHECK: error: 'mk.wait' op never returns in role 'send' (rank 0, CTA 0): signal 'free'[0] needs 1 arrival, saw 0, and who would raise it waits as well; {{.*}}or give rings and roles more slots
!sig = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @one_slot on @mesh (in %kv : memref<64xf32, #mk.symmetric> [64], scratch %slot : memref<16xf32, #mk.symmetric> [16],
                              out %c : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %got = mk.signals(%c4) : !sig
  %free = mk.signals(%c4) : !sig
  mk.role @send ctas(1) {
    mk.foreach (%i) in (%c4) {
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
      } else {
        %before = arith.subi %i, %c1 : index
        mk.wait %free[%before] ge %c1 : !sig
      }
      %at = arith.muli %i, %c16 : index
      mk.foreach_peer (%p) along gpu {
        mk.put %kv[%at][%c16] to %slot[%c0] on %p signal %got[%i] : memref<64xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !sig
      }
    }
  }
  mk.role @use ctas(1) {
    %zero = arith.constant dense<0.0> : tensor<16xf32>
    scf.for %i = %c0 to %c4 step %c1 iter_args(%last = %zero) -> tensor<16xf32> {
      mk.wait %got[%i] ge %c1 : !sig
      %t = mk.load %slot[%c0] : memref<16xf32, #mk.symmetric> -> tensor<16xf32>
      %at = arith.muli %i, %c16 : index
      mk.store %last, %c[%at] : tensor<16xf32>, memref<64xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
      } else {
        %before = arith.subi %i, %c1 : index
        mk.foreach_peer (%p) along gpu { mk.signal %free[%before] on %p : !sig }
      }
      scf.yield %t : tensor<16xf32>
    }
  }
}

// -----

// The settle stands before the put whose source the other role writes again.
// CHECK: error: 'mk.store' op races: role 'make' (rank {{[01]}}, CTA 0) stores 'x'[0:8] of rank {{[01]}}, and role 'send' (rank {{[01]}}, CTA 1) takes a put's source from it with nothing to order the two; settle (mk.settle) behind the put, signal, and wait for that before the source is written again
!sig = !mk.signal<1, gpu, arrivals = 1>
!come = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (node = 2 via net)
mk.kernel @early_settle on @mesh (scratch %x : memref<8xf32, #mk.symmetric> [8], scratch %y : memref<8xf32, #mk.symmetric> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %made = mk.signals() : !sig
  %sent = mk.signals() : !sig
  %come = mk.signals() : !come
  mk.role @make ctas(1) {
    mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32, #mk.symmetric>
    mk.signal %made[%c0] : !sig
    mk.wait %sent[%c0] ge %c1 : !sig
    mk.store %t, %x[%c0] : tensor<8xf32>, memref<8xf32, #mk.symmetric>
  }
  mk.role @send ctas(1) {
    mk.wait %made[%c0] ge %c1 : !sig
    mk.settle
    mk.foreach_peer (%p) along node {
      mk.put %x[%c0][%c8] to %y[%c0] on %p signal %come[%c0] : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>, !come
    }
    mk.signal %sent[%c0] : !sig
  }
}

// -----

// Whoever counts last reads all parts, but counts before it stores its own.
// CHECK: error: 'mk.load' op races: role 'a' (rank 0, CTA {{[0-2]}}) loads 'x'[0:8] of rank 0, and role 'a' (rank 0, CTA {{[0-2]}}) stores it
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @count_first on @mesh (scratch %x : memref<24xf32> [24], out %c : memref<24xf32> [24]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %n = mk.counters(%c1) : !mk.counter<?>
  mk.role @a ctas(3) {
    mk.foreach (%i) in (%c3) schedule(ticket) {
      %at = arith.muli %i, %c8 : index
      %before = mk.count %n[%c0] add %c1 : !mk.counter<?>
      mk.store %t, %x[%at] : tensor<8xf32>, memref<24xf32>
      %last = arith.cmpi eq, %before, %c2 : index
      scf.if %last {
        %all = mk.load %x[%c0] : memref<24xf32> -> tensor<24xf32>
        mk.store %all, %c[%c0] : tensor<24xf32>, memref<24xf32>
      }
    }
  }
}

// -----

// A second round into the same slots without asking whether the first has been read.
// CHECK: error: 'mk.put' op races: role 'send' (rank {{[0-2]}}, CTA 0) puts 'slots'[0:8] of rank {{[0-2]}}, and role 'send' (rank {{[0-2]}}, CTA 0) puts it with nothing to order the two; order the two writes by mk.fence, or by a signal and a wait, or give each memory of its own, as a slot for each
!sig = !mk.signal<2, sys, arrivals = 1>
mk.mesh @mesh (node = 1 via net, gpu = 3 via link)
mk.kernel @no_handshake on @mesh (in %a : memref<16xf32, #mk.symmetric> [16], scratch %slots : memref<24xf32, #mk.symmetric> [24],
                                  out %c : memref<48xf32> [48]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %me = mk.rank
  %world = mk.size
  %up = arith.addi %me, %c1 : index
  %next = arith.remui %up, %world : index
  %got = mk.signals() : !sig
  mk.role @send ctas(1) {
    scf.for %i = %c0 to %c2 step %c1 {
      %from = arith.muli %i, %c8 : index
      mk.put %a[%from][%c8] to %slots[%c0] on %next signal %got[%i] : memref<16xf32, #mk.symmetric> to memref<24xf32, #mk.symmetric>, !sig
    }
  }
  mk.role @use ctas(1) {
    scf.for %i = %c0 to %c2 step %c1 {
      mk.wait %got[%i] ge %c1 : !sig
      %t = mk.load %slots[%c0] : memref<24xf32, #mk.symmetric> -> tensor<8xf32>
      %to = arith.muli %i, %c24 : index
      mk.store %t, %c[%to] : tensor<8xf32>, memref<48xf32>
    }
  }
}

// -----

// The credit is given before the slot has been read.
// CHECK: error: 'mk.put' op races: role 'send' (rank {{[01]}}, CTA 0) puts 'slot'[0:8] of rank {{[01]}}, and role 'use' (rank {{[01]}}, CTA 1) loads it with nothing to order the two; signal when the read is done and wait for that before the memory is written again
!sig = !mk.signal<2, sys, arrivals = 1>
mk.mesh @mesh (node = 2 via net, gpu = 1 via link)
mk.kernel @early_credit on @mesh (in %a : memref<16xf32, #mk.symmetric> [16], scratch %slot : memref<8xf32, #mk.symmetric> [8],
                                  out %c : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %got = mk.signals() : !sig
  %credit = mk.signals() : !sig
  mk.role @send ctas(1) {
    scf.for %i = %c0 to %c2 step %c1 {
      %again = arith.cmpi sgt, %i, %c0 : index
      scf.if %again { mk.wait %credit[%c0] ge %c1 : !sig }
      %from = arith.muli %i, %c8 : index
      mk.foreach_peer (%p) along node {
        mk.put %a[%from][%c8] to %slot[%c0] on %p signal %got[%i] : memref<16xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>, !sig
      }
    }
  }
  mk.role @use ctas(1) {
    scf.for %i = %c0 to %c2 step %c1 {
      mk.wait %got[%i] ge %c1 : !sig
      mk.foreach_peer (%p) along node { mk.signal %credit[%i] on %p : !sig }
      %t = mk.load %slot[%c0] : memref<8xf32, #mk.symmetric> -> tensor<8xf32>
      %to = arith.muli %i, %c8 : index
      mk.store %t, %c[%to] : tensor<8xf32>, memref<16xf32>
    }
  }
}

// -----

// Two slots; the credit that is waited for is that of the other slot.
// CHECK: error: 'mk.put' op races: role 'send' (rank {{[01]}}, CTA 0) puts 'ring'[0:8] of rank {{[01]}}, and role 'use' (rank {{[01]}}, CTA 1) loads it with nothing to order the two; signal when the read is done
!sig = !mk.signal<?, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @other_credit on @mesh (in %a : memref<32xf32, #mk.symmetric> [32], scratch %ring : memref<16xf32, #mk.symmetric> [16],
                                  out %c : memref<32xf32> [32]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %got = mk.signals(%c4) : !sig
  %free = mk.signals(%c4) : !sig
  mk.role @send ctas(1) {
    mk.foreach (%i) in (%c4) {
      %again = arith.cmpi uge, %i, %c3 : index
      scf.if %again {
        %old = arith.subi %i, %c3 : index
        mk.wait %free[%old] ge %c1 : !sig
      }
      %from = arith.muli %i, %c8 : index
      %slot = arith.remui %i, %c2 : index
      %to = arith.muli %slot, %c8 : index
      mk.foreach_peer (%p) along gpu {
        mk.put %a[%from][%c8] to %ring[%to] on %p signal %got[%i] : memref<32xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !sig
      }
    }
  }
  mk.role @use ctas(1) {
    mk.foreach (%i) in (%c4) {
      mk.wait %got[%i] ge %c1 : !sig
      %slot = arith.remui %i, %c2 : index
      %from = arith.muli %slot, %c8 : index
      %t = mk.load %ring[%from] : memref<16xf32, #mk.symmetric> -> tensor<8xf32>
      %to = arith.muli %i, %c8 : index
      mk.store %t, %c[%to] : tensor<8xf32>, memref<32xf32>
      mk.foreach_peer (%p) along gpu { mk.signal %free[%i] on %p : !sig }
    }
  }
}

// -----

// What one item stores a later one loads; by tickets it may be the same CTA or not.
// CHECK: error: 'mk.load' op races: role 'a' (rank 0, CTA 0) loads 'x'[8:16] of rank 0, and role 'a' (rank 0, CTA 0) stores it with nothing to order the two; a store is not ordered before a later load of the same CTA
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @item_to_item on @mesh (inout %x : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  mk.role @a ctas(1) {
    mk.foreach (%i) in (%c3) schedule(ticket) {
      %from = arith.muli %i, %c8 : index
      %next = arith.addi %i, %c1 : index
      %to = arith.muli %next, %c8 : index
      %t = mk.load %x[%from] : memref<64xf32> -> tensor<8xf32>
      mk.store %t, %x[%to] : tensor<8xf32>, memref<64xf32>
    }
  }
}

// -----

// A record is pushed before what it speaks of is stored.
// CHECK: error: 'mk.load' op races: role 'use' (rank 0, CTA 2) loads 'x'[{{[0-9]+:[0-9]+}}] of rank 0, and role 'make' (rank 0, CTA {{[01]}}) stores it
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @record_first on @mesh (scratch %x : memref<32xf32> [32], out %c : memref<32xf32> [32]) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %q = mk.queue(%c4) : !mk.queue<?x1xi32>
  mk.role @make ctas(2) {
    mk.foreach (%i) in (%c4) {
      %at = arith.muli %i, %c8 : index
      mk.push %q, (%i) : !mk.queue<?x1xi32>
      mk.store %t, %x[%at] : tensor<8xf32>, memref<32xf32>
    }
  }
  mk.role @use ctas(1) {
    mk.foreach_item (%i) of %q count(%c4) : !mk.queue<?x1xi32> {
      %at = arith.muli %i, %c8 : index
      %l = mk.load %x[%at] : memref<32xf32> -> tensor<8xf32>
      mk.store %l, %c[%at] : tensor<8xf32>, memref<32xf32>
    }
  }
}

// -----

// Rank 0 puts to rank 2 and tells rank 1, who tells rank 2: that does not cover the put.
// CHECK: error: 'mk.load' op races: role 'work' (rank 2, CTA 0) loads 'y'[0:8] of rank 2, and role 'work' (rank 0, CTA 0) puts it
!sig = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (gpu = 3 via link)
mk.kernel @round_about on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %y : memref<8xf32, #mk.symmetric> [8],
                                 out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %told = mk.signals() : !sig
  mk.role @work ctas(1) {
    %is0 = arith.cmpi eq, %me, %c0 : index
    %is1 = arith.cmpi eq, %me, %c1 : index
    %is2 = arith.cmpi eq, %me, %c2 : index
    scf.if %is0 {
      mk.put %a[%c0][%c8] to %y[%c0] on %c2 : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>
      mk.signal strong %told[%c0] on %c1 : !sig
    }
    scf.if %is1 {
      mk.wait %told[%c0] ge %c1 : !sig
      mk.signal strong %told[%c0] on %c2 : !sig
    }
    scf.if %is2 {
      mk.wait %told[%c0] ge %c1 : !sig
      %t = mk.load %y[%c0] : memref<8xf32, #mk.symmetric> -> tensor<8xf32>
      mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32>
    }
  }
}

// -----

// A plain store and remote adds to the same place.
// CHECK: error: 'mk.store' op races: role '{{add|zero}}' (rank {{[01]}}, CTA {{[01]}}) stores 'y'[0:8] of rank {{[01]}}, and role '{{add|zero}}'
!sig = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @zero_late on @mesh (out %y : memref<8xf32, #mk.symmetric> [8]) {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  mk.role @zero ctas(1) { mk.store %zero, %y[%c0] : tensor<8xf32>, memref<8xf32, #mk.symmetric> }
  mk.role @add ctas(1) {
    mk.foreach_peer (%p) along gpu including self {
      mk.store %t, %y[%c0] on %p reduce(add) : tensor<8xf32>, memref<8xf32, #mk.symmetric>
    }
  }
}

// -----

// A scalar that a peer puts is read without a wait, and decides what is done: one CTA cannot be
// followed further, the others can.
// CHECK: error: 'mk.{{put|load}}' op races: role '{{send|use}}' (rank {{[01]}}, CTA {{[01]}}) {{puts|loads}} 'n'[0] of rank {{[01]}}
!sig = !mk.signal<1, sys, arrivals = 1>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @count_unseen on @mesh (in %a : memref<1xi32, #mk.symmetric> [1], scratch %n : memref<1xi32, #mk.symmetric> [1],
                                 out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : tensor<8xf32>
  %come = mk.signals() : !sig
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c1] to %n[%c0] on %p signal %come[%c0] : memref<1xi32, #mk.symmetric> to memref<1xi32, #mk.symmetric>, !sig
    }
  }
  mk.role @use ctas(1) {
    %l = mk.load %n[%c0] : memref<1xi32, #mk.symmetric> -> tensor<1xi32>
    %k = tensor.extract %l[%c0] : tensor<1xi32>
    %zero = arith.constant 0 : i32
    %some = arith.cmpi sgt, %k, %zero : i32
    scf.if %some { mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32> }
    mk.wait %come[%c0] ge %c1 : !sig
  }
}

// -----

// One of two arrivals has come; that which is read comes first in most runs.
// CHECK: error: 'mk.load' op races: role 'use' (rank {{[0-2]}}, CTA 1) loads 'x'[{{[0-9]+:[0-9]+}}] of rank {{[0-2]}}, and role 'send' (rank {{[0-2]}}, CTA 0) puts it
!sig = !mk.signal<1, sys, arrivals = 2>
mk.mesh @mesh (gpu = 3 via link)
mk.kernel @first_of_two on @mesh (in %a : memref<8xf32, #mk.symmetric> [8], scratch %x : memref<24xf32, #mk.symmetric> [24],
                                 out %c : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %world = mk.size
  %come = mk.signals() : !sig
  mk.role @send ctas(1) {
    %at = arith.muli %me, %c8 : index
    mk.foreach_peer (%p) along gpu {
      mk.put %a[%c0][%c8] to %x[%at] on %p signal %come[%c0] : memref<8xf32, #mk.symmetric> to memref<24xf32, #mk.symmetric>, !sig
    }
  }
  mk.role @use ctas(1) {
    mk.wait %come[%c0] ge %c1 : !sig
    %is0 = arith.cmpi eq, %me, %c0 : index
    %from = arith.select %is0, %c1, %c0 : index
    %at = arith.muli %from, %c8 : index
    %t = mk.load %x[%at] : memref<24xf32, #mk.symmetric> -> tensor<8xf32>
    mk.store %t, %c[%c0] : tensor<8xf32>, memref<8xf32>
  }
}

// -----

// Every tile overlaps thousands of others: what is found in a moment is reported.
// CHECK: error: 'mk.store' op races: role 'r' (rank 0, CTA {{[0-9]+}}) stores 'b'[
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @thousands on @mesh (out %b : memref<300x300xf32> [300, 300]) {
  %c200 = arith.constant 200 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%c200, %c200) { mk.store %t, %b[%i, %j] : tensor<64x64xf32>, memref<300x300xf32> }
  }
}

// -----

// A put moves elements within one buffer, a few places on: it is cut into pieces in any order.
// CHECK: error: 'mk.put' op races: role 'r' (rank {{[01]}}, CTA 0) puts 'x'[0:16] of rank {{[01]}} to 'x'[4:20] there; source and destination of a put must not overlap: put to memory of its own, or load what is moved and store it
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @shift on @mesh (inout %x : memref<64xf32, #mk.symmetric> [64]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %me = mk.rank
  mk.role @r ctas(1) {
    mk.put %x[%c0][%c16] to %x[%c4] on %me : memref<64xf32, #mk.symmetric> to memref<64xf32, #mk.symmetric>
  }
}

// -----

// Added to itself, too.
// CHECK: error: 'mk.put' op races: role 'r' (rank 0, CTA 0) puts 'x'[0:16] of rank 0 to 'x'[0:16] there
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @twice on @mesh (inout %x : memref<64xf32, #mk.symmetric> [64]) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %me = mk.rank
  mk.role @r ctas(1) {
    mk.put %x[%c0][%c16] to %x[%c0] on %me reduce(add) : memref<64xf32, #mk.symmetric> to memref<64xf32, #mk.symmetric>
  }
}

// -----

// A store that names a rank is a remote one, also where that is the own one.
// CHECK: error: 'mk.store' op races: role 'r' (rank {{[01]}}, CTA 0) stores 'y'[5:13] of rank {{[01]}}, and role 'r' (rank {{[01]}}, CTA 0) stores it with nothing to order the two; order the two writes by mk.fence
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @own on @mesh (out %y : memref<64xf32, #mk.symmetric> [64]) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %me = mk.rank
  %all = arith.constant dense<1.0> : tensor<64xf32>
  %some = arith.constant dense<2.0> : tensor<8xf32>
  mk.role @r ctas(1) {
    mk.store %all, %y[%c0] on %me : tensor<64xf32>, memref<64xf32, #mk.symmetric>
    mk.store %some, %y[%c5] on %me : tensor<8xf32>, memref<64xf32, #mk.symmetric>
  }
}

// -----

// Copy engines cannot settle.
// CHECK: error: 'mk.store' op races: role 'b' (rank {{[01]}}, CTA 1) stores 'x'[0:16] of rank {{[01]}}, and role 'a' (rank {{[01]}}, CTA 0) takes a put's source from it with nothing to order the two; copy engines wait for nothing: let the put raise a signal, the rank that has waited for it signal back, and wait for that before the source is written again
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @engines on @mesh (inout %x : memref<64xf32, #mk.symmetric> [64], out %y : memref<64xf32, #mk.symmetric> [64]) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant dense<1.0> : tensor<16xf32>
  mk.role @a ctas(engines) {
    mk.foreach_peer (%p) along gpu {
      mk.put %x[%c0][%c16] to %y[%c0] on %p : memref<64xf32, #mk.symmetric> to memref<64xf32, #mk.symmetric>
    }
  }
  mk.role @b ctas(1) {
    mk.store %one, %x[%c0] : tensor<16xf32>, memref<64xf32, #mk.symmetric>
  }
}

// -----

// What is waited for follows from loops and a branch beside the roles.
// CHECK: error: 'mk.wait' op never returns in role 'r' (rank {{[01]}}, CTA 0): signal 's'[0] needs 11 arrivals, saw 5, and gets no more than 5
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @counted_beside on @mesh (out %y : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %n = mk.size
  // 3 + 8
  %three = scf.for %p = %c0 to %n step %c1 iter_args(%sum = %c1) -> (index) {
    %first = arith.cmpi eq, %p, %c0 : index
    %more = scf.if %first -> (index) {
      scf.yield %n : index
    } else {
      scf.yield %c0 : index
    }
    %next = arith.addi %sum, %more : index
    scf.yield %next : index
  }
  %eight = scf.while (%i = %c1) : (index) -> index {
    %less = arith.cmpi slt, %i, %c8 : index
    scf.condition(%less) %i : index
  } do {
  ^bb0(%i : index):
    %twice = arith.addi %i, %i : index
    scf.yield %twice : index
  }
  %all = arith.addi %three, %eight : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 5>
  mk.role @r ctas(1) {
    scf.for %i = %c0 to %c5 step %c1 {
      mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 5>
    }
    mk.wait %s[%c0] ge %all : !mk.signal<1, gpu, arrivals = 5>
  }
}

// -----

// What stands outside of loops over items is done by all CTAs.
// CHECK: error: 'mk.store' op races: mk.prepare (rank 0, CTA 1) stores 'z'[0:8] of rank 0, and mk.prepare (rank 0, CTA 0) stores it with nothing to order the two; each CTA does what stands outside of mk.foreach: put it into one, whose items are done once
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @everywhere on @mesh (out %z : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  mk.prepare {
    mk.store %zero, %z[%c0] : tensor<8xf32>, memref<8xf32>
  }
  mk.role @r ctas(2) {
  }
}

// -----

// CHECK: warning: argument 'z' is an output that nothing stores: store it, or leave it out
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @unwritten on @mesh (out %y : memref<8xf32> [8], out %z : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  mk.role @r ctas(1) {
    mk.store %zero, %y[%c0] : tensor<8xf32>, memref<8xf32>
  }
}
