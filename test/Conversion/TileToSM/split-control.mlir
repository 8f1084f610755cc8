// RUN: mk-opt %s -mk-sm=verify=false -split-input-file | FileCheck %s

// A wait guards what the producer copies behind it. The consumer reads nothing itself
// that anyone writes, and does not repeat it.
// CHECK-LABEL: mk.role @copied
// CHECK: mk_sm.partition producer
// CHECK: scf.if
// CHECK: mk.wait %full
// CHECK: mk_sm.acquire
// CHECK: mk_sm.partition consumer
// CHECK-NOT: mk.wait
// CHECK: mk_sm.mma
// CHECK: mk.load %bias
// CHECK-NOT: mk.wait
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @copied on @mesh dims(uniform N) (
    in %bias : memref<64xf32> [64],
    scratch %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %full = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @copied ctas(1) {
    mk.foreach (%i) in (%N) {
      %some = arith.cmpi ne, %i, %c0 : index
      scf.if %some {
        mk.wait %full[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
      }
      %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
      %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %row = mk.load %bias[%c0] : memref<64xf32> -> tensor<64xf32>
      %rows = mk.broadcast %row dims [0] : tensor<64xf32> -> tensor<64x64xf32>
      %0 = arith.addf %d, %rows : tensor<64x64xf32>
      %o = arith.truncf %0 : tensor<64x64xf32> to tensor<64x64xbf16>
      mk.store %o, %c[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16>
    }
  }
}

// -----

// The tile that is read to registers needs both waits, what is copied only the
// first. The loop may have no steps: no slot then says that the first is over.
// CHECK-LABEL: mk.role @read
// CHECK: mk_sm.partition producer
// CHECK: mk.wait %full
// CHECK-NOT: mk.wait
// CHECK: mk_sm.partition consumer
// CHECK: mk.wait %full
// CHECK: mk_sm.mma
// CHECK-NOT: mk.wait %full
// CHECK: mk.wait %other
// CHECK: mk.load %t[%c0, %c1]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @read on @mesh dims(uniform N) (
    scratch %t : memref<64x64xf32> [64, 64],
    scratch %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %full = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  %other = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @read ctas(1) {
    mk.foreach (%i) in (%N) {
      mk.wait %full[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
      %d = scf.for %k = %c0 to %N step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
        %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
        %p = mk.dot %a, %a, %s transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
        scf.yield %p : tensor<64x64xf32>
      }
      mk.wait %other[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
      // From a column that the copy engine does not take: threads load it.
      %e = mk.load %t[%c0, %c1] : memref<64x64xf32> -> tensor<64x64xf32>
      %0 = arith.addf %d, %e : tensor<64x64xf32>
      %o = arith.truncf %0 : tensor<64x64xf32> to tensor<64x64xbf16>
      mk.store %o, %c[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16>
    }
  }
}

// -----

// A wait between two products: what is stored behind it, before any tile that comes
// behind it has been taken, needs it in the consumer too.
// CHECK-LABEL: mk.role @between
// CHECK: mk_sm.partition producer
// CHECK: mk_sm.commit
// CHECK: mk.wait %free
// CHECK: mk_sm.commit
// CHECK: mk_sm.partition consumer
// CHECK: mk_sm.mma
// CHECK: mk.wait %free
// CHECK: mk_sm.spill %{{.*}}, %t[]
// CHECK: mk_sm.mma
// CHECK: mk_sm.store %{{.*}}, %c
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @between on @mesh dims(uniform N) (
    inout %x : memref<64x64xbf16> [64, 64], scratch %t : memref<64x64xf32> [64, 64],
    out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %free = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @between ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.wait %free[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    mk.store %d, %t[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    %b = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %e = mk.dot %b, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %e, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

// Uneven groups: scalars that are read from memory steer both partitions. Items are drawn once, and
// numbers that somebody writes are read once: both partitions have to have the same ones even
// where a wait is given up.
// CHECK-LABEL: mk.role @grouped
// CHECK: %[[TICKETS:.*]] = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
// CHECK: %[[RECORDS:.*]] = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 2>
// CHECK: mk_sm.partition producer
// CHECK: mk.wait %planned
// CHECK: %[[N:.*]] = memref.load %count
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-NEXT: mk_sm.send %[[TICKETS]], %[[INDEX]]
// CHECK: %[[T:.*]] = mk_sm.ticket loop(0)
// CHECK: mk_sm.send %[[TICKETS]], %[[T]]
// CHECK: %[[R:.*]]:2 = mk_sm.pop
// CHECK-NEXT: mk_sm.send %[[RECORDS]], %[[R]]#0, %[[R]]#1
// CHECK: memref.load %rows[%[[R]]#1]
// CHECK: mk_sm.send %[[TICKETS]]
// CHECK: scf.if
// CHECK: mk_sm.copy %x{{.*}} valid
// CHECK-NOT: mk.count
// CHECK: mk_sm.partition consumer
// CHECK-NOT: memref.load
// CHECK: %[[COUNT:.*]] = mk_sm.receive %[[TICKETS]]
// CHECK-NEXT: arith.maxsi %[[COUNT]]
// CHECK: mk_sm.receive %[[TICKETS]]
// CHECK: mk_sm.receive %[[RECORDS]]
// CHECK: mk_sm.receive %[[TICKETS]]
// CHECK: scf.if
// CHECK: mk_sm.mma
// CHECK: mk_sm.store
// CHECK: %[[OLD:.*]] = mk.count %done
// CHECK: scf.if
// CHECK: mk.signal
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @grouped on @mesh dims(uniform G, uniform K) (
    scratch %rows : memref<?xi32> [G], scratch %count : memref<1xi32> [1],
    in %x : memref<?x?xbf16> [G * 128, K], in %w : memref<?x128x?xbf16> [G, 128, K],
    out %c : memref<?x128xbf16> [G * 128, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %planned = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  %all = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  %q = mk.queue(%G) : !mk.queue<?x2xi32>
  %done = mk.counters(%G) : !mk.counter<?>
  mk.role @grouped ctas(1) {
    mk.wait %planned[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
    %n32 = memref.load %count[%c0] : memref<1xi32>
    %n = arith.index_cast %n32 : i32 to index
    mk.foreach_item (%b, %e) of %q count(%n) : !mk.queue<?x2xi32> {
      %r32 = memref.load %rows[%e] : memref<?xi32>
      %r = arith.index_cast %r32 : i32 to index
      %row = arith.muli %b, %c128 : index
      %some = arith.cmpi sgt, %r, %c0 : index
      scf.if %some {
        %sum = scf.for %k = %c0 to %K step %c64 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
          %a = mk.load %x[%row, %k] valid(%r, %c64) : memref<?x?xbf16> -> tensor<128x64xbf16>
          %y = mk.load %w[%e, %c0, %k] : memref<?x128x?xbf16> -> tensor<128x64xbf16>
          %t = mk.dot %a, %y, %s transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16>, tensor<128x128xf32>
          scf.yield %t : tensor<128x128xf32>
        }
        %o = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
        mk.store %o, %c[%row, %c0] valid(%r, %c128) : tensor<128x128xbf16>, memref<?x128xbf16>
      }
      %old = mk.count %done[%b] add %c1 : !mk.counter<?>
      %last = arith.cmpi eq, %old, %K : index
      scf.if %last {
        mk.signal %all[%c0] : !mk.signal<1, gpu, arrivals = 1>
      }
    }
  }
}

// -----

// On a mesh of one rank a store at a peer is a store, and its signal an own one.
// CHECK-LABEL: mk.role @peer
// CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] through
// CHECK-NEXT: mk.signal %s[%c0] :
// CHECK: mk_sm.store {{.*}} add through
// CHECK-NEXT: mk.signal strong %s[%c0] :
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @peer on @mesh (
    in %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xf32, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %me = mk.rank
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 2>
  mk.role @peer ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] on %me signal %s[%c0]
        : tensor<64x64xf32>, memref<64x64xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 2>
    mk.store %d, %c[%c0, %c0] on %me signal strong %s[%c0] reduce(add)
        : tensor<64x64xf32>, memref<64x64xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 2>
  }
}

// -----

// With more ranks it goes to the peer, and puts stay as they are.
// CHECK-LABEL: mk.role @remote
// CHECK: mk_sm.store {{.*}} on %{{.*}} posted signal %s[%c0] through {{.*}} : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
// CHECK: mk.put
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @remote on @mesh (
    in %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xf32, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %me = mk.rank
  %s = mk.signals() : !mk.signal<1, sys, arrivals = 2>
  mk.role @remote ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %d, %c[%c0, %c0] on %me signal %s[%c0]
        : tensor<64x64xf32>, memref<64x64xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 2>
    mk.put %c[%c0, %c0][%c64, %c64] to %c[%c0, %c0] on %me signal %s[%c0]
        : memref<64x64xf32, #mk.symmetric> to memref<64x64xf32, #mk.symmetric>, !mk.signal<1, sys, arrivals = 2>
  }
}

// -----

// Nothing is staged: there is no producer, and the consumer draws an item when it is done with the one before.
// CHECK-LABEL: mk.role @added
// CHECK-NOT: mailbox
// CHECK-NOT: partition producer
// CHECK: mk_sm.partition consumer
// CHECK: mk_sm.ticket loop(0)
// CHECK: mk.wait %s
// CHECK: mk_sm.ticket loop(1)
// CHECK: mk_sm.pop %q
// CHECK-NOT: partition producer
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @added on @mesh dims(uniform N) (in %x : memref<64xf32> [64], out %c : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  %q = mk.queue(%N) : !mk.queue<?x1xi32>
  mk.role @added ctas(1) {
    mk.foreach (%i) in (%N) schedule(ticket) {
      mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
      mk.push %q, (%i) : !mk.queue<?x1xi32>
    }
    mk.foreach_item (%i) of %q count(%N) : !mk.queue<?x1xi32> {
      %a = mk.load %x[%i] : memref<64xf32> -> tensor<64xf32>
      mk.store %a, %c[%i] : tensor<64xf32>, memref<64xf32>
    }
  }
}

// -----

// Tiles of an epilogue, as of peers, of which there may be none: no slot then says that the wait is over, behind which the consumer
// stores.
// CHECK-LABEL: mk.role @any
// CHECK: mk_sm.partition producer
// CHECK: mk.wait %sent
// CHECK: mk_sm.partition consumer
// CHECK: mk.wait %sent
// CHECK: mk_sm.read
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @any on @mesh dims(uniform N) (
    in %x : memref<64x64xbf16> [64, 64], scratch %p : memref<64x64xf32> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sent = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @any ctas(1) {
    mk.foreach (%i) in (%N) {
      %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
      %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.wait %sent[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
      %t = scf.for %g = %c0 to %N step %c1 iter_args(%s = %d) -> (tensor<64x64xf32>) {
        %l = mk.load %p[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
        %n = arith.addf %s, %l : tensor<64x64xf32>
        scf.yield %n : tensor<64x64xf32>
      }
      mk.store %t, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    }
  }
}

// -----

// Two of them it takes in any case.
// CHECK-LABEL: mk.role @two
// CHECK: mk_sm.partition producer
// CHECK: mk.wait %sent
// CHECK: mk_sm.partition consumer
// CHECK-NOT: mk.wait
// CHECK: mk_sm.read
// CHECK-NOT: mk.wait
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @two on @mesh dims(uniform N) (
    in %x : memref<64x64xbf16> [64, 64], scratch %p : memref<64x64xf32> [64, 64], out %c : memref<?x64x64xf32> [N, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sent = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @two ctas(2) {
    mk.foreach (%i) in (%N) {
      %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
      %d = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.wait %sent[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 1>
      %t = scf.for %g = %c0 to %c2 step %c1 iter_args(%s = %d) -> (tensor<64x64xf32>) {
        %l = mk.load %p[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
        %n = arith.addf %s, %l : tensor<64x64xf32>
        scf.yield %n : tensor<64x64xf32>
      }
      mk.store %t, %c[%i, %c0, %c0] : tensor<64x64xf32>, memref<?x64x64xf32>
    }
  }
}
